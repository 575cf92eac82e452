"""Sentences about several curves, each made from the list of the points for which it holds.

A point is a curve of a panel at one swept value. A sentence names up to `NAMED` curves, with their
panels and swept values unless it holds for all of them, and gives the number of more.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dpbandits.drawing.formulas import number, without_tex
from dpbandits.drawing.styles import in_mathtext, symbol
from dpbandits.experiments.experiment import Experiment
from dpbandits.spec.figure import Curve, FigureSpec, Panel

NAMED = 3
SYMBOLS = {"horizon": "T", "arms": "K"}  # of swept keys that are no Greek letters


class Point(NamedTuple):
    """Curve of a panel at one of its swept values; at the position 0 if it has none."""

    panel: Panel
    curve: Curve
    position: int  # of the swept value

    @property
    def source(self) -> Experiment:
        """The experiment of this point."""
        return self.curve.sources[self.position]

    @property
    def name(self) -> str:
        """Name of its curve in a sentence."""
        return without_tex(in_mathtext(self.curve.label))

    @property
    def family(self) -> str:
        """Name that it shares with the curves of a panel that differ in ε alone."""
        return without_tex(in_mathtext(self.curve.label.partition(" (epsilon=")[0]))

    @property
    def place(self) -> tuple[str, str, int]:
        """Letter of its panel, label of its curve and position of its swept value."""
        return self.panel.letter, self.curve.label, self.position


class Statement(NamedTuple):
    """Sentence of a caption, with the points for which each of its words holds."""

    text: str
    holds: Mapping[str, Sequence[Point]]

    def as_json(self) -> dict[str, Any]:
        """Return the sentence and, for each of its words, the panels, labels and swept values."""
        return {"sentence": self.text, "holds": {k: _places(v) for k, v in self.holds.items()}}


def sentence(words: str, holds: Mapping[str, Sequence[Point]]) -> Statement:
    """Return words as a sentence, with its capital and full stop."""
    return Statement(f"{words[:1].upper()}{words[1:]}.", holds)


def points(spec: FigureSpec) -> list[Point]:
    """Return every point that the figure draws, in the order of the panels."""
    return [
        Point(panel, curve, position)
        for panel in spec.panels
        for curve in spec.drawn_curves(panel)
        for position in range(len(curve.sources))
    ]


def grouped(pairs: Iterable[tuple[str, Point]]) -> dict[str, list[Point]]:
    """Return the points of every word, in the order of their first appearance."""
    groups: dict[str, list[Point]] = {}
    for word, point in pairs:
        groups.setdefault(word, []).append(point)
    return groups


def which(holds: Collection[Point], among: Collection[Point]) -> str:
    """Return the names of the curves of some points: `DP-SE`, `A and B in (a) at ε = 1 to 2`.

    Panels and swept values are left out if the points are all points of that name `among` those
    that the sentence is about. More than `NAMED` names become `5 of the 12 curves`, or
    `points of ...` if not all of their points are among them.
    """
    families, names = grouped((p.family, p) for p in among), grouped((p.name, p) for p in among)
    by_place: dict[str, list[str]] = {}
    for family, chosen in grouped((p.family, p) for p in holds).items():
        if len(chosen) == len(families[family]):
            by_place.setdefault("", []).append(family)
            continue
        for name, part in grouped((p.name, p) for p in chosen).items():
            for place in _qualifiers(part, names[name]):
                by_place.setdefault(place, []).append(name)
    if sum(map(len, by_place.values())) > NAMED:
        curves, of = (Counter(p.place[:2] for p in chosen) for chosen in (holds, among))
        some = "" if all(of[curve] == n for curve, n in curves.items()) else "some points of "
        return f"{some}{len(curves)} of the {len(of)} curves"
    ordered = sorted(by_place.items(), key=lambda item: bool(item[0]))
    return "; ".join(f"{listed(together)}{place}" for place, together in ordered)


def is_one(who: str, holds: Collection[Point]) -> bool:
    """Return whether the words of `which` for these points name a single curve."""
    return len({p.family for p in holds}) == 1 and not who[:1].isdigit()


def listed(names: Sequence[str]) -> str:
    """Return `A`, `A and B` or `A, B and C`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _qualifiers(chosen: Sequence[Point], every: Sequence[Point]) -> list[str]:
    # `""` for all points of the name; else panels and swept values, such as ` in (a) at ε = 1`.
    if len(chosen) == len(every):
        return [""]
    panels = {p.panel.letter: p.panel for p in every}
    values: dict[str, list[str]] = {}  # panels by the text for the swept values
    for letter, inside in grouped((p.panel.letter, p) for p in chosen).items():
        whole = [p for p in every if p.panel.letter == letter]
        values.setdefault(_values(inside, whole), []).append(letter)
    if len(values) == 1 and len(next(iter(values.values()))) == len(panels):
        return [next(iter(values))]
    several = list(panels.values())
    return [
        f" in {listed([_heading(panels[x], several) for x in places])}{text}"
        for text, places in values.items()
    ]


def _heading(panel: Panel, panels: Sequence[Panel]) -> str:
    # The letter, or what the picture has in its place: the headings in which the panels differ.
    parts = [
        without_tex(getattr(panel, key))
        for key in ("row", "column")
        if len({getattr(p, key) for p in panels}) > 1
    ]
    return ", ".join(parts) or f"({panel.letter})"


def _values(inside: Sequence[Point], whole: Sequence[Point]) -> str:
    if len(inside) == len(whole):
        return ""
    curve = inside[0].curve
    name, x = SYMBOLS.get(curve.over, without_tex(symbol(curve.over))), curve.x or ()
    first, last = inside[0].position, inside[-1].position
    if last - first + 1 == len(inside):
        write = "{:,.0f}".format if curve.over in SYMBOLS else number
        low, high = write(x[first]), write(x[last])
        return f" at {name} = {low}" + (f" to {high}" if last > first else "")
    return f" at {len(inside)} of the {len(whole)} values of {name}"


def _places(chosen: Iterable[Point]) -> list[dict[str, Any]]:
    x_of: dict[tuple[str, str], list[float] | None] = {}
    for p in chosen:
        values = x_of.setdefault((p.panel.letter, p.curve.label), [] if p.curve.x else None)
        if values is not None and p.curve.x:
            values.append(p.curve.x[p.position])
    return [{"panel": panel, "label": label, "x": x} for (panel, label), x in x_of.items()]
