"""What is not the figure's: where things go, and on what they run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbandits.config.origins import Origins
from dpbandits.core import parameters
from dpbandits.core.errors import shown
from dpbandits.files import project
from dpbandits.spec.changes import PROFILE, folder_name

ADDRESS = re.compile(r"(tcp|tls|ws|wss)://([\w.-]+|\[[\da-fA-F:]+\]):[1-9]\d{0,4}")


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster: one that runs elsewhere, or one of this machine while it is needed."""

    scheduler: str | None = None  # tcp://host:port


@dataclass(frozen=True)
class Settings:
    """Where the files of a command go, and where its runs are played."""

    cache: Path
    out: Path
    workers: int | None  # None: all cores
    block: int  # runs per task at least
    overrides: tuple[str, ...]  # of the command line, for the record
    cluster: Cluster | None = None  # None: threads of this process
    variant: str = ""  # name of the overrides that make another figure; none of the figure itself
    job: str | None = None  # of a multirun

    def folder(self, figure: str) -> Path:
        """Folder of a figure's files, `out/<figure>`; of a changed one a folder in it.

        Those of a job of a multirun are beside its other jobs'.
        """
        if self.job:
            return self.out / "multirun" / figure / self.job
        return self.out / figure / self.variant


def read_settings(at: Origins, overrides: Sequence[str]) -> Settings:
    """The settings of a configuration whose keys are known to be valid."""
    engine = at.plain["engine"]
    workers = engine.get("workers")
    if workers is not None:
        workers = at.checked(parameters.Workers, workers, "engine.workers")
    return Settings(
        cache=_folder(at, "cache"),
        out=_folder(at, "out"),
        workers=workers,
        block=at.checked(parameters.Count, engine["block"], "engine.block"),
        overrides=tuple(overrides),
        variant=_variant(at),
        # No engine but Dask's has the key.
        cluster=Cluster(_scheduler(at)) if "scheduler" in engine else None,
    )


def _variant(at: Origins) -> str:
    # A profile has a folder of its own, paths.out, unless that is typed.
    elsewhere = at.was_typed("paths.out")
    return folder_name([c for c in at.changes if c.key != PROFILE or elsewhere])


def _folder(at: Origins, key: str) -> Path:
    path = f"paths.{key}"
    name = at.text(at.plain["paths"][key], path)
    if not name.strip():
        raise at.error(f"{path} must name a folder, got {shown(name)}", path)
    try:
        return project.folder() / Path(name).expanduser()
    except RuntimeError:
        raise at.error(f"{path} {shown(name)} begins with nobody's home", path) from None


def _scheduler(at: Origins) -> str | None:
    address, path = at.plain["engine"]["scheduler"], "engine.scheduler"
    if address is None:
        return None
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise at.error(f"{path} must be like tcp://host:8786, got {shown(address)}", path)
    if at.plain["engine"].get("workers") is not None:
        raise at.error(
            f"engine.workers is for a cluster on this machine; the scheduler at {address} has"
            " the workers that were started for it",
            "engine.workers",
        )
    return address
