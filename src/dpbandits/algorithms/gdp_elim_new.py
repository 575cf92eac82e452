"""GDP-Elim-New (wang2024): Algorithm 4. (ε, δ)-global DP, Theorem 18."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._ftpl import BOTH_ZERO
from dpbandits.kernel.bandit import number_of_arms, playing, pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Budget, Delta, Rounds
from dpbandits.mechanisms.perturbation import perturb, perturbation, reach
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import ApproximateDP

LABEL = "GDP-Elim-New"
DIFFERS = "a reward is read by one theta, which spends delta/2; what follows is made of that"
# delta/2 to stop (Lemma 9)
guarantee = guaranteed(Notion.REVISED, "wang2024, Theorem 18", DIFFERS, delta="delta")


class Params(NamedTuple):
    """Budget (one part may be 0), and horizon T."""

    epsilon: Budget
    delta: Delta
    horizon: Rounds

    def problem(self) -> tuple[str, str] | None:
        """Return a problem if both ε and δ are 0; else None."""
        return None if self.epsilon or self.delta else BOTH_ZERO


@inlined
def passes_of_phase(params, law, gap):
    """Return N(k) of line 4, a real number; `law` is that of Lemma 15 with (ε, δ/2)."""
    t = float(params.horizon)
    statistics = 32.0 * math.log(t) / (gap * gap)
    # log[(T^2 E + T^2 delta)/(2 E + T^2 delta)]/epsilon is the reach of this law at 1/T^2.
    privacy = 4.0 * reach(law, 1.0 / (t * t)) / gap
    return max(statistics, privacy)


@kernel
def play(params, bandit, rng):
    """Play round-robin phases until an arm leads by Δ(k), then only that arm (Algorithm 4)."""
    law = perturbation(params.epsilon, 0.5 * params.delta)
    everyone = np.arange(number_of_arms(bandit))
    theta = np.empty(everyone.size)
    gap = 1.0  # Delta(k)
    while playing(bandit):
        gap *= 0.5
        n = passes_of_phase(params, law, gap)
        # N(k) is 0 at T = 1; at most as many passes as rounds are left.
        passes = math.ceil(min(max(n, 1.0), float(rounds_left(bandit))))
        sums = pull_each(bandit, everyone, passes)
        for arm in range(theta.size):
            theta[arm] = sums[arm] / passes + perturb(law, rng) / max(n, 1.0)
        leader = argmax(theta)
        rivals = 0  # arms with θⱼ + Δ(k) > θᵢ for the leader i
        for arm in range(theta.size):
            rivals += arm != leader and theta[leader] < theta[arm] + gap
        if rivals == 0:
            pull_many(bandit, leader, rounds_left(bandit))


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield θᵢ of every arm and phase, each of fresh rewards, as if no arm ever led."""
    half = 0.5 * params.delta
    law, gap, last = perturbation(params.epsilon, half), 0.5, 0
    while (last + (n := math.ceil(max(passes_of_phase(params, law, gap), 1.0)))) * arms <= horizon:
        for arm in range(arms):
            yield ApproximateDP(arm, last + 1, last + n, params.epsilon, half)
        gap, last = 0.5 * gap, last + n
