"""Comparisons of numbers that have standard errors, and their wording."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from dpbandits.spec.claim_tests import Limits

ERRORS = 3  # standard errors by which a difference must exceed 0
ROUNDING = 1e-9  # relative; smaller differences count as 0
TINY = 1e-300  # smallest divisor
NORMAL = 1.959964  # quantile of the normal law, for an interval of 95 %


class Verdict(Enum):
    """Verdict on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    DEPENDS = "depends"  # on the reading
    UNDECIDED = "undecided"  # the standard errors are too large
    NOT_TESTED = "not tested"  # the test says nothing: see Silence


class Silence(Enum):
    """Reason why a test says nothing."""

    VACUOUS = "vacuous"  # the bound exceeds the largest possible regret
    NOT_APPLICABLE = "not applicable"  # a condition of the sentence is not met
    NOT_SHOWN = "not shown"  # the proof has a gap, which is no counterexample
    NO_EVIDENCE = "no evidence"  # the curves have not been computed


@dataclass(frozen=True)
class Measure:
    """Measured number beside the limit that it is compared with."""

    value: float
    error: float  # standard error; inf: unknown
    limit: float
    side: str  # "at least" or "at most"
    word: str = ""  # word of the paper to which this project gave the limit
    runs_factor: float = math.inf  # on the number of runs at which the difference would count

    @property
    def interval(self) -> tuple[float, float]:
        """Interval that covers the number with a confidence of 95 %."""
        return self.value - NORMAL * self.error, self.value + NORMAL * self.error

    @property
    def distance(self) -> float:
        """Distance from the limit, as a share of it."""
        return abs(self.value - self.limit) / max(abs(self.limit), TINY)


@dataclass(frozen=True)
class Compared:
    """Distance of a number from its limit, positive if it is kept, with its standard error."""

    room: float
    error: float
    words: str
    share: float = 0.0  # the distance as a share of the limit
    measure: Measure | None = None

    @property
    def in_errors(self) -> float:
        """The distance in standard errors."""
        if self.error > 0:
            return self.room / self.error
        return math.copysign(math.inf, self.room) if self.room else 0.0

    @property
    def runs_factor(self) -> float:
        """Factor on the number of runs at which this difference would count."""
        return (ERRORS / self.in_errors) ** 2 if self.in_errors else math.inf

    def verdict(self, up_to_noise: bool) -> Verdict:
        """Return the verdict on the limit; with `up_to_noise`, undecided counts as HOLDS."""
        if self.in_errors > ERRORS:
            return Verdict.HOLDS
        if self.in_errors < -ERRORS:
            return Verdict.FAILS
        return Verdict.HOLDS if up_to_noise else Verdict.UNDECIDED

    def order(self, up_to_noise: bool) -> tuple[int, float, float]:
        """Return a sort key: failures first, the clearest one leading; kept limits last.

        Among kept limits, the one with the smallest share comes first.
        """
        verdict = self.verdict(up_to_noise)
        rank = (Verdict.FAILS, Verdict.UNDECIDED, Verdict.HOLDS).index(verdict)
        return rank, 0.0 if verdict is Verdict.HOLDS else self.in_errors, self.share


def quotient(
    limits: Limits, pair: tuple[float, float], errors: tuple[float, float], words: str
) -> Compared:
    """Compare the ratio of two numbers with its limits and return the less favourable side.

    No division decides, because the second number may be 0.
    """
    return min(_sides(limits, pair, errors, words), key=lambda side: side.order(False))


def _sides(
    limits: Limits, pair: tuple[float, float], errors: tuple[float, float], words: str
) -> Iterator[Compared]:
    (a, b), (error_a, error_b) = pair, errors
    sides = (limits.at_least, 1.0, "at least"), (limits.at_most, -1.0, "at most")
    for limit, sign, side in sides:
        if math.isfinite(limit):
            smallest = ROUNDING * max(abs(a), abs(limit * b))
            room, error = sign * (a - limit * b), math.hypot(error_a, limit * error_b)
            room, error = (n if abs(n) > smallest else 0.0 for n in (room, error))
            asked = f"; asked: {side} {limit:,.10g}" if limit != 1 else ""
            share = room / max(abs(limit * b), smallest, TINY)
            compared = Compared(room, error, words + asked, share)
            if b:
                own = math.hypot(error_a, a / b * error_b) / abs(b)
                # The difference decides, so the runs follow from its error, not from the ratio's.
                factor = compared.runs_factor
                measure = Measure(a / b, own, limit, side, limits.word, factor)
                compared = replace(compared, measure=measure)
            yield compared


def runs_to_decide(factors: Iterable[float], runs: int) -> float:
    """Return the number of runs at which all of several differences would count.

    It exceeds `runs`, which leave at least one of them undecided; inf for a difference of 0.
    """
    needed = max(factors, default=math.inf) * runs
    return max(runs + 1, math.ceil(needed)) if math.isfinite(needed) else math.inf


def within(limits: Limits, value: float, error: float, words: str) -> Compared:
    """Compare a number with its limits."""
    return quotient(limits, (value, 1.0), (error, 0.0), words)


def with_error(number: float, error: float) -> str:
    """Format a number, followed by its standard error in parentheses if it has one."""
    known = ROUNDING * abs(number) < error < math.inf
    return f"{plain(number)} ({plain(error)})" if known else plain(number)


def plain(number: float) -> str:
    """Format a number for readers: 4,080, 3.2, 0.0123, 1.3e-05."""
    if abs(number) >= 100:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def counted(number: int, noun: str) -> str:
    """Format a number of things: 1 figure, 2 figures."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ratio(a: float, b: float) -> str:
    """Format the quotient a / b; near 1 with more digits, as they matter there."""
    if not b:
        return "a division by 0"
    return f"{a / b:.4g}" if 0.9 < a / b < 1.1 else plain(a / b)
