"""azize2022 from its text alone: Algorithm 1 with the indexes (7) and (8), and KL-UCB.

Slow on purpose: every quantity is computed again from all rewards whenever it is needed. Numbers of
equations and lines are the paper's.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from streams import Game

# Divergence --------------------------------------------------------------------------------------


def divergence(p: float, q: float) -> float:
    """Return d(p, q), the relative entropy of two Bernoulli distributions."""
    if (p > 0 and q == 0) or (p < 1 and q == 1):
        return math.inf
    first = p * math.log(p / q) if p > 0 else 0.0
    second = (1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0
    return first + second


def largest_within(p: float, level: float) -> float:
    """Return max {q in [0, 1]: d(p, q) <= level}, by bisection of 1 - q.

    An index can be so close to 1 that only 1 - q has digits; below 10^-18, q is 1.
    """
    if p == 1:
        return 1.0
    low, high = 0.0, 1 - p  # of 1 - q; d is infinite at low and 0 at high
    while low < (middle := (low + high) / 2) < high and high > 1e-18:
        first = p * (math.log(p) - math.log1p(-middle)) if p > 0 else 0.0
        if first + (1 - p) * math.log((1 - p) / middle) <= level:
            high = middle
        else:
            low = middle
    return 1 - high


# Algorithms --------------------------------------------------------------------------------------


class Algorithm1:
    """Adaptive episodes around an index of the private mean of an arm's last active episode.

    `branches` counts the cases that occurred; `half` replaces the one reward of an arm that was
    pulled once by N/2 = 1/2 rewards in every formula.
    """

    def __init__(self, epsilon: float, alpha: float, half: bool = False) -> None:
        self.epsilon, self.alpha, self.half = epsilon, alpha, half
        self.branches: Counter[str] = Counter()
        self.largest: list[list[int]] = []  # for every episode the arms of largest index

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return I_a(t_l - 1, alpha) from the private mean of m = N_a/2 rewards, t = t_l."""
        raise NotImplementedError

    def m(self, rewards: Sequence[float]) -> float:
        """Return N_a(t_l - 1)/2."""
        if len(rewards) == 1:
            return 0.5 if self.half else 1
        assert len(rewards) % 2 == 0
        return len(rewards) // 2

    def private_mean(self, rewards: Sequence[float], rng: Any) -> float:
        """Return the mean of the last active episode, (32), with Lap(1/(epsilon N_a/2))."""
        episode = rewards[-max(1, len(rewards) // 2) :]
        mean = sum(episode) / len(episode)
        return mean + rng.laplace(0.0, 1 / (self.epsilon * self.m(rewards)))

    def play(self, game: Game, rng: Any) -> None:
        """Play to the horizon; an arm of largest index that comes first wins."""
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        private_mean = []
        for arm in range(game.arms):  # line 3
            rewards[arm].append(game.pull(arm))
            private_mean.append(self.private_mean(rewards[arm], rng))
        while not game.over:
            t = len(game.played) + 1  # line 5
            indexes = [
                self.index(private_mean[arm], self.m(rewards[arm]), t) for arm in range(game.arms)
            ]
            largest = [arm for arm in range(game.arms) if indexes[arm] == max(indexes)]
            self.largest.append(largest)
            self.branches["tie"] += len(largest) > 1
            chosen = largest[0]  # line 6
            self.branches["same arm" if chosen == game.played[-1] else "other arm"] += 1
            target = 2 * len(rewards[chosen])  # line 7
            while len(rewards[chosen]) < target:
                if len(game.played) == game.horizon:
                    self.branches["cut"] += 1
                    return
                rewards[chosen].append(game.pull(chosen))
            private_mean[chosen] = self.private_mean(rewards[chosen], rng)


class AdaPUCB(Algorithm1):
    """AdaP-UCB."""

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return (7)."""
        bonus = math.sqrt(self.alpha * math.log(t) / (2 * m))
        return private_mean + bonus + self.alpha * math.log(t) / (self.epsilon * m)


class AdaPUCBWithoutAlpha(Algorithm1):
    """AdaP-UCB whose exploration has no alpha, which the curve of Fig. 3 suggests."""

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return mean + sqrt(log t/m) + alpha log t/(epsilon m)."""
        bonus = math.sqrt(math.log(t) / m)
        return private_mean + bonus + self.alpha * math.log(t) / (self.epsilon * m)


class AdaPKLUCB(Algorithm1):
    """AdaP-KLUCB."""

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return (8)."""
        raised = private_mean + self.alpha * math.log(t) / (self.epsilon * m)
        self.branches["below 0" if raised < 0 else "above 1" if raised > 1 else "inside"] += 1
        clipped = min(max(0.0, raised), 1.0)
        return largest_within(clipped, self.alpha * math.log(t) / m)


class AdaPKLUCBWithoutBonus(Algorithm1):
    """AdaP-KLUCB whose index does not allow for the noise."""

    def index(self, private_mean: float, m: float, t: int) -> float:
        """Return (8) without α log t/(ε m)."""
        return largest_within(min(max(0.0, private_mean), 1.0), self.alpha * math.log(t) / m)


class EpisodicUCB:
    """UCB with doubling episodes, with forgetting, with both or neither (Remark 3); no noise."""

    def __init__(self, alpha: float, doubling: bool, forgetting: bool) -> None:
        self.alpha, self.doubling, self.forgetting = alpha, doubling, forgetting

    def kept(self, rewards: list[float]) -> list[float]:
        """Return the rewards of which the mean is taken."""
        if not self.forgetting:
            return rewards
        return rewards[len(rewards) // 2 :] if self.doubling else rewards[::2]

    def play(self, game: Game, rng: Any) -> None:
        """Play each arm once, then an episode of the arm of largest index."""
        rewards = [[game.pull(arm)] for arm in range(game.arms)]
        while not game.over:
            log_t = math.log(len(game.played) + 1)
            kept = [self.kept(own) for own in rewards]
            indexes = [
                sum(own) / len(own) + math.sqrt(self.alpha * log_t / (2 * len(own))) for own in kept
            ]
            chosen = indexes.index(max(indexes))
            for _ in range(len(rewards[chosen]) if self.doubling else 1):
                if not game.over:
                    rewards[chosen].append(game.pull(chosen))


class KLUCB:
    """KL-UCB of Garivier and Cappe 2011 with c = 0, the non-private ancestor of AdaP-KLUCB."""

    def __init__(self, alpha: float = 1) -> None:
        self.alpha = alpha

    def play(self, game: Game, rng: Any) -> None:
        """Play each arm once, then that of largest max {q: N d(mean, q) <= alpha log t}."""
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        while not game.over:
            t = len(game.played) + 1
            chosen = t - 1
            if t > game.arms:
                indexes = [
                    largest_within(math.fsum(own) / len(own), self.alpha * math.log(t) / len(own))
                    for own in rewards
                ]
                chosen = indexes.index(max(indexes))
            rewards[chosen].append(game.pull(chosen))
