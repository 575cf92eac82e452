"""What a figure is: frozen values between the configuration and everything else."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from dpbandits.cells.kinds import AnyCell
from dpbandits.spec.changes import Change
from dpbandits.spec.claims import Claim

TRANSITION = "transition"  # style of the points where the regimes of a bound meet
OWN = "across"  # the key of figures of our own, in place of a paper's


@dataclass(frozen=True)
class Bound:
    """A named function of theory/, evaluated where a cell would be played."""

    function: str  # <module>.<function> of theory/
    arguments: tuple[tuple[str, Any], ...]


class Shown(Enum):
    """What of its sources a curve shows."""

    REGRET = "regret"  # what a run of an algorithm records, or the value of a bound
    PER_LOG = "regret-per-log-t"  # the same over log T; over a sweep
    SAMPLES = "samples"  # that a stopping rule used
    FAILURES = "failures"  # 1 where its estimate is alpha |mu| or more away from mu, else 0
    CLAIMED = "claimed"  # the epsilon that the paper promises
    COMPOSED = "composed"  # and what the declared releases compose to, at the same delta
    AUDITED = "audited"  # and what all arms lose at least, by an audit
    ONE_CHOICE = "audited-choice"  # and one of them, if the promise is of single ones


class Look(NamedTuple):
    """Colour, marker and line that the figure's file asks for; None: as the algorithm has them."""

    colour: str | None = None
    marker: str | None = None
    line: str | None = None


AS_THE_ALGORITHM = Look()


@dataclass(frozen=True)
class Original:
    """The figure or table of a paper that a figure reproduces: Fig. 2 (a), (b)."""

    kind: str  # figure or table
    number: int
    part: str = ""

    def __str__(self) -> str:
        space = " " if self.part.startswith("(") else ""
        return f"{'Fig.' if self.kind == 'figure' else 'Table'} {self.number}{space}{self.part}"


@dataclass(frozen=True)
class Curve:
    """One line of a panel: a cell over time, or a cell for every value of the swept parameter."""

    name: str  # its key in the configuration
    label: str  # in tables
    legend: str  # the label in a legend
    style: str  # the algorithm (or bound) that decides colour and marker
    shows: Shown
    over: str  # what x is: `t`, the round, or the name of the swept parameter
    x: tuple[float, ...] | None  # the swept values; None: the x axis is the round
    sources: tuple[AnyCell | Bound, ...]  # one per value of x; exactly one where x is None
    runs: int  # of each source; what is exact has none whatever this says
    fit: tuple[float, float] | None = None  # the x between which a slope is fitted; None: all
    reading: str = ""  # the reading of the paper's text that sets it apart from its siblings
    look: Look = AS_THE_ALGORITHM

    @property
    def is_exact(self) -> bool:
        """Whether its numbers are known without a run: a bound, a budget."""
        budget = self.shows in (Shown.CLAIMED, Shown.COMPOSED)
        return budget or isinstance(self.sources[0], Bound)


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    letter: str  # a, b, ... in the order of the original
    title: str
    curves: tuple[Curve, ...]
    row: str = ""  # heading that it shares with its neighbours
    column: str = ""

    @property
    def heading(self) -> str:
        """Row, column and title in one line."""
        return ", ".join(filter(None, (self.row, self.column, self.title)))


@dataclass(frozen=True)
class FigureSpec:
    """A figure: what is computed, how it is summed up and which function draws it."""

    name: str
    paper: str  # key of the paper; its drawing functions are figures/<paper>.py
    title: str
    draw: str  # the drawing function
    runs: int  # of a curve that says nothing else
    centre: str  # statistic of the line (statistics.CENTRES)
    spread: str  # statistic of the band or bars (statistics.SPREADS)
    slopes: bool  # fit the log-log slope of every curve over a parameter
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]  # what the paper says of it; none where the numbers are not its own
    note: str = ""  # what its caption must say besides
    about: str = ""  # a sentence or two on what it shows
    original: Original | None = None  # None: a figure of our own
    seed: int = 0  # root of every random stream
    profile: str = "paper"
    changes: tuple[Change, ...] = ()  # what differs from the figure's file

    def runs_of_cells(self) -> dict[AnyCell, int]:
        """Every cell of the figure, in the order of the panels, with its runs."""
        found: dict[AnyCell, int] = {}
        for panel in self.panels:
            for curve in panel.curves:
                for source in curve.sources:
                    if isinstance(source, AnyCell):
                        found[source] = max(curve.runs, found.get(source, 0))
        return found

    def cells(self) -> tuple[AnyCell, ...]:
        """Every cell of the figure once, in the order of the panels."""
        return tuple(self.runs_of_cells())
