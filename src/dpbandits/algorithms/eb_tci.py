"""EB-TCI (Jourdan et al. 2022, as jourdan2025 runs it): DP-TT without phases and noise.

The leader is the arm of largest mean, the challenger costs least plus ln N. Not private.
"""

from typing import NamedTuple

from dpbandits.algorithms._top_two import cost, exploration, play, threshold
from dpbandits.algorithms.dp_tt import Threshold, log_pulls, threshold_of
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.kernel.parameters import Fraction

__all__ = ["KIND", "LABEL", "Params", "play"]

KIND = "identification"
LABEL = "EB-TCI"


class Params(NamedTuple):
    """Chance of a wrong answer δ, and the variant of the threshold, as DP-TT has it."""

    risk: Fraction
    threshold: Threshold = Threshold.SINGLE_LOG


exploration.register(Params)(log_pulls)
threshold.register(Params)(threshold_of)


@cost.register(Params)
def _(params, mean, other, n, m):
    # min over x of n kl(mean, x) + m kl(other, x), at the mean of all rewards.
    if mean <= other:
        return 0.0
    x = (n * mean + m * other) / (n + m)
    return n * bernoulli_kl(mean, x) + m * bernoulli_kl(other, x)
