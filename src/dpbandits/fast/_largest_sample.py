"""Exact draw of the arm of largest θ without sampling θ for every arm.

Fix a level that the largest θ of a round almost always exceeds. Arms that often exceed it are
listed and sampled in every round. The others exceed it with small probabilities p: segments of
length -log(1 - p) lie on a line on which points drop as a Poisson process of rate 1, so that each
is hit with probability p, independently of the others. The θ of an arm that is hit is drawn from
its law above the level and competes with those of the listed arms. In the rare case that no θ
exceeds the level, the θ of all other arms are drawn below it.

A segment holds an upper bound of p up to the end of a window of rounds, and a hit counts with the
quotient of p and the bound. A law may bound p as well, and `sample_above` then rejects the excess.
The level depends only on the past and affects the running time, not the law. Some arms may have
-log θ exponential with rate a (Beta(a, 1)): the first of these times has the sum of all rates.

A law of θ has bodies of `numbers` and `sample` (algorithms/_ftpl.py), `chance_above` and
`sample_above`; without the last three it is Beta(a, b), a, b ≥ 1, whose log density is concave.
Where that falls with slope s > 0 at the level c, the tail is at most f(c)/s, and an exponential
beyond c with rate s is above the density. Elsewhere such an arm is sampled in every round. A state
other than `Totals` has a field `law`, and bodies of `clock`, `numbers_at` and `learn`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._ftpl import numbers, sample
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import allocating, by_class, inlined

OFTEN = 0.25  # an arm with this chance or more to exceed the level is sampled in every round
TRIALS = 32  # the level is the smallest of this many largest samples
PART = 128  # a window has at least 1/PART of the rounds so far
HIT = 6  # rough cost of an arm that is hit, in samples
LARGE = 14.0  # Stirling's series has an error below 1e-11 from here on


def covers(params: Any) -> bool:
    """Return True unless the parameters ask for a sample of every arm, or for coins."""
    return bool(params.method == Method.EXACT and not getattr(params, "observation", 0))


@inlined
def log_gamma(x):
    """Return log Γ(x) for x > 0."""
    product = 1.0
    while x < LARGE:
        product *= x
        x += 1.0
    square = x * x
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x
    return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2.0 * math.pi) + series - math.log(product)


@by_class
def chance_above(law, a, b, level):
    """Return an upper bound of P[θ > level]; all values ≥ OFTEN have the same effect."""
    slope = (b - 1.0) / (1.0 - level) - (a - 1.0) / level  # with which the log density falls
    if slope <= 0.0:
        return 1.0
    log_density = (a - 1.0) * math.log(level) + (b - 1.0) * math.log(1.0 - level)
    log_density += log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    return math.exp(log_density) / slope


@by_class
def sample_above(law, rng, a, b, level):
    """Draw θ above the level, or return -inf; called with probability `chance_above`.

    The exponential beyond c is accepted with probability f(x)/(f(c) exp(-s (x - c))).
    """
    slope = (b - 1.0) / (1.0 - level) - (a - 1.0) / level
    beyond = rng.standard_exponential() / slope
    spare = rng.standard_exponential()
    if beyond >= 1.0 - level:
        return -math.inf
    log_ratio = (a - 1.0) * math.log1p(beyond / level)
    log_ratio += (b - 1.0) * math.log1p(-beyond / (1.0 - level)) + slope * beyond
    return level + beyond if spare >= -log_ratio else -math.inf


class Totals(NamedTuple):
    """State in which an arm's parameters depend on its rewards alone; arrays of shape (arms,)."""

    law: Any
    sums: np.ndarray  # float64: sums of the rewards
    pulls: np.ndarray  # float64


@by_class
def clock(state, t):
    """Return the time of round t, on which the parameters may depend; it does not decrease."""
    return 0.0


@by_class
def numbers_at(state, arm, time):
    """Return the parameters (a, b) of θ of an arm, and the rate of its exponential time.

    The rate is that of -log θ if it is exponential until the arm is pulled; 0 otherwise.
    """
    a, b = numbers(state.law, state.sums[arm], state.pulls[arm])
    return a, b, 0.0


@by_class
def learn(state, rng, arm, reward):
    """Add a reward of an arm."""
    state.sums[arm] += reward
    state.pulls[arm] += 1.0


class Arms(NamedTuple):
    """Listed arms and the line, arrays of shape (arms,) that are written in place."""

    listed: np.ndarray  # int64: the listed arms come first
    often: np.ndarray  # bool: True for a listed arm
    length: np.ndarray  # float64: segments of the arms on the line, 0 for all others
    rates: np.ndarray  # float64: rates of the exponential times, 0 for all other arms


@allocating
def follow_exact(state, bandit, rng):
    """Play the arm of largest θ in every round up to the horizon."""
    n = number_of_arms(bandit)
    arms = Arms(np.empty(n, np.int64), np.zeros(n, np.bool_), np.zeros(n), np.zeros(n))
    many, line, total_rate, level, last = 0, 0.0, 0.0, -math.inf, 0.0
    point = rng.standard_exponential()  # position of the next point on the line
    missed, end = 0, rounds_played(bandit)
    while playing(bandit):
        t = rounds_played(bandit)
        now = clock(state, t + 1)
        if missed == TRIALS or t >= end:
            # New levels cost at most a quarter of a sample per round, and less late in the game.
            missed, end = 0, t + max(4 * TRIALS * n, t // PART)
            level, last = new_level(state, rng, n, now), clock(state, end)
            many, line = enter(state, arms, 0, range(n), now, last, level)
            if many + HIT * line > n:  # sampling all arms is cheaper
                level = -math.inf
                many, line = enter(state, arms, 0, range(n), now, last, level)
            total_rate = arms.rates.sum()
        largest, chosen = largest_listed(state, rng, arms.listed, many, now)
        if total_rate > 0.0:
            theta = math.exp(-rng.standard_exponential() / total_rate)
            if theta > largest:
                largest, chosen = theta, first(rng, arms.rates, total_rate)
        if point < line:
            theta, arm, point = largest_hit(state, rng, arms.length, now, level, point)
            if theta > largest:
                largest, chosen = theta, arm
        point -= line
        if largest <= level:
            missed += 1
            theta, arm = largest_below(state, rng, arms, now, level)
            if theta > largest:
                largest, chosen = theta, arm
        learn(state, rng, chosen, pull(bandit, chosen))
        if not arms.often[chosen]:
            line -= arms.length[chosen]
            total_rate -= arms.rates[chosen]
            many, length = enter(state, arms, many, range(chosen, chosen + 1), now, last, level)
            line += length
            total_rate += arms.rates[chosen]


@inlined
def largest_listed(state, rng, listed, many, now):
    """Draw θ of the listed arms; return the largest and its arm."""
    largest, chosen = -math.inf, 0
    for i in range(many):
        a, b, _ = numbers_at(state, listed[i], now)
        theta = sample(state.law, rng, a, b)
        if theta > largest:
            largest, chosen = theta, listed[i]
    return largest, chosen


@inlined
def largest_below(state, rng, arms, now, level):
    """Draw θ of the arms that may only be below the level; return the largest and its arm."""
    largest, chosen = -math.inf, 0
    for arm in range(arms.often.size):
        if not arms.often[arm] and arms.rates[arm] == 0.0:
            a, b, _ = numbers_at(state, arm, now)
            theta = math.inf
            while theta > level:
                theta = sample(state.law, rng, a, b)
            if theta > largest:
                largest, chosen = theta, arm
    return largest, chosen


@inlined
def new_level(state, rng, arms, now):
    """Return the smallest of TRIALS largest samples as the new level."""
    level = math.inf
    for _ in range(TRIALS):
        largest = -math.inf
        for arm in range(arms):
            a, b, _ = numbers_at(state, arm, now)
            largest = max(largest, sample(state.law, rng, a, b))
        level = min(level, largest)
    return level


@inlined
def enter(state, arms, many, entering, now, last, level):
    """Give each entering arm its rate, or its segment up to the time `last`, or list it.

    Returns how many arms are listed then, `many` before, and the length of the segments.
    """
    line = 0.0
    for arm in entering:
        _, _, arms.rates[arm] = numbers_at(state, arm, now)
        arms.length[arm], arms.often[arm] = 0.0, False
        if arms.rates[arm] == 0.0:
            a, b, _ = numbers_at(state, arm, last)
            chance = chance_above(state.law, a, b, level) if level > -math.inf else 1.0
            if chance < OFTEN:
                arms.length[arm] = -math.log1p(-chance)
                line += arms.length[arm]
            else:
                arms.often[arm], arms.listed[many] = True, arm
                many += 1
    return many, line


@inlined
def first(rng, rates, total):
    """Return which of some exponential times with these rates of sum `total` is the first."""
    left, earliest, reached = rng.random() * total, 0, 0.0
    for i in range(rates.size):
        reached += rates[i]
        earliest += reached <= left
    return earliest


@inlined
def largest_hit(state, rng, length, now, level, point):
    """Return the largest θ of the arms hit in a round, its arm, and the next point."""
    largest, chosen, reached = -math.inf, 0, 0.0
    for arm in range(length.size):
        reached += length[arm]
        if point < reached:
            a, b, _ = numbers_at(state, arm, now)
            # The bound grows with t as the chance does.
            kept = chance_above(state.law, a, b, level) / -math.expm1(-length[arm])
            if rng.random() < kept:
                theta = sample_above(state.law, rng, a, b, level)
                if theta > largest:
                    largest, chosen = theta, arm
            point = reached + rng.standard_exponential()  # an arm is hit at most once per round
    return largest, chosen, point
