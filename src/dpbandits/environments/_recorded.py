"""Law that writes down the arm and the reward of every round, and draws no sums of rewards."""

from typing import Any, NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, regret
from dpbandits.kernel.linear import observe


class Recorded(NamedTuple):
    """Law of the rewards, and its records, which are written in place."""

    law: Any
    arms: np.ndarray  # int64, shape (rounds,)
    rewards: np.ndarray  # float64, shape (rounds,)


@draw.register(Recorded)
def recorded_draw(law, rng, arm, t):
    law.arms[t] = arm
    law.rewards[t] = draw(law.law, rng, arm, t)
    return law.rewards[t]


observe.register(Recorded)(lambda law, features, t: observe(law.law, features, t))
regret.register(Recorded)(lambda law, pulls: regret(law.law, pulls))
