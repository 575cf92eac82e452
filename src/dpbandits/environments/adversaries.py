"""Adversaries of tossou2017, section 4: tables of gains that are drawn before the game.

A table is drawn round by round from its own stream, so that all algorithms of a trial play the same
table and a longer horizon begins with the same draws. In the tables of drawn Bernoulli gains the
first arm is the best. The regret is the realised regret against the best fixed arm (section 2.1),

    R_t = max_i sum_{s<=t} g_{i,s} - sum_{s<=t} x_s,    where the player earns x_s in round s.
"""

import math
from enum import IntEnum
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, regret
from dpbandits.kernel.compilation import kernel, specialised
from dpbandits.kernel.parameters import Arms, Count, as_json, variant_name
from dpbandits.kernel.randomness import AddedLater


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


class SwitchFeedback(IntEnum):
    """Cost of switching to an arm not played in the previous round, and the gain observed then."""

    OBSERVED = 0  # the player earns 0 and observes 0
    HIDDEN = 1  # the player earns 0 and observes the gain in the table
    UNIT = 2  # the player earns the gain less 1 and observes the gain in the table
    NONE = 3  # switching costs nothing


class Params(NamedTuple):
    """Adversary, number of arms K, and variants of what the paper leaves open.

    `switch_feedback`, `walk` and `memory` affect only the switching-cost adversary,
    `oblivious_start` only the oblivious one. An adversary with memory m lets a player pay unless
    the arm is that of each of the last m rounds; switching costs have m = 1.
    """

    kind: Kind
    arms: Arms = 4
    switch_feedback: SwitchFeedback = SwitchFeedback.OBSERVED
    walk: Walk = Walk.MULTISCALE
    oblivious_start: ObliviousStart = ObliviousStart.DRAW
    memory: Annotated[Count, AddedLater(1)] = 1


def title(params: Params) -> str:
    """Return the name of an adversary."""
    return f"{variant_name(params.kind)} adversary"


def phrase(params: Params) -> str:
    """Return the text for captions: the adversary, and variants that are not the usual ones."""
    usual, fields = Params._field_defaults, as_json(params)
    changed = [k for k in usual if k != "arms" and getattr(params, k) != usual[k]]
    return ", ".join([f"gains of the {title(params)}", *(f"{k}={fields[k]}" for k in changed)])


def shortest(params: Params) -> tuple[int, str]:
    """Return the least number of rounds, and what it is."""
    return params.memory, "the memory of the adversary"


HALF_WIDTH = 0.05  # epsilon of the oblivious adversaries
HELD = 200  # rounds for which the oblivious adversary holds its gains


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return params.arms


def largest_regret(params: Params, rounds: int) -> float:
    """Return a bound on the regret: gains, and the cost of a switch, are at most 1."""
    return (2.0 if params.kind is Kind.SWITCHING else 1.0) * rounds


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


class GainTable(NamedTuple):
    """Table of one trial. It also records the play, so a table can be played only once."""

    gains: np.ndarray  # float64, shape (rounds, arms): g_{i,t}
    best: np.ndarray  # float64, shape (rounds + 1,): total of the best fixed arm by t = 0, 1, ...
    feedback: SwitchFeedback
    earned: np.ndarray  # float64, shape (1,): total that the player has earned
    previous: np.ndarray  # int64, shape (2,): arm played last, -1 before round 1, and how often
    memory: int = 1  # m


def table(params: Params, horizon: int, rng: np.random.Generator) -> GainTable:
    """Draw a table of `horizon` rounds from its own stream, and keep 8 (K + 1) bytes per round."""
    shape, feedback = (horizon, params.arms), SwitchFeedback.NONE
    gains = np.zeros(shape)
    if params.kind is Kind.DETERMINISTIC:  # without randomness; the second arm is the best
        gains[:, 0] = 0.38
        gains[1::2, 1] = 1.0
        gains[2::3, 2:3] = 1.0
    elif params.kind is Kind.STOCHASTIC:
        gains[:] = rng.random(shape) < np.where(np.arange(params.arms) == 0, 0.55, 0.5)
    elif params.kind is Kind.SWITCHING:
        plain = params.walk is Walk.PLAIN
        specialised(switching, gains, rng, plain)(gains, rng, plain)
        feedback = params.switch_feedback
    else:
        # Gains Bern(p), with p ~ U[.5, .5 + 2 epsilon] for the best arm and p ~ U[.5 - epsilon,
        # .5 + epsilon] for the others. The rounds that draw p and the gains are the multiples of
        # `held` and perhaps round 1. The other rounds repeat the previous gain, at first 0.
        t, held = np.arange(1, horizon + 1), HELD if params.kind is Kind.OBLIVIOUS else 1
        draws = t % held == 0
        draws |= (t == 1) & (params.oblivious_start is ObliviousStart.DRAW)
        uniform = rng.random((draws.sum(), params.arms, 2))
        low = np.where(np.arange(params.arms) == 0, 0.5, 0.5 - HALF_WIDTH)
        successes = uniform[:, :, 1] < low + 2.0 * HALF_WIDTH * uniform[:, :, 0]
        gains = np.vstack([np.zeros(params.arms), successes])[draws.cumsum()]
    best = np.append(0.0, gains.cumsum(axis=0).max(axis=1))
    return GainTable(gains, best, feedback, np.zeros(1), np.array([-1, 0]), params.memory)


@draw.register(GainTable)
def table_draw(law, rng, arm, t):
    gain = law.gains[min(t, law.gains.shape[0] - 1), arm]  # no read past the last round
    earned, seen = gain, gain
    held = law.previous[1] if arm == law.previous[0] else 0  # consecutive rounds before this one
    if law.feedback != SwitchFeedback.NONE and held < min(law.memory, t):
        earned = gain - 1.0 if law.feedback == SwitchFeedback.UNIT else 0.0
        seen = 0.0 if law.feedback == SwitchFeedback.OBSERVED else gain
    # Written in every round, with or without a cost: inside an `if`, numba would count references
    # in every round.
    law.previous[0] = arm
    law.previous[1] = held + 1
    law.earned[0] += earned
    return seen


regret.register(GainTable)(lambda law, pulls: law.best[pulls.sum()] - law.earned[0])
