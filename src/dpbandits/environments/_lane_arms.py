"""Sixteen runs in step (core/lanes.py) on Bernoulli arms, for policies that decide every round."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import NEVER, number_of_arms, pull
from dpbandits.core.lane_ir import lane_gather, lane_load, lane_store
from dpbandits.core.lanes import LaneStreams, lane_zeros, uniform, where
from dpbandits.core.vector_constants import RUNS


class LaneArms(NamedTuple):
    """Arms and ledger of sixteen runs. Pulls write `curve`, `pulls` and `clock` in place."""

    means: np.ndarray  # float64, shape (arms,)
    gaps: np.ndarray  # float64, shape (arms,)
    starts: np.ndarray  # int64, shape (16,): zeros, as all runs have the same means
    streams: LaneStreams  # of the rewards
    horizon: int  # T
    checkpoints: np.ndarray  # int64, shape (checkpoints + 1,): increasing, then NEVER
    curve: np.ndarray  # float64, shape (checkpoints, 16): regret at each checkpoint
    pulls: np.ndarray  # float64, shape (arms, 16): N_a, exact up to 2^53
    clock: np.ndarray  # int64, shape (2,): rounds played, index of the next checkpoint


def lane_arms(
    means: np.ndarray, gaps: np.ndarray, streams: LaneStreams, checkpoints: np.ndarray
) -> LaneArms:
    """Return sixteen runs at round 0 that end at the last checkpoint.

    `means` and `gaps` are float64 of shape (arms,).
    """
    return LaneArms(
        means=means,
        gaps=gaps,
        starts=np.zeros(RUNS, np.int64),
        streams=streams,
        horizon=int(checkpoints[-1]),
        checkpoints=np.append(checkpoints, NEVER).astype(np.int64),
        curve=np.full((len(checkpoints), RUNS), np.nan),
        pulls=lane_zeros(means.size),
        clock=np.zeros(2, np.int64),
    )


@number_of_arms.register(LaneArms)
def number_of_lane_arms(bandit):
    return bandit.means.size


@pull.register(LaneArms)
def pull_lane_arms(bandit, arm):
    mean = lane_gather(bandit.means, bandit.starts, 0, arm)
    reward = where(uniform(bandit.streams) < mean, 1.0, 0.0)
    for a in range(bandit.means.size):
        more = where(arm == float(a), 1.0, 0.0)
        lane_store(bandit.pulls, a, lane_load(bandit.pulls, a) + more)
    bandit.clock[0] += 1
    while bandit.checkpoints[bandit.clock[1]] <= bandit.clock[0]:
        regret = reward * 0.0
        for a in range(bandit.means.size):
            regret = regret + bandit.gaps[a] * lane_load(bandit.pulls, a)
        lane_store(bandit.curve, bandit.clock[1], regret)
        bandit.clock[1] += 1
    return reward
