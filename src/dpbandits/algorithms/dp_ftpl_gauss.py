"""DP-FTPL-Gauss (wang2024): Algorithm 1, θᵢ ~ N(Rᵢ/Nᵢ, 2/Nᵢ). (ε, δ)-DP in every round alone."""

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
    sample,
    start,
    warning,
)
from dpbandits.kernel.parameters import Budget, Probability
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases", "start", "warning"]

LABEL = "DP-FTPL-Gauss"
guarantee = guaranteed(Notion.PER_ROUND, "wang2024, Theorem 11", ONE_ROUND, delta="delta")


class Params(NamedTuple):
    """Budget of one round (ε may be 0, δ not: Remark 17), how θ is drawn, and the variant."""

    epsilon: Budget
    delta: Probability
    method: Method = Method.EXACT
    observation: CoinOrReward = Observation.REWARD


@start.register(Params)
def gauss_start(params):
    """Return N_G* = min{1/(4 π δ²), log(e/(4 π δ²))/ε²}, which is 0 or negative for a large δ."""
    # Divided step by step: delta^2 and epsilon^2 may underflow.
    half = 0.5 / params.delta
    alone = half / math.pi * half
    if params.epsilon == 0.0:
        return alone
    log_part = 1.0 - math.log(4.0 * math.pi) - 2.0 * math.log(params.delta)
    return min(alone, log_part / params.epsilon / params.epsilon)


# θ ~ N(R/N, 2/N), by its mean and its standard deviation
numbers.register(Params)(lambda params, total, n: (total / n, math.sqrt(2.0 / n)))
sample.register(Params)(lambda params, rng, mean, deviation: rng.normal(mean, deviation))
