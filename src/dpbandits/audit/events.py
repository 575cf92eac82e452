"""Events that separate two tables, and the lower bounds on epsilon and delta that they prove.

For an event with probability p on one table and q on its neighbour, (epsilon, delta)-DP requires
p <= e^epsilon q + delta, so that

    epsilon >= log((p - delta)/q)        and        delta >= p - e^epsilon q.

The method of Clopper and Pearson (1934) bounds p from below and q from above by counts, each with
half of the allowed error. If the event was chosen on other games, it is a fixed event: both bounds
hold together with probability at least 1 - ERROR, whatever the event is.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

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
        first, second = map(int, counts[:, self.cells].sum(axis=1))
        return (second, first) if self.swapped else (first, second)


@dataclass(frozen=True)
class Loss:
    """Privacy loss that the counts of one event prove."""

    more: int  # games in the event on the table where it is likelier
    fewer: int  # games in the event on the other table
    games: int  # games on each table

    def epsilon(self, delta: float) -> float:
        """Return the lower bound on epsilon at this delta; 0 if nothing is proved."""
        p, q = map(float, bounds(self.more, self.fewer, self.games))
        return max(0.0, math.log((p - delta) / q)) if p > delta else 0.0

    def delta(self, epsilon: float) -> float:
        """Return the lower bound on delta at this epsilon; 0 if nothing is proved."""
        p, q = map(float, bounds(self.more, self.fewer, self.games))
        return max(0.0, p - math.exp(epsilon) * q)

    @property
    def likely_epsilon(self) -> float:
        """Epsilon of the observed frequencies at delta = 0: an estimate, not a bound."""
        if not (self.more and self.fewer):
            return math.inf if self.more else 0.0
        return max(0.0, math.log(self.more / self.fewer))


def bounds(
    more: np.ndarray | int, fewer: np.ndarray | int, games: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower bound on p and the upper bound on q, float64 with the shapes of the counts.

    The event occurs in `more` of the `games` games on the one table, in `fewer` of those on the
    other. Each bound errs with probability ERROR/2.
    """
    lower = []
    for count in (np.asarray(more, float), games - np.asarray(fewer, float)):
        inside = np.maximum(count, 1.0)
        quantile = beta.ppf(ERROR / 2.0, inside, games - inside + 1.0)
        lower.append(np.where(count > 0, quantile, 0.0))
    return lower[0], 1.0 - lower[1]


def _nearly(count: np.ndarray, games: int, side: float) -> np.ndarray:
    # Wilson's bound (1927), close to that of Clopper and Pearson and a thousand times faster.
    z = side * Z
    share = count / games
    spread = z * np.sqrt(share * (1.0 - share) / games + z * z / (4.0 * games * games))
    return (share + z * z / (2.0 * games) + spread) / (1.0 + z * z / games)


def best_event(
    counts: tuple[np.ndarray, np.ndarray], games: int, features: Iterable[Feature], delta: float
) -> tuple[float, Event | None]:
    """Return the epsilon that the most promising event would prove, and the event, or (0, None).

    By the lemma of Neyman and Pearson, the best events of a feature take its cells in the order of
    their probability ratios. The first counts set this order, and the second counts select the best
    of its initial segments: with the same games for both, thousands of rare cells would look like
    a loss by chance. Both counts are uint32 of shape (2, cells), from `games` games per table.
    """
    best: tuple[float, Event | None] = 0.0, None
    # Small features of equally many cells, as those of the rounds, lie side by side and are
    # compared together.
    for _, alike in groupby(features, lambda f: (f.stop - f.first, f.stop - f.first > FEW and f)):
        group = list(alike)
        first = group[0].first
        choosing, valuing = (half[:, first : group[-1].stop] for half in counts)
        seen = choosing.sum(axis=0) >= FEWEST
        if not seen.any():
            continue
        columns = np.arange(seen.size).reshape(len(group), -1)
        if len(group) == 1:  # its cells are many, most of them without games
            columns = np.flatnonzero(seen)[None, :]
        # The last cell of the events that are compared, in geometric steps.
        tried = np.unique(np.geomspace(1, columns.shape[1], STEPS).astype(int)) - 1
        proved, events = [], []
        for order in (slice(None), slice(None, None, -1)):  # likelier on the second in the second
            more, fewer = choosing[order][:, columns]
            ratio = np.where(seen[columns], (more + 0.5) / (fewer + 0.5), 0.0)  # unseen cells last
            cells = np.take_along_axis(columns, np.argsort(-ratio, axis=1, kind="stable"), axis=1)
            x, y = valuing[order][:, cells]
            p = _nearly(x.cumsum(axis=1)[:, tried], games, -1.0)
            q = _nearly(y.cumsum(axis=1)[:, tried], games, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                epsilon = np.log((p - delta) / q)
            epsilon[(p <= delta) | ~seen[cells[:, tried]]] = -np.inf
            proved.append(epsilon.max(axis=1))
            events.append((cells, tried[epsilon.argmax(axis=1)]))
        # In the order of the features, each before its swapped event: the first of several best.
        which, table = divmod(int(np.argmax(np.stack(proved, axis=1))), 2)
        if proved[table][which] > best[0]:
            cells, last = events[table]
            chosen = first + np.sort(cells[which, : last[which] + 1])
            event = Event(group[which], chosen, swapped=table == 1)
            best = float(proved[table][which]), event
    return best
