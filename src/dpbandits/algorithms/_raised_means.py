"""Shared code of Lazy-DP-TS and DP-TS (hu2022): Beta posteriors of means raised with log t.

Between two releases an arm has O rewards, a private mean μ~ and a bonus w log t, and in round t

    θ(t) ~ Beta(m O + 1, (1 - m) O + 1),    m = max{0, min{μ~ + w log t, 1}}.

An algorithm registers a body of `observe` for the state that its pulls change, and one of
`play_leads` if most pulls release nothing.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._beta_draw import sample_beta
from dpbandits.algorithms._beta_tail import sample_tail, tail_bound
from dpbandits.algorithms._largest_sample import (
    TRIALS,
    Method,
    chance_above,
    new_level,
    sample,
    sample_above,
)
from dpbandits.algorithms._leads import total
from dpbandits.algorithms._listed_arms import enter, segment
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import allocating, by_class, inlined
from dpbandits.mechanisms.leader_runs import draws_ahead


class Log(IntEnum):
    """Reading: base of the logarithms in the bonus."""

    TWO = 0  # the text: "log(x) is the base-2 logarithm of x"
    NATURAL = 1  # e


class RaisedMeans(NamedTuple):
    """Posterior of every arm, float64 of shape (arms,) each. `observe` writes the arrays."""

    rewards: np.ndarray  # O
    mean: np.ndarray  # μ~
    slope: np.ndarray  # w, the bonus divided by log t


@by_class
def observe(state, means, rng, arm, total, n):
    """Add n rewards of an arm with sum `total`; the last one may release something.

    A release updates the posterior of the arm in `means`.
    """
    raise NotImplementedError("this state registered no body for `observe`")


@by_class
def play_leads(state, params, means, bandit, rng, length):
    """Play rounds as long as one arm leads by far; `length`, of shape (arms,), is overwritten.

    This default body plays none.
    """


@inlined
def logarithm(params, x):
    """Return log x in the base of the reading."""
    return math.log(x) / math.log(2.0) if params.log == Log.TWO else math.log(x)


@allocating
def raised_means(arms):
    """Return posteriors whose arrays are still to be filled."""
    return RaisedMeans(np.empty(arms), np.empty(arms), np.empty(arms))


@inlined
def raised(means, arm, log_t):
    """Return m, the private mean of an arm plus its bonus, clipped to [0, 1]."""
    return max(0.0, min(means.mean[arm] + means.slope[arm] * log_t, 1.0))


@inlined
def numbers_at(means, arm, log_t):
    """Return the parameters of θ of an arm, m O + 1 and (1 - m) O + 1."""
    return numbers_of(means, arm, raised(means, arm, log_t))


@inlined
def numbers_of(means, arm, m):
    """Return the parameters of θ of an arm with raised mean m."""
    n = means.rewards[arm]
    return m * n + 1.0, (1.0 - m) * n + 1.0


@allocating
def follow_posteriors(params, state, means, bandit, rng):
    """Play the arm of largest θ in every round up to the horizon."""
    if params.method == Method.EXACT:
        follow_exact(params, state, means, bandit, rng)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        log_t = logarithm(params, rounds_played(bandit) + 1)
        for arm in range(theta.size):
            a, b = numbers_at(means, arm, log_t)
            theta[arm] = rng.beta(a, b)
        chosen = argmax(theta)
        observe(state, means, rng, chosen, pull(bandit, chosen), 1)


# Exact in law, with fewer draws ------------------------------------------------------------------

PART = 128  # a window has at least 1/PART of the rounds so far


@sample.register(RaisedMeans)
def raised_sample(means, rng, a, b):
    """Draw θ; by inversion where m is clipped, so that a or b is 1."""
    if b == 1.0:
        return math.exp(-rng.standard_exponential() / a)
    if a == 1.0:
        return -math.expm1(-rng.standard_exponential() / b)
    return sample_beta(rng, a, b)


chance_above.register(RaisedMeans)(tail_bound)
sample_above.register(RaisedMeans)(sample_tail)


@allocating
def follow_exact(params, state, means, bandit, rng):
    """Play as `follow_posteriors`, in law, sampling only the arms that often exceed a level.

    As in _largest_sample.py, but the chance of an arm to exceed the level grows with log t. Its
    segment has the chance at the end of a window of rounds, and a hit counts with the quotient of
    the chance now and that one.

    An arm whose m is clipped to 1 stays clipped until it is pulled, and -log θ is an exponential
    time with rate a. The first of these times has the sum of all rates.
    """
    arms = number_of_arms(bandit)
    a, b = np.empty(arms), np.empty(arms)
    often = np.empty(arms, np.bool_)
    listed = np.empty(arms, np.int64)  # arms that are sampled in every round
    length = np.zeros(arms)  # segments of the arms on the line
    rate = np.empty(arms)  # a of the clipped arms, 0 of all others
    many, line, rates, level, log_begin, log_end = 0, 0.0, 0.0, -math.inf, 0.0, 0.0
    point = rng.standard_exponential()  # position of the next point on the line
    missed, end = 0, rounds_played(bandit)
    while True:
        new_window = missed == TRIALS or rounds_played(bandit) >= end
        if new_window and draws_ahead(bandit):
            play_leads(state, params, means, bandit, rng, length)
        if not playing(bandit):
            return
        t = rounds_played(bandit)
        if new_window:
            log_begin = logarithm(params, t + 1)
            fill_numbers(means, log_begin, a, b)
            level = new_level(means, rng, a, b)
            # New levels cost at most a quarter of a sample per round, and less late in the game.
            missed, end = 0, t + max(4 * TRIALS * arms, t // PART)
            log_end = logarithm(params, end)
            many, rates = 0, 0.0
            often[:] = False
            for arm in range(arms):
                rate[arm], own = rate_and_segment(means, arm, log_begin, log_end, level)
                many = enter(often, listed, length, many, arm, own)
                rates += rate[arm]
            line = total(length)
        # If only clipped arms compete, no θ depends on log t. The chosen arm is then tested for
        # clipping at the beginning's log t; if it is clipped only now, it is sampled in each round.
        log_t = log_begin
        if many > 0 or point < line:
            log_t = logarithm(params, t + 1)
        largest, chosen = -math.inf, 0
        for i in range(many):
            now_a, now_b = numbers_at(means, listed[i], log_t)
            theta = sample(means, rng, now_a, now_b)
            if theta > largest:
                largest, chosen = theta, listed[i]
        if rates > 0.0:
            theta = math.exp(-rng.standard_exponential() / rates)
            if theta > largest:
                largest, chosen = theta, first(rng, rate, rates)
        if point < line:
            theta, arm, point = largest_hit(means, rng, log_t, level, length, line, point)
            if theta > largest:
                largest, chosen = theta, arm
        point -= line
        if largest <= level:
            missed += 1
            log_t = logarithm(params, t + 1)
            for arm in range(arms):
                if not often[arm] and rate[arm] == 0.0:
                    theta = sample_below(means, rng, arm, log_t, level)
                    if theta > largest:
                        largest, chosen = theta, arm
        observe(state, means, rng, chosen, pull(bandit, chosen), 1)
        rates -= rate[chosen]
        rate[chosen], own = rate_and_segment(means, chosen, log_t, log_end, level)
        rates += rate[chosen]
        before = length[chosen]
        many = enter(often, listed, length, many, chosen, own)
        if length[chosen] != before:
            line = total(length)


@inlined
def rate_and_segment(means, arm, log_t, log_end, level):
    """Return the rate of an arm that is clipped to 1 from a round on, and its segment otherwise.

    The segment is that of the window's end: inf if the arm is to be sampled in every round.
    """
    if raised(means, arm, log_t) == 1.0:
        return means.rewards[arm] + 1.0, 0.0
    a, b = numbers_at(means, arm, log_end)
    return 0.0, segment(tail_bound(means, a, b, level))


@inlined
def first(rng, rate, rates):
    """Return which of some exponential times is the first.

    Their rates are whole numbers of sum `rates`; a time with rate 0 is never the first.
    """
    left, earliest, reached = rng.random() * rates, 0, 0.0
    for i in range(rate.size):
        reached += rate[i]
        earliest += reached <= left
    return earliest


@inlined
def fill_numbers(means, log_t, a, b):
    """Compute the parameters of every arm; `a` and `b` have shape (arms,)."""
    for arm in range(a.size):
        a[arm], b[arm] = numbers_at(means, arm, log_t)


@inlined
def largest_hit(means, rng, log_t, level, length, line, point):
    """Return the largest θ of the arms hit in a round, its arm, and the next point."""
    largest, chosen, reached = -math.inf, 0, 0.0
    for arm in range(length.size):
        reached += length[arm]
        if point < reached:
            a, b = numbers_at(means, arm, log_t)
            # The bound grows with t as the chance does: as it is below OFTEN, the level exceeds the
            # mean of log(θ/(1 - θ)), so that f(c) grows with m; and s falls.
            kept = tail_bound(means, a, b, level) / -math.expm1(-length[arm])
            if rng.random() < kept:
                theta = sample_tail(means, rng, a, b, level)
                if theta > largest:
                    largest, chosen = theta, arm
            point = reached + rng.standard_exponential()  # an arm is hit at most once per round
    return largest, chosen, point


@inlined
def sample_below(means, rng, arm, log_t, level):
    """Draw θ of an arm until it is not above the level."""
    a, b = numbers_at(means, arm, log_t)
    theta = math.inf
    while theta > level:
        theta = sample(means, rng, a, b)
    return theta
