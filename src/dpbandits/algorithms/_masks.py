"""Rounds of many arms in which all draw a uniform and few compute θ, exact in law (DP-FTPL-New).

Every arm draws a uniform number u in every round, and its θ is the value that θ exceeds with
probability u. The arms whose θ is above a level are those with u below their chance to exceed it,
which only a pull changes: one comparison of vectors lists them, and the largest θ is among them. In
the few rounds without such an arm all values are computed, from the same numbers.

The level depends only on the past and affects the running time, not the law. It is chosen so that
a round without an arm above it, which costs a value of every arm, occurs once in about K rounds.
"""

import math
from functools import partial

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._leads import numbers, play_leads
from dpbandits.core.bandit import playing, pull, rounds_played
from dpbandits.core.kernel import allocating, by_class, inlined
from dpbandits.core.vector_constants import LANES, STRIDE
from dpbandits.core.vectors import below, fill_uniforms, lowest_bit, seed_lanes
from dpbandits.mechanisms.leader_runs import noise_ahead

MANY = 24  # arms from which on this pays
WORD = 64  # arms of one comparison
BUFFER = 1024  # least number of uniforms that are drawn at a time
# Uniforms are multiples of 2^-52: this moves them to the middles of their steps.
HALF_STEP = 2.0**-53
ROUNDS = 256  # rounds per arm for which a level is kept at least
FEW_ROUNDS = 32  # rounds per arm, without a level, after which a lead is looked for again
MISSED, OFTEN = 16, 32  # a level is given up after more misses, if more than one round in 16 is one
HALVINGS = 5  # steps of the search for a level
NEARLY_ONE = 1.0 - 2.0**-53


@partial(by_class, allocating=True)
def play_in_vectors(law, bandit, rng, sums, pulls, a, b, length):
    """Play to the horizon, if the law registered `play_masked`; else nothing."""


@by_class
def fill_noise(law, rng, lanes, out):
    """Fill `out` with draws of X, where θ of an arm with parameters a and b is a + b X."""


@by_class
def parts_by_pulls(law, n):
    """Return the parts of `numbers` that the number of rewards n determines: 1/n and the bonus."""
    return math.nan, math.nan


@by_class
def centre(law, total, unit, bonus):
    """Return a; `numbers(law, total, n)` is (a, unit) for the parts of n."""
    return math.nan


@by_class
def chance_exceeding(law, a, b, level):
    """Return P[θ > level] for an arm with parameters a and b, exactly: inverse of the next one."""
    return math.nan


@by_class
def exceeded_with(law, a, b, u):
    """Return the value that θ of an arm with parameters a and b exceeds with probability u."""
    return math.nan


@allocating
def play_masked(law, bandit, rng, sums, pulls, a, b, length):
    """Play to the horizon, if noise may be drawn ahead.

    Takes the arrays of `_leads.play_leads`, which plays while one arm leads.
    """
    if not noise_ahead(bandit):
        return
    padded = (a.size + LANES - 1) // LANES * LANES
    chances = np.zeros(padded)
    lanes = np.empty((4, LANES), np.uint64)
    seed_lanes(rng, lanes)
    uniforms = np.empty((max(BUFFER, padded) + STRIDE - 1) // STRIDE * STRIDE)
    ahead = np.empty((2, a.size))
    first, level = uniforms.size, a[argmax(a)]
    look = 0
    while playing(bandit):
        t = rounds_played(bandit)
        if t >= look:
            play_leads(law, bandit, rng, sums, pulls, a, b, length)
            t = rounds_played(bandit)
            look = t + max((ROUNDS if a.size >= MANY else FEW_ROUNDS) * a.size, t // 32)
        if a.size < MANY:
            for arm in range(a.size):
                ahead[0, arm], ahead[1, arm] = parts_by_pulls(law, pulls[arm] + 1.0)
            first = play_all(
                law, bandit, rng, sums, pulls, a, b, ahead, lanes, uniforms, first, look
            )
            continue
        level = chosen_level(law, a, b, level)
        for arm in range(a.size):
            chances[arm] = chance_exceeding(law, a[arm], b[arm], level)
        begin, end, missed = t, look, 0
        while t < end and playing(bandit):
            if first + padded > uniforms.size:
                fill_uniforms(lanes, uniforms)
                first = 0
            chosen = largest_above(law, a, b, uniforms, first, chances, padded)
            if chosen < 0:
                chosen = largest_of_all(law, a, b, uniforms, first)
                missed += 1
                if missed > MISSED and missed * OFTEN > t - begin:
                    end = t  # the level is too high by now
            first += padded
            sums[chosen] += pull(bandit, chosen)
            pulls[chosen] += 1.0
            a[chosen], b[chosen] = numbers(law, sums[chosen], pulls[chosen])
            chances[chosen] = chance_exceeding(law, a[chosen], b[chosen], level)
            t += 1


@inlined
def play_all(law, bandit, rng, sums, pulls, a, b, ahead, lanes, noise, first, end):
    """Play until round `end` with a θ for every arm; return the number of used draws in `noise`.

    `ahead`, of shape (2, arms), holds the parts of θ's laws after one more pull, so that no round
    waits for a division and a root.
    """
    while rounds_played(bandit) < end and playing(bandit):
        if first + a.size > noise.size:
            fill_noise(law, rng, lanes, noise)
            first = 0
        largest, chosen = -math.inf, 0
        for arm in range(a.size):
            theta = a[arm] + b[arm] * noise[first + arm]
            if theta > largest:
                largest, chosen = theta, arm
        first += a.size
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
        b[chosen] = ahead[0, chosen]
        a[chosen] = centre(law, sums[chosen], ahead[0, chosen], ahead[1, chosen])
        ahead[0, chosen], ahead[1, chosen] = parts_by_pulls(law, pulls[chosen] + 1.0)
    return first


@inlined
def largest_above(law, a, b, uniforms, first, chances, padded):
    """Return the arm of largest θ among those above the level; -1 if there are none."""
    largest, chosen = -math.inf, -1
    for at in range(0, padded, WORD):
        word = below(uniforms, first + at, chances, at, min(WORD, padded - at))
        while word != np.uint64(0):
            arm = at + lowest_bit(word)
            word &= word - np.uint64(1)
            theta = exceeded_with(law, a[arm], b[arm], uniforms[first + arm] + HALF_STEP)
            if theta > largest:
                largest, chosen = theta, arm
    return chosen


@inlined
def largest_of_all(law, a, b, uniforms, first):
    """Return the arm of largest θ."""
    largest, chosen = -math.inf, 0
    for arm in range(a.size):
        theta = exceeded_with(law, a[arm], b[arm], uniforms[first + arm] + HALF_STEP)
        if theta > largest:
            largest, chosen = theta, arm
    return chosen


@inlined
def chosen_level(law, a, b, near):
    """Return a level that no arm exceeds in about one round out of K; `near` is a first guess."""
    low, high, width = near, near, 0.25 * b[argmax(a)]
    while rarely_exceeded(law, a, b, low):
        high = low
        low -= width
        width *= 2.0
    while not rarely_exceeded(law, a, b, high):
        high += width
        width *= 2.0
    for _ in range(HALVINGS):
        level = 0.5 * (low + high)
        if rarely_exceeded(law, a, b, level):
            high = level
        else:
            low = level
    return low


@inlined
def rarely_exceeded(law, a, b, level):
    """Return True if no arm exceeds the level with probability more than 1/K."""
    exponent = 0.0
    for arm in range(a.size):
        exponent -= math.log1p(-min(chance_exceeding(law, a[arm], b[arm], level), NEARLY_ONE))
    return exponent < math.log(a.size)
