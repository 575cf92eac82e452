"""What came of a search: the best trial, the table of all and the picture."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits.curves.series import PLACE, STATISTICS, Series, rows, written
from dpbandits.drawing import plotting
from dpbandits.drawing.styles import in_mathtext, style_of, symbol
from dpbandits.files import schemas
from dpbandits.files.provenance import git_revision
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.sweeps import files
from dpbandits.sweeps.jobs import short

DIGITS = 3  # significant, of a value: such as people type
DECADES = 100.0  # from this ratio on a range is searched in its logarithm


@dataclass(frozen=True)
class Range:
    """Where the value of a key is searched."""

    key: str  # with the plus, where one was typed
    low: float
    high: float

    @property
    def is_logarithmic(self) -> bool:
        """Whether the range is one of decades."""
        return self.low > 0 and self.high >= DECADES * self.low

    def rounded(self, value: float) -> float:
        """A value to three digits, in the range all the same."""
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)


@dataclass(frozen=True)
class Trial:
    """What came of one choice of values."""

    number: int
    values: Mapping[str, float]
    mean: float
    error: float | None  # standard error of the mean; None of a single run
    series: Series  # the last point of the curve alone


def only(spec: FigureSpec) -> Curve:
    """The curve of a figure that has one."""
    ((curve,),) = (panel.curves for panel in spec.panels)
    return curve


def best_of(done: Sequence[Trial]) -> Trial:
    """The trial of least mean."""
    return min(done, key=lambda trial: trial.mean)


def verdict(done: Sequence[Trial]) -> str:
    """The best values, how sure that is, and how many others may be as good."""
    best = best_of(done)
    told = ", ".join(f"{key.lstrip('+')}={value:g}" for key, value in best.values.items())
    if best.error is None:
        return f"best: {told} with {best.mean:.5g}, in a single run"
    close = [t for t in done if t.mean - best.mean <= 2 * math.hypot(t.error or 0.0, best.error)]
    return (
        f"best: {told} with {best.mean:.5g} +- {best.error:.2g}, mean and standard error of"
        f" {best.series.runs} runs; {len(close) - 1} others within two standard errors"
    )


def write(
    spec: FigureSpec,
    folder: Path,
    ranges: Sequence[Range],
    done: Sequence[Trial],
    command: str,
) -> str:
    """Write table, pictures and sidecar to a folder; returns their names."""
    keys = [r.key for r in ranges]
    table = written(
        ("trial", *(key.lstrip("+") for key in keys), *PLACE, *STATISTICS, "standard_error"),
        (
            (t.number + 1, *(t.values[key] for key in keys), *row, repr(t.error))
            for t in done
            for row in rows([t.series])
        ),
    )
    best = best_of(done)
    told = short([key.lstrip("+") for key in keys])
    drawing = plotting.Drawing(f"{spec.title}: tuned", (), _changes(spec, ranges))
    pictures = plotting.render(
        lambda _: _draw(ranges, done, list(told.values()), only(spec)),
        drawing,
        f"{command}, revision {git_revision()}",
    )
    sidecar = {
        "schema": schemas.TUNE,
        "figure": spec.name,
        "panel": spec.panels[0].letter,
        "curve": only(spec).label,
        "command": command,
        "best": {"values": dict(best.values), "mean": best.mean, "standard_error": best.error},
        "trials": len(done),
    }
    name = f"{spec.name}-{only(spec).name}-{'-'.join(told.values())}"
    return files.write(folder / name, {"csv": table, **pictures}, sidecar)


def _changes(spec: FigureSpec, ranges: Sequence[Range]) -> str:
    # What every trial has changed; the keys that are searched have axes of their own.
    searched = {r.key.lstrip("+") for r in ranges}
    return "; ".join(change.short for change in spec.changes if change.key not in searched)


def _draw(
    ranges: Sequence[Range], done: Sequence[Trial], labels: Sequence[str], curve: Curve
) -> Figure:
    # What every trial came to, over each of the keys; the best one filled.
    figure = Figure(figsize=(plotting.COLUMN * min(len(ranges), 2), 2.4 * -(-len(ranges) // 2)))
    axes = figure.subplots(-(-len(ranges) // 2), min(len(ranges), 2), sharey=True, squeeze=False)
    style = style_of(curve.style)
    best = best_of(done)
    look: dict[str, Any] = {"color": style.colour, "marker": style.marker or "o", "linestyle": ""}
    for ax, searched, label in zip(axes.flat, ranges, labels, strict=False):
        for trial in done:
            ax.errorbar(
                trial.values[searched.key],
                trial.mean,
                trial.error or 0.0,
                markerfacecolor=style.colour if trial is best else "white",
                elinewidth=0.8,
                **look,
            )
        ax.set_xscale("log" if searched.is_logarithmic else "linear")
        ax.set_xlabel(symbol(label))
    axes[0, 0].set_ylabel(f"Mean final regret of {in_mathtext(curve.label)}")
    return figure
