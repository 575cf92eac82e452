"""DP-FTPL-Beta that samples only the arms above a level."""

from dpbandits.algorithms import dp_ftpl_beta as definition
from dpbandits.algorithms._ftpl import first_pulls
from dpbandits.algorithms.dp_ftpl_beta import Params
from dpbandits.core.kernel import kernel
from dpbandits.fast._beta import register_beta
from dpbandits.fast._largest_sample import covers, follow_totals, numbers

__all__ = ["covers", "play"]

register_beta(Params)


@numbers.register(Params)
def ftpl_numbers(params, total, n):
    return definition.numbers(total, n)


@kernel
def play(params, bandit, rng):
    """Pull each arm N_B* times, then the arm of largest θ."""
    sums, pulls = first_pulls(params, bandit)
    follow_totals(params, bandit, rng, sums, pulls)
