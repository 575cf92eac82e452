"""DP-UCB-BOUND in runs of the leader."""

import math

from dpbandits.algorithms.dp_ucb_bound import Counter, Params, noise_factor, part_epsilon
from dpbandits.fast._noise import noise_ahead
from dpbandits.fast.ucb import coefficients, follow_leaders
from dpbandits.kernel.bandit import number_of_arms, rounds_left
from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.counters import hybrid_counters, single_counters


@coefficients.register(Params)
def bound_coefficients(params, n):
    factor, power = noise_factor(params, n), 1
    while power <= n:  # the next power of two, at which ν falls
        power *= 2
    return factor * math.log(4.0), math.sqrt(2.0 / n), 4.0 * factor / n, power - n


@kernel
def play(params, bandit, rng):
    """Play the arm of largest index, with the counters of the variant."""
    arms, noise = number_of_arms(bandit), noise_ahead(rng, 1, 0.0)
    if params.counter == Counter.SINGLE:
        follow_leaders(params, single_counters(arms, params.epsilon), bandit, noise)
    else:
        part = part_epsilon(params)
        counters = hybrid_counters(arms, rounds_left(bandit), part, part)
        follow_leaders(params, counters, bandit, noise)
