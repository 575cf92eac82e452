"""Rows of the pages' tables: what each curve plays, with which parameters and budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from markupsafe import Markup

from dpbandits.factory import captions
from dpbandits.gallery.texts import number
from dpbandits.kernel.parameters import reading_name
from dpbandits.spec.figure import FigureSpec

Pairs = list[tuple[str, Markup]]


@dataclass(frozen=True)
class CurveRow:
    """A curve in the table of a figure's page."""

    label: str
    plays: str  # name of the algorithm or rule; empty for a bound
    function: str  # function of theory/ for a bound, else empty
    params: Pairs
    game: Pairs  # environment and horizon, or stream
    privacy: str
    warning: str


def of_figure(spec: FigureSpec) -> list[tuple[str, str, list[CurveRow]]]:
    """Return for every panel its letter, its heading and the rows of its curves."""
    panels = []
    for panel in spec.panels:
        curves = []
        for curve in panel.curves:
            first = curve.sources[0]
            curves.append(
                CurveRow(
                    curve.label,
                    plays=first.member if first.columns else "",
                    function="" if first.columns else first.member,
                    params=_pairs([source.settings for source in curve.sources]),
                    game=_pairs([source.game for source in curve.sources]),
                    privacy=captions.privacy(curve),
                    warning=captions.warning(curve),
                )
            )
        heading = ", ".join(filter(None, (panel.row, panel.column, panel.title)))
        panels.append((panel.letter, heading, curves))
    return panels


def _pairs(of_points: Sequence[dict[str, Any]]) -> Pairs:
    # A value that is the same at all points appears once, any other as its range.
    pairs: Pairs = []
    for name in of_points[0]:
        values = [point[name] for point in of_points]
        pairs.append((name.replace("_", " "), _range(values)))
    return pairs


def _range(values: list[Any]) -> Markup:
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    if len(distinct) == 1:
        return number(distinct[0])
    if all(isinstance(v, list) and v for v in distinct):  # arms, whose number may change
        lengths = [len(v) for v in distinct]
        return Markup("{} to {} values within {} … {}").format(
            min(lengths),
            max(lengths),
            number(min(map(min, distinct))),
            number(max(map(max, distinct))),
        )
    if all(isinstance(v, int | float) for v in distinct):
        return Markup("{} to {} ({} values)").format(
            number(min(distinct)), number(max(distinct)), len(distinct)
        )
    return Markup(", ").join(number(v) for v in distinct)


@dataclass(frozen=True)
class Reading:
    """A reading of a paper's text other than the algorithm's default."""

    algorithm: str
    field: str
    value: str
    default: str
    labels: tuple[str, ...]  # of the curves that use it


def readings(spec: FigureSpec) -> list[Reading]:
    """Return the readings in use that differ from the algorithm's default."""
    labels_by_reading: dict[tuple[str, str, str, str], dict[str, None]] = {}
    played = [(curve.label, c) for p in spec.panels for curve in p.curves for c in curve.sources]
    for label, experiment in played:
        defaults = getattr(type(experiment.params), "_field_defaults", {})
        for name, value in zip(
            getattr(experiment.params, "_fields", ()), experiment.params, strict=True
        ):
            default = defaults.get(name)
            if isinstance(value, IntEnum) and isinstance(default, IntEnum) and value != default:
                key = experiment.member, name, reading_name(value), reading_name(default)
                labels_by_reading.setdefault(key, {})[label] = None
    return [Reading(*key, tuple(labels)) for key, labels in labels_by_reading.items()]
