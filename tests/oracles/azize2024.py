"""azize2024 (Azize's thesis, section 5.3.1) from its text alone: AdaC-UCB and Theorem 5.6.

Slow on purpose, like azize2022.py, whose Algorithm 1 it plays with another noise and index (5.4).
"""

import math
from collections.abc import Sequence
from typing import Any

from azize2022 import Algorithm1


class AdaCUCB(Algorithm1):
    """AdaC-UCB; `beta` is that of (5.4)."""

    def __init__(self, rho: float, beta: float, half: bool = False) -> None:
        super().__init__(math.nan, math.nan, half)  # neither epsilon nor alpha
        self.rho, self.beta = rho, beta

    def private_mean(self, rewards: Sequence[float], rng: Any) -> float:
        """Return the mean of the last episode with N(0, 1/(2 rho) (1/(N_a/2))^2)."""
        episode = rewards[-max(1, len(rewards) // 2) :]
        variance = 1 / (2 * self.rho) * (1 / self.m(rewards)) ** 2
        return sum(episode) / len(episode) + rng.normal(0.0, math.sqrt(variance))

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return (5.4)."""
        return private_mean + math.sqrt(
            (1 / 2 * (1 / m) + 1 / (self.rho * m**2)) * self.beta * math.log(t)
        )


class NonPrivate(Algorithm1):
    """The counterpart of section 5.5.2: no noise, and no term for it in the bonus."""

    def __init__(self, beta: float, half: bool = False) -> None:
        super().__init__(math.nan, math.nan, half)
        self.beta = beta

    def private_mean(self, rewards: Sequence[float], rng: Any) -> float:
        """Return the mean of the last episode."""
        episode = rewards[-max(1, len(rewards) // 2) :]
        return sum(episode) / len(episode)

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return the first term of (5.4) under the root."""
        return private_mean + math.sqrt(1 / 2 * (1 / m) * self.beta * math.log(t))
