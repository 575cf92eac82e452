"""DP-FTPL-Beta (wang2024): Algorithm 2, θᵢ ~ B(aᵢ+kᵢ, bᵢ+kᵢ). (ε, δ)-DP in every round alone."""

import math
from typing import NamedTuple

from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._ftpl import (
    ONE_ROUND,
    CoinOrReward,
    Observation,
    numbers,
    play,
    releases,
    start,
    warning,
)
from dpbandits.kernel.parameters import Budget, Probability
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases", "start", "warning"]

LABEL = "DP-FTPL-Beta"
guarantee = guaranteed(Notion.PER_ROUND, "wang2024, Theorem 13", ONE_ROUND, delta="delta")


class Params(NamedTuple):
    """Budget of one round (ε may be 0, δ not: Remark 17), how θ is drawn, and the variant."""

    epsilon: Budget
    delta: Probability
    method: Method = Method.EXACT
    observation: CoinOrReward = Observation.REWARD


@start.register(Params)
def beta_start(params):
    """Return N_B* = max{min{40e/(9 π δ²), 8000 log(e/(2 π δ²))/(81 ε²)}, 1000e/(9 π)}."""
    # Divided step by step: delta^2 and epsilon^2 may underflow.
    needed = 40.0 * math.e / (9.0 * math.pi) / params.delta / params.delta
    if params.epsilon > 0.0:
        log_part = 1.0 - math.log(2.0 * math.pi) - 2.0 * math.log(params.delta)
        needed = min(needed, 8000.0 / 81.0 * log_part / params.epsilon / params.epsilon)
    return max(needed, 1000.0 * math.e / (9.0 * math.pi))


@numbers.register(Params)
def beta_numbers(params, total, n):
    """Return a + k = R + 1 + k and b + k = N - R + 1 + k (line 9), real numbers as R may be."""
    k = math.floor(n / 8.0) + 1.0
    return total + 1.0 + k, n - total + 1.0 + k
