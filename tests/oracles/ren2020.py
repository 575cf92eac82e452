"""ren2020 as described in words: LDP-UCB-B and LDP-UCB-L, one round after another."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from streams import Game


class Local:
    """UCB on private rewards; `phantom` gives every arm one private reward of 0 before the game."""

    def __init__(self, epsilon: float, phantom: bool) -> None:
        self.epsilon, self.phantom = epsilon, phantom
        self.branches: Counter[str] = Counter()

    def private(self, reward: float, rng: Any) -> float:
        """Return the private version of a reward."""
        raise NotImplementedError

    def bonus(self, n: int, t: int) -> float:
        """Return the bonus of an arm with n private rewards in round t."""
        raise NotImplementedError

    def forced(self, counts: Sequence[int], t: int) -> list[int]:
        """Return the arms that precede all indexes in round t."""
        return []

    def play(self, game: Game, rng: Any) -> None:
        """Play to the horizon; the first of the arms of largest index wins."""
        private: list[list[float]] = [[0.0] if self.phantom else [] for _ in range(game.arms)]
        for t in range(1, game.horizon + 1):
            counts = [len(own) for own in private]
            forced = self.forced(counts, t)
            if 0 in counts:
                chosen = counts.index(0)
                self.branches["first pull"] += 1
            elif forced:
                chosen = forced[0]
                self.branches["forced"] += 1
            else:
                indexes = [sum(own) / len(own) + self.bonus(len(own), t) for own in private]
                chosen = indexes.index(max(indexes))
                self.branches["index"] += 1
            private[chosen].append(self.private(game.pull(chosen), rng))


class LdpUcbB(Local):
    """LDP-UCB-B: a bit y ~ Bernoulli((r e^eps + 1 - r)/(1 + e^eps)) in place of r."""

    def private(self, reward: float, rng: Any) -> float:
        e = math.exp(self.epsilon)
        return float(rng.random() < (reward * e + 1 - reward) / (1 + e))

    def bonus(self, n: int, t: int) -> float:
        return math.sqrt(2 * math.log(t) / n)


class LdpUcbL(Local):
    """LDP-UCB-L: r + Lap(1/eps); arms with at most 4 log(t + 1) private rewards come first."""

    def private(self, reward: float, rng: Any) -> float:
        return float(reward + rng.laplace(0.0, 1 / self.epsilon))

    def forced(self, counts: Sequence[int], t: int) -> list[int]:
        return [arm for arm, n in enumerate(counts) if n <= 4 * math.log(t + 1)]

    def bonus(self, n: int, t: int) -> float:
        log_t = math.log(t)
        return math.sqrt(2 * log_t / n) + math.sqrt(32 * log_t / (self.epsilon**2 * n))
