"""EXP3_τ (tossou2017, section 3.2; Dekel, Tewari, Arora 2012): EXP3 on batches of τ rounds.

No noise is added: privacy comes from the random draw of each batch's arm.
"""

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms.exp3 import Estimates, add_gain, draw_arm, exploration
from dpbandits.kernel.bandit import number_of_arms, playing, pull_many
from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Positive, Probability, Rounds
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import ApproximateDP

LABEL = "EXP3_tau"


class Calibration(IntEnum):
    """Objective that determines τ."""

    REGRET = 0  # Corollary 3.2: smallest regret bound; epsilon and delta have no effect
    BUDGET = 1  # Corollary 3.3, corrected: budget (epsilon, delta)


class BatchGamma(IntEnum):
    """Horizon in the formula of γ."""

    BATCHES = 0  # number of batches, that is, of EXP3's choices (required by Theorem 3.4)
    ROUNDS = 1  # number of rounds


class TauRounding(IntEnum):
    """Rounding of the real τ to a number of rounds."""

    CEIL = 0
    FLOOR = 1


class Params(NamedTuple):
    """Horizon T, privacy budget, and choices that the paper leaves open."""

    horizon: Rounds
    epsilon: Positive
    delta: Probability
    calibration: Calibration = Calibration.REGRET
    batch_gamma: BatchGamma = BatchGamma.BATCHES
    tau_rounding: TauRounding = TauRounding.CEIL


@inlined
def batch_length(params, arms):
    """Return τ, an integer from 1 to T.

    Deviation: Corollary 3.3 sets τ³ = T (4 ε + 2 ln(1/δ))/ε², for which Theorem 3.5 gives up to
    2 ε; τ³ = 8 T (ε + ln(1/δ))/ε² suffices for ε.
    """
    if params.calibration == Calibration.REGRET:
        cube = params.horizon / (7.0 * arms * math.log(arms))
    else:
        logarithm = -math.log(params.delta)
        cube = 8.0 * params.horizon * (1.0 + logarithm / params.epsilon) / params.epsilon
    tau = math.pow(min(cube, 1e48), 1.0 / 3.0)  # at most 1e16, so that it fits into 64 bits
    whole = math.ceil(tau) if params.tau_rounding == TauRounding.CEIL else math.floor(tau)
    return min(max(whole, 1), params.horizon)


@kernel
def play(params, bandit, rng):
    """Draw one arm per batch by EXP3, which observes the mean gain of the batch."""
    arms = number_of_arms(bandit)
    tau = batch_length(params, arms)
    per_batch = params.batch_gamma == BatchGamma.BATCHES
    gamma = exploration(arms, params.horizon // tau if per_batch else params.horizon)
    estimates = Estimates(np.zeros(arms), np.ones(arms), np.zeros(1))
    while playing(bandit):
        arm, p = draw_arm(estimates, gamma, rng)
        mean = pull_many(bandit, arm, tau) / tau  # an incomplete last batch decides nothing
        add_gain(estimates, arm, gamma / arms * (mean / p))


def releases(params: Params, arms: int, horizon: int) -> Iterator[ApproximateDP]:
    """Yield the arm of every batch after the one that contains the reward.

    Given the earlier arms, each is 1/τ-DP: one reward moves v by at most 1/τ (see the report).
    """
    tau = batch_length(params, arms)
    choices = -(-params.horizon // tau) - 1
    if choices > 0:
        for arm in range(arms):
            yield ApproximateDP(arm, 1, horizon, epsilon=1.0 / tau, delta=0.0, times=choices)


def guarantee(params: Params, arms: int, horizon: int) -> Guarantee:
    """Return the guarantee of Corollary 3.3, or of 3.2, without ε and δ, if τ is for the regret."""
    epsilon, delta, where = params.epsilon, params.delta, "tossou2017, Corollary 3.3, tau corrected"
    if params.calibration == Calibration.REGRET:
        k_log_k, log_t = arms * math.log(arms), math.log(params.horizon)
        epsilon = 28.0 * k_log_k + math.sqrt(112.0 * k_log_k * log_t)
        delta, where = math.exp(-2.0 * log_t), "tossou2017, Corollary 3.2"
    differs = "Theorem 3.5 has a loss of 2/tau for every choice, where 1/tau holds"
    return Guarantee(Notion.GLOBAL, epsilon, delta, where, differs)
