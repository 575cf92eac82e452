"""wang2024, Algorithms 1 to 3: follow the perturbed leader. N* and the draw of θ differ."""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, Any

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull, pull_many, rounds_left
from dpbandits.kernel.compilation import allocating, by_class, inlined, kernel
from dpbandits.kernel.randomness import AddedLater
from dpbandits.privacy.releases import ApproximateDP

# Why their releases compose to more than they promise.
ONE_ROUND = (
    "the promise is of one round; every round draws anew from the same rewards, and no number of"
    " rounds bounds what all of them tell"
)

# The field and the problem of a budget of ε = δ = 0, which no noise achieves.
BOTH_ZERO = "epsilon", "epsilon and delta must not both be 0 (wang2024: one of them is not zero)"


class Observation(IntEnum):
    """Variant: what the statistics have of a reward."""

    REWARD = 0  # the reward
    COIN = 1  # a coin that shows 1 with its probability (section 3.1); for rewards 0 or 1 the same


CoinOrReward = Annotated[Observation, AddedLater(Observation.REWARD)]


@inlined
def observed(params, reward, rng):
    """Return what the statistics have of a reward."""
    if params.observation == Observation.COIN:
        return 1.0 if rng.random() < reward else 0.0
    return reward


@by_class
def start(params):
    """Return N*, a real number: each arm is pulled `while N_i < N*`, and at least once."""
    return 1.0


@by_class
def law_of_theta(params):
    """Return what is computed once for all θ; by default the parameters themselves."""
    return params


@by_class
def numbers(law, total, n):
    """Return the parameters (a, b) of θᵢ(t) for an arm with n rewards of sum `total`."""
    raise NotImplementedError("this law registered no body for `numbers`")


@by_class
def sample(law, rng, a, b):
    """Draw θᵢ(t); by default from B(a, b)."""
    return rng.beta(a, b)


@allocating
def first_pulls(params, bandit, rng):
    """Pull each arm up to N*; return R and N, float64 of shape (arms,): sums and pulls."""
    n = math.ceil(min(max(start(params), 1.0), float(max(rounds_left(bandit), 1))))
    sums = np.empty(number_of_arms(bandit))
    for arm in range(sums.size):
        if params.observation == Observation.REWARD:
            sums[arm] = pull_many(bandit, arm, n)
        else:
            sums[arm] = 0.0
            for _ in range(min(n, rounds_left(bandit))):
                sums[arm] += observed(params, pull(bandit, arm), rng)
    return sums, np.full(sums.size, float(n))


@kernel
def play(params, bandit, rng):
    """Pull each arm N* times, then the arm of largest θᵢ(t)."""
    law = law_of_theta(params)
    sums, pulls = first_pulls(params, bandit, rng)
    thetas = np.empty(sums.size)
    while playing(bandit):
        for arm in range(thetas.size):
            a, b = numbers(law, sums[arm], pulls[arm])
            thetas[arm] = sample(law, rng, a, b)
        chosen = argmax(thetas)
        sums[chosen] += observed(params, pull(bandit, chosen), rng)
        pulls[chosen] += 1.0


def releases(params: Any, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield the releases θᵢ(t): after the start, one draw per arm and round reads all rewards.

    Each alone is (ε, δ)-DP, the paper's guarantee (Lemma 8). Their number has no bound for all T.
    """
    for arm in range(arms if start(params) * arms < horizon else 0):
        yield ApproximateDP(arm, 1, horizon, params.epsilon, params.delta, times=math.inf)


def warning(params: Any, arms: int, horizon: int) -> str | None:
    """Return a warning if the start phase leaves no rounds for perturbed choices, else None."""
    needed = start(params)
    if needed < horizon and math.ceil(max(needed, 1.0)) * arms < horizon:
        return None
    return f"the start phase takes all of the {horizon:,} rounds"
