"""hu2022 from its text alone: Algorithms 1 and 2, and the two policies that it compares with.

Slow on purpose: every quantity is computed again from all rewards and noises whenever it is needed.
Numbers of lines are the paper's. Anytime-Lazy-UCB is not in the paper: `ReconstructedLazyUCB` is
written from the description of the reconstruction in conf/claims/hu2022.yaml.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from counters import largest_power_dividing, nodes
from streams import Game

Logarithm = Callable[[float], float]


def clipped(x: float, branches: Counter[str]) -> float:
    """Return max {0, min {x, 1}}."""
    branches["below 0" if x < 0 else "above 1" if x > 1 else "inside"] += 1
    return max(0.0, min(x, 1.0))


def arm_of_largest_sample(m: Sequence[float], n: Sequence[float], rng: Any) -> int:
    """Return argmax of theta_j ~ Beta(m_j n_j + 1, (1 - m_j) n_j + 1), lines 8 to 11."""
    theta = [rng.beta(mean * of + 1, (1 - mean) * of + 1) for mean, of in zip(m, n, strict=True)]
    return theta.index(max(theta))


class TS:
    """Thompson sampling of Agrawal and Goyal 2017: every parameter starts at 1."""

    def play(self, game: Game, rng: Any) -> None:
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        while not game.over:
            theta = [rng.beta(sum(x) + 1, len(x) - sum(x) + 1) for x in rewards]
            chosen = theta.index(max(theta))
            rewards[chosen].append(game.pull(chosen))


class LazyArm:
    """Arm of Algorithm 2."""

    def __init__(self, first: float, epsilon: float, rng: Any) -> None:
        self.epsilon, self.rng = epsilon, rng
        self.r, self.psi = 0, list[float]()
        self.o, self.private_mean = 1, first + rng.laplace(0.0, 1 / epsilon)  # line 3

    def append(self, reward: float) -> bool:
        """Append a reward; return True if a mean is released (lines 12-16)."""
        self.psi.append(reward)
        if len(self.psi) < 2 ** (self.r + 1):
            return False
        self.o = 2 ** (self.r + 1)
        noise = self.rng.laplace(0.0, 1 / self.epsilon)
        self.private_mean = (sum(self.psi) + noise) / self.o
        self.r += 1
        self.psi = []
        return True


class LazyDPTS:
    """Algorithm 2; `branches` counts the cases that occurred."""

    def __init__(self, epsilon: float, log: Logarithm) -> None:
        self.epsilon, self.log = epsilon, log
        self.branches: Counter[str] = Counter()

    def choose(self, arms: Sequence[LazyArm], t: int, rng: Any) -> int:
        """Return J_t (lines 6-11)."""
        m = [
            clipped(arm.private_mean + 3 * self.log(t) / (self.epsilon * arm.o), self.branches)
            for arm in arms
        ]
        return arm_of_largest_sample(m, [arm.o for arm in arms], rng)

    def play(self, game: Game, rng: Any) -> None:
        arms = [LazyArm(game.pull(arm), self.epsilon, rng) for arm in range(game.arms)]
        while not game.over:
            t = len(game.played) + 1
            chosen = self.choose(arms, t, rng)
            released = arms[chosen].append(game.pull(chosen))
            self.branches["release" if released else "append"] += 1


class ReconstructedLazyUCB(LazyDPTS):
    """Largest mean + sqrt(3 log2(t)/O) + 3 log2(t)/(epsilon O), released as in Algorithm 2."""

    def choose(self, arms: Sequence[LazyArm], t: int, rng: Any) -> int:
        """Return the arm of largest index."""
        index = [
            arm.private_mean
            + math.sqrt(3 * math.log2(t) / arm.o)
            + 3 * math.log2(t) / (self.epsilon * arm.o)
            for arm in arms
        ]
        return index.index(max(index))


class DPTSArm:
    """Arm of Algorithm 1."""

    def __init__(self, first: float, epsilon: float, rng: Any) -> None:
        self.half, self.rng = epsilon / 2, rng
        self.o, self.r, self.psi = 1, 0, list[float]()  # line 3
        self.c, self.b = first + rng.laplace(0.0, 1 / self.half), 0.0
        self.noises: dict[tuple[int, int], float] = {}  # of the binary mechanism, by node

    def append(self, reward: float) -> bool:
        """Append a reward; return True if C is renewed, False if B is (lines 12-18)."""
        self.o += 1
        self.psi.append(reward)
        if self.o == sum(2**s for s in range(self.r + 2)):
            self.c += sum(self.psi) + self.rng.laplace(0.0, 1 / self.half)
            self.psi, self.noises, self.b = [], {}, 0.0
            self.r += 1
            return True
        # Binary mechanism bounded by 2^(r+1) items, remark (b): Lap((r+1)/(0.5 epsilon)) per node.
        i = len(self.psi)
        first = i - largest_power_dividing(i) + 1
        self.noises[first, i] = self.rng.laplace(0.0, (self.r + 1) / self.half)
        assert len(list(nodes(i))) <= self.r + 1
        self.b = sum(self.psi) + sum(self.noises[node] for node in nodes(i))
        return False


class DPTS:
    """Algorithm 1; `branches` counts the cases that occurred."""

    def __init__(self, epsilon: float, log: Logarithm) -> None:
        self.epsilon, self.log = epsilon, log
        self.branches: Counter[str] = Counter()

    def play(self, game: Game, rng: Any) -> None:
        arms = [DPTSArm(game.pull(arm), self.epsilon, rng) for arm in range(game.arms)]
        while not game.over:
            t = len(game.played) + 1
            m = [
                clipped(
                    (arm.c + arm.b) / arm.o
                    + 6 * math.sqrt(8) * self.log(arm.o + 1) * self.log(t) / (self.epsilon * arm.o),
                    self.branches,
                )
                for arm in arms
            ]
            chosen = arm_of_largest_sample(m, [arm.o for arm in arms], rng)
            renewed = arms[chosen].append(game.pull(chosen))
            self.branches["C" if renewed else "B"] += 1
