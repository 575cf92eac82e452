"""DP-UCB-INT (tossou2016): Algorithm 3, private means released at intervals. (ε, δ)-DP.

The mean of an arm is released when its number of pulls n is one of the counts 0 < W₁ < W₂ < ...,
with noise that does not depend on ε:

    x^ = s/n + Lap(n^(v/2-1)) + sqrt(2 log t/n),    Wₖ₊₁ = Wₖ + fₖ.

A single release is n^(-v/2)-DP (Lemma 3.1); all together meet the budget (Theorem 3.4). An arm
between two counts keeps the x^ of the round in which it left the first of them.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_each, rounds_played
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Constraint, Positive, Probability
from dpbandits.kernel.power_sums import power_sum
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "DP-UCB-INT"

Exponent = Annotated[float, Constraint(lambda v: 1 < v <= 1.5, "in (1, 1.5]")]
MOST_ROUNDS = 2.0**53  # largest horizon
LISTED = 1000  # releases of an arm that are declared one by one


class Schedule(IntEnum):
    """Variant: counts Wₖ at which a mean is released."""

    SERIES = 0  # y of Lemma B.1: the squares n^-v of the budgets add up
    SERIES_X = 1  # x of Lemma B.1: the budgets n^(-v/2) add up
    CONSTANT = 2  # every ceil(1/epsilon) pulls, "for simplicity"


class Noise(IntEnum):
    """Variant: parts of x^ that are updated in each round while n is a release count."""

    PER_RELEASE = 0  # the bonus; the noise is drawn once
    EVERY_ROUND = 1  # the bonus and the noise, the listing read literally: not private
    FROZEN = 2  # none; x^ keeps its value of the round that follows the release


BOUNDED = "the corollary bounds what is spent, for all horizons and schedules at once"
ANEW = "a mean is released anew in every round in which its arm waits, without an end"
guarantee = guaranteed(  # of the (ε', δ') that `input_epsilon` converts
    Notion.PER_ROUND,
    "tossou2016, Corollary 3.2",
    lambda params: ANEW if params.noise == Noise.EVERY_ROUND else BOUNDED,
    delta="delta",
)


class Params(NamedTuple):
    """Target budget (ε', δ'), exponent v, and the variants."""

    epsilon: Positive
    delta: Probability = math.exp(-10.0)
    v: Exponent = 1.1
    schedule: Schedule = Schedule.SERIES
    noise: Noise = Noise.PER_RELEASE


@inlined
def input_epsilon(params):
    """Return the ε with which to run Algorithm 3 (Corollary 3.2)."""
    zeta = power_sum(1.0, math.inf, params.v)
    without = -math.log(params.delta) / (8.0 * zeta)
    added = params.epsilon / (2.0 * zeta)
    # sqrt(without + added) - sqrt(without), without loss of digits for a small `added`.
    root = added / (math.sqrt(without + added) + math.sqrt(without))
    return root * root


@inlined
def next_interval(params, epsilon, released, interval):
    """Return fₖ ≤ ceil(1/ε) of Lemma B.1 from Wₖ = `released` and fₖ₋₁ = `interval`; f₀: 0, 1."""
    longest = math.ceil(1.0 / max(epsilon, 1.0 / MOST_ROUNDS))
    if params.schedule == Schedule.CONSTANT:
        return longest
    s = params.v if params.schedule == Schedule.SERIES else params.v / 2.0
    # Bisection for the first y - W with sum_{i=W+1}^{y} i^-s >= 1/(ε y^s). Divided by the right
    # side, every term of the sum decreases in W, so intervals never get shorter.
    shorter, middle = interval - 1, interval
    while longest - shorter > 1:
        y = float(released + middle)
        if epsilon * power_sum(released + 1.0, y, s) >= math.pow(y, -s):
            longest = middle
        else:
            shorter = middle
        middle = (shorter + longest) // 2
    return longest


@kernel
def play(params, bandit, rng):
    """Pull the arms in turn up to their first release, then the arm of largest x^ (Algorithm 3)."""
    epsilon = input_epsilon(params)
    arms = number_of_arms(bandit)
    first = next_interval(params, epsilon, 0, 1)
    sums = pull_each(bandit, np.arange(arms), first)
    pulls, interval = np.full(arms, first), np.full(arms, first)
    release = np.full(arms, first)  # count of the next release
    waits = np.zeros(arms, np.bool_)  # True at a release count, where x^ changes with t
    release_epsilon = np.empty(arms)  # budget of the last release alone
    private_mean, x = np.empty(arms), np.empty(arms)
    while playing(bandit):
        log_t = math.log(rounds_played(bandit) + 1)
        for arm in range(arms):
            n = pulls[arm]
            released = n == release[arm]
            if released:
                interval[arm] = next_interval(params, epsilon, n, interval[arm])
                release[arm] = n + interval[arm]
                release_epsilon[arm] = math.pow(n, -params.v / 2.0)
                waits[arm] = True
            if released or (waits[arm] and params.noise == Noise.EVERY_ROUND):
                private_mean[arm] = sums[arm] / n + laplace(rng, 1.0 / n, release_epsilon[arm])
            if waits[arm]:
                x[arm] = private_mean[arm] + math.sqrt(2.0 * log_t / n)
        chosen = argmax(x)
        waits[chosen] = False
        if params.noise == Noise.FROZEN:
            waits[:] = False
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the means of each arm's rewards 1..Wₖ, for an arm that is pulled as often as possible.

    From the 1000th on, counts within one percent are declared as copies of the least private.
    """
    epsilon = input_epsilon(params)
    first = next_interval(params, epsilon, 0, 1)
    last = horizon - (arms - 1) * first  # the other arms are pulled up to their first release
    declared: list[tuple[int, int]] = []  # n, number of releases declared at n
    n, interval = first, first
    while n <= last:
        interval = next_interval(params, epsilon, n, interval)
        # Intervals never get shorter: the next releases are at n + interval, ..., or later.
        alike = 1 if len(declared) < LISTED else 1 + n // (100 * interval)
        declared.append((n, alike))
        n += alike * interval
    for arm in range(arms):
        for n, alike in declared:
            to, scale = n if alike == 1 else last, math.pow(n, params.v / 2.0 - 1.0)
            times = math.inf if params.noise == Noise.EVERY_ROUND else alike
            yield Laplace(arm, first=1, last=to, sensitivity=1.0 / n, scale=scale, times=times)
