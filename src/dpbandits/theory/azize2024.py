"""Bounds of azize2024: of AdaC-UCB on the regret, and of the thesis on identifying the best arm.

Regret is in units of reward. `means`: one per arm; `horizon`: T, rounds; `rho`: the budget of zCDP.
The bounds on identification are for Bernoulli arms with a unique best one, and raise UserError
without it; `risk`: largest probability of a wrong answer (δ in the thesis).
"""

import math
from collections.abc import Sequence

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.theory import jourdan2025

FREE = 1e100  # an epsilon at which d_ε is kl


def adac_ucb_upper_bound(
    means: Sequence[float], horizon: int, rho: Positive, beta: Positive
) -> float:
    """Return Theorem 5.6, sum_a (8 beta log T/Delta_a + 8 sqrt(beta log T/rho) + 2 beta/(beta-3)).

    Over the suboptimal arms; beta > 3.
    """
    if not beta > 3.0:
        raise UserError(f"Theorem 5.6 is for beta > 3, got {beta:g}")
    log_t, best = math.log(horizon), max(means)
    same = 8.0 * math.sqrt(beta * log_t / rho) + 2.0 * beta / (beta - 3.0)
    return sum(8.0 * beta * log_t / (best - mean) + same for mean in means if mean < best)


def kl_characteristic_time(means: Sequence[float]) -> float:
    """Return T*_KL, in pulls: that of jourdan2025 with kl as its divergence."""
    return jourdan2025.characteristic_time(means, FREE)


def tv_characteristic_time(means: Sequence[float]) -> float:
    """Return T*_TV, in pulls: that with the total variation, 1/Delta_min + sum_a 1/Delta_a."""
    *others, best = sorted(means)
    if others[-1] == best:
        raise UserError(f"T* is for a unique best arm, got {means.count(best)} of mean {best:g}")
    return 1.0 / (best - others[-1]) + sum(1.0 / (best - mean) for mean in others)


def identification_lower_bound(means: Sequence[float], epsilon: Positive, risk: Fraction) -> float:
    """Return max{T*_KL, T*_TV/(6 epsilon)} log(1/(3 risk)), at most the expected pulls.

    Deviation: page 122 prints T*_TV/epsilon, but page 123 finds 8 T*_TV/epsilon to be 48 times
    the bound, which needs the 6. T*_ε of jourdan2025 shows that it holds without the 6 too.
    """
    private = tv_characteristic_time(means) / (6.0 * epsilon)
    return max(kl_characteristic_time(means), private) * math.log(1.0 / (3.0 * risk))


def identification_transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return the epsilon at which the two terms of the lower bound are equal."""
    return (tv_characteristic_time(means) / (6.0 * kl_characteristic_time(means)),)
