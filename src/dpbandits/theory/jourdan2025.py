"""Lower bound of jourdan2025 on the pulls until an answer, under ε-global DP, from its poster.

`means`: one per arm of a Bernoulli bandit, whose best arm is unique; `epsilon`: the budget of
global DP; `risk`: largest probability of a wrong answer (δ in the paper); logarithms are natural.
"""

import math
from collections.abc import Callable, Sequence

from dpbandits.algorithms.dp_klucb import private_divergence
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.theory import azize2025


def characteristic_time(means: Sequence[float], epsilon: Positive) -> float:
    """Return T*_ε, in pulls: 1/T*_ε = max over allocations w of min over arms a of C_ε(a*, a, w).

    C_ε(a*, a, w) = min {w_a* d_ε(mu*, x) + w_a d_ε(mu_a, x): mu_a <= x <= mu*}. Relative accuracy
    1e-7. Raises UserError without a unique best arm.

    Per pull of a*, arm a costs at least y if and only if it is pulled w_a(y) = max over x of
    (y - d_ε(mu*, x))/d_ε(mu_a, x) times. So T*_ε is the minimum over y of (1 + sum_a w_a(y))/y,
    and both searches are over functions of one variable that have no second extremum.
    """
    *others, second, best = sorted(means)
    if second == best:
        raise UserError(f"T* is for a unique best arm, got {means.count(best)} of mean {best:g}")

    def pulls(mean: float, level: float, cost: float) -> float:
        def lacking(part: float) -> float:
            x = best - part * (best - level)
            return float(
                (private_divergence(best, x, epsilon) - cost) / private_divergence(mean, x, epsilon)
            )

        return -_smallest(lacking)

    def pulls_per_cost(share: float) -> float:
        # y as d_ε(mu*, level), which may be as large as it likes; no x below this level matters.
        level = second + share * (best - second)
        cost = private_divergence(best, level, epsilon)
        every = (pulls(mean, level, cost) for mean in (*others, second))
        return float((1.0 + math.fsum(every)) / cost)

    return _smallest(pulls_per_cost)


def lower_bound(means: Sequence[float], epsilon: Positive, risk: Fraction) -> float:
    """Return T*_ε log(1/(3 risk)), at most the expected pulls; negative for a risk above 1/3."""
    return characteristic_time(means, epsilon) * math.log(1.0 / (3.0 * risk))


def transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return the epsilon from which on privacy is free: T*_ε is that of d_ε = kl.

    That is max over a of log(mu* (1 - mu_a)/(mu_a (1 - mu*))), if finite.
    """
    return azize2025.transitions(means)[-1:] if min(means) > 0.0 and max(means) < 1.0 else ()


def _smallest(function: Callable[[float], float]) -> float:
    # The minimum over (0, 1); near 0, where it often is, to 1e-12 of the argument.
    from scipy.optimize import minimize_scalar  # imported late: slow

    found = minimize_scalar(function, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12})
    return float(found.fun)
