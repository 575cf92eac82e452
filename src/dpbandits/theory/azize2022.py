"""Lower bounds of azize2022 for Bernoulli bandits."""

import math
from collections.abc import Sequence

from dpbandits.divergence import bernoulli_kl


def problem_dependent_lower_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    """Theorem 3 times log T: log T sum_a Delta_a / min(d(mu_a, mu*), 6 epsilon Delta_a).

    For Bernoulli arms t_inf is the gap. Asymptotic: the theorem bounds the limit of Reg_T / log T.
    A best mean of 1 makes d infinite, and then the private term rules alone.
    """
    best = max(means)
    total = 0.0
    for mean in means:
        if gap := best - mean:
            total += gap / min(bernoulli_kl(mean, best), 6.0 * epsilon * gap)
    return math.log(horizon) * total
