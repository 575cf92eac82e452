"""DP-UCB-INT (tossou2016): Algorithm 3, private means released at intervals. (epsilon, delta)-DP.

The mean of an arm is released when its pulls n are one of the counts 0 < W_1 < W_2 < ..., with
noise that does not depend on epsilon:

    x^ = s/n + Lap(n^(v/2-1)) + sqrt(2 log t/n),    W_{k+1} = W_k + f_k.

A release alone is n^(-v/2)-DP (Lemma 3.1); the intervals f_k make all of them together as private
as was asked (Theorem 3.4). In the listing x^ changes while n is such a count and at no other time:
an arm that is between two counts keeps the x^ of the round in which it left the first of them.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import number_of_arms, playing, pull, pull_each, pull_many, rounds_played
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Constraint, Positive, Probability
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import Laplace

LABEL = "DP-UCB-INT"

Exponent = Annotated[float, Constraint(lambda v: 1 < v <= 1.5, "in (1, 1.5]")]
MOST_ROUNDS = 2.0**53  # of any horizon
LISTED = 1000  # releases of an arm that are declared one by one
DIRECT = 32  # terms of a sum that are added one by one


class Schedule(IntEnum):
    """Reading: the counts W_k at which a mean is released."""

    SERIES = 0  # y of Lemma B.1, where the squares n^-v of the budgets add up
    SERIES_X = 1  # x of Lemma B.1, where the budgets n^(-v/2) add up
    CONSTANT = 2  # every ceil(1/epsilon) pulls, "for simplicity"


class Noise(IntEnum):
    """Reading: what of x^ is new in a round while n is a release count."""

    PER_RELEASE = 0  # the bonus; the noise is drawn once
    EVERY_ROUND = 1  # the bonus and the noise, the listing to the letter: not private
    FROZEN = 2  # nothing; all of x^ is of the round that follows the release


class Params(NamedTuple):
    """The budget (epsilon', delta') that is aimed at, the exponent v and the readings."""

    epsilon: Positive
    delta: Probability = math.exp(-10.0)
    v: Exponent = 1.1
    schedule: Schedule = Schedule.SERIES
    noise: Noise = Noise.PER_RELEASE


@inlined
def power_sum(first, last, s):
    """sum_{i=first}^{last} i^-s for s > 0 other than 1; zeta(s) from 1 to infinity.

    By Euler and Maclaurin behind the first terms; relative error below 1e-13.
    """
    total = 0.0
    while first <= min(last, DIRECT):
        total += math.pow(first, -s)
        first += 1.0
    if first > last:
        return total
    a, b = math.pow(first, -s), math.pow(last, -s)
    # (first^(1-s) - last^(1-s))/(s-1) without the loss of digits where the two are close.
    log_ratio = math.log1p((last - first) / first)
    total += a * first * math.expm1((1.0 - s) * log_ratio) / (1.0 - s)
    total += (a + b) / 2.0
    a, b = a / first * s, b / last * s
    total += (a - b) / 12.0
    a, b = a / first / first * (s + 1.0) * (s + 2.0), b / last / last * (s + 1.0) * (s + 2.0)
    total -= (a - b) / 720.0
    a, b = a / first / first * (s + 3.0) * (s + 4.0), b / last / last * (s + 3.0) * (s + 4.0)
    return total + (a - b) / 30240.0


@inlined
def input_epsilon(params):
    """The epsilon with which to run Algorithm 3: Corollary 3.2."""
    zeta = power_sum(1.0, math.inf, params.v)
    without = -math.log(params.delta) / (8.0 * zeta)
    added = params.epsilon / (2.0 * zeta)
    # sqrt(without + added) - sqrt(without) without the loss of digits where little is added.
    root = added / (math.sqrt(without + added) + math.sqrt(without))
    return root * root


@inlined
def next_interval(params, epsilon, released, interval):
    """f_k from W_k = `released` and f_{k-1} = `interval`; f_0 from 0 and 1. Lemma B.1.

    Never more than ceil(1/epsilon), nor than any horizon has rounds.
    """
    longest = math.ceil(1.0 / max(epsilon, 1.0 / MOST_ROUNDS))
    if params.schedule == Schedule.CONSTANT:
        return longest
    s = params.v if params.schedule == Schedule.SERIES else params.v / 2.0
    # Divided by the right side, every term of the sum falls with W: intervals never get shorter.
    # And the sum grows with the interval: bisection finds the first that is long enough.
    if is_long_enough(epsilon, s, released, interval):
        return interval
    shorter = interval
    while longest - shorter > 1:
        middle = (shorter + longest) // 2
        if is_long_enough(epsilon, s, released, middle):
            longest = middle
        else:
            shorter = middle
    return longest


@inlined
def is_long_enough(epsilon, s, released, interval):
    """Whether sum_{i=W+1}^{y} i^-s >= 1/(epsilon y^s) at y = W + interval."""
    y = float(released + interval)
    return epsilon * power_sum(released + 1.0, y, s) >= math.pow(y, -s)


@inlined
def leader(x, private_mean, pulls, waits, t):
    """The arm of largest x^ in round t; first x^ of the arms that wait at a release count."""
    log_t = math.log(t)
    for arm in range(x.size):
        if waits[arm]:
            x[arm] = private_mean[arm] + math.sqrt(2.0 * log_t / pulls[arm])
    return argmax(x)


@inlined
def rounds_in_the_lead(x, private_mean, pulls, waits, chosen, t, most):
    """For how many rounds from t on, up to `most`, the arm chosen in round t leads.

    Its x^ stays up to its next release and those of the arms that wait grow: once overtaken it
    stays behind, and bisection finds the last round before.
    """
    if leader(x, private_mean, pulls, waits, t + most - 1) == chosen:
        return most
    ahead, behind = 1, most
    while behind - ahead > 1:
        middle = (ahead + behind) // 2
        if leader(x, private_mean, pulls, waits, t + middle - 1) == chosen:
            ahead = middle
        else:
            behind = middle
    return ahead


@kernel
def play(params, bandit, rng):
    """Algorithm 3: round-robin up to the first release, then the arm of largest x^."""
    epsilon = input_epsilon(params)
    arms = number_of_arms(bandit)
    first = next_interval(params, epsilon, 0, 1)
    sums = pull_each(bandit, np.arange(arms), first)
    pulls = np.full(arms, first)
    interval = np.full(arms, first)
    release = np.full(arms, first)  # the count of the next release
    waits = np.zeros(arms, np.bool_)  # at a release count, where x^ changes with t
    own_epsilon = np.empty(arms)  # of the last release alone
    private_mean = np.empty(arms)
    x = np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        for arm in range(arms):
            n = pulls[arm]
            released = n == release[arm]
            if released:
                interval[arm] = next_interval(params, epsilon, n, interval[arm])
                release[arm] = n + interval[arm]
                own_epsilon[arm] = math.pow(n, -params.v / 2.0)
                waits[arm] = True
            if released or (waits[arm] and params.noise == Noise.EVERY_ROUND):
                noise = laplace(rng, 1.0 / n, own_epsilon[arm])
                private_mean[arm] = sums[arm] / n + noise
        chosen = leader(x, private_mean, pulls, waits, t)
        waits[chosen] = False
        if params.noise == Noise.FROZEN:
            waits[:] = False
        if params.noise == Noise.EVERY_ROUND:
            n = 1
            sums[chosen] += pull(bandit, chosen)
        else:
            n = release[chosen] - pulls[chosen]
            n = rounds_in_the_lead(x, private_mean, pulls, waits, chosen, t, n)
            sums[chosen] += pull_many(bandit, chosen, n)
        pulls[chosen] += n


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """The means of each arm's rewards 1..W_k, for an arm that is pulled whenever it may be.

    From the 1000th on in groups within a hundredth, each declared as if all of it were its first
    release, the least private. `every-round` releases a mean anew for as long as its arm waits:
    there is no number of times that holds whatever the horizon.
    """
    epsilon = input_epsilon(params)
    first = next_interval(params, epsilon, 0, 1)
    last = horizon - (arms - 1) * first  # the others are pulled up to their first release
    declared: list[tuple[int, int]] = []  # n, how many like it
    n, interval = first, first
    while n <= last:
        interval = next_interval(params, epsilon, n, interval)
        # Intervals never get shorter: the releases that follow are at n + interval, ... or later.
        alike = 1 if len(declared) < LISTED else 1 + n // (100 * interval)
        declared.append((n, alike))
        n += alike * interval
    for arm in range(arms):
        for n, alike in declared:
            yield Laplace(
                arm,
                first=1,
                last=n if alike == 1 else last,
                sensitivity=1.0 / n,
                scale=math.pow(n, params.v / 2.0 - 1.0),
                times=math.inf if params.noise == Noise.EVERY_ROUND else alike,
            )


def claim(params: Params, arms: int, horizon: int) -> Claim:
    """The (epsilon', delta') for which `input_epsilon` makes the epsilon of Algorithm 3."""
    if params.noise == Noise.EVERY_ROUND:
        differs = "a mean is released anew in every round in which its arm waits, without an end"
    else:
        differs = "the corollary bounds what is spent, for all horizons and schedules at once"
    where = "tossou2016, Corollary 3.2"
    return Claim(Notion.PER_ROUND, params.epsilon, params.delta, where, differs)
