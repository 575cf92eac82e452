"""DP-EXP3-Lap (tossou2017): Algorithm 1. ε-DP, Theorem 3.2."""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.exp3 import Estimates, add_gain, draw_arm, exploration
from dpbandits.algorithms.ldp_ucb_l import releases
from dpbandits.kernel.bandit import number_of_arms, playing, pull
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Positive, Rounds
from dpbandits.mechanisms.laplace import laplace
from dpbandits.privacy.notions import Notion, guaranteed

__all__ = ["LABEL", "Params", "guarantee", "play", "releases", "warning"]

LABEL = "DP-EXP3-Lap"
guarantee = guaranteed(Notion.LOCAL, "tossou2017, Theorem 3.2")


class Params(NamedTuple):
    """Privacy budget, and horizon T, which determines γ and the threshold b."""

    epsilon: Positive
    horizon: Rounds


@kernel
def play(params, bandit, rng):
    """Run EXP3 on noisy gains and ignore those outside [-b, b+1] (Algorithm 1)."""
    arms = number_of_arms(bandit)
    b = math.log(params.horizon) / params.epsilon
    gamma = exploration(arms, params.horizon)
    estimates = Estimates(np.zeros(arms), np.ones(arms), np.zeros(1))
    while playing(bandit):
        arm, p = draw_arm(estimates, gamma, rng)
        noisy = pull(bandit, arm) + laplace(rng, 1.0, params.epsilon)
        if -b <= noisy <= b + 1.0:
            scaled = (noisy + b) / (2.0 * b + 1.0)
            add_gain(estimates, arm, gamma / arms * (scaled / p))


def warning(params: Params, arms: int, horizon: int) -> str | None:
    """Return a warning for budgets as large as the paper's own, which give no privacy; or None."""
    ratio = f"a likelihood ratio of e^{params.epsilon:.0f} is no privacy"
    return ratio if params.epsilon >= 20.0 else None
