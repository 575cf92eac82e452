"""Jobs of a multirun: the keys in which they differ, their names, and checks that they differ."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.config import compose
from dpbandits.config.compose import Read
from dpbandits.config.conf_files import value_at
from dpbandits.kernel.errors import shown
from dpbandits.run import ExitStatus
from dpbandits.spec.figure import FigureSpec, as_file_name, recorded
from dpbandits.tables.series import Series


@dataclass
class Job:
    """One job: its overrides, the configuration that they give or the error in it, its outcome."""

    figure: str
    overrides: Sequence[str]  # without the figure
    read: Read | None
    error: str | None = None  # in the configuration
    name: str = ""
    status: int = ExitStatus.DONE
    seconds: float = 0.0
    series: Sequence[Series] = ()  # empty until it is done, and if it failed

    @property
    def spec(self) -> FigureSpec:
        """The figure of a job whose configuration has no error."""
        assert self.read
        return self.read.spec

    @property
    def given(self) -> dict[str, str]:
        """The text given for every key, in the order of the command."""
        split = (override.partition("=") for override in self.overrides)
        return {key.lstrip("+~"): text for key, _, text in split}

    def value(self, key: str) -> Any:
        """Return the value of a key: as read, if it is a number or text, else as it was given."""
        setting = value_at(self.read.content, key) if self.read else None
        return setting if isinstance(setting, int | float | str) else self.given.get(key, "")

    def curve(self, panel: str, name: str, label: str) -> Series | None:
        """Return a curve of another job in this one, where its label may have other values."""
        curves = [s for s in self.series if (s.panel, s.curve) == (panel, name)]
        if len(curves) > 1:  # `each`: a curve for each of several values
            curves = [s for s in curves if s.label == label]
        return curves[0] if curves else None


def varied(jobs: Sequence[Job]) -> dict[str, str]:
    """Return the keys whose given values differ between jobs, in the order of the command.

    Each has its shortest ending that no other of these keys has.
    """
    given = [job.given for job in jobs]
    keys = dict.fromkeys(key for texts in given for key in texts)
    keys = dict.fromkeys(key for key in keys if len({texts.get(key) for texts in given}) > 1)
    endings = {}
    for key in keys:
        parts = key.split(".")
        tails = (".".join(parts[-n:]) for n in range(1, len(parts) + 1))
        others = [f".{other}" for other in keys if other != key]
        endings[key] = next(t for t in tails if not any(o.endswith(f".{t}") for o in others))
    return endings


def prepare(jobs: Sequence[Job], figure: str = "") -> None:
    """Name the jobs of a figure by the values that distinguish them, and their folders.

    `figure` begins their names. If a key has no effect in any job, or two jobs give the same
    figure, this is the error of every job. A job alone in its figure gets no folder.
    """
    loaded = [(job, job.read) for job in jobs if job.read]
    idle = (compose.idle(job.figure, job.overrides, read) for job, read in loaded)
    first = next(idle, {})
    others = [*idle] if first else []  # each composes the configuration again
    errors = [text for key, text in first.items() if all(key in other for other in others)]
    seen: dict[Any, Job] = {}
    for job, read in loaded:
        elsewhere = {*job.overrides} - {*recorded(job.overrides)}
        same = seen.setdefault((replace(read.spec, changes=()), *sorted(elsewhere)), job)
        if same is not job:
            both = (shown(" ".join(recorded(j.overrides))) for j in (same, job))
            errors.append(f"{job.figure}: two jobs give the same figure: {' and '.join(both)}")
    endings = varied(jobs)
    full = [",".join(f"{endings[k]}={job.given.get(k, '')}" for k in endings) for job in jobs]
    for job, folder in zip(jobs, map(as_file_name, full), strict=True):
        job.name = ", ".join(filter(None, (figure, folder)))
        if errors:
            job.read, job.error = None, errors[0]
        if job.read:
            settings = replace(job.read.settings, job=folder or None)
            job.read = job.read._replace(settings=settings)
