"""Private-UCB in runs of the leader."""

import math
from typing import NamedTuple

from dpbandits.algorithms.private_ucb import counter_epsilon, relaxation
from dpbandits.fast._noise import noise_ahead
from dpbandits.fast.ucb import coefficients, follow_leaders
from dpbandits.kernel.bandit import number_of_arms
from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.counters import binary_counters


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
    counters = binary_counters(arms, params.horizon, counter_epsilon(params, arms))
    follow_leaders(Law(start, growth, power), counters, bandit, noise_ahead(rng, 1, 0.0))
