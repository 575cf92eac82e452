"""Law without means or gaps: code that reads them fails."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, draw_sum, has_closed_sum, regret


class Hidden(NamedTuple):
    """Coins with hidden probabilities: no `means`, no `gaps`."""

    coins: np.ndarray


@draw.register(Hidden)
def hidden_draw(law: Hidden, rng: np.random.Generator, arm: int, t: int) -> float:
    return float(rng.random() < law.coins[arm])


@has_closed_sum.register(Hidden)
def hidden_has_closed_sum(law: Hidden) -> bool:
    return True


@draw_sum.register(Hidden)
def hidden_draw_sum(law: Hidden, rng: np.random.Generator, arm: int, n: int) -> float:
    return float(rng.binomial(n, law.coins[arm]))


@regret.register(Hidden)
def hidden_regret(law: Hidden, pulls: np.ndarray) -> float:
    return 0.0
