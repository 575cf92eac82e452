"""wang2024 from its text alone: the four algorithms and the distribution of Lemma 15.

Slow on purpose: every sample in every round is drawn from all rewards of the arm. Numbers of
algorithms, lemmas and lines are the paper's; limits for epsilon = 0 and delta = 0 are those of
Lemma 15 and Remark 17.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special, stats
from streams import Game


def log_fraction(epsilon: float, delta: float, a: float, b: float, c: float, d: float) -> float:
    """Return (1/epsilon) log[(a E + b delta)/(c E + d delta)], E = e^epsilon - 1; b and d equal.

    At epsilon = 0 the limit (a - c)/(b delta).
    """
    assert b == d
    if epsilon == 0:
        return (a - c) / (b * delta)
    e = math.exp(epsilon) - 1
    return math.log((a * e + b * delta) / (c * e + d * delta)) / epsilon


class Lemma15:
    """Perturbed distribution of Lemma 15 around x_0 after N pulls."""

    def __init__(self, epsilon: float, delta: float, pulls: float, x0: float) -> None:
        self.epsilon, self.delta, self.pulls, self.x0 = epsilon, delta, pulls, x0

    def cdf(self, x: float) -> float:
        """Return F(x)."""
        if x > self.x0:
            return 1 - self.cdf(2 * self.x0 - x)  # the two halves are mirror images
        epsilon, delta, n = self.epsilon, self.delta, self.pulls
        if epsilon == 0:
            return max(0.0, 0.5 + n * delta * (x - self.x0))
        if delta == 0:
            return 0.5 * math.exp(n * epsilon * (x - self.x0))
        e = math.exp(epsilon) - 1
        if x < self.x0 - math.log(e / (2 * delta) + 1) / (n * epsilon):
            return 0.0
        return ((e / (2 * delta) + 1) * math.exp(n * epsilon * (x - self.x0)) - 1) / e * delta

    def quantile(self, u: float) -> float:
        """Return the x with F(x) = u."""
        if u > 0.5:
            return 2 * self.x0 - self.quantile(1 - u)
        epsilon, delta = self.epsilon, self.delta
        if epsilon == 0:
            far = (u - 0.5) / delta
        elif delta == 0:
            far = math.log(2 * u) / epsilon
        else:
            e = math.exp(epsilon) - 1
            far = math.log((u * e / delta + 1) / (e / (2 * delta) + 1)) / epsilon
        return self.x0 + far / self.pulls

    def sample(self, rng: Any) -> float:
        """Draw from the distribution by inversion."""
        return self.quantile(rng.random())


class FTPL:
    """Frame of Algorithms 1 to 3: a start phase arm by arm, then the largest sample theta_i."""

    coin = False  # section 3.1: the statistics have a coin in place of a reward

    def __init__(self) -> None:
        self.branches: Counter[str] = Counter()

    def start(self) -> float:
        """Return the number of pulls below which the start phase goes on with an arm."""
        raise NotImplementedError

    def sample(self, rewards: Sequence[float], rng: Any) -> float:
        """Draw theta_i(t) from all rewards of the arm."""
        raise NotImplementedError

    def play(self, game: Game, rng: Any) -> None:
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        for arm in range(game.arms):
            # An arm without a pull has no mean: one at least.
            while len(rewards[arm]) < max(self.start(), 1):
                if game.over:
                    self.branches["cut"] += 1
                    return
                rewards[arm].append(self.observed(game.pull(arm), rng))
        while not game.over:
            theta = [self.sample(own, rng) for own in rewards]
            chosen = theta.index(max(theta))
            self.branches["same arm" if chosen == game.played[-1] else "other arm"] += 1
            rewards[chosen].append(self.observed(game.pull(chosen), rng))

    def observed(self, reward: float, rng: Any) -> float:
        """Return the reward, or the coin of section 3.1, which shows 1 with its probability."""
        if not self.coin:
            return reward
        return 1.0 if rng.random() < reward else 0.0


class Gauss(FTPL):
    """Algorithm 1, DP-FTPL-Gauss."""

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__()
        self.epsilon, self.delta = epsilon, delta

    def start(self) -> float:
        """Return N_G*, line 3."""
        first = 1 / (4 * math.pi * self.delta**2)
        if self.epsilon == 0:
            return first
        second = math.log(math.e / (4 * math.pi * self.delta**2)) / self.epsilon**2
        self.branches["first" if first < second else "second"] += 1
        return min(first, second)

    def sample(self, rewards: Sequence[float], rng: Any) -> float:
        """Draw from N(R/N, 2/N), line 9."""
        n = len(rewards)
        return float(rng.normal(math.fsum(rewards) / n, math.sqrt(2 / n)))

    def survival(self, rewards: float, n: int, x: np.ndarray) -> np.ndarray:
        """Return P[theta_i > x] for N and R."""
        return np.asarray(stats.norm.sf(x, rewards / n, math.sqrt(2 / n)))


class Beta(FTPL):
    """Algorithm 2, DP-FTPL-Beta."""

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__()
        self.epsilon, self.delta = epsilon, delta

    def start(self) -> float:
        """Return N_B*, line 3."""
        least = 1000 * math.e / (9 * math.pi)
        first = 40 * math.e / (9 * math.pi * self.delta**2)
        if self.epsilon == 0:
            return max(first, least)
        log = math.log(math.e / (2 * math.pi * self.delta**2))
        second = 8000 * log / (81 * self.epsilon**2)
        needed = min(first, second)
        self.branches["least" if needed < least else "first" if first < second else "second"] += 1
        return max(needed, least)

    def sample(self, rewards: Sequence[float], rng: Any) -> float:
        """Draw from Beta(a + k, b + k), line 9."""
        n, total = len(rewards), sum(rewards)
        a, b, k = total + 1, n - total + 1, n // 8 + 1
        return float(rng.beta(a + k, b + k))

    def survival(self, rewards: float, n: int, x: np.ndarray) -> np.ndarray:
        """Return P[theta_i > x] for N and R."""
        a, b, k = rewards + 1, n - rewards + 1, n // 8 + 1
        return np.asarray(special.betaincc(a + k, b + k, np.clip(x, 0, 1)))


class New(FTPL):
    """Algorithm 3, DP-FTPL-New."""

    def __init__(self, epsilon: float, delta: float, horizon: int) -> None:
        super().__init__()
        self.epsilon, self.delta, self.horizon = epsilon, delta, horizon

    def start(self) -> float:
        """Return 1, lines 2 to 5."""
        return 1

    def law(self, total: float, n: int) -> Lemma15:
        """Return D(N_i, R_i), line 7."""
        t = self.horizon
        radius = log_fraction(self.epsilon, self.delta, t, 2 * t, 2, 2 * t)
        x0 = total / n + math.sqrt(math.log(t) / n) + radius / n
        return Lemma15(self.epsilon, self.delta, n, x0)

    def sample(self, rewards: Sequence[float], rng: Any) -> float:
        """Draw from D(N_i, R_i), line 7."""
        return self.law(sum(rewards), len(rewards)).sample(rng)

    def survival(self, rewards: float, n: int, x: np.ndarray) -> np.ndarray:
        """Return P[theta_i > x] for N and R."""
        law = self.law(rewards, n)
        return np.array([law.cdf(2 * law.x0 - value) for value in x])


class GDPElimNew:
    """Algorithm 4, GDP-Elim-New."""

    def __init__(self, epsilon: float, delta: float, horizon: int) -> None:
        self.epsilon, self.delta, self.horizon = epsilon, delta, horizon
        self.branches: Counter[str] = Counter()

    def pulls(self, gap: float) -> float:
        """Return N(k), line 4; at least 1, because it is 0 at T = 1 and a mean needs a pull."""
        t = self.horizon
        first = 32 * math.log(t) / gap**2
        fraction = log_fraction(self.epsilon, self.delta, t**2, t**2, 2, t**2)
        self.branches["statistics" if first > 4 / gap * fraction else "privacy"] += 1
        return max(first, 4 / gap * fraction, 1)

    def play(self, game: Game, rng: Any) -> None:
        """Play phases to the horizon, or until an arm is exploited."""
        k = 0
        while True:
            k += 1  # line 2
            gap = 2.0**-k  # line 3
            n = self.pulls(gap)
            rewards: list[list[float]] = [[] for _ in range(game.arms)]
            while len(rewards[-1]) < n:  # line 5, in passes over the arms
                for arm in range(game.arms):
                    if game.over:
                        self.branches["cut"] += 1
                        return
                    rewards[arm].append(game.pull(arm))
            theta = [  # line 6
                Lemma15(self.epsilon, self.delta / 2, n, sum(own) / len(own)).sample(rng)
                for own in rewards
            ]
            self.branches[f"phase {k}"] += 1
            for i in range(game.arms):  # line 7
                if theta[i] >= max(theta[j] for j in range(game.arms) if j != i) + gap:
                    while not game.over:  # line 8
                        self.branches["exploit"] += 1
                        game.pull(i)
                    return


def chances(
    policy: Gauss | Beta | New, totals: Sequence[float], pulls: Sequence[int], points: np.ndarray
) -> np.ndarray:
    """Return the probability that theta_i is the largest, for every arm, by quadrature.

    P[theta_i in dx] times the chances that the others are below x; `points` is an ascending grid
    that holds nearly all mass of all samples.
    """
    middle = (points[1:] + points[:-1]) / 2
    arms = list(zip(totals, pulls, strict=True))
    mass = [-np.diff(policy.survival(total, n, points)) for total, n in arms]
    below = [1 - policy.survival(total, n, middle) for total, n in arms]
    result = [
        float(np.sum(mass[i] * math.prod(below[j] for j in range(len(arms)) if j != i)))
        for i in range(len(arms))
    ]
    assert abs(sum(result) - 1) < 1e-4
    return np.array(result) / sum(result)
