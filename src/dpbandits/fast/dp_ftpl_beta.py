"""DP-FTPL-Beta that samples only the arms above a level."""

from dpbandits.algorithms import dp_ftpl_beta
from dpbandits.algorithms._ftpl import first_pulls
from dpbandits.algorithms.dp_ftpl_beta import Params, start
from dpbandits.core.kernel import kernel
from dpbandits.fast._beta import sample_tail, tail_bound
from dpbandits.fast._largest_sample import (
    chance_above,
    covers,
    follow_totals,
    numbers,
    sample,
    sample_above,
)

__all__ = ["covers", "play"]

beta_numbers = dp_ftpl_beta.numbers
chance_above.register(Params)(tail_bound)
sample_above.register(Params)(sample_tail)


@numbers.register(Params)
def ftpl_numbers(params, total, n):
    return beta_numbers(total, n)


@sample.register(Params)
def ftpl_sample(params, rng, a, b):
    return rng.beta(a, b)


@kernel
def play(params, bandit, rng):
    """Pull each arm N_B* times, then the arm of largest θ."""
    sums, pulls = first_pulls(bandit, start(params))
    follow_totals(params, bandit, rng, sums, pulls)
