"""EXP3, DP-EXP3-Lap, EXP3_tau and the bounds of tossou2017, written from the paper's text alone.

Arms count from 0; logarithms are natural. Every round computes all probabilities again from the
estimated gains. This file imports nothing from dpbandits.
"""

import math
from typing import Any

from streams import Game


def gamma_of(arms: int, rounds: int) -> float:
    """Return gamma of Algorithm 1, at most 1 (Auer et al. 2003)."""
    return min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * rounds)))


class EXP3:
    """EXP3 with the probabilities (2.1); `rounds` is the number of its choices, for gamma."""

    def __init__(self, arms: int, rounds: int, rng: Any) -> None:
        self.arms, self.gamma, self.rng = arms, gamma_of(arms, rounds), rng
        self.estimates = [0.0] * arms  # estimated cumulative gains

    def probabilities(self) -> list[float]:
        # The largest estimate is subtracted from all of them, which changes no ratio.
        k, largest = self.arms, max(self.estimates)
        weights = [math.exp(self.gamma / k * (g - largest)) for g in self.estimates]
        return [(1 - self.gamma) * w / sum(weights) + self.gamma / k for w in weights]

    def choose(self) -> int:
        """Draw an arm: the first whose cumulative probability exceeds a uniform number."""
        p, u = self.probabilities(), self.rng.random()
        for arm in range(self.arms):
            if u < sum(p[: arm + 1]):
                return arm
        return self.arms - 1

    def learn(self, arm: int, gain: float) -> None:
        """Add g/p to the estimate of an arm that was drawn with the present probabilities."""
        self.estimates[arm] += gain / self.probabilities()[arm]


def play_exp3(game: Game, rng: Any) -> None:
    """Play EXP3."""
    exp3 = EXP3(game.arms, game.horizon, rng)
    while not game.over:
        arm = exp3.choose()
        exp3.learn(arm, game.pull(arm))


def play_dp_exp3_lap(game: Game, rng: Any, epsilon: float) -> int:
    """Play Algorithm 1 and return the number of ignored rounds."""
    exp3, b, ignored = EXP3(game.arms, game.horizon, rng), math.log(game.horizon) / epsilon, 0
    while not game.over:
        arm = exp3.choose()
        noisy = game.pull(arm) + rng.laplace(0.0, 1 / epsilon)
        if -b <= noisy <= b + 1:
            exp3.learn(arm, (noisy + b) / (2 * b + 1))  # Theorem 3.1
        else:
            ignored += 1
    return ignored


def play_dp_lambda_lap(game: Game, rng: Any, epsilon: float, base: str) -> int:
    """Play DP-Lambda-Lap with UCB or Thompson sampling and return the number of ignored rounds."""
    b, ignored = math.log(game.horizon) / epsilon, 0
    seen: list[list[float]] = [[] for _ in range(game.arms)]
    while not game.over:
        t = sum(map(len, seen)) + 1
        if base == "ts":
            value = [rng.beta(sum(own) + 1, len(own) - sum(own) + 1) for own in seen]
        else:
            value = [
                sum(own) / len(own) + math.sqrt(2 * math.log(t) / len(own)) if own else math.inf
                for own in seen
            ]
        arm = value.index(max(value))
        noisy = game.pull(arm) + rng.laplace(0.0, 1 / epsilon)
        if -b <= noisy <= b + 1:
            seen[arm].append((noisy + b) / (2 * b + 1))
        else:
            ignored += 1
    return ignored


def play_exp3_tau(game: Game, rng: Any, tau: int, gamma_of_batches: bool = True) -> None:
    """Play EXP3 in intervals of tau rounds with their average gain (section 3.2).

    A last interval of fewer rounds plays a fresh choice. gamma is that of the number of complete
    intervals, or of all rounds.
    """
    intervals, rest = divmod(game.horizon, tau)
    exp3 = EXP3(game.arms, intervals if gamma_of_batches else game.horizon, rng)
    for _ in range(intervals):
        arm = exp3.choose()
        exp3.learn(arm, sum(game.pull(arm) for _ in range(tau)) / tau)
    if rest:
        arm = exp3.choose()
        for _ in range(rest):
            game.pull(arm)


def play_uniform(game: Game, rng: Any) -> None:
    """Play every arm with the same probability."""
    while not game.over:
        game.pull(math.floor(game.arms * rng.random()))


# tau ----------------------------------------------------------------------------------------------


def tau_for_regret(arms: int, horizon: int) -> float:
    """Return the real tau of Corollary 3.2."""
    return (7 * arms * math.log(arms)) ** (-1 / 3) * horizon ** (1 / 3)


def tau_for_budget(horizon: int, epsilon: float, delta: float) -> float:
    """Return the real tau that replaces Corollary 3.3's: tau^3 = 8 T (epsilon + ln 1/delta)/eps^2.

    With r = T/tau^3, Theorem 3.5 in its corrected form spends 4 r + sqrt(8 r ln(1/delta)).
    """
    return (8 * horizon * (epsilon + math.log(1 / delta)) / epsilon**2) ** (1 / 3)


# Bounds -------------------------------------------------------------------------------------------


def regret_of_exp3(arms: int, horizon: int) -> float:
    """Return 2 sqrt((e-1) T K ln K) (Auer et al. 2003, Corollary 3.2, for a best gain of T)."""
    return 2 * math.sqrt((math.e - 1) * horizon * arms * math.log(arms))


def corollary_3_1(arms: int, horizon: int, epsilon: float, printed: bool) -> float:
    """Return Corollary 3.1 as printed, or from Theorem 3.1 with the regret of EXP3.

    The regret of EXP3 grows by 2b + 1 for gains in [-b, b+1], and 2 T K exp(-eps
    b) is 2K for b = ln T/epsilon.
    """
    b = math.log(horizon) / epsilon
    scaled = (2 * b if printed else 2 * b + 1) * regret_of_exp3(arms, horizon)
    return scaled + 2 * arms + math.sqrt(32 * horizon) / epsilon


def theorem_3_4(arms: int, horizon: int, tau: int, memory: int) -> float:
    """Return the regret bound of EXP3_tau against an adversary with a memory."""
    return math.sqrt(7 * horizon * tau * arms * math.log(arms)) + horizon * memory / tau + tau


def corollary_3_2_regret(arms: int, horizon: int) -> float:
    """Return the regret bound of EXP3_tau against the switching costs adversary."""
    c = 7 * arms * math.log(arms)
    return 2 * c ** (1 / 3) * horizon ** (2 / 3) + c ** (-1 / 3) * horizon ** (1 / 3)


def corollary_3_2_epsilon(arms: int, horizon: int) -> float:
    """Return the epsilon of EXP3_tau at delta = T^-2."""
    c = arms * math.log(arms)
    return 28 * c + math.sqrt(112 * c * math.log(horizon))


def theorem_3_3(arms: int, horizon: int, gamma: float, printed: bool) -> float:
    """Return the privacy loss of EXP3; the third term is printed with 2 sqrt(2 ln T/T)."""
    t = horizon
    deviation = 2 * math.sqrt(2 * math.log(t) / t) if printed else math.sqrt(2 * t * math.log(t))
    return min(
        2 * t,
        t * math.log((arms * (1 - gamma) + gamma) / gamma),
        2 * (1 - gamma) * t + deviation,
    )


def theorem_3_5(horizon: int, tau: int, delta: float, printed: bool) -> float:
    """Return the privacy loss of EXP3_tau; printed with T/tau^3 outside the root.

    By advanced composition of T/tau choices with a loss of 2/tau each: 2 (2/tau)^2 T/tau / 2 and
    sqrt(2 ln(1/delta) (2/tau)^2 T/tau).
    """
    ratio = horizon / tau**3
    if printed:
        return 4 * ratio + math.sqrt(8 * math.log(1 / delta)) * ratio
    return 4 * ratio + math.sqrt(2 * math.log(1 / delta) * horizon / tau * (2 / tau) ** 2)
