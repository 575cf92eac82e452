"""Start phases of wang2024 and what its proofs say of them.

`epsilon`, `delta`: the budget of a round; logarithms are natural. N_G* and N_B* are the pulls of an
arm in the start phases of DP-FTPL-Gauss and DP-FTPL-Beta.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpbandits.algorithms import dp_ftpl_beta, dp_ftpl_gauss
from dpbandits.kernel.parameters import Budget, Positive, Probability, Rounds
from dpbandits.theory.wang2024 import global_lower_bound
from dpbandits.theory.wang2024_privacy import Lemma15, beta_smallest_start

GRID = [
    (float(epsilon), min(0.9, float(delta)))
    for epsilon in np.geomspace(0.001, 20.0, 20)
    for delta in np.geomspace(1e-10, 0.9, 20)
]


def gauss_start_pulls(epsilon: Budget, delta: Probability) -> float:
    """Return N_G* = min{1/(4 pi delta^2), log(e/(4 pi delta^2))/epsilon^2}, not rounded."""
    return float(dp_ftpl_gauss.start(dp_ftpl_gauss.Params(epsilon, delta)))


def beta_start_pulls(epsilon: Budget, delta: Probability) -> float:
    """Return N_B*, not rounded."""
    return float(dp_ftpl_beta.start(dp_ftpl_beta.Params(epsilon, delta)))


def beta_start_regret(means: Sequence[float], epsilon: Budget, delta: Probability) -> float:
    """Return sum_i Delta_i N_B*, the regret that section 8 expects of DP-FTPL-Beta."""
    return sum(max(means) - mean for mean in means) * beta_start_pulls(epsilon, delta)


def beta_proof_start(epsilon: Positive, delta: Probability) -> float:
    """Return the smallest N from which on the inequality of Theorem 13's proof holds at R = 0.

    With a = 1 + k, b = N + k, k = floor(N/8) + 1 it is sqrt(log(e (a+b)/(2 pi a b delta^2))/(a+b))
    <= epsilon a b/((a+b) (a + b + b epsilon)). It is checked up to 2^20 pulls.
    """
    n = np.arange(1, 2**20)
    k = n // 8 + 1
    a, b = 1.0 + k, 1.0 * n + k
    log = np.log(math.e * (a + b) / (2.0 * math.pi * a * b * delta**2)).clip(0.0)
    fails = np.sqrt(log / (a + b)) > epsilon * a * b / ((a + b) * (a + b + b * epsilon))
    return float(n[fails].max() + 1)


def beta_largest_start() -> float:
    """Return the largest share of N_B* after which Lemma 8 holds for DP-FTPL-Beta, over GRID."""
    return max(
        beta_smallest_start(*budget) / math.ceil(beta_start_pulls(*budget)) for budget in GRID
    )


def elim_over_new(horizon: Rounds, epsilon: Budget, delta: Probability) -> float:
    """Return the radius in the bound of Theorem 18 over that of Theorem 16."""
    # Algorithm 4 draws from Lemma 15 at delta/2 and allows failures of 1/T^2.
    of_elimination = Lemma15(epsilon, 0.5 * delta).radius(float(horizon) * horizon)
    return of_elimination / Lemma15(epsilon, delta).radius(horizon)


def elim_over_lower(horizon: Rounds, epsilon: Budget, delta: Probability) -> float:
    """Return the radius of Theorem 18 over 16 times Theorem 4 with c_0 = 1 and alpha = 1/2."""
    of_elimination = Lemma15(epsilon, 0.5 * delta).radius(float(horizon) * horizon)
    return of_elimination / (16.0 * global_lower_bound(horizon, epsilon, delta, 1.0, 0.5))
