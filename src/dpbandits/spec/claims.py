"""What a paper says of its figures, as tests of the curves: the data, past the configuration.

checks.verdicts puts them to the curves. Curves are named as in the figure's file, points by
their x. A test is put in every panel that it names and that has its curves.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

OTHERS = "others"  # every other curve of the panel that is played


class At(Enum):
    """At which points a test is put, where it is not a single one."""

    END = "end"  # at the last point that the curves have in common
    EVERYWHERE = "everywhere"  # at all of them
    SOMEWHERE = "somewhere"  # at one at least


@dataclass(frozen=True)
class Limits:
    """Between which numbers something must be."""

    at_least: float = -math.inf
    at_most: float = math.inf


Span = tuple[float, float]
EVERY_X: Span = (-math.inf, math.inf)


@dataclass(frozen=True)
class Ratio:
    """The ratio of each curve to each of others. The difference must exceed its standard error."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    to_panels: tuple[str, ...] = ()  # where the others are, panel by panel, if not in the same
    at: At | float = At.END
    between: Span = EVERY_X
    statistic: str = "mean"
    up_to_noise: bool = False  # what is within the standard errors counts as so


@dataclass(frozen=True)
class Bounded:
    """The ratio of each curve to a function of theory/, at the curve's own parameters."""

    of: tuple[str, ...]
    function: str
    given: tuple[tuple[str, Any], ...]  # the arguments that neither game nor parameters give
    panels: tuple[str, ...]
    limits: Limits = Limits(at_most=1.0)
    at: At | float = At.EVERYWHERE


@dataclass(frozen=True)
class Value:
    """What is drawn, or another statistic of the runs, lies within limits."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    at: At | float = At.EVERYWHERE
    between: Span = EVERY_X
    statistic: str = "mean"


@dataclass(frozen=True)
class Extremes:
    """The ratio of a curve's largest to its smallest mean."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    between: Span = EVERY_X
    across_panels: bool = False  # at the end of each panel, and of each of its values


@dataclass(frozen=True)
class Growth:
    """The ratio of a curve's mean at its end, or at another point, to that at an earlier one."""

    of: tuple[str, ...]
    since: float
    panels: tuple[str, ...]
    limits: Limits
    until: float = math.inf


@dataclass(frozen=True)
class Slope:
    """The least-squares slope of log mean against log x."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits
    between: Span = EVERY_X


@dataclass(frozen=True)
class Gap:
    """What a curve has more than another: at no later point more than at an earlier one."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    since: float = 1.0


@dataclass(frozen=True)
class Contrast:
    """How many times more one curve changes from panel to panel than another."""

    of: tuple[str, ...]
    to: tuple[str, ...]
    panels: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True)
class Alike:
    """The means of a curve in two panels differ by no more than their standard errors allow."""

    of: tuple[str, ...]
    panels: tuple[str, ...]
    at: float | At = At.END


@dataclass(frozen=True)
class Spent:
    """The budget that a curve's releases compose to is at most the one that it was given."""

    of: tuple[str, ...]
    panels: tuple[str, ...]


Test = (
    Ratio | Bounded | Value | Extremes | Growth | Slope | Gap | Contrast | Alike | Spent
)  # what a claim comes down to

# Of the runs at a point; `x` is the point's own place, `off_mean` how far the line is from the
# mean, in standard deviations. Only a mean has a standard error.
STATISTICS = ("mean", "median", "min", "max", "spread", "off_mean", "x")


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, and the tests that must all hold for it.

    Where the text can be read in several ways there are tests for each reading.
    """

    name: str
    says: str  # the paper's words, or ours in square brackets
    where: str  # in which part of the paper
    because: str  # why it does not come out; empty where it does
    readings: tuple[tuple[str, tuple[Test, ...]], ...]  # by name; a single one has none
    ours: bool = False  # the words are ours, not a quotation
