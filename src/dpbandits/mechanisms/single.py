"""Section 2.3 of tossou2016 read literally: one fresh draw per release. Not private.

The released sum of c items has noise Lap(1/epsilon) if c is a power of two, and Lap(log c/epsilon)
otherwise: "only a logarithmic amount of noise added for any given sum". Every release reads all
items, so the budgets of all releases add up.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import allocating
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Single(NamedTuple):
    """Counters with one fresh draw per release. `insert` writes the arrays in place."""

    items: np.ndarray  # int64, shape (counters,): c
    sums: np.ndarray  # float64, shape (counters,): exact sums of the items
    epsilon: float


@allocating
def single_counters(counters, epsilon):
    """Return `counters` empty counters, each for any number of items."""
    return Single(np.zeros(counters, np.int64), np.zeros(counters), epsilon)


@insert.register(Single)
def single_insert(counters, rng, which, item):
    """Add an item and return the released sum; one draw per item."""
    counters.items[which] += 1
    c = counters.items[which]
    counters.sums[which] += item
    epsilon = counters.epsilon if c & (c - 1) == 0 else counters.epsilon / math.log(c)
    return counters.sums[which] + laplace(rng, 1.0, epsilon)


def single_releases(arm: int, horizon: int, epsilon: float) -> Iterator[Laplace]:
    """Yield the releases of all items; those between two powers of two are declared as one.

    s_c + Lap(log c/epsilon) divided by log c is s_c/log c + Lap(1/epsilon), and one item moves each
    of these statistics by 1/log c.
    """
    power = 1
    while power <= horizon:
        yield Laplace(arm, 1, power, sensitivity=1.0, scale=1.0 / epsilon)
        last = min(2 * power - 1, horizon)
        if last > power:
            moved = _sum_of_inverse_logs(power + 1, last)
            yield Laplace(arm, 1, last, sensitivity=moved, scale=1.0 / epsilon)
        power *= 2


def _sum_of_inverse_logs(first: int, last: int) -> float:
    # Sum 1/log c over c = first..last, term by term up to 4096, beyond that by Euler and Maclaurin,
    # whose next term is below 1e-12.
    if last <= 4096:
        return math.fsum(1.0 / math.log(c) for c in range(first, last + 1))
    # Imported late: scipy takes long to import, and no game needs it.
    from scipy.special import expi

    a, b = math.log(first), math.log(last)
    slopes = 1.0 / (first * a * a) - 1.0 / (last * b * b)
    return float(expi(b) - expi(a)) + (1.0 / a + 1.0 / b) / 2.0 + slopes / 12.0
