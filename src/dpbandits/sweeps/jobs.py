"""Jobs of a multirun: the keys in which they differ, their names, and checks that they differ."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.config import compose
from dpbandits.config.compose import Read
from dpbandits.config.conf_files import value_at
from dpbandits.core.errors import UserError, shown
from dpbandits.run import ExitStatus
from dpbandits.spec.changes import as_file_name, digest, is_recorded, recorded
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables.series import Series


@dataclass
class Job:
    """One job: its overrides, the configuration that they give or the error in it, its outcome."""

    figure: str
    overrides: tuple[str, ...]  # without the figure
    read: Read | UserError
    name: str = ""
    status: int = ExitStatus.DONE
    seconds: float = 0.0
    series: Sequence[Series] = ()  # empty until it is done, and if it failed

    @property
    def spec(self) -> FigureSpec:
        """The figure of a job whose configuration has no error."""
        assert isinstance(self.read, Read)
        return self.read.spec

    @property
    def error(self) -> str | None:
        """The error in the configuration."""
        return str(self.read) if isinstance(self.read, UserError) else None

    def texts(self) -> dict[str, str]:
        """Return the text given for every key, in the order of the command."""
        split = (override.partition("=") for override in self.overrides)
        return {key.lstrip("+~"): text for key, _, text in split}

    def value(self, key: str) -> Any:
        """Return the value of a key: as read, if it is a number or text, else as it was given."""
        plain = self.read.plain if isinstance(self.read, Read) else {}
        found = value_at(plain, key)
        return found if isinstance(found, int | float | str) else self.texts().get(key, "")

    def curve(self, panel: str, name: str, label: str) -> Series | None:
        """Return a curve of another job in this one, where its label may have other values."""
        found = [s for s in self.series if (s.panel, s.curve) == (panel, name)]
        if len(found) > 1:  # `each`: a curve for each of several values
            found = [s for s in found if s.label == label]
        return found[0] if found else None


def read(composed: Any) -> Job:
    """Return the job for the configuration that @hydra.main passes to its function."""
    figure, overrides, found = compose.from_hydra(composed)
    return Job(figure, tuple(overrides), found)


def varied(jobs: Sequence[Job]) -> list[str]:
    """Return the keys whose given values differ between jobs, in the order of the command."""
    given = [job.texts() for job in jobs]
    keys = dict.fromkeys(key for texts in given for key in texts)
    return [key for key in keys if len({texts.get(key) for texts in given}) > 1]


def short(keys: Sequence[str]) -> dict[str, str]:
    """Return for every key its shortest ending that no other key has."""
    endings = {}
    for key in keys:
        parts = key.split(".")
        tails = (".".join(parts[-n:]) for n in range(1, len(parts) + 1))
        others = [f".{other}" for other in keys if other != key]
        endings[key] = next(t for t in tails if not any(o.endswith(f".{t}") for o in others))
    return endings


def names(jobs: Sequence[Job]) -> list[str]:
    """Return a name for every job from the values that distinguish it, valid as a folder name."""
    endings = short(varied(jobs))
    full = [",".join(f"{endings[k]}={job.texts().get(k, '')}" for k in endings) for job in jobs]
    cleaned = [as_file_name(name) for name in full]
    return [
        f"{clean}-{digest(name)}" if cleaned.count(clean) > 1 else clean
        for clean, name in zip(cleaned, full, strict=True)
    ]


def refuse_idle(jobs: Sequence[Job]) -> None:
    """Raise UserError if a key has no effect in any job, or if two jobs give the same figure."""
    loaded = [(job, job.read) for job in jobs if isinstance(job.read, Read)]
    idle = [compose.idle(job.figure, job.overrides, read) for job, read in loaded]
    for key, message in (idle[0] if idle else {}).items():
        if all(key in other for other in idle):
            raise UserError(message)
    seen: dict[Any, Job] = {}
    for job, found in loaded:
        elsewhere = [word for word in job.overrides if not is_recorded(word)]
        first = seen.setdefault((replace(found.spec, changes=()), *elsewhere), job)
        if first is not job:
            both = (shown(" ".join(recorded(j.overrides))) for j in (first, job))
            raise UserError(f"{job.figure}: two jobs give the same figure: {' and '.join(both)}")
