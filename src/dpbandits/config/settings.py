"""Settings that are not part of a figure: the folders of its files and the engine of its runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dpbandits.config import schema
from dpbandits.config.schema import Composed
from dpbandits.files import project
from dpbandits.spec.figure import PROFILE, Change, folder_name


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
    job_files: bool = False  # whether the jobs of a sweep write the files of their figures
    command: str = ""  # command line for the record; empty: that of the figure and the overrides

    def folder(self, figure: str) -> Path:
        """Return the folder of a figure's files: `out/<figure>`, or one in it for a variant.

        The folder of a job of a multirun is `out/multirun/<figure>/<job>`.
        """
        if self.job:
            return self.out / "multirun" / figure / self.job
        return self.out / figure / self.variant


def read_settings(
    composed: Composed, overrides: Sequence[str], changes: Sequence[Change] = ()
) -> Settings:
    """Return the settings of a configuration. Raises UserError for an invalid key or value."""
    content = composed.content
    paths = composed.section(schema.PATHS, content["paths"], "paths", schema.FOLDERS)
    job_files = paths.pop("jobs")
    engine = composed.section(schema.ENGINE, content["engine"], "engine", ["block"])
    for key, name in paths.items():
        try:
            paths[key] = project.folder() / Path(name).expanduser()
        except RuntimeError:
            problem = f"{name!r} begins with the home of an unknown user"
            raise composed.error(f"paths.{key}", problem) from None
    scheduler = engine.pop("scheduler")
    if scheduler and engine["workers"]:
        problem = f"is for a cluster on this machine; {scheduler} has workers"
        raise composed.error("engine.workers", problem)
    # Every profile but the papers' sets paths.out: the folder has its name if the command does so.
    elsewhere = composed.is_overridden("paths.out")
    return Settings(
        **paths,
        **engine,
        job_files=job_files,
        overrides=tuple(overrides),
        variant=folder_name([c for c in changes if c.key != PROFILE or elsewhere]),
        # Only engine=dask has the key; run/engines.py chooses the engine by it.
        cluster=Cluster(scheduler) if "scheduler" in content["engine"] else None,
    )
