"""Adversaries of tossou2017, section 4: tables of gains that are drawn before the game.

A table is drawn round by round from its own stream, so that all algorithms of a trial play the same
table and a longer horizon begins with the same draws. In the tables of drawn Bernoulli gains the
first arm is the best.
"""

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Arms
from dpbandits.environments._gain_table import GainTable, SwitchFeedback, gain_table


class Kind(IntEnum):
    """Adversaries in the five panels of Figure 1."""

    DETERMINISTIC = 0
    STOCHASTIC = 1
    FULLY_OBLIVIOUS = 2
    OBLIVIOUS = 3
    SWITCHING = 4


class Walk(IntEnum):
    """Random walk of the switching-cost adversary's losses, given by the parent rho of a round."""

    MULTISCALE = 0  # rho(t) = t - 2^delta(t), 2^delta(t) the largest power of 2 that divides t
    PLAIN = 1  # rho(t) = t - 1, the simple Gaussian walk


class ObliviousStart(IntEnum):
    """Gains of the oblivious adversary before round 200, the first multiple of 200."""

    DRAW = 0  # drawn in round 1 as well
    ZERO = 1  # all gains are 0


class Params(NamedTuple):
    """Adversary, number of arms K, and readings of what the paper leaves open.

    `switch_feedback` and `walk` affect only the switching-cost adversary, `oblivious_start` only
    the oblivious one.
    """

    kind: Kind
    arms: Arms = 4
    switch_feedback: SwitchFeedback = SwitchFeedback.OBSERVED
    walk: Walk = Walk.MULTISCALE
    oblivious_start: ObliviousStart = ObliviousStart.DRAW


HALF_WIDTH = 0.05  # epsilon of the fully oblivious adversary
HELD = 200  # rounds for which the oblivious adversary holds its gains


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return params.arms


def largest_regret(params: Params, rounds: int) -> float:
    """Return a bound on the regret: gains, and the cost of a switch, are at most 1."""
    return (2.0 if params.kind is Kind.SWITCHING else 1.0) * rounds


def table(params: Params, horizon: int, rng: np.random.Generator) -> GainTable:
    """Draw a table of `horizon` rounds from its own stream; it takes 8 (K + 1) bytes per round."""
    gains = np.zeros((horizon, params.arms))
    if params.kind is Kind.DETERMINISTIC:
        deterministic(gains)
    elif params.kind is Kind.STOCHASTIC:
        stochastic(gains, rng)
    elif params.kind is Kind.FULLY_OBLIVIOUS:
        fully_oblivious(gains, rng)
    elif params.kind is Kind.OBLIVIOUS:
        oblivious(gains, rng, params.oblivious_start is ObliviousStart.DRAW)
    else:
        switching(gains, rng, params.walk is Walk.PLAIN)
    switches = params.kind is Kind.SWITCHING
    return gain_table(gains, params.switch_feedback if switches else SwitchFeedback.NONE)


@kernel
def deterministic(gains):
    """Fill `gains`, shape (rounds, arms), without randomness; the second arm is the best.

    Arm 1 gains 0.38 in every round, arm 2 gains 1 in every even round, arm 3 gains 1 in every third
    round; all other gains keep their value 0.
    """
    for t in range(1, gains.shape[0] + 1):
        gains[t - 1, 0] = 0.38
        gains[t - 1, 1] = 1.0 if t % 2 == 0 else 0.0
        if gains.shape[1] > 2:
            gains[t - 1, 2] = 1.0 if t % 3 == 0 else 0.0


@kernel
def stochastic(gains, rng):
    """Fill `gains`, shape (rounds, arms): Bern(.55) for the first arm, Bern(.5) for the others."""
    for t in range(gains.shape[0]):
        for arm in range(gains.shape[1]):
            gains[t, arm] = 1.0 if rng.random() < (0.55 if arm == 0 else 0.5) else 0.0


@inlined
def _bernoulli_of_a_drawn_mean(arm, rng):
    # p ~ U[.5, .5 + 2 epsilon] for the best arm, p ~ U[.5 - epsilon, .5 + epsilon] for the others.
    low = 0.5 if arm == 0 else 0.5 - HALF_WIDTH
    p = low + 2.0 * HALF_WIDTH * rng.random()
    return 1.0 if rng.random() < p else 0.0


@kernel
def fully_oblivious(gains, rng):
    """Fill `gains`, shape (rounds, arms): Bern(p), with p redrawn for every arm and round."""
    for t in range(gains.shape[0]):
        for arm in range(gains.shape[1]):
            gains[t, arm] = _bernoulli_of_a_drawn_mean(arm, rng)


@kernel
def oblivious(gains, rng, drawn_at_first):
    """Fill `gains`, shape (rounds, arms): drawn as by `fully_oblivious` every 200 rounds.

    The rounds that draw are the multiples of 200 and, if `drawn_at_first`, round 1. The other
    rounds repeat the previous gain; before the first draw it is 0.
    """
    for t in range(1, gains.shape[0] + 1):
        drawn = t % HELD == 0 or (t == 1 and drawn_at_first)
        for arm in range(gains.shape[1]):
            if drawn:
                gains[t - 1, arm] = _bernoulli_of_a_drawn_mean(arm, rng)
            elif t > 1:
                gains[t - 1, arm] = gains[t - 2, arm]


@kernel
def switching(gains, rng, plain):
    """Fill `gains`, shape (rounds, arms), as in Figure 1 of Dekel, Ding, Koren, Peres 2014.

    All arms share one random walk of losses, and one arm, chi, lies a little below it:
    W_t = W_{rho(t)} + xi_t with xi_t ~ N(0, sigma^2), loss_t(i) = W_t + 1/2 - gap 1{i = chi}
    clipped to [0, 1], and the gain is 1 - loss. sigma and the gap depend on the horizon T.
    """
    horizon, arms = gains.shape
    sigma = 1.0 / (9.0 * math.log2(horizon))
    gap = math.pow(arms / horizon, 1.0 / 3.0) * sigma
    chi = int(rng.random() * arms)
    walk = np.zeros(horizon + 1)
    for t in range(1, horizon + 1):
        parent = t - 1 if plain else t - (t & -t)
        walk[t] = walk[parent] + rng.normal(0.0, sigma)
        for arm in range(arms):
            loss = walk[t] + 0.5 - (gap if arm == chi else 0.0)
            gains[t - 1, arm] = 1.0 - min(max(loss, 0.0), 1.0)
