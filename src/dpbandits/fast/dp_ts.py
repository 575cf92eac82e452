"""DP-TS that samples only the arms above a level."""

from dpbandits.algorithms.lazy_dp_ts import first_pulls
from dpbandits.fast._largest_sample import covers, follow_exact
from dpbandits.fast.lazy_dp_ts import Rising
from dpbandits.kernel.compilation import kernel

__all__ = ["covers", "play"]


@kernel
def play(params, bandit, rng):
    """Pull each arm once, then the arm of largest θ."""
    means, rewards = first_pulls(params, bandit, rng)
    follow_exact(Rising(means, rewards, params), bandit, rng)
