"""Jobs of a multirun: the keys in which they differ, their names, and checks that they differ."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbandits.config import compose
from dpbandits.config.compose import Read
from dpbandits.config.conf_files import value_at
from dpbandits.core.errors import UserError, shown
from dpbandits.run.exit_status import ExitStatus
from dpbandits.spec.changes import as_file_name, digest, recorded
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables.series import Series


@dataclass(frozen=True)
class Job:
    """One job: its overrides, and the configuration that they give or the error in it."""

    figure: str
    overrides: tuple[str, ...]  # without the figure
    read: Read | UserError

    def texts(self) -> dict[str, str]:
        """Return the text given for every key, in the order of the command."""
        split = (override.partition("=") for override in self.overrides)
        return {key.lstrip("+~"): text for key, _, text in split}

    def value(self, key: str) -> Any:
        """Return the value of a key: as read, if it is a number or text, else as it was given."""
        if isinstance(self.read, Read):
            read_value = value_at(self.read.plain, key)
            if isinstance(read_value, int | float | str):
                return read_value
        return self.texts().get(key, "")


@dataclass
class Done:
    """Outcome of a job."""

    job: Job
    name: str
    status: int = ExitStatus.DONE
    seconds: float = 0.0
    error: str | None = None  # in its configuration
    series: Sequence[Series] = ()  # empty if it failed

    @property
    def spec(self) -> FigureSpec:
        """The figure of a job whose configuration has no error."""
        assert isinstance(self.job.read, Read)
        return self.job.read.spec

    def curve(self, panel: str, name: str, label: str) -> Series | None:
        """Return a curve of another job in this one, where its label may have other values."""
        found = [s for s in self.series if (s.panel, s.curve) == (panel, name)]
        if len(found) > 1:  # `each`: a curve for each of several values
            found = [s for s in found if s.label == label]
        return found[0] if found else None


def read(composed: Any) -> Job:
    """Return the job for the configuration that @hydra.main passes to its function."""
    figure, overrides = compose.job_of_hydra()
    try:
        return Job(figure, tuple(overrides), compose.from_hydra(composed))
    except UserError as error:
        return Job(figure, tuple(overrides), error)


def varied(jobs: Sequence[Job]) -> list[str]:
    """Return the keys whose given values differ between jobs, in the order of the command."""
    of_jobs = [job.texts() for job in jobs]
    keys = dict.fromkeys(key for texts in of_jobs for key in texts)
    return [key for key in keys if len({texts.get(key) for texts in of_jobs}) > 1]


def short(keys: Sequence[str]) -> dict[str, str]:
    """Return for every key its shortest ending that no other key has."""
    parts = {key: key.split(".") for key in keys}
    endings = {}
    for key in keys:
        tail = 1
        while any(o != key and parts[o][-tail:] == parts[key][-tail:] for o in keys):
            tail += 1
        endings[key] = ".".join(parts[key][-tail:])
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
    """Reject repeated jobs, and keys that change no cell.

    Raises UserError if two jobs of a figure are the same, or if the value of a key has no effect.
    """
    for overrides, number in Counter(job.overrides for job in jobs).items():
        if number > 1:
            repeated = shown(" ".join(recorded(overrides)))
            raise UserError(f"{jobs[0].figure}: the multirun lists a job twice: {repeated}")
    loaded = [(job, job.read) for job in jobs if isinstance(job.read, Read)]
    if not loaded:
        return
    idle = [compose.idle(job.figure, job.overrides, read) for job, read in loaded]
    first, *others = ({_key(word): text for word, text in words.items()} for words in idle)
    for key, message in first.items():
        if all(key in other for other in others):
            raise UserError(message)
    for key in (key for key in varied(jobs) if key.startswith("figure.")):
        groups = _specs_apart_in(key, jobs)
        same = ({replace(spec, changes=()) for spec in group} for group in groups)
        if groups and all(len(specs) == 1 for specs in same):
            texts = list(dict.fromkeys(job.texts().get(key, "") for job in jobs))
            raise UserError(
                f"{jobs[0].figure}: {key}={shown(','.join(texts))[1:-1]} changes nothing: all of"
                " these values give the same figure (command line)"
            )


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


def depends(jobs: Sequence[Job], key: str) -> set[tuple[str, str]]:
    """Return the curves, by panel and name, whose numbers change with a key."""
    curves = set()
    for group in _specs_apart_in(key, jobs):
        first, *others = map(_numbers, group)
        curves |= {curve for curve in first if any(o.get(curve) != first[curve] for o in others)}
    return curves


def _specs_apart_in(key: str, jobs: Sequence[Job]) -> list[list[FigureSpec]]:
    # The figures of each set of jobs that differ in this key alone.
    groups: dict[tuple[tuple[str, str], ...], list[FigureSpec]] = {}
    for job in jobs:
        if isinstance(job.read, Read):
            others = tuple((k, text) for k, text in job.texts().items() if k != key)
            groups.setdefault(others, []).append(job.read.spec)
    return [group for group in groups.values() if len(group) > 1]


def _numbers(spec: FigureSpec) -> dict[tuple[str, str], list[Any]]:
    # What fixes the numbers of every curve, by panel and name.
    by_curve: dict[tuple[str, str], list[Any]] = {}
    for panel in spec.panels:
        for curve in panel.curves:  # several of one name if a panel has `each`
            numbers = (curve.x, curve.sources, curve.against)
            by_curve.setdefault((panel.letter, curve.name), []).append(numbers)
    return by_curve
