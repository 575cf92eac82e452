"""Sixteen runs in step (core/lanes.py), each on its own table of gains (_gain_table.py)."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import NEVER, number_of_arms, pull, pull_many, rounds_left
from dpbandits.core.lane_ir import lane_gather, lane_load, lane_store
from dpbandits.core.lanes import where
from dpbandits.core.vector_constants import RUNS
from dpbandits.environments._gain_table import SwitchFeedback


class LaneBandit(NamedTuple):
    """Tables and ledger of sixteen runs. Pulls write the last four arrays in place."""

    gains: np.ndarray  # float64 or uint8, shape (tables, rounds, arms): g_{i,t}
    starts: np.ndarray  # int64, shape (16,): first gain of each run's table, counted in gains
    feedback: SwitchFeedback
    horizon: int  # T
    checkpoints: np.ndarray  # int64, shape (checkpoints + 1,): increasing, then NEVER
    curve: np.ndarray  # float64, shape (checkpoints, 16): total earned by each checkpoint
    earned: np.ndarray  # float64, shape (1, 16): total earned so far
    previous: np.ndarray  # float64, shape (1, 16): arms played last, -1 before round 1
    clock: np.ndarray  # int64, shape (2,): rounds played, index of the next checkpoint


def lane_bandit(
    gains: np.ndarray, table_of: np.ndarray, feedback: SwitchFeedback, checkpoints: np.ndarray
) -> LaneBandit:
    """Return sixteen runs at round 0 that end at the last checkpoint.

    `gains` has shape (tables, rounds, arms), float64 or uint8; `table_of`, int64 of shape (16,),
    gives the index of each run's table.
    """
    return LaneBandit(
        gains=gains,
        starts=table_of * (gains.shape[1] * gains.shape[2]),
        feedback=feedback,
        horizon=int(checkpoints[-1]),
        checkpoints=np.append(checkpoints, NEVER).astype(np.int64),
        curve=np.full((len(checkpoints), RUNS), np.nan),
        earned=np.zeros((1, RUNS)),
        previous=np.full((1, RUNS), -1.0),
        clock=np.zeros(2, np.int64),
    )


@number_of_arms.register(LaneBandit)
def arms_of_tables(bandit):
    return bandit.gains.shape[2]


@pull.register(LaneBandit)
def pull_in_lanes(bandit, arm):
    t = bandit.clock[0]
    first = min(t, bandit.horizon - 1) * bandit.gains.shape[2]  # no read past the last round
    gain = lane_gather(bandit.gains, bandit.starts, first, arm)
    earned, seen = gain, gain
    if bandit.feedback != SwitchFeedback.NONE and t > 0:
        switched = arm != lane_load(bandit.previous, 0)
        if bandit.feedback == SwitchFeedback.UNIT:
            earned = where(switched, gain - 1.0, gain)
        else:
            earned = where(switched, 0.0, gain)
        if bandit.feedback == SwitchFeedback.OBSERVED:
            seen = earned
    lane_store(bandit.previous, 0, arm)
    lane_store(bandit.earned, 0, lane_load(bandit.earned, 0) + earned)
    bandit.clock[0] = t + 1
    while bandit.checkpoints[bandit.clock[1]] <= t + 1:
        lane_store(bandit.curve, bandit.clock[1], lane_load(bandit.earned, 0))
        bandit.clock[1] += 1
    return seen


@pull_many.register(LaneBandit)
def pull_many_in_lanes(bandit, arm, n):
    total = arm * 0.0
    for _ in range(min(n, rounds_left(bandit))):
        total = total + pull(bandit, arm)
    return total
