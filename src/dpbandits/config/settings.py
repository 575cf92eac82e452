"""Settings that are not part of a figure: the folders of its files and the engine of its runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbandits.config.origins import Origins
from dpbandits.config.section import Section
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
    command: str = ""  # command line for the record; empty: that of the figure and the overrides

    def folder(self, figure: str) -> Path:
        """Return the folder of a figure's files, `out/<figure>`, or a folder in it if changed.

        The folder of a job of a multirun is `out/multirun/<figure>/<job>`.
        """
        if self.job:
            return self.out / "multirun" / figure / self.job
        return self.out / figure / self.variant


def read_settings(origins: Origins, overrides: Sequence[str]) -> Settings:
    """Return the settings of a configuration whose keys have been checked.

    Raises UserError for an invalid value.
    """
    engine = Section(origins, origins.plain["engine"], "engine")
    paths = Section(origins, origins.plain["paths"], "paths")
    workers = None
    if engine.get("workers") is not None:
        workers = engine.checked(parameters.Workers, "workers")
    return Settings(
        cache=_folder(paths, "cache"),
        out=_folder(paths, "out"),
        workers=workers,
        block=engine.checked(parameters.Count, "block"),
        overrides=tuple(overrides),
        variant=_variant(origins),
        # Only engine=dask has the key; run/engines.py chooses the engine by it.
        cluster=Cluster(_scheduler(engine)) if "scheduler" in engine else None,
    )


def _variant(origins: Origins) -> str:
    # Every profile but the papers' own sets paths.out, so the folder needs the profile's name only
    # if the command line sets paths.out.
    elsewhere = origins.is_overridden("paths.out")
    return folder_name([c for c in origins.changes if c.key != PROFILE or elsewhere])


def _folder(paths: Section, key: str) -> Path:
    name = paths.text(key)
    if not name.strip():
        raise paths.error(f" must name a folder, got {shown(name)}", key)
    try:
        return project.folder() / Path(name).expanduser()
    except RuntimeError:
        raise paths.error(f" {shown(name)} begins with the home of an unknown user", key) from None


def _scheduler(engine: Section) -> str | None:
    address = engine.get("scheduler")
    if address is None:
        return None
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise engine.error(f" must be like tcp://host:8786, got {shown(address)}", "scheduler")
    if engine.get("workers") is not None:
        raise engine.error(
            f" is for a cluster on this machine; the scheduler at {address} has the workers that"
            " were started for it",
            "workers",
        )
    return address
