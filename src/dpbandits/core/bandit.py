"""The bandit that a policy plays: pull, pull_many, pull_each.

A policy sees the number of arms, the clock and the rewards of its own pulls, and nothing else.
Behind the pulls a ledger counts them per arm, as integers, and evaluates the pseudo-regret

    Reg_t = sum_a Delta_a N_a(t),    Delta_a = max_b mu_b - mu_a,

from the counts at fixed checkpoints. The same pulls therefore give the same bits, however they
were batched. Where a law is a table of gains, made before the game, the regret is the realised one
against the best fixed arm in hindsight (environments/_gain_table.py).

Rewards come from a *law*, a NamedTuple of environments/, whose class chooses the bodies of
`draw`, `regret`, `has_closed_sum` and `draw_sum` below; everything else is plain code over them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.kernel import by_class, inlined

NEVER = np.iinfo(np.int64).max


class Bandit(NamedTuple):
    """A law and the ledger of one run. The arrays are written in place while a policy plays."""

    law: Any
    horizon: int  # rounds in all
    checkpoints: np.ndarray  # increasing rounds >= 1, int64; the last is NEVER, so none is past it
    curve: np.ndarray  # the regret at the checkpoints
    pulls: np.ndarray  # N_a, int64
    clock: np.ndarray  # [rounds played, index of the next checkpoint], int64
    rng: np.random.Generator  # the stream of the rewards
    per_round: bool  # draw every reward by itself, even where the law knows the sum of many


def new_bandit(
    law: Any,
    arms: int,
    horizon: int,
    checkpoints: np.ndarray,
    rng: np.random.Generator,
    per_round: bool = False,
) -> Bandit:
    """A bandit at round 0. `checkpoints` are increasing rounds in 1..horizon."""
    return Bandit(
        law=law,
        horizon=horizon,
        checkpoints=np.append(checkpoints, NEVER).astype(np.int64),
        curve=np.full(len(checkpoints), math.nan),
        pulls=np.zeros(arms, np.int64),
        clock=np.zeros(2, np.int64),
        rng=rng,
        per_round=per_round,
    )


# What a law provides -------------------------------------------------------------------------


@by_class
def draw(law, rng, arm, t):
    """The reward of `arm` in the round that follows `t` played ones, in [0, 1]."""
    raise NotImplementedError("this law registered no body for `draw`")


@by_class
def regret(law, pulls):
    """The pseudo-regret of `pulls[a]` pulls of each arm a; here for a law that has `gaps`."""
    total = 0.0
    for arm in range(pulls.size):
        total += law.gaps[arm] * pulls[arm]
    return total


@by_class
def has_closed_sum(law):
    """Whether `draw_sum` has the law of a sum of n rewards, at the cost of one draw."""
    return False


@by_class
def draw_sum(law, rng, arm, n):
    """The sum of n rewards of one arm in a single draw; only asked where has_closed_sum."""
    return math.nan


# What a policy may ask -----------------------------------------------------------------------


@inlined
def number_of_arms(bandit):
    return bandit.pulls.size


@inlined
def rounds_played(bandit):
    """t, the number of rounds played; the round about to be played is t + 1."""
    return bandit.clock[0]


@inlined
def rounds_left(bandit):
    return bandit.horizon - bandit.clock[0]


@inlined
def playing(bandit):
    """Whether the horizon has not been reached."""
    return bandit.clock[0] < bandit.horizon


@inlined
def pull(bandit, arm):
    """Play one round; returns the reward."""
    reward = draw(bandit.law, bandit.rng, arm, bandit.clock[0])
    _record(bandit, arm, 1)
    return reward


@inlined
def pull_many(bandit, arm, n):
    """Play n rounds of one arm, or what is left of the horizon; returns the sum of the rewards.

    One step, however large n is, where the law knows the sum of n rewards.
    """
    n = min(n, rounds_left(bandit))
    if bandit.per_round or not has_closed_sum(bandit.law):
        total = 0.0
        for _ in range(n):
            total += pull(bandit, arm)
        return total
    total = draw_sum(bandit.law, bandit.rng, arm, n)
    _record(bandit, arm, n)
    return total


@inlined
def pull_each(bandit, arms, passes):
    """Play `passes` round-robin passes over `arms` (int64, in their order), or what is left.

    Returns the sum of the rewards of every arm in `arms`. Where the horizon ends within a pass,
    the first arms of it are still pulled.
    """
    width = arms.size
    start = bandit.clock[0]
    # Compared by division: passes * width may exceed 64 bits.
    if passes > rounds_left(bandit) // width:
        n = rounds_left(bandit)
    else:
        n = passes * width
    sums = np.zeros(width)
    if bandit.per_round or not has_closed_sum(bandit.law):
        for i in range(n):
            sums[i % width] += pull(bandit, arms[i % width])
        return sums
    for i in range(width):
        count = n // width + (1 if i < n % width else 0)
        sums[i] = draw_sum(bandit.law, bandit.rng, arms[i], count)
    before = bandit.pulls.copy()
    end = start + n
    while bandit.checkpoints[bandit.clock[1]] <= end:
        checkpoint = bandit.checkpoints[bandit.clock[1]]
        _count_passes(bandit, arms, before, checkpoint - start)
        bandit.clock[0] = checkpoint
        bandit.curve[bandit.clock[1]] = regret(bandit.law, bandit.pulls)
        bandit.clock[1] += 1
    _count_passes(bandit, arms, before, n)
    bandit.clock[0] = end
    return sums


@inlined
def _count_passes(bandit, arms, before, n):
    # The ledger after the first n pulls of round-robin passes that began at the counts `before`.
    for i in range(arms.size):
        bandit.pulls[arms[i]] = before[arms[i]] + n // arms.size + (1 if i < n % arms.size else 0)


@inlined
def _record(bandit, arm, n):
    # The ledger after n pulls of one arm. A `while` even for n = 1: behind an `if`, or behind a
    # call that hands the bandit on, numba counts references in every round (3.4 times slower).
    end = bandit.clock[0] + n
    while bandit.checkpoints[bandit.clock[1]] <= end:
        checkpoint = bandit.checkpoints[bandit.clock[1]]
        bandit.pulls[arm] += checkpoint - bandit.clock[0]
        bandit.clock[0] = checkpoint
        bandit.curve[bandit.clock[1]] = regret(bandit.law, bandit.pulls)
        bandit.clock[1] += 1
    bandit.pulls[arm] += end - bandit.clock[0]
    bandit.clock[0] = end
