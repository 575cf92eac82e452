"""Claims of a paper about its figures, as tests of the curves: frozen values, already validated.

checks.verdicts evaluates the tests. Curves are named as in the figure's file, points by their x.
A test is evaluated in every panel that it names and that has its curves.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

OTHERS = "others"  # every other curve of the panel that has runs, hence no bound


class At(Enum):
    """Points at which a test is evaluated, unless it names a single x."""

    END = "end"  # at the last point that the curves have in common
    EVERYWHERE = "everywhere"  # at all of their common points
    SOMEWHERE = "somewhere"  # at one of them or more


@dataclass(frozen=True)
class Limits:
    """Interval that the tested quantity must lie in."""

    at_least: float = -math.inf
    at_most: float = math.inf


Span = tuple[float, float]
EVERY_X: Span = (-math.inf, math.inf)


@dataclass(frozen=True)
class Ratio:
    """Ratio of each curve in `of` to each in `to`, judged with the standard errors of the means."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    to_panels: tuple[str, ...] = ()  # panels of `to`, one for each of `panels`; empty: the same
    at: At | float = At.END
    between: Span = EVERY_X
    statistic: str = "mean"
    up_to_noise: bool = False  # a miss within the standard errors counts as a pass


@dataclass(frozen=True)
class Bounded:
    """Ratio of each curve to a function of theory/, evaluated at the curve's own parameters."""

    of: tuple[str, ...]
    function: str
    arguments: tuple[tuple[str, Any], ...]  # beside those of the game and the parameters
    panels: tuple[str, ...]
    limits: Limits = Limits(at_most=1.0)
    at: At | float = At.EVERYWHERE


@dataclass(frozen=True)
class Value:
    """Value of a curve: a statistic of its runs, the mean by default, within limits."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    at: At | float = At.EVERYWHERE
    between: Span = EVERY_X
    statistic: str = "mean"


@dataclass(frozen=True)
class Extremes:
    """Ratio of a curve's largest to its smallest mean."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    between: Span = EVERY_X
    across_panels: bool = False  # over the last points in all panels, for all `each` values


@dataclass(frozen=True)
class Growth:
    """Ratio of a curve's mean at its end, or at another point, to its mean at an earlier one."""

    of: tuple[str, ...]
    since: float
    panels: tuple[str, ...]
    limits: Limits
    until: float = math.inf


@dataclass(frozen=True)
class Slope:
    """Least-squares slope of log mean against log x."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    between: Span = EVERY_X


@dataclass(frozen=True)
class Gap:
    """Difference of two curves, `of` minus `to`: it must not grow from any point to a later one."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    since: float = 1.0


@dataclass(frozen=True)
class Contrast:
    """Ratio of two curves' changes across panels, each its largest over its smallest last mean."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class Alike:
    """Equality of a curve's means in two panels, up to their standard errors."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    at: float | At = At.END


@dataclass(frozen=True)
class Spent:
    """Privacy budget that a curve's releases compose to: at most the budget that it was given."""

    of: tuple[str, ...]
    panels: tuple[str, ...]


Test = (
    Ratio | Bounded | Value | Extremes | Growth | Slope | Gap | Contrast | Alike | Spent
)  # the kinds of test that a claim is made of; read by KINDS (config/readers/claims.py) and
# evaluated by BY_KIND (checks/claim_tests.py)

# Statistics of the runs at a point. `x` is the x of the point itself, `off_mean` the distance from
# the mean to the drawn line, in standard deviations. Only the mean has a standard error.
STATISTICS = ("mean", "median", "min", "max", "spread", "off_mean", "x")


@dataclass(frozen=True)
class Claim:
    """Sentence of a paper, with the tests that must all hold for it.

    If the text can be read in several ways, each reading has its own tests.
    """

    name: str
    says: str  # the paper's words, or ours in square brackets
    where: str  # place in the paper
    because: str  # why it does not reproduce; empty if it does
    readings: tuple[tuple[str, tuple[Test, ...]], ...]  # (name, tests); a single one is named ""
    ours: bool = False  # the words are ours, not a quotation
