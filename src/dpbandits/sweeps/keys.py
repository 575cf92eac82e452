"""Keys in which the jobs of a multirun differ, as axes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from dpbandits.config.compose import Read
from dpbandits.curves.series import Series
from dpbandits.drawing.styles import in_mathtext, symbol
from dpbandits.spec.figure import FigureSpec
from dpbandits.sweeps.jobs import Job, short

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class JobCurves(NamedTuple):
    """A completed job with its curves."""

    job: Job
    series: Sequence[Series]


class Key(NamedTuple):
    """A key in which the jobs differ: its label, and its values in the order of the axis."""

    key: str
    label: str
    values: list[Any]

    @property
    def is_number(self) -> bool:
        """True if all values are numbers, which have positions on a numerical axis."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    @property
    def places(self) -> list[float]:
        """Positions of the values on the axis: the numbers themselves, else 0, 1, 2, ..."""
        return [float(v if self.is_number else i) for i, v in enumerate(self.values)]

    @property
    def is_logarithmic(self) -> bool:
        """True if the values are positive numbers that span a factor of 20 or more."""
        return self.is_number and min(self.places) > 0 and max(self.places) >= 20 * min(self.places)

    def tick(self, value: Any) -> str:
        """Return the tick label of a value."""
        return f"{value:g}" if self.is_number else str(value)


def spec_of(point: JobCurves) -> FigureSpec:
    """Return the figure of a job."""
    assert isinstance(point.job.read, Read)
    return point.job.read.spec


def key_of(key: str, points: Sequence[JobCurves], spec: FigureSpec, varied: Sequence[str]) -> Key:
    """Return a key with its label and the values that it takes in the completed jobs."""
    values = list(dict.fromkeys(point.job.value(key) for point in points))
    name = short(varied)[key].rpartition(".")[2]
    label = symbol(name)
    parts = key.split(".")
    linked = any(f"{{{key}\\}}" in text for text in points[0].job.texts().values())
    if parts[:2] == ["figure", "curves"] and len(parts) > 3 and not linked:
        labels = {c.name: c.label for panel in spec.panels for c in panel.curves}
        label = f"{label} of {in_mathtext(labels.get(parts[2], parts[2]))}"
    elif parts[:2] == ["figure", "panels"]:
        label = f"{label} of ({parts[2]})"
    axis = Key(key, label, values)
    return axis._replace(values=sorted(values)) if axis.is_number else axis


def same_curve(all_series: Sequence[Series], panel: str, curve: str, label: str) -> Series | None:
    """Return the series of a curve in another job, where its label may have other values."""
    own = [s for s in all_series if (s.panel, s.curve) == (panel, curve)]
    if len(own) > 1:  # `each`: a curve for each of several values
        own = [s for s in own if s.label == label]
    return own[0] if own else None
