"""Descriptions of the games of a figure: the horizon, the arms and their law, or the stream."""

from collections.abc import Iterable, Sequence

from dpbandits.config import instances
from dpbandits.spec.figure import TRANSITION, FigureSpec


def of_figure(spec: FigureSpec) -> str:
    """Return a sentence on the instances and horizons that the drawn curves play; "" without any.

    Bounds count only if nothing is played.
    """
    curves = [curve for panel in spec.panels for curve in spec.drawn(panel)]
    played = [curve for curve in curves if curve.played]
    sources = [s for c in played or curves if c.style != TRANSITION for s in c.sources]
    laws = [source.setting(instances.description) for source in sources]
    horizons = [source.rounds for source in sources if source.rounds]
    text = ", ".join(filter(None, (_several(laws), _horizon(horizons))))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _horizon(horizons: Sequence[int]) -> str:
    if not horizons:
        return ""
    low, high = min(horizons), max(horizons)
    return f"T = {low:,}" if low == high else f"T = {low:,} to {high:,}"


def _several(laws: Iterable[str]) -> str:
    # Names of instances; of several games that have none, the first and the last.
    distinct = [law for law in dict.fromkeys(laws) if law]
    if len(distinct) <= 1 or all("," not in law for law in distinct):
        return ", ".join(distinct)
    return f"{len(distinct)} games, from {distinct[0]} to {distinct[-1]}"
