"""Descriptions of the games of a figure: the horizon, the arms and their law, or the stream."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dpbandits.audit.cell import AuditCell
from dpbandits.cells.bandit_cell import Cell, StoppingCell
from dpbandits.cells.kinds import AnyCell
from dpbandits.config import instances
from dpbandits.spec.figure import TRANSITION, Bound, Curve, FigureSpec, Panel


def of_figure(spec: FigureSpec) -> Iterator[str]:
    """Yield a line for every distinct game, with the letters of its panels if there are several."""
    games = [(panel, of_panel(panel)) for panel in spec.panels]
    distinct = dict.fromkeys(game for _, game in games)
    for game in distinct:
        letters = [panel.letter for panel, own in games if own == game]
        where = "" if len(distinct) == 1 else f"({'), ('.join(letters)}) "
        if game:
            yield f"{where}{game}."


def of_panel(panel: Panel) -> str:
    """Return the game of a panel; if its curves play several games, each with its curves.

    Bounds count only if nothing is played: otherwise they are for the same game, or their label
    names theirs.
    """
    curves = [curve for curve in panel.curves if not isinstance(curve.sources[0], Bound)]
    curves = curves or [curve for curve in panel.curves if curve.style != TRANSITION]
    groups: dict[str, list[str]] = {}
    for curve in curves:
        if game := of_curve(curve):
            groups.setdefault(game, []).append(curve.legend)
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"{', '.join(labels)}: {game}" for game, labels in groups.items())


def of_curve(curve: Curve) -> str:
    """Return the game that a curve is played in, or the one that a bound is evaluated for."""
    horizons, laws = [], []
    for source in curve.sources:
        horizon, law = _game(source)
        horizons.append(horizon)
        laws.append(law)
    parts = (_several(laws), _horizon([h for h in horizons if h is not None]))
    return ", ".join(filter(None, parts))


def _game(source: AnyCell | Bound) -> tuple[int | None, str]:
    # The horizon, or None, and the law.
    if isinstance(source, Cell):
        return source.horizon, instances.description(source.environment, source.instance)
    if isinstance(source, StoppingCell):
        mean, radius = source.stream
        return None, f"samples {radius:g} or {-radius:g} of mean {mean:g}"
    if isinstance(source, AuditCell):
        return None, f"{source.plays:,} games an audit"
    arguments = dict(source.arguments)
    return arguments.get("horizon"), _law_of_bound(arguments)


def _law_of_bound(arguments: dict[str, Any]) -> str:
    if "means" in arguments:
        return instances.description_of_means(arguments["means"])
    if "arms" in arguments:
        return f"K = {arguments['arms']}"
    if "dimension" in arguments:
        return f"linear bandits, dimension {arguments['dimension']}"
    return ""


def _horizon(horizons: Sequence[int]) -> str:
    if not horizons:
        return ""
    low, high = min(horizons), max(horizons)
    return f"T = {low:,}" if low == high else f"T = {low:,} to {high:,}"


def _several(laws: Iterable[str]) -> str:
    distinct = [law for law in dict.fromkeys(laws) if law]
    if len(distinct) <= 1:
        return "".join(distinct)
    return f"{len(distinct)} games, from {distinct[0]} to {distinct[-1]}"
