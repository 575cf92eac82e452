"""Shared code of EXP3 and its private versions: the probabilities (2.1) of tossou2017.

    pᵢ = (1 - γ) exp(vᵢ)/sum_j exp(vⱼ) + γ/K,    vᵢ = γ/K times the estimated
                                                            cumulative gain of arm i.

A weight is exp(vᵢ - shift). A round changes v of a single arm, so it costs one exponential. The
shift moves to the largest v once that exceeds it by more than STEP. So no weight overflows, however
long the game, and the largest weight is never below 1.

Functions that depend on the run have a second body for sixteen runs in step (core/lanes.py).
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import by_class, inlined
from dpbandits.core.lane_ir import lane_any, lane_exp, lane_load, lane_store
from dpbandits.core.lanes import LaneStream, LaneStreams, exp_of, uniform, where
from dpbandits.core.vector_constants import RUNS

# More than 1, the largest growth of v in one round, as p is never below gamma/K.
STEP = 30.0


class Estimates(NamedTuple):
    """Estimated gains of all arms, times γ/K. `add_gain` writes the arrays in place."""

    v: np.ndarray  # float64, shape (arms,)
    weights: np.ndarray  # float64, shape (arms,)
    shift: np.ndarray  # float64, shape (1,)


class LaneEstimates(NamedTuple):
    """The same of a run whose bits are those of a lane."""

    v: np.ndarray  # float64, shape (arms,)
    weights: np.ndarray  # float64, shape (arms,)
    shift: np.ndarray  # float64, shape (1,)


class SixteenEstimates(NamedTuple):
    """The same of sixteen runs in step."""

    v: np.ndarray  # float64, shape (arms, 16)
    weights: np.ndarray  # float64, shape (arms, 16)
    shift: np.ndarray  # float64, shape (1, 16)


@inlined
def exploration(arms, rounds):
    """Return γ = min{1, sqrt(K ln K/((e-1) T))} for T rounds (Auer et al. 2002)."""
    return min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * rounds)))


@partial(by_class, allocating=True)
def no_estimates(rng, arms):
    """Return the estimates before the first round."""
    return Estimates(np.zeros(arms), np.ones(arms), np.zeros(1))


@no_estimates.register(LaneStream)
def no_lane_estimates(rng, arms):
    return LaneEstimates(np.zeros(arms), np.ones(arms), np.zeros(1))


@by_class
def draw_arm(estimates, gamma, rng):
    """Draw an arm; return it and its probability pᵢ."""
    weights = estimates.weights
    total = 0.0
    for arm in range(weights.size):
        total += weights[arm]
    exploitation, floor = (1.0 - gamma) / total, gamma / weights.size
    arm, p = 0, exploitation * weights[0] + floor
    left = uniform(rng) - p
    while left >= 0.0 and arm < weights.size - 1:
        arm += 1
        p = exploitation * weights[arm] + floor
        left -= p
    return arm, p


@by_class
def add_gain(estimates, arm, gain):
    """Add an estimated gain, γ/K times g/p, to v of an arm."""
    v, weights, shift = estimates
    v[arm] += gain
    # A single exit for both cases: with two, a round takes 15 % longer.
    if v[arm] - shift[0] > STEP:
        # No other arm exceeds the step, so this v is the largest.
        shift[0] = v[arm]
        for other in range(v.size):
            weights[other] = _weight(estimates, v[other] - shift[0])
    weights[arm] = _weight(estimates, v[arm] - shift[0])


@by_class
def _weight(estimates, x):
    return math.exp(x)


@_weight.register(LaneEstimates)
def _weight_of_lane(estimates, x):
    return exp_of(x)


# Sixteen runs in step -----------------------------------------------------------------------------


@no_estimates.register(LaneStreams)
def no_sixteen_estimates(rng, arms):
    return SixteenEstimates(np.zeros((arms, RUNS)), np.ones((arms, RUNS)), np.zeros((1, RUNS)))


@draw_arm.register(SixteenEstimates)
def draw_sixteen_arms(estimates, gamma, rng):
    weights = estimates.weights
    arms = weights.shape[0]
    total = lane_load(weights, 0)
    for arm in range(1, arms):
        total = total + lane_load(weights, arm)
    exploitation, floor = (1.0 - gamma) / total, gamma / arms
    p = exploitation * lane_load(weights, 0) + floor
    chosen = p * 0.0
    left = uniform(rng) - p
    for arm in range(1, arms):
        further = left >= 0.0
        next_p = exploitation * lane_load(weights, arm) + floor
        p = where(further, next_p, p)
        chosen = where(further, float(arm), chosen)
        left = left - next_p
    return chosen, p


@add_gain.register(SixteenEstimates)
def add_sixteen_gains(estimates, chosen, gain):
    v, weights, shift = estimates
    arms = v.shape[0]
    of_chosen = gain
    for arm in range(arms):
        here = chosen == float(arm)
        total = lane_load(v, arm) + where(here, gain, 0.0)
        lane_store(v, arm, total)
        of_chosen = where(here, total, of_chosen)
    beyond = of_chosen - lane_load(shift, 0) > STEP
    if lane_any(beyond):
        lane_store(shift, 0, where(beyond, of_chosen, lane_load(shift, 0)))
        for arm in range(arms):
            lane_store(weights, arm, lane_exp(lane_load(v, arm) - lane_load(shift, 0)))
    weight = lane_exp(of_chosen - lane_load(shift, 0))
    for arm in range(arms):
        here = chosen == float(arm)
        lane_store(weights, arm, where(here, weight, lane_load(weights, arm)))
