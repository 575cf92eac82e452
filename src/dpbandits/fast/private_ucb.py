"""Private-UCB in runs of the leader."""

import math
from typing import Any, NamedTuple

from dpbandits.algorithms.private_ucb import Feed, counter_epsilon, height, relaxation
from dpbandits.fast._noise import noise_ahead
from dpbandits.fast.ucb import coefficients, follow_leaders
from dpbandits.kernel.bandit import number_of_arms
from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.counters import binary_counters


def covers(params: Any) -> bool:
    """Return True if a counter changes with the pulls of its arm alone."""
    return bool(params.feed == Feed.OWN_PULLS)


class Law(NamedTuple):
    """Index whose term for the noise is (start + growth log t) log^power(n)."""

    start: float
    growth: float
    power: float


@coefficients.register(Law)
def private_ucb_coefficients(law, n):
    shape = math.pow(math.log(n), law.power)
    return law.start * shape, math.sqrt(2.0 / n), law.growth * shape / n, 1 << 62


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index."""
    arms = number_of_arms(bandit)
    start, growth, power = relaxation(params, arms)
    epsilon = counter_epsilon(params, arms)
    counters = binary_counters(arms, params.horizon, height(params), epsilon)
    follow_leaders(Law(start, growth, power), counters, bandit, noise_ahead(rng, 1, 0.0))
