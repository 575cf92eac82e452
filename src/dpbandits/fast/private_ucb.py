"""Private-UCB in runs of the leader."""

import math
from typing import NamedTuple

from dpbandits.algorithms.private_ucb import Params, counter_epsilon, relaxation, relaxation_shape
from dpbandits.core.bandit import number_of_arms
from dpbandits.core.kernel import kernel
from dpbandits.fast._noise import noise_ahead
from dpbandits.fast.ucb import coefficients, follow_leaders
from dpbandits.mechanisms.counters import binary_counters


class Law(NamedTuple):
    """Index whose term for the noise is (start + growth log t) times a factor that grows with n."""

    params: Params
    start: float
    growth: float


@coefficients.register(Law)
def private_ucb_coefficients(law, n):
    shape = relaxation_shape(law.params, float(n))
    return law.start * shape, math.sqrt(2.0 / n), law.growth * shape / n, 1 << 62


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index."""
    arms = number_of_arms(bandit)
    start, growth = relaxation(params, arms)
    counters = binary_counters(arms, params.horizon, counter_epsilon(params, arms))
    follow_leaders(Law(params, start, growth), counters, bandit, noise_ahead(rng, 1, 0.0))
