"""Settings that are not part of a figure: the folders of its files and the engine of its runs."""

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
    """Dask cluster: one that is already running, or a temporary one on this machine."""

    scheduler: str | None = None  # tcp://host:port; None: a cluster on this machine


@dataclass(frozen=True)
class Settings:
    """Folders of a command's files, and the engine of its runs."""

    cache: Path
    out: Path
    workers: int | None  # None: all cores
    block: int  # least number of runs per task
    overrides: tuple[str, ...]  # of the command line, for the record
    cluster: Cluster | None = None  # None: threads of this process
    variant: str = ""  # folder name of the overrides that change the figure; empty: unchanged
    job: str | None = None  # name of the job of a multirun

    def folder(self, figure: str) -> Path:
        """Return the folder of a figure's files, `out/<figure>`, or a folder in it if changed.

        The folder of a job of a multirun is `out/multirun/<figure>/<job>`.
        """
        if self.job:
            return self.out / "multirun" / figure / self.job
        return self.out / figure / self.variant


def read_settings(at: Origins, overrides: Sequence[str]) -> Settings:
    """Return the settings of a configuration whose keys have been checked.

    Raises UserError for an invalid value.
    """
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
        # Only engine=dask has the key.
        cluster=Cluster(_scheduler(at)) if "scheduler" in engine else None,
    )


def _variant(at: Origins) -> str:
    # A profile sets a paths.out of its own, so that only a typed paths.out needs its name.
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
