"""Lower bound of azize2025 on the regret under ε-global DP, from slides of its first author.

Regret is in units of reward. `means`: one per arm of a Bernoulli bandit; `horizon`: T, rounds;
`epsilon`: the budget of global DP; logarithms are natural. The bound is a limit of Reg_T / log T
and is returned times log T.
"""

import math
from collections.abc import Sequence

from dpbandits.algorithms.dp_klucb import private_divergence
from dpbandits.kernel.parameters import Positive


def lower_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return log T sum_a Delta_a / d_epsilon(mu_a, mu*), over the arms with Delta_a > 0."""
    best = max(means)
    return math.log(horizon) * sum(
        (best - mean) / private_divergence(mean, best, epsilon) for mean in means if mean < best
    )


def transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return every epsilon from which on privacy is free for an arm, sorted.

    That is log(mu*/mu_a) + log((1 - mu_a)/(1 - mu*)), where it is finite.
    """
    best = max(means)
    free = {
        math.log(best / mean) + math.log((1.0 - mean) / (1.0 - best))
        for mean in means
        if 0.0 < mean < best < 1.0
    }
    return tuple(sorted(free))
