"""Results of a search: the best trial, the table of all trials and the picture."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from matplotlib.figure import Figure

from dpbandits.cells.kinds import AnyCell
from dpbandits.core import parameters
from dpbandits.curves.series import PLACE, STATISTICS, Series, rows, written
from dpbandits.drawing import plotting
from dpbandits.drawing.styles import in_mathtext, style_of, symbol
from dpbandits.files import schemas
from dpbandits.files.provenance import revision
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.sweeps import files
from dpbandits.sweeps.jobs import short

DIGITS = 3  # significant digits of a tried value, as a person would choose it
WHOLE = ("arms", "horizon", "plays", "pulls_of", "runs")  # keys that are not in Params
DECADES = 100.0  # ratio of its ends from which a range is searched in logarithms


@dataclass(frozen=True)
class Range:
    """Range in which the value of a key is searched."""

    key: str  # with its plus sign, if given
    low: float
    high: float
    is_whole: bool = False  # only whole numbers are tried

    @property
    def is_logarithmic(self) -> bool:
        """True if the range spans at least two decades of positive values."""
        return self.low > 0 and self.high >= DECADES * self.low

    def rounded(self, value: float) -> float:
        """Return a value rounded to three significant digits, kept inside the range."""
        return min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high)


def of_valid(searched: Range, curve: Curve) -> Range:
    """Return the range, limited to whole numbers if its key takes no others."""
    source, name = curve.sources[0], searched.key.rpartition(".")[2]
    assert isinstance(source, AnyCell)
    annotation = parameters.fields(type(source.params)).get(name, int if name in WHOLE else float)
    if int not in (annotation, *get_args(annotation)):
        return searched
    return replace(searched, high=float(math.floor(searched.high)), is_whole=True)


@dataclass(frozen=True)
class Trial:
    """Result of one choice of values."""

    number: int
    values: Mapping[str, float]
    mean: float
    error: float | None  # standard error of the mean; None for a single run
    series: Series  # the last point of the curve alone


def only(spec: FigureSpec) -> Curve:
    """Return the only curve of a figure."""
    ((curve,),) = (panel.curves for panel in spec.panels)
    return curve


def best_of(done: Sequence[Trial]) -> Trial:
    """Return the trial with the least mean."""
    return min(done, key=lambda trial: trial.mean)


def verdict(done: Sequence[Trial]) -> str:
    """Return the best values, their standard error, and how many others are about as good."""
    best = best_of(done)
    best_values = ", ".join(f"{key.lstrip('+')}={value:g}" for key, value in best.values.items())
    if best.error is None:
        return f"best: {best_values} with {best.mean:.5g}, in a single run"
    close = [t for t in done if t.mean - best.mean <= 2 * math.hypot(t.error or 0.0, best.error)]
    return (
        f"best: {best_values} with {best.mean:.5g} +- {best.error:.2g}, mean and standard error of"
        f" {best.series.runs} runs; {len(close) - 1} others within two standard errors"
    )


def write(
    spec: FigureSpec,
    folder: Path,
    ranges: Sequence[Range],
    done: Sequence[Trial],
    command: str,
) -> str:
    """Write table, pictures and sidecar to a folder; return the file names for a message."""
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
    labels = short([key.lstrip("+") for key in keys])
    drawing = plotting.Drawing(f"{spec.title}: tuned", (), _changes(spec, ranges))
    pictures = plotting.render(
        lambda _: _draw(ranges, done, list(labels.values()), only(spec)),
        drawing,
        f"{command}, revision {revision()}",
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
    name = f"{spec.name}-{only(spec).name}-{'-'.join(labels.values())}"
    return files.write(folder / name, {"csv": table, **pictures}, sidecar)


def _changes(spec: FigureSpec, ranges: Sequence[Range]) -> str:
    # The changes that every trial shares; the searched keys have axes of their own.
    searched = {r.key.lstrip("+") for r in ranges}
    return "; ".join(change.short for change in spec.changes if change.key not in searched)


def _draw(
    ranges: Sequence[Range], done: Sequence[Trial], labels: Sequence[str], curve: Curve
) -> Figure:
    # The mean of every trial over each of the keys; the best one is filled.
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
