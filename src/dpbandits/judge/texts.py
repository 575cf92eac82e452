"""Texts about results: templates whose numbers come from the results, and words for results."""

import math
import re
from collections.abc import Mapping

from dpbandits.checks.comparisons import plain
from dpbandits.drawing.formulas import plain as without_tex
from dpbandits.judge import reader
from dpbandits.judge.table import Gathered
from dpbandits.judge.verdicts import Result


def filled(text: str, gathered: Gathered) -> str:
    """Return a text with `{number}`, `{number:.2f}` and `{paper:10}` filled in, in Unicode."""

    def value(match: re.Match[str]) -> str:
        name, spec = match[1], match[2] or ""
        if name == "paper":
            return spec
        number = gathered.numbers[name]
        return format(number, spec) if spec else plain(number)

    return " ".join(without_tex(reader.TEMPLATE.sub(value, text)).split())


def factor(result: Result) -> str:
    """Return by how much a comparison holds or is missed, in words."""
    if not result.comparisons:
        return ""
    if result.equal:
        return "equal within 0.1 %"
    if not result.is_log:
        return f"{plain(result.left)} against {plain(result.right)}"
    size = math.exp(abs(result.estimate))
    number = f"{size:.3f}" if size < 1.1 else plain(size)
    return f"{'holds' if result.estimate <= 0 else 'missed'} by a factor of {number}"


def interval(result: Result) -> str:
    """Return the factor between the sides with its interval of 95 %; at most 1 where it holds."""
    if not result.is_log or not result.comparisons:
        return factor(result)
    value, low, high = (_short(math.exp(n)) for n in (result.estimate, result.low, result.high))
    return value if low == high else f"{value} [{low}, {high}]"


def _short(value: float) -> str:
    return f"{value:.3f}" if 0.9 < value < 1.1 else plain(value)


def chance(share: float) -> str:
    """Return a chance in words; '' if it is unknown."""
    if math.isnan(share):
        return ""
    return {0: "below 1 %", 100: "above 99 %"}.get(round(100 * share), f"{100 * share:.0f} %")


def in_words(combination: Mapping[str, str], drawn: Mapping[str, str]) -> str:
    """Return how a combination differs from what the figures draw."""
    differing = [f"{name}: {v}" for name, v in combination.items() if drawn.get(name) != v]
    return "; ".join(differing) or "as drawn"
