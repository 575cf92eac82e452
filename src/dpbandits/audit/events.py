"""Events: which of them tells two tables apart best, and what it proves.

For an event with probability p on one table and q on its neighbour, (epsilon, delta)-DP says
p <= e^epsilon q + delta, so that

    epsilon >= log((p - delta)/q)        and        delta >= p - e^epsilon q.

p and q are bounded from counts by the method of Clopper and Pearson (1934), p from below and q from
above, either with half of the error that is allowed. An event that was chosen on other games is one
event: both bounds hold together with probability 1 - ERROR at least, whatever it is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import beta, norm

from dpbandits.audit_kernels.features import Feature

ERROR = 0.01  # the probability with which a bound may be wrong
Z = float(norm.isf(ERROR / 2.0))  # of a normal bound with half of that
FEWEST = 20  # games in a cell, below which nothing is learned from it
STEPS = 400  # events of a feature that are compared, at most


@dataclass(frozen=True, eq=False)
class Event:
    """A set of cells of a feature, likelier on the second table where `swapped`."""

    feature: Feature
    cells: np.ndarray  # int64, indices of the counts
    swapped: bool

    def counted(self, counts: np.ndarray) -> tuple[int, int]:
        """How many games are in it: of the table on which it is likelier, and of the other."""
        first, second = counts[:, self.cells].sum(axis=1)
        return (int(second), int(first)) if self.swapped else (int(first), int(second))


@dataclass(frozen=True)
class Loss:
    """What the counts of one event say, of so many games on either table."""

    more: int
    fewer: int
    games: int

    @property
    def p(self) -> float:
        """The lower bound on the larger probability."""
        return float(lower(self.more, self.games))

    @property
    def q(self) -> float:
        """The upper bound on the smaller probability."""
        return float(upper(self.fewer, self.games))

    def epsilon(self, delta: float) -> float:
        """The lower bound on epsilon at this delta; 0 where nothing is proved."""
        return max(0.0, math.log((self.p - delta) / self.q)) if self.p > delta else 0.0

    def delta(self, epsilon: float) -> float:
        """The lower bound on delta at this epsilon; 0 where nothing is proved."""
        return max(0.0, self.p - math.exp(epsilon) * self.q)

    def likely_epsilon(self, delta: float) -> float:
        """What the shares themselves say, which is no bound."""
        excess = self.more / self.games - delta
        if excess <= 0.0:
            return 0.0
        return max(0.0, math.log(excess * self.games / self.fewer)) if self.fewer else math.inf


def lower(count: np.ndarray | int, games: int) -> np.ndarray:
    """The lower bound on a probability; each bound errs with probability ERROR/2."""
    count = np.asarray(count, float)
    inside = np.maximum(count, 1.0)
    bound: np.ndarray = np.where(
        count > 0, beta.ppf(ERROR / 2.0, inside, games - inside + 1.0), 0.0
    )
    return bound


def upper(count: np.ndarray | int, games: int) -> np.ndarray:
    """The upper bound on a probability."""
    return 1.0 - lower(games - np.asarray(count, float), games)


def _nearly(count: np.ndarray, games: int, side: float) -> np.ndarray:
    # Wilson's bound (1927), near that of Clopper and Pearson and a thousand times faster.
    z = side * Z
    share = count / games
    spread = z * np.sqrt(share * (1.0 - share) / games + z * z / (4.0 * games * games))
    bound: np.ndarray = (share + z * z / (2.0 * games) + spread) / (1.0 + z * z / games)
    return bound


@cache
def _tried(number: int) -> np.ndarray:
    # How many of so many cells are taken, in geometric steps; places from 0.
    return np.unique(np.geomspace(1, number, STEPS).astype(int)) - 1


def best_event(
    counts: tuple[np.ndarray, np.ndarray], games: int, features: Iterable[Feature], delta: float
) -> tuple[float, Event | None]:
    """The event that promises most, and the epsilon that it would prove.

    By the lemma of Neyman and Pearson the best events of a feature take its cells in the order of
    the ratio of their probabilities. The order is that of the first counts; of all that begin it,
    the best by the second counts is taken: of the same games, thousands of rare cells would look
    like a loss by chance. Either is of so many games, shape (2, cells).
    """
    choosing, valuing = counts
    best, found = 0.0, None
    for feature in features:
        own = choosing[:, feature.first : feature.stop]
        seen = np.flatnonzero(own.sum(axis=0) >= FEWEST)
        if not seen.size:
            continue
        for swapped in (False, True):
            more, fewer = own[::-1, seen] if swapped else own[:, seen]
            cells = feature.first + seen[np.argsort(-(more + 0.5) / (fewer + 0.5), kind="stable")]
            x, y = valuing[::-1, cells] if swapped else valuing[:, cells]
            tried = _tried(len(cells))
            p = _nearly(x.cumsum()[tried], games, -1.0)
            q = _nearly(y.cumsum()[tried], games, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                epsilon = np.where(p > delta, np.log((p - delta) / q), -np.inf)
            at = int(epsilon.argmax())
            if epsilon[at] > best:
                best = float(epsilon[at])
                found = Event(feature, np.sort(cells[: tried[at] + 1]), swapped)
    return best, found
