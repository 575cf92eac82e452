"""Kinds of test that the claims of a paper are made of: frozen values, already validated.

Curves are named as in the figure's file, points by their x. A test is evaluated in every panel that
it names and that has its curves. config/readers/claim_tests.py reads the tests, and
checks/claim_tests.py evaluates them.
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
    """Interval that the tested quantity must lie in.

    `word` is the word of the paper to which conf/thresholds.yaml gives this number, empty if the
    paper has the number.
    """

    at_least: float = -math.inf
    at_most: float = math.inf
    word: str = ""


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
class Difference:
    """Ratio of the difference of two curves, `of` minus `to`, at a point to its smallest before."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    since: float = 1.0


@dataclass(frozen=True)
class Contrast:
    """Ratio of two curves' changes across panels, each its largest over its smallest last mean."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class Improvement:
    """Factor by which the last mean of `of` is below that of `over`, over the one of two others."""

    of: tuple[str, ...]
    over: str
    to: tuple[str, ...]
    to_over: str
    panels: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class Bend:
    """Ratio of two curves' largest changes of log-log slope at a point, or of their sums."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    between: Span = EVERY_X
    summed: bool = False  # add up the changes at all points


@dataclass(frozen=True)
class Alike:
    """Equality of a curve's means in two panels, up to their standard errors."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    at: float | At = At.END


@dataclass(frozen=True)
class Published:
    """Place of the paper's own curve, a single run perhaps, among our runs, all points together.

    It is the share of curves, ours and the paper's, that are as far from their mean as the paper's.
    """

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class WithinBudget:
    """Privacy budget that a curve's releases compose to: at most the budget that it was given."""

    of: tuple[str, ...]
    panels: tuple[str, ...]


@dataclass(frozen=True)
class Formula:
    """Ratio of two functions of theory/, or one function if `to` is empty, within limits."""

    function: str
    arguments: tuple[tuple[str, Any], ...]
    limits: Limits
    to: str = ""
    to_arguments: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class NotApplicable:
    """Sentence whose own condition is not met."""

    reason: str


OfCurves = (Ratio | Bounded | Value | Extremes | Growth | Slope | Difference | Contrast | Alike) | (
    Improvement | Bend | Published | WithinBudget
)
Test = OfCurves | Formula | NotApplicable

# Statistics of the runs at a point. `spread` is the largest minus the smallest of as many runs as
# the paper has, `x` the x of the point itself.
STATISTICS = ("mean", "median", "min", "max", "spread", "x")
