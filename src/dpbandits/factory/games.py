"""Descriptions of the games of a figure: the horizon, the arms and their law, or the stream."""

from collections.abc import Iterable, Sequence
from typing import Any

from dpbandits.config import instances
from dpbandits.experiments import Experiment
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.spec.figure import TRANSITION, FigureSpec


def of_figure(spec: FigureSpec) -> str:
    """Return a sentence on the instances and horizons that the drawn curves play; "" without any.

    Bounds count only if nothing is played.
    """
    curves = [curve for panel in spec.panels for curve in spec.drawn(panel)]
    played = [curve for curve in curves if not isinstance(curve.sources[0], Formula)]
    sources = [s for c in played or curves if c.style != TRANSITION for s in c.sources]
    horizons, laws = zip(*map(_game, sources), strict=True)
    text = ", ".join(filter(None, (_several(laws), _horizon([h for h in horizons if h]))))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _game(source: Experiment | Formula) -> tuple[int | None, str]:
    # The horizon, or None, and the law.
    if isinstance(source, RegretExperiment):
        return source.horizon, instances.description(source.environment, source.instance)
    if isinstance(source, StoppingExperiment):
        return None, f"samples of {source.stream.radius:g} or {-source.stream.radius:g}"
    if isinstance(source, AuditExperiment):
        return None, f"{source.plays:,} games an audit"
    arguments = source.arguments()
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
    # Names of instances; of several games that have none, the first and the last.
    distinct = [law for law in dict.fromkeys(laws) if law]
    if len(distinct) <= 1 or all("," not in law for law in distinct):
        return ", ".join(distinct)
    return f"{len(distinct)} games, from {distinct[0]} to {distinct[-1]}"
