"""Random streams that an oracle shares with the package, and what both sides record.

An oracle plays a `Game` and asks a `Draws` for its noise; the package plays its own bandit on
generators with the same seeds (tests/contract/played.py). In per-round mode both sides draw in the
same order, so every arm, every noise and every regret can be compared one by one. Like the oracles
themselves, this file imports nothing from dpbandits.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Reward = Callable[[int, int], float]  # reward of an arm in a round; arms from 0, rounds from 1


def reward_stream(seed: int) -> np.random.Generator:
    """Return the generator of the rewards of run `seed`."""
    return np.random.Generator(np.random.PCG64([1, seed]))


def policy_stream(seed: int) -> np.random.Generator:
    """Return the generator of the noise and the random choices of run `seed`."""
    return np.random.Generator(np.random.PCG64([2, seed]))


def bernoulli_rewards(means: Sequence[float], rng: np.random.Generator) -> Reward:
    """Return rewards that are 1 if a fresh uniform number is below the mean of the arm, else 0."""
    return lambda arm, t: 1.0 if rng.random() < means[arm] else 0.0


def beta_rewards(means: Sequence[float], rng: np.random.Generator) -> Reward:
    """Return rewards with law Beta(2 mu, 2 (1 - mu)), mu being the mean of the arm."""
    return lambda arm, t: rng.beta(2.0 * means[arm], 2.0 * (1.0 - means[arm]))


def table_rewards(gains: np.ndarray) -> Reward:
    """Return the entries of a table; `gains` has shape (rounds, arms)."""
    return lambda arm, t: float(gains[t - 1, arm])


class Draw(NamedTuple):
    """One request for a random number: the generator's method, its arguments, the result."""

    method: str
    arguments: tuple[float, ...]
    value: Any


class Draws:
    """Generator that records every request."""

    def __init__(self, rng: Any) -> None:
        self.rng = rng
        self.log: list[Draw] = []

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def draw(*arguments: float) -> Any:
            value = getattr(self.rng, method)(*arguments)
            self.log.append(Draw(method, tuple(map(float, arguments)), value))
            return value

        return draw


class Game:
    """Bandit of an oracle: it may pull an arm while rounds are left."""

    def __init__(self, arms: int, horizon: int, reward: Reward) -> None:
        self.arms, self.horizon, self.reward = arms, horizon, reward
        self.played: list[int] = []  # the arm of every round
        self.rewards: list[float] = []

    @property
    def over(self) -> bool:
        """True if no round is left."""
        return len(self.played) == self.horizon

    def pull(self, arm: int) -> float:
        """Play one round and return its reward."""
        assert not self.over
        self.played.append(arm)
        self.rewards.append(self.reward(arm, len(self.played)))
        return self.rewards[-1]


def regret_curve(played: Sequence[int], means: Sequence[float]) -> np.ndarray:
    """Return the pseudo-regret after every round: the sum of max_b mu_b - mu_a so far."""
    return np.cumsum([max(means) - means[arm] for arm in played])
