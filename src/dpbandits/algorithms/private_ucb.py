"""Private-UCB (Mishra and Thakurta 2015): UCB on binary counters. ε-DP; the DP-UCB of azize2022.

In the forms of tossou2016, sajed2019 and azize2022. An arm of n rewards with released sum s~ has
the index

    s~/n + sqrt(2 log t/n) + Γ/n,    Γ = K log² T log(K T log T/γ)/ε.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Positive, Probability, Rounds
from dpbandits.kernel.randomness import AddedLater
from dpbandits.mechanisms.counters import binary_counters, insert, levels
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import Laplace

LABEL = "Private-UCB"


class Decay(IntEnum):
    """Failure probability of Γ in round t, as a function of `gamma`."""

    NONE = 0  # gamma (azize2022: 0.1)
    HORIZON = 1  # gamma / T (sajed2019)
    ROUND = 2  # gamma t^-4 (tossou2016)


class Split(IntEnum):
    """Variant: split of the budget between the K counters."""

    ARMS = 0  # epsilon/K each, and a leading factor K in Gamma, as its authors have it
    NONE = 1  # epsilon each, and no leading K in Gamma: a reward is in one counter only


FED = "the noise of a node has the scale of ln T levels in place of the levels that there are"
DIFFERS = {
    Split.ARMS: "a reward is in one of the K counters only, which has epsilon/K",
    Split.NONE: "",
}
guarantee = guaranteed(
    Notion.GLOBAL,
    "Mishra and Thakurta 2015, as reported in sajed2019, section 1",
    lambda params: FED if params.feed == Feed.EVERY_ROUND else DIFFERS[params.split],
)


class Relaxation(IntEnum):
    """Variant: term that the index adds for the noise, divided by n."""

    ON = 0  # Gamma
    OFF = 1  # 0
    CSS = 2  # log(1/gamma) log^1.5(n)/epsilon, the bound quoted in tossou2016, section 2.3
    # The order of the noise in sajed2019, section 1, and azize2022, Table 1; constant 1 is ours.
    LOG25 = 3  # ln^2.5(T)/epsilon
    LOG25_BASE_2 = 4  # log_2^2.5(T)/epsilon


class Feed(IntEnum):
    """Variant: items of an arm's counter."""

    OWN_PULLS = 0  # the arm's rewards
    # One in every round, 0 if another arm is pulled, with ln T in place of the levels of the tree:
    # the noise of every arm changes in every round. The published curve of azize2022.
    EVERY_ROUND = 1


class Params(NamedTuple):
    """Privacy budget, horizon T, failure probability γ, and the variants."""

    epsilon: Positive
    horizon: Rounds
    gamma: Probability = 0.1
    decay: Decay = Decay.NONE
    split: Split = Split.ARMS
    relaxation: Relaxation = Relaxation.ON
    feed: Annotated[Feed, AddedLater(Feed.OWN_PULLS)] = Feed.OWN_PULLS


@inlined
def counter_epsilon(params, arms):
    """Return the budget of one counter."""
    return params.epsilon / arms if params.split == Split.ARMS else params.epsilon


@inlined
def height(params):
    """Return the number of levels among which the budget of a counter is split, a float."""
    if params.feed == Feed.EVERY_ROUND:
        return max(math.log(params.horizon), 1.0)
    return float(levels(params.horizon))


@inlined
def relaxation(params, arms):
    """Return the index's term for the noise at t = 1, its slope in log t, and the power of log n.

    The term is Γ or, for `css`, log(1/γ)/ε, times log n to this power.
    """
    log_horizon = math.log(params.horizon)
    if params.relaxation == Relaxation.OFF or log_horizon == 0.0:
        return 0.0, 0.0, 0.0
    if params.relaxation == Relaxation.LOG25:
        return math.pow(log_horizon, 2.5) / params.epsilon, 0.0, 0.0
    if params.relaxation == Relaxation.LOG25_BASE_2:
        return math.pow(log_horizon / math.log(2.0), 2.5) / params.epsilon, 0.0, 0.0
    if params.relaxation == Relaxation.CSS:
        factor, start, power = 1.0 / params.epsilon, 0.0, 1.5
    else:
        power = 0.0
        factor = log_horizon * log_horizon / counter_epsilon(params, arms)
        start = math.log(float(arms) * params.horizon * log_horizon)
    start -= math.log(params.gamma)
    if params.decay == Decay.HORIZON:
        start += log_horizon
    growth = 4.0 if params.decay == Decay.ROUND else 0.0
    return factor * start, factor * growth, power


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest index."""
    arms = number_of_arms(bandit)
    epsilon = counter_epsilon(params, arms)
    counters = binary_counters(arms, params.horizon, height(params), epsilon)
    start, growth, power = relaxation(params, arms)
    pulls, released, index = np.zeros(arms), np.empty(arms), np.empty(arms)
    while playing(bandit):
        t = rounds_played(bandit) + 1
        chosen = t - 1
        if t > arms:
            log_t = math.log(t)
            for arm in range(arms):
                n = pulls[arm]
                term = (start + growth * log_t) * math.pow(math.log(n), power)
                index[arm] = (released[arm] + term) / n + math.sqrt(2.0 * log_t / n)
            chosen = argmax(index)
        reward = pull(bandit, chosen)
        released[chosen] = insert(counters, rng, chosen, reward)
        pulls[chosen] += 1.0
        for arm in range(arms if params.feed == Feed.EVERY_ROUND else 0):
            if arm != chosen:
                released[arm] = insert(counters, rng, arm, 0.0)


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the levels of one counter per arm, whose nodes hold disjoint items."""
    scale = height(params) / counter_epsilon(params, arms)
    for arm in range(arms):
        for _ in range(levels(horizon)):
            yield Laplace(arm, 1, horizon, sensitivity=1.0, scale=scale)
