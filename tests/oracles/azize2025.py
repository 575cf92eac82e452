"""azize2025 from its slides alone: DP-KLUCB; DP-IMED and IMED from their definitions.

Slow on purpose: sums and counts are computed again from all rewards whenever they are needed. The
slides give no code: what they leave open is an argument here, as in the package.
"""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import azize2022
from streams import Game


def kl(p: float, q: float, rest: float | None = None) -> float:
    """Return the relative entropy of two Bernoulli distributions; `rest` is 1 - q."""
    rest = 1 - q if rest is None else rest
    if (p > 0 and q == 0) or (p < 1 and rest == 0):
        return math.inf
    first = p * math.log(p / q) if p > 0 else 0.0
    second = (1 - p) * (math.log(1 - p) - math.log(rest)) if p < 1 else 0.0
    return first + second


def divergence(x: float, y: float, epsilon: float, rest: float | None = None) -> float:
    """Return d_epsilon(x, y) for x <= y by the two cases of the slides; `rest` is 1 - y."""
    rest = 1 - y if rest is None else rest
    if x == y:
        return 0.0
    if x > 0 and rest > 0:
        threshold = math.log(y / x) + math.log(1 - x) - math.log(rest)
        if epsilon >= threshold:
            return kl(x, y, rest)
    z = y / (y + rest * math.exp(epsilon))
    above = rest * math.exp(epsilon) / (y + rest * math.exp(epsilon))  # 1 - z
    first = z * math.log(z / y)
    second = above * (math.log(above) - math.log(rest)) if above > 0 else 0.0
    return first + second + epsilon * (z - x)


def largest_within(x: float, level: float, epsilon: float) -> float:
    """Return max {y in [0, 1]: d_epsilon(x, y) <= level}, by bisection of 1 - y.

    An index can be so close to 1 that only 1 - y has digits; below 10^-18, y is 1.
    """
    if x == 1 or divergence(x, 1.0, epsilon) <= level:
        return 1.0
    low, high = 0.0, 1 - x  # of 1 - y
    while low < (middle := (low + high) / 2) < high and high > 1e-18:
        if divergence(x, 1 - middle, epsilon, middle) <= level:
            high = middle
        else:
            low = middle
    return 1 - high


def clipped(mean: float) -> float:
    """Return clip_[0,1](mean)."""
    return min(max(0.0, mean), 1.0)


class Batches:
    """Phases of the slides: an arm is chosen and played until its pulls are alpha times as many.

    `ratio` is the decimal number that is written. `up` rounds alpha N up, otherwise down.
    `branches` counts the cases that occurred. Ingredients of azize2022, which the slides do not
    have: `forgetting` reads the last batch alone, `alpha` multiplies log t, and `bonus` has the
    index (8).
    """

    def __init__(
        self,
        epsilon: float,
        ratio: str,
        up: bool = True,
        first: int = 1,
        plus: int = 1,
        alpha: float = 1.0,
        forgetting: bool = False,
        bonus: bool = False,
    ) -> None:
        self.epsilon, self.ratio, self.up = epsilon, Fraction(ratio), up
        self.first, self.plus = first, plus
        self.alpha, self.forgetting, self.bonus = alpha, forgetting, bonus
        self.branches: Counter[str] = Counter()
        self.largest: list[list[int]] = []  # for every batch the arms of best index

    def noise(self, rng: Any) -> float:
        return float(rng.laplace(0.0, 1 / self.epsilon))

    def best_arms(self, means: list[float], pulls: list[int], t: int) -> list[int]:
        """Return the arms whose index is best, from private means of n rewards, and t_l."""
        raise NotImplementedError

    def play(self, game: Game, rng: Any) -> None:
        """Play to the horizon; of the arms of best index the first one wins."""
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        noises: list[list[float]] = [[] for _ in range(game.arms)]
        last = [self.first] * game.arms  # rewards of the last batch
        for arm in range(game.arms):
            for _ in range(self.first):
                rewards[arm].append(game.pull(arm))
            noises[arm].append(self.noise(rng))
        while not game.over:
            means, pulls = [], []
            for arm in range(game.arms):
                read, added = rewards[arm], noises[arm]
                if self.forgetting:
                    read, added = read[-last[arm] :], added[-1:]
                mean = (math.fsum(read) + math.fsum(added)) / len(read)
                pulls.append(len(read))
                self.branches["below 0" if mean < 0 else "above 1" if mean > 1 else "inside"] += 1
                means.append(mean)
            best = self.best_arms(means, pulls, len(game.played) + self.plus)
            self.largest.append(best)
            self.branches["tie"] += len(best) > 1
            chosen = best[0]
            target = self.ratio * len(rewards[chosen])
            whole = math.ceil(target) if self.up else math.floor(target)
            self.branches["at least one"] += whole == len(rewards[chosen])
            self.branches["same arm" if chosen == game.played[-1] else "other arm"] += 1
            last[chosen] = max(whole - len(rewards[chosen]), 1)
            for _ in range(last[chosen]):
                if len(game.played) == game.horizon:
                    self.branches["cut"] += 1
                    return
                rewards[chosen].append(game.pull(chosen))
            noises[chosen].append(self.noise(rng))


class DPKLUCB(Batches):
    """DP-KLUCB."""

    def best_arms(self, means: list[float], pulls: list[int], t: int) -> list[int]:
        """Return the arms of largest max {mu: d_epsilon(mean, mu) <= alpha log t / N}."""
        indexes = []
        for mean, n in zip(means, pulls, strict=True):
            level = self.alpha * math.log(t) / n
            if self.bonus:
                raised = clipped(mean + level / self.epsilon)
                indexes.append(azize2022.largest_within(raised, level))
            else:
                indexes.append(largest_within(clipped(mean), level, self.epsilon))
        return [arm for arm, index in enumerate(indexes) if index == max(indexes)]


class DPIMED(Batches):
    """DP-IMED."""

    def best_arms(self, means: list[float], pulls: list[int], t: int) -> list[int]:
        """Return the arms of smallest N d_epsilon(mean, largest mean) + log N."""
        means = [clipped(mean) for mean in means]
        indexes = [
            n * divergence(mean, max(means), self.epsilon) + math.log(n)
            for mean, n in zip(means, pulls, strict=True)
        ]
        return [arm for arm, index in enumerate(indexes) if index == min(indexes)]


class IMED(Batches):
    """IMED: DP-IMED with kl and without noise; with ratio 1 it decides in every round."""

    def __init__(self, ratio: str = "1") -> None:
        super().__init__(math.inf, ratio)

    def noise(self, rng: Any) -> float:
        return 0.0

    def best_arms(self, means: list[float], pulls: list[int], t: int) -> list[int]:
        """Return the arms of smallest N kl(mean, largest mean) + log N."""
        means = [clipped(mean) for mean in means]
        indexes = [
            n * kl(mean, max(means)) + math.log(n) for mean, n in zip(means, pulls, strict=True)
        ]
        return [arm for arm, index in enumerate(indexes) if index == min(indexes)]
