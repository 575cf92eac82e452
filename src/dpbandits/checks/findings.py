"""Findings of the tests of claims: a verdict at the point that decides, with its numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpbandits.checks.comparisons import Compared, Measure, Silence, Verdict
from dpbandits.spec.claim_tests import At


@dataclass(frozen=True)
class Finding:
    """Verdict of a test at the point that decides it."""

    verdict: Verdict
    numbers: str  # the numbers, in words
    measure: Measure | None = None
    silence: Silence | None = None  # why the test says nothing, if it does
    figure: str = ""
    reading: str = ""


def decisive(
    compared: Iterable[Compared], at: At | float = At.EVERYWHERE, up_to_noise: bool = False
) -> Finding:
    """Return the comparison that decides: the worst, or the best if one point is enough."""
    pick: Callable[..., Compared] = max if at is At.SOMEWHERE else min
    chosen = pick(compared, key=lambda c: c.order(up_to_noise))
    return Finding(chosen.verdict(up_to_noise), chosen.words, chosen.measure)
