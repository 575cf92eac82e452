"""Specification of a figure: frozen values between the configuration and everything else."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from dpbandits.experiments import Experiment
from dpbandits.spec.changes import Change

TRANSITION = "transition"  # style of the points where the privacy regimes of a bound meet
OWN = "across"  # in place of a paper's key, for figures of our own


@dataclass(frozen=True)
class Bound:
    """Function of theory/ with its arguments, in the place of a cell."""

    function: str  # <module>.<function> of theory/
    arguments: tuple[tuple[str, Any], ...]


class Quantity(Enum):
    """Quantity that a curve plots."""

    REGRET = "regret"  # regret of a run (or its pulls of one arm), or the value of a bound
    PER_LOG = "regret-per-log-t"  # the same divided by log T; only over a sweep
    EXTRA = "extra-regret"  # regret of a run minus that of the counterpart in the same run
    PRICE = "price-of-privacy"  # the mean of this over the mean regret of the counterpart
    SAMPLES = "samples"  # samples that a stopping rule used
    FAILURES = "failures"  # 1 if a rule's estimate is alpha |mu| or more away from mu, else 0
    CLAIMED = "claimed"  # epsilon that the paper claims
    COMPOSED = "composed"  # epsilon that the declared releases compose to, at the same delta
    AUDITED = "audited"  # lower bound on the privacy loss of all choices, by an audit
    ONE_CHOICE = "audited-choice"  # the same of a single choice, if the claim is for single ones


class StyleOverride(NamedTuple):
    """Colour, marker and line set in the figure's file; None: those of the algorithm."""

    colour: str | None = None
    marker: str | None = None
    line: str | None = None


AS_THE_ALGORITHM = StyleOverride()
Points = tuple[tuple[float, float], ...]  # (x, y), in ascending order of x


@dataclass(frozen=True)
class Original:
    """Figure or table of a paper that a figure reproduces, for example Fig. 2 (a), (b)."""

    kind: str  # `figure` or `table`
    number: int
    part: str = ""

    def __str__(self) -> str:
        space = " " if self.part.startswith("(") else ""
        return f"{'Fig.' if self.kind == 'figure' else 'Table'} {self.number}{space}{self.part}"


@dataclass(frozen=True)
class Curve:
    """One line of a panel: a cell over time, or one cell per value of the swept parameter."""

    name: str  # its key in the configuration
    label: str  # its label in tables
    legend: str  # its label in the legend
    style: str  # the algorithm (or bound) that sets colour and marker
    shows: Quantity
    over: str  # name of x: `t`, the round, or the swept parameter
    x: tuple[float, ...] | None  # the swept values; None: the x axis is the round
    sources: tuple[Experiment | Bound, ...]  # one per value of x; exactly one if x is None
    runs: int  # of each source; ignored for an exact curve
    fit: tuple[float, float] | None = None  # range of x for the fitted slope; None: all x
    reading: str = ""  # reading of the paper's text that it follows, if its siblings follow others
    look: StyleOverride = AS_THE_ALGORITHM
    against: tuple[Experiment, ...] = ()  # the counterpart of each source, for EXTRA and PRICE
    published: Points = ()  # of the same curve in the paper's own picture
    annotation: bool = False  # not in the original: drawn only if the figure is annotated

    @property
    def is_exact(self) -> bool:
        """True if the numbers need no runs: for a bound or a privacy budget."""
        budget = self.shows in (Quantity.CLAIMED, Quantity.COMPOSED)
        return budget or isinstance(self.sources[0], Bound)


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its curves."""

    letter: str  # a, b, ... in the order of the original
    title: str
    curves: tuple[Curve, ...]
    row: str = ""  # heading of its row of panels
    column: str = ""  # heading of its column

    @property
    def heading(self) -> str:
        """Row, column and title in one line."""
        return ", ".join(filter(None, (self.row, self.column, self.title)))


@dataclass(frozen=True)
class FigureSpec:
    """Figure: the cells to compute, the statistics over runs and the function that draws it."""

    name: str
    paper: str  # key of the paper; its drawing functions are in figures/<paper>.py
    title: str
    draw: str  # name of the drawing function
    runs: int  # of every curve that sets no number of its own
    centre: str  # statistic of the line (statistics.CENTRES)
    spread: str  # statistic of the band or bars (statistics.SPREADS)
    slopes: bool  # fit the log-log slope of every curve over a parameter
    panels: tuple[Panel, ...]
    note: str = ""  # text that its caption adds
    about: str = ""  # one or two sentences on what it shows
    original: Original | None = None  # None: a figure of our own
    seed: int = 0  # root of every random stream
    profile: str = "paper"
    changes: tuple[Change, ...] = ()  # differences from the figure's file
    annotated: bool = True  # with what the original does not have; always so without an original

    def runs_of_cells(self) -> dict[Experiment, int]:
        """Return every cell of the figure with its number of runs, in the order of the panels.

        A cell of several curves gets the largest number.
        """
        runs_of: dict[Experiment, int] = {}
        for panel in self.panels:
            for curve in panel.curves:
                for source in (*curve.sources, *curve.against):
                    if isinstance(source, Experiment):
                        runs_of[source] = max(curve.runs, runs_of.get(source, 0))
        return runs_of

    def drawn(self, panel: Panel) -> tuple[Curve, ...]:
        """Return the curves of a panel that the picture shows; the table has them all."""
        return tuple(curve for curve in panel.curves if self.annotated or not curve.annotation)

    def cells(self) -> tuple[Experiment, ...]:
        """Return every cell of the figure once, in the order of the panels."""
        return tuple(self.runs_of_cells())
