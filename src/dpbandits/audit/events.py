"""Events that separate two tables, and the lower bounds on epsilon and delta that they prove.

For an event with probability p on one table and q on its neighbour, (epsilon, delta)-DP requires
p <= e^epsilon q + delta, so that

    epsilon >= log((p - delta)/q)        and        delta >= p - e^epsilon q.

The method of Clopper and Pearson (1934) bounds p from below and q from above by counts, each with
half of the allowed error. If the event was chosen on other games, it is a fixed event: both bounds
hold together with probability at least 1 - ERROR, whatever the event is.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import beta, norm

from dpbandits.audit.kernels import Feature

ERROR = 0.01  # probability with which the bounds of an event may be wrong
Z = float(norm.isf(ERROR / 2.0))  # normal quantile for half of that probability
FEWEST = 20  # games; cells with fewer are ignored in the search
STEPS = 400  # largest number of events compared per feature
FEW = 72  # cells of a feature of which all initial segments are compared


@dataclass(frozen=True, eq=False)
class Event:
    """Set of cells of a feature; if `swapped`, it is likelier on the second table."""

    feature: Feature
    cells: np.ndarray  # int64, shape (cells of the event,): indices into the counts
    swapped: bool

    def counted(self, counts: np.ndarray) -> tuple[int, int]:
        """Return the numbers of games in the event: on the table where it is likelier, the other.

        `counts` is uint32 of shape (2, cells).
        """
        first, second = counts[:, self.cells].sum(axis=1)
        return (int(second), int(first)) if self.swapped else (int(first), int(second))


@dataclass(frozen=True)
class Loss:
    """Privacy loss that the counts of one event prove."""

    more: int  # games in the event on the table where it is likelier
    fewer: int  # games in the event on the other table
    games: int  # games on each table

    @property
    def p(self) -> float:
        """Lower bound on the larger probability."""
        return float(lower(self.more, self.games))

    @property
    def q(self) -> float:
        """Upper bound on the smaller probability."""
        return float(upper(self.fewer, self.games))

    def epsilon(self, delta: float) -> float:
        """Return the lower bound on epsilon at this delta; 0 if nothing is proved."""
        return max(0.0, math.log((self.p - delta) / self.q)) if self.p > delta else 0.0

    def delta(self, epsilon: float) -> float:
        """Return the lower bound on delta at this epsilon; 0 if nothing is proved."""
        return max(0.0, self.p - math.exp(epsilon) * self.q)

    def likely_epsilon(self, delta: float) -> float:
        """Return the epsilon of the observed frequencies, which is an estimate and not a bound."""
        excess = self.more / self.games - delta
        if excess <= 0.0:
            return 0.0
        return max(0.0, math.log(excess * self.games / self.fewer)) if self.fewer else math.inf


def lower(count: np.ndarray | int, games: int) -> np.ndarray:
    """Return the lower bound on a probability, float64 with the shape of `count`.

    `count` is the number of the `games` games in the event. The bound errs with probability
    ERROR/2.
    """
    count = np.asarray(count, float)
    inside = np.maximum(count, 1.0)
    bound: np.ndarray = np.where(
        count > 0, beta.ppf(ERROR / 2.0, inside, games - inside + 1.0), 0.0
    )
    return bound


def upper(count: np.ndarray | int, games: int) -> np.ndarray:
    """Return the upper bound on a probability; arguments and error as for `lower`."""
    return 1.0 - lower(games - np.asarray(count, float), games)


def _nearly(count: np.ndarray, games: int, side: float) -> np.ndarray:
    # Wilson's bound (1927), close to that of Clopper and Pearson and a thousand times faster.
    z = side * Z
    share = count / games
    spread = z * np.sqrt(share * (1.0 - share) / games + z * z / (4.0 * games * games))
    bound: np.ndarray = (share + z * z / (2.0 * games) + spread) / (1.0 + z * z / games)
    return bound


@cache
def _tried(number: int) -> np.ndarray:
    # Positions (from 0) of the last cell of the events compared, in geometric steps up to `number`.
    return np.unique(np.geomspace(1, number, STEPS).astype(int)) - 1


def best_event(
    counts: tuple[np.ndarray, np.ndarray], games: int, features: Iterable[Feature], delta: float
) -> tuple[float, Event | None]:
    """Return the epsilon that the most promising event would prove, and the event.

    Returns (0, None) if no event would prove anything.
    By the lemma of Neyman and Pearson, the best events of a feature take its cells in the order of
    their probability ratios. The first counts set this order, and the second counts select the best
    of its initial segments: with the same games for both, thousands of rare cells would look like
    a loss by chance. Both counts are uint32 of shape (2, cells), from `games` games per table.

    Features of equally many cells that lie side by side, as those of the rounds, are compared
    together.
    """
    best, best_event = 0.0, None
    for group in _side_by_side(features):
        proved, event = _best_of_group(counts, games, group, delta)
        if proved > best:
            best, best_event = proved, event
    return best, best_event


def _side_by_side(features: Iterable[Feature]) -> Iterator[list[Feature]]:
    # Neighbouring features of the same size, no larger than all their events are compared.
    group: list[Feature] = []
    for feature in features:
        size = feature.stop - feature.first
        last = group[-1] if group else None
        if last and (size > FEW or last.stop != feature.first or last.stop - last.first != size):
            yield group
            group = []
        group.append(feature)
    if group:
        yield group


def _best_of_group(
    counts: tuple[np.ndarray, np.ndarray], games: int, group: list[Feature], delta: float
) -> tuple[float, Event | None]:
    # The best event of the group, of either table: the first one if several are best.
    first, size = group[0].first, group[0].stop - group[0].first
    choosing, valuing = (each[:, first : group[-1].stop] for each in counts)
    seen = choosing.sum(axis=0) >= FEWEST
    if not seen.any():
        return 0.0, None
    if len(group) == 1:  # its cells are many, most of them without games
        columns = np.flatnonzero(seen)[None, :]
    else:
        columns = np.arange(len(group) * size).reshape(len(group), size)
    proved, events = [], []
    for swapped in (False, True):
        more, fewer = choosing[::-1, columns] if swapped else choosing[:, columns]
        ratio = np.where(seen[columns], (more + 0.5) / (fewer + 0.5), 0.0)  # unseen cells come last
        order = np.argsort(-ratio, axis=1, kind="stable")
        cells = np.take_along_axis(columns, order, axis=1)
        x, y = valuing[::-1, cells] if swapped else valuing[:, cells]
        tried = _tried(cells.shape[1])
        p = _nearly(x.cumsum(axis=1)[:, tried], games, -1.0)
        q = _nearly(y.cumsum(axis=1)[:, tried], games, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            epsilon = np.where(
                (p > delta) & seen[cells[:, tried]], np.log((p - delta) / q), -np.inf
            )
        last = epsilon.argmax(axis=1)
        proved.append(epsilon[np.arange(len(group)), last])
        events.append((cells, tried[last]))
    # In the order of the features, each before its swapped event.
    which, table = divmod(int(np.argmax(np.stack(proved, axis=1))), 2)
    cells, last = events[table]
    chosen = first + np.sort(cells[which, : last[which] + 1])
    return float(proved[table][which]), Event(group[which], chosen, swapped=table == 1)
