"""EXP3_tau (tossou2017, section 3.2; Dekel, Tewari, Arora 2012): EXP3 on batches of tau rounds.

No noise is added: what is private is that the arm of a batch is drawn at random, and that one gain
moves the mean of its batch by 1/tau at most.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._exp3 import add_gain, draw_arm, exploration
from dpbandits.core.bandit import number_of_arms, playing, pull_many
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Positive, Probability, Rounds
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import Approximate

LABEL = "EXP3_tau"


class Calibration(IntEnum):
    """What tau is chosen for."""

    REGRET = 0  # Corollary 3.2: the smallest bound on the regret; epsilon and delta move nothing
    BUDGET = 1  # Corollary 3.3, corrected: for (epsilon, delta)


class BatchGamma(IntEnum):
    """The horizon that gamma is for."""

    BATCHES = 0  # their number, which is how often EXP3 chooses (Theorem 3.4 needs that)
    ROUNDS = 1


class TauRounding(IntEnum):
    """How the real tau becomes a number of rounds."""

    CEIL = 0
    FLOOR = 1


class Params(NamedTuple):
    """The horizon T, the privacy budget and what the paper leaves open."""

    horizon: Rounds
    epsilon: Positive
    delta: Probability
    calibration: Calibration = Calibration.REGRET
    batch_gamma: BatchGamma = BatchGamma.BATCHES
    tau_rounding: TauRounding = TauRounding.CEIL


@inlined
def batch_length(params, arms):
    """tau, from 1 to T.

    Deviation: Corollary 3.3 has tau^3 = T (4 epsilon + 2 ln(1/delta))/epsilon^2, which gives up to
    2 epsilon by Theorem 3.5; tau^3 = 8 T (epsilon + ln(1/delta))/epsilon^2 suffices.
    """
    if params.calibration == Calibration.REGRET:
        cube = params.horizon / (7.0 * arms * math.log(arms))
    else:
        logarithm = -math.log(params.delta)
        cube = 8.0 * params.horizon * (1.0 + logarithm / params.epsilon) / params.epsilon
    tau = math.pow(min(cube, 1e48), 1.0 / 3.0)  # of 1e16 at most, a number of rounds
    whole = math.ceil(tau) if params.tau_rounding == TauRounding.CEIL else math.floor(tau)
    return min(max(whole, 1), params.horizon)


@kernel
def play(params, bandit, rng):
    """EXP3 draws an arm per batch and sees the mean gain of the batch.

    The incomplete last batch is played without feedback: nobody chooses after it.
    """
    arms = number_of_arms(bandit)
    tau = batch_length(params, arms)
    batches = params.horizon // tau
    per_round = params.batch_gamma == BatchGamma.ROUNDS
    gamma = exploration(arms, params.horizon if per_round else batches)
    v = np.zeros(arms)
    weights = np.ones(arms)
    shift = 0.0
    while playing(bandit):
        arm, p = draw_arm(weights, gamma, rng)
        mean = pull_many(bandit, arm, tau) / tau
        shift = add_gain(v, weights, shift, arm, gamma / arms * (mean / p))


def releases(params: Params, arms: int, horizon: int) -> Iterator[Approximate]:
    """The arm of every batch after the one that a reward is in.

    Each is 1/tau-DP given those before it: one reward moves v of its arm by 1/tau at most, and what
    EXP3 does with that never widens it (docs/deviations.md).
    """
    tau = batch_length(params, arms)
    choices = -(-params.horizon // tau) - 1
    if choices > 0:
        for arm in range(arms):
            yield Approximate(arm, 1, horizon, epsilon=1.0 / tau, delta=0.0, times=choices)


def claim(params: Params, arms: int, horizon: int) -> Claim:
    """Corollary 3.3, or 3.2 where tau is for the regret, whatever epsilon and delta say."""
    differs = "Theorem 3.5 has a loss of 2/tau for every choice, where 1/tau holds"
    if params.calibration == Calibration.BUDGET:
        budget = params.epsilon, params.delta
        return Claim(Notion.GLOBAL, *budget, "tossou2017, Corollary 3.3, tau corrected", differs)
    k_log_k, log_t = arms * math.log(arms), math.log(params.horizon)
    epsilon = 28.0 * k_log_k + math.sqrt(112.0 * k_log_k * log_t)
    delta = math.exp(-2.0 * log_t)
    return Claim(Notion.GLOBAL, epsilon, delta, "tossou2017, Corollary 3.2", differs)
