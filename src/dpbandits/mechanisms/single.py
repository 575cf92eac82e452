"""Section 2.3 of tossou2016 read literally: one fresh draw a release. Not private.

Of c items the released sum has the noise Lap(1/epsilon) where c is a power of two, and otherwise
Lap(log c/epsilon), "only a logarithmic amount of noise added for any given sum". Every release
reads all items, so that the budgets of all of them add up.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.releases import Laplace


class Single(NamedTuple):
    """Counters. The arrays are written in place by `insert`."""

    items: np.ndarray  # c of each counter, int64
    sums: np.ndarray
    epsilon: float


@inlined
def single_counters(counters, epsilon):
    """Counters of any number of items."""
    return Single(np.zeros(counters, np.int64), np.zeros(counters), epsilon)


@insert.register(Single)
def single_insert(counters, rng, which, item):
    """One draw an item."""
    counters.items[which] += 1
    c = counters.items[which]
    counters.sums[which] += item
    epsilon = counters.epsilon if c & (c - 1) == 0 else counters.epsilon / math.log(c)
    return counters.sums[which] + laplace(rng, 1.0, epsilon)


def single_releases(arm: int, horizon: int, epsilon: float) -> Iterator[Laplace]:
    """A release an item, those between two powers of two told together.

    s_c + Lap(log c/epsilon) divided by log c is s_c/log c + Lap(1/epsilon), and of these one item
    moves all, each by 1/log c.
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
    # sum 1/log c over c = first..last: one by one, or where they are many by Euler and Maclaurin,
    # whose next term is below 1e-12.
    if last <= 4096:
        return math.fsum(1.0 / math.log(c) for c in range(first, last + 1))
    # Late: no round is played with it, and scipy takes long to import.
    from scipy.special import expi

    a, b = math.log(first), math.log(last)
    slopes = 1.0 / (first * a * a) - 1.0 / (last * b * b)
    return float(expi(b) - expi(a)) + (1.0 / a + 1.0 / b) / 2.0 + slopes / 12.0
