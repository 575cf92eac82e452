"""Specification of a figure: frozen values between the configuration and everything else.

Overrides of engine and paths do not change a figure. Nor do those of the form of its picture, which
get a folder of their own. Every other difference from the figure's file is a `Change`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import Quantity

FREE = ("engine", "paths", "hydra", "sweep")  # first parts of keys: no change
PROFILE = "profile"
FORMATS = ("pdf", "svg", "png")
LONGEST_NAME = 80  # characters of a folder's name
TRANSITION = "transition"  # style of the points where the privacy regimes of a bound meet
OWN = "across"  # in place of a paper's key, for figures of our own
RESULTS = "results"  # and for those of results of our own
OURS = (OWN, RESULTS)


class StyleOverride(NamedTuple):
    """Colour, marker and line set in the figure's file; None: those of the algorithm."""

    colour: str | None = None
    marker: str | None = None
    line: str | None = None


class Appearance(NamedTuple):
    """Form of a picture on its page; None: that of the drawing function. It changes no number."""

    width: float | str | None = None  # in inches, or `column` or `page`
    font_size: float | None = None  # in points, of titles, labels and legends
    untitled: bool = False
    legend: str | None = None  # `below` the panels, on the `right`, or `none`
    x_axis: str | None = None  # `linear` or `log`
    y_axis: str | None = None
    format: str | None = None  # the only format to write
    style: str | None = None  # over the house style: name of matplotlib, or path of an .mplstyle

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats of the picture's files."""
        return (self.format,) if self.format else FORMATS


class Data(NamedTuple):
    """Column of a user's table, whose numbers are the means of a game."""

    file: str  # as a command or file names it
    column: str  # its name; its number, from 1, if it has none
    sha256: str  # of the file


AS_THE_ALGORITHM = StyleOverride()
AS_DRAWN = Appearance()
Points = tuple[tuple[float, float], ...]  # (x, y), in ascending order of x


@dataclass(frozen=True)
class Original:
    """Figure or table of a paper that a figure reproduces, for example Fig. 2 (a), (b)."""

    kind: str  # `figure` or `table`
    number: int
    part: str = ""

    @property
    def numbers(self) -> range:
        """Numbers of the figures that it reproduces: 1 to 5 for Figs. 1–5."""
        last = self.part.removeprefix("–")
        return range(self.number, (int(last) if last != self.part else self.number) + 1)

    def __str__(self) -> str:
        space = " " if self.part.startswith("(") else ""
        return f"{'Fig.' if self.kind == 'figure' else 'Table'} {self.number}{space}{self.part}"


@dataclass(frozen=True)
class Curve:
    """One line of a panel: an experiment over time, or one per value of the swept parameter."""

    name: str  # its key in the configuration
    label: str  # its label in tables
    legend: str  # its label in the legend
    style: str  # the algorithm (or bound) that sets colour and marker
    shows: Quantity
    over: str  # name of x: `t`, the round, or the swept parameter
    x: tuple[float, ...] | None  # the swept values; None: the x axis is the round
    sources: tuple[Experiment, ...]  # one per value of x; exactly one if x is None
    runs: int  # of each source; ignored for an exact curve
    fit: tuple[float, float] | None = None  # range of x for the fitted slope; None: all x
    variant: str = ""  # of the paper's text that it follows, if its siblings follow others
    look: StyleOverride = AS_THE_ALGORITHM
    against: tuple[Experiment, ...] = ()  # the counterpart of each source, for a pair
    published: Points = ()  # of the same curve in the paper's own picture
    annotation: bool = False  # not in the original: drawn only if the figure is annotated

    @property
    def is_exact(self) -> bool:
        """True if the numbers need no runs: for a formula or a privacy budget."""
        return not (self.shows.needs_runs and self.sources[0].columns)

    @property
    def played(self) -> tuple[Experiment, ...]:
        """The experiments that have runs, those of the counterpart last."""
        return tuple(source for source in (*self.sources, *self.against) if source.columns)


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its curves."""

    letter: str  # a, b, ... in the order of the original
    title: str
    curves: tuple[Curve, ...]
    row: str = ""  # heading of its row of panels
    column: str = ""  # heading of its column


@dataclass(frozen=True)
class Change:
    """One key whose value differs from the figure's file."""

    key: str  # for example `figure.curves.adap-ucb.alpha` or `algorithm@figure.curves.x`
    value: str | None  # None: deleted
    before: str | None  # value in the files; None: absent there

    @property
    def is_ink(self) -> bool:
        """True if it changes the form of the picture alone, and no number or text."""
        keys = "|".join([*Appearance._fields, r"curves\.[^.]+\.(colour|marker|line)"])
        return bool(re.fullmatch(rf"figure\.({keys})", self.key))

    def phrase(self, replaced: bool = True) -> str:
        """Return its text in a caption, with the value that it replaces.

        That value is left out if not `replaced`, as in the title line of a picture.
        """
        name, group = self.key.removeprefix("figure."), None
        if match := re.fullmatch(r"(\w+@)?figure\.(curve|panel)s\.([^.]+)\.?(.*)", self.key):
            group, kind, member, inner = match.groups()
            name = f"curve {member}" if kind == "curve" else f"panel ({member})"
            name = f"{inner} of {name}" if inner and not group else name
        value, before = (  # with commas between thousands and spaces in lists
            f"{int(v):,}"
            if re.fullmatch(r"\d{4,}", v) and self.key != "seed"
            else v.replace(",", ", ").replace(":", ": ")
            for v in (self.value or "", self.before or "")
        )
        if self.key == PROFILE:
            text = f"scale of the profile {self.value}"
        elif group:
            text = f"{name} added: {self.value}"
        else:
            text = f"without {name}" if self.value is None else f"{name} = {value}"
        both = replaced and None not in (self.value, self.before)
        return f"{text} (file: {before})" if both else text


@dataclass(frozen=True)
class FigureSpec:
    """Figure: its experiments, the statistics over runs and the function that draws it."""

    name: str
    paper: str  # key of the paper; its drawing functions are in figures/<paper>.py
    title: str
    draw: str  # name of the drawing function
    runs: int  # of every curve that sets no number of its own
    centre: str  # statistic of the line (statistics.CENTRES)
    spread: str  # statistic of the band or bars (statistics.SPREAD_NAMES)
    slopes: bool  # fit the log-log slope of every curve over a parameter
    panels: tuple[Panel, ...]
    note: str = ""  # text that its caption adds
    about: str = ""  # one or two sentences on what it shows
    original: Original | None = None  # None: a figure of our own
    seed: int = 0  # root of every random stream
    profile: str = "paper"
    changes: tuple[Change, ...] = ()  # differences from the figure's file
    annotated: bool = True  # with what the original does not have; always so without an original
    appearance: Appearance = AS_DRAWN
    level: float | None = None  # of confidence intervals; None: they are not drawn
    data: tuple[Data, ...] = ()  # tables that its games have their means from

    @property
    def is_as_filed(self) -> bool:
        """True unless an override changes more than the seed and numbers of runs."""
        return all(change.key.split(".")[-1] in ("runs", "seed") for change in self.changes)

    def runs_of_experiments(self) -> dict[Experiment, int]:
        """Return every experiment with its number of runs, in the order of the panels.

        An experiment of several curves gets the largest number.
        """
        runs_of: dict[Experiment, int] = {}
        for panel in self.panels:
            for curve in panel.curves:
                for source in curve.played:
                    runs_of[source] = max(curve.runs, runs_of.get(source, 0))
        return runs_of

    def drawn_curves(self, panel: Panel) -> tuple[Curve, ...]:
        """Return the curves of a panel that the picture shows; the table has them all."""
        return tuple(curve for curve in panel.curves if self.annotated or not curve.annotation)

    def experiments(self) -> tuple[Experiment, ...]:
        """Return every experiment of the figure once, in the order of the panels."""
        return tuple(self.runs_of_experiments())


def text(value: Any) -> str:
    """Return the canonical spelling of a value: 100_000, 100000 and 1e5 all become `100000`."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{k}:{text(v)}' for k, v in value.items())}}}"
    return f"[{','.join(map(text, value))}]" if isinstance(value, list | tuple) else str(value)


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of every leaf of nested mappings."""
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, f"{path}.{name}" if path else str(name))
    else:
        yield path, node


def folder_name(changes: Sequence[Change]) -> str:
    """Return the name of a figure's folder, for example `environment=c4,horizon=100000`."""
    names = [re.sub(r"^(?:\w+@)?figure\.(?:curves\.)?", "", c.key) for c in changes]
    pairs = zip(names, (c.value for c in changes), strict=True)
    return as_file_name(",".join(sorted(f"~{k}" if v is None else f"{k}={v}" for k, v in pairs)))


def as_file_name(name: str) -> str:
    """Return a name for a file or folder, shortened and without characters that need quotes.

    If anything is lost, eight digits of a digest keep it distinct.
    """
    clean = re.sub(r"[^\w.,=+~-]", "_", re.sub(r"[\[\]]", "", name))[:LONGEST_NAME]
    return clean if clean == name else f"{clean}-{sha256(name.encode()).hexdigest()[:8]}"


def recorded(overrides: Iterable[str]) -> list[str]:
    """Return the overrides, or keys alone, that concern neither folders nor engines."""
    return [o for o in overrides if not re.match(r"[+~]*(paths|engine)([.=]|$)", o)]
