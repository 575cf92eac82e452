"""Adversaries of tossou2017, their games and the regret, written from the papers alone.

Gains are lists of rounds, each with the gains of all arms; arms count from 0 and rounds from 1. The
random numbers of a table are drawn round by round and, in a round, arm by arm. This file imports
nothing from dpbandits.
"""

import math
from typing import Any

import numpy as np
from streams import Game, table_rewards

Gains = list[list[float]]

# Adversaries: tossou2017, section 4 ---------------------------------------------------------------


def deterministic(rounds: int, arms: int) -> Gains:
    """Return .38 for the first arm, 1 in even rounds for the second, in every third for the third.

    "The remaining arms always give 0."
    """
    return [
        [0.38, 1.0 if t % 2 == 0 else 0.0, 1.0 if t % 3 == 0 else 0.0, *[0.0] * arms][:arms]
        for t in range(1, rounds + 1)
    ]


def stochastic(rounds: int, arms: int, rng: Any) -> Gains:
    """Return gains of Bern(.55) for the first arm and of Bern(.5) for the others."""
    p = [0.55] + [0.5] * (arms - 1)
    return [[float(rng.random() < p[i]) for i in range(arms)] for _ in range(rounds)]


def drawn(arms: int, rng: Any) -> list[float]:
    """Return a round of the fully oblivious adversary, epsilon = .05: p is drawn, then Bern(p)."""
    gains = []
    for i in range(arms):
        epsilon = 0.05
        low, high = (0.5, 0.5 + 2 * epsilon) if i == 0 else (0.5 - epsilon, 0.5 + epsilon)
        p = rng.uniform(low, high)
        gains.append(float(rng.random() < p))
    return gains


def fully_oblivious(rounds: int, arms: int, rng: Any) -> Gains:
    """Return gains whose means are drawn again in every round."""
    return [drawn(arms, rng) for _ in range(rounds)]


def oblivious(rounds: int, arms: int, rng: Any, draws_first: bool) -> Gains:
    """Return gains drawn at multiples of 200; "between two multiples the last gain is given".

    With `draws_first` round 1 draws too, else the gains before round 200 are 0.
    """
    gains: Gains = []
    last = [0.0] * arms
    for t in range(1, rounds + 1):
        if t % 200 == 0 or (t == 1 and draws_first):
            last = drawn(arms, rng)
        gains.append(last)
    return gains


def switching(rounds: int, arms: int, rng: Any, plain: bool) -> Gains:
    """Return the gains of Dekel, Ding, Koren and Peres 2014, Figure 1, or those of a plain walk.

    sigma = 1/(9 log2 T), gap = K^(1/3) T^(-1/3)/(9 log2 T), chi uniform on the arms; W_t = W_rho(t)
    + xi_t with xi_t ~ N(0, sigma^2), rho(t) = t - 2^delta(t), delta(t) = max{i : 2^i divides t};
    the loss of arm i is W_t + 1/2 - gap 1{i = chi}, clipped to [0, 1].
    """
    sigma = 1 / (9 * math.log2(rounds))
    gap = arms ** (1 / 3) * rounds ** (-1 / 3) / (9 * math.log2(rounds))
    chi = math.floor(arms * rng.random())
    walk = {0: 0.0}
    for t in range(1, rounds + 1):
        delta = max(i for i in range(t.bit_length()) if t % 2**i == 0)
        parent = t - 1 if plain else t - 2**delta
        walk[t] = walk[parent] + rng.normal(0.0, sigma)
    gains = []
    for t in range(1, rounds + 1):
        losses = [walk[t] + 1 / 2 - (gap if i == chi else 0) for i in range(arms)]
        gains.append([1 - min(1.0, max(0.0, loss)) for loss in losses])
    return gains


# The game on a table: tossou2017, section 2.1 -----------------------------------------------------


class TableGame(Game):
    """Game on given gains, with a cost for switching arms in one of four variants.

    `observed`: the player earns 0 and sees 0; `hidden`: earns 0 and sees the gain; `unit`: earns
    the gain less 1 and sees the gain; `none`: a switch costs nothing. The player pays unless the
    arm is that of each of the last `memory` rounds.
    """

    def __init__(self, gains: Gains, feedback: str, memory: int = 1) -> None:
        super().__init__(len(gains[0]), len(gains), table_rewards(np.array(gains)))
        self.gains, self.feedback, self.memory = gains, feedback, memory
        self.earned: list[float] = []

    def pull(self, arm: int) -> float:
        switches = any(other != arm for other in self.played[-self.memory :])
        gain = super().pull(arm)
        earned, seen = gain, gain
        if switches:
            earned, seen = {
                "observed": (0.0, 0.0),
                "hidden": (0.0, gain),
                "unit": (gain - 1.0, gain),
                "none": (gain, gain),
            }[self.feedback]
        self.earned.append(earned)
        self.rewards[-1] = seen
        return seen

    def regret(self) -> list[float]:
        """Return R after every round: the best fixed arm in hindsight less what was earned."""
        totals, earned, regret = [0.0] * self.arms, 0.0, []
        for gains, x in zip(self.gains, self.earned, strict=False):
            totals = [total + g for total, g in zip(totals, gains, strict=True)]
            earned += x
            regret.append(max(totals) - earned)
        return regret
