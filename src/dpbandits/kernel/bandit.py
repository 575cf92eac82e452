"""The bandit that a policy plays: pull, pull_many, pull_each.

A policy sees only the number of arms, the clock and the rewards of its own pulls. A ledger counts
the pulls of each arm as integers and, at fixed checkpoints, evaluates the pseudo-regret

    Reg_t = sum_a Delta_a N_a(t),    Delta_a = max_b mu_b - mu_a,

from these counts. The same pulls therefore give the same bits, however they were batched. If the
law is a table of gains that is drawn before the game, the regret is the realised regret against
the best fixed arm in hindsight (environments/adversaries.py).

Rewards come from a *law*, a NamedTuple defined in environments/. Its class selects the bodies of
the functions below that a law provides; all other functions call those.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.kernel.compilation import allocating, by_class, inlined

NEVER = np.iinfo(np.int64).max
# Marks of a game that cannot count: a policy asked for what is not there, or a reward is no reward.
# The pulls stay inside the arrays, and `Game.play` refuses the run.
NO_PULL, NO_REWARD = 1, 2


class Bandit(NamedTuple):
    """Law and ledger of one run. Pulls write `curve`, `pulls` and `clock` in place."""

    law: Any
    horizon: int  # T, total number of rounds
    checkpoints: np.ndarray  # int64, shape (checkpoints + 1,): rounds >= 1, increasing, then NEVER
    curve: np.ndarray  # float64, shape (checkpoints,): regret at each checkpoint, nan until reached
    pulls: np.ndarray  # int64, shape (arms,): N_a
    clock: np.ndarray  # int64, shape (3,): rounds played, index of the next checkpoint, mark or 0
    rng: np.random.Generator  # stream of the rewards
    per_round: bool  # draw every reward separately, even if the law can draw sums
    pulls_of: int  # arm whose pulls the curve holds in place of the regret; -1: the regret
    answer: np.ndarray  # int64, shape (1,): arm that a policy answers; -1 before
    features: np.ndarray  # float64, shape (arms, dimension): of linear games; of others (arms, 0)
    low: float  # range of the rewards
    high: float


def new_bandit(
    law: Any,
    arms: int,
    horizon: int,
    checkpoints: np.ndarray,
    rng: np.random.Generator,
    per_round: bool = False,
    pulls_of: int = -1,
    within: tuple[float, float] = (0.0, 1.0),
) -> Bandit:
    """Return a bandit at round 0, whose curve holds the regret or the pulls of the arm `pulls_of`.

    `checkpoints` has shape (checkpoints,) and holds increasing rounds in 1..horizon; it may be
    empty. Rewards are `within` a range.
    """
    rounds = np.append(np.asarray(checkpoints, np.int64), NEVER)
    curve = np.full(len(checkpoints), math.nan)
    pulls, clock = np.zeros(arms, np.int64), np.zeros(3, np.int64)
    answer = np.full(1, -1)
    played = law, horizon, rounds, curve, pulls, clock, rng
    return Bandit(*played, per_round, pulls_of, answer, np.zeros((arms, 0)), *within)


# Functions that a law provides ---------------------------------------------------------------


@by_class
def draw(law, rng, arm, t):
    """Draw the reward of `arm`, a float, in the round after `t` rounds were played."""
    raise NotImplementedError("this law registered no body for `draw`")


@by_class
def regret(law, pulls):
    """Return the regret after `pulls[a]` pulls of each arm a; `pulls` is int64, shape (arms,).

    This default body returns the pseudo-regret and needs a law with a field `gaps`.
    """
    total = 0.0
    for arm in range(pulls.size):
        total += law.gaps[arm] * pulls[arm]
    return total


@by_class
def has_closed_sum(law):
    """Return True if `draw_sum` can draw a sum of n rewards at the cost of one draw."""
    return False


@by_class
def draw_sum(law, rng, arm, n):
    """Draw the sum of n rewards of one arm at once; called only if `has_closed_sum` is True."""
    return math.nan


# Functions that a policy may call ------------------------------------------------------------


@by_class
def number_of_arms(bandit):
    """Return K, the number of arms."""
    return bandit.pulls.size


@inlined
def rounds_played(bandit):
    """Return t, the number of rounds played; the next round is t + 1."""
    return bandit.clock[0]


@inlined
def rounds_left(bandit):
    """Return the number of rounds up to the horizon."""
    return bandit.horizon - bandit.clock[0]


@inlined
def playing(bandit):
    """Return True until the horizon is reached."""
    return bandit.clock[0] < bandit.horizon


@inlined
def check(bandit, total, n):
    """Mark the game unless the total of n rewards is one."""
    if not bandit.low * n <= total <= bandit.high * n:  # nan too
        bandit.clock[2] = NO_REWARD


@by_class
def pull(bandit, arm):
    """Play one round of `arm` and return its reward, a float in the range of the environment."""
    if not (0 <= arm < bandit.pulls.size and playing(bandit)):
        bandit.clock[0] += 1  # so that a policy that does nothing else ends
        bandit.clock[2] = NO_PULL
        return 0.0
    reward = draw(bandit.law, bandit.rng, arm, bandit.clock[0])
    check(bandit, reward, 1)
    record(bandit, arm, 1)
    return reward


@by_class
def pull_many(bandit, arm, n):
    """Play min(n, rounds left) rounds of one arm and return the sum of their rewards.

    If the law can draw sums, this takes one step however large n is.
    """
    if n < 0 or not 0 <= arm < bandit.pulls.size:
        bandit.clock[0] = bandit.horizon
        bandit.clock[2] = NO_PULL
        return 0.0
    n = min(n, rounds_left(bandit))
    if bandit.per_round or not has_closed_sum(bandit.law):
        total = 0.0
        for _ in range(n):
            total += pull(bandit, arm)
        return total
    total = draw_sum(bandit.law, bandit.rng, arm, n)
    check(bandit, total, n)
    record(bandit, arm, n)
    return total


@allocating
def pull_each(bandit, arms, passes):
    """Play `passes` round-robin passes over `arms`, or fewer if the horizon comes first.

    `arms` is int64 of shape (width,) and gives the order of the pulls. Returns the sum of the
    rewards of each of these arms, float64 of shape (width,). If the horizon ends within a pass,
    only the first arms of that pass are pulled.
    """
    width = arms.size
    start = bandit.clock[0]
    if width == 0 or passes < 0 or arms.min() < 0 or arms.max() >= bandit.pulls.size:
        bandit.clock[0] = bandit.horizon
        bandit.clock[2] = NO_PULL
        return np.zeros(width)
    # Division, because passes * width may exceed 64 bits.
    if passes > rounds_left(bandit) // width:
        n = rounds_left(bandit)
    else:
        n = passes * width
    sums = np.zeros(width)
    if bandit.per_round or not has_closed_sum(bandit.law):
        for first in range(0, n, width):
            for i in range(min(width, n - first)):
                sums[i] += pull(bandit, arms[i])
        return sums
    for i in range(width):
        count = n // width + (1 if i < n % width else 0)
        sums[i] = draw_sum(bandit.law, bandit.rng, arms[i], count)
        check(bandit, sums[i], count)
    before = bandit.pulls.copy()
    end = start + n
    while bandit.checkpoints[bandit.clock[1]] <= end:
        checkpoint = bandit.checkpoints[bandit.clock[1]]
        _count_passes(bandit, arms, before, checkpoint - start)
        bandit.clock[0] = checkpoint
        bandit.curve[bandit.clock[1]] = _recorded(bandit)
        bandit.clock[1] += 1
    _count_passes(bandit, arms, before, n)
    bandit.clock[0] = end
    return sums


@inlined
def _recorded(bandit):
    # Return what the curve holds at a checkpoint.
    if bandit.pulls_of >= 0:
        return float(bandit.pulls[bandit.pulls_of])
    return regret(bandit.law, bandit.pulls)


@inlined
def _count_passes(bandit, arms, before, n):
    # Set the ledger to its state after n pulls of round-robin passes that began at counts `before`.
    for i in range(arms.size):
        bandit.pulls[arms[i]] = before[arms[i]] + n // arms.size + (1 if i < n % arms.size else 0)


@inlined
def record(bandit, arm, n):
    """Record n pulls of one arm, at most the rounds left, whose rewards were drawn."""
    # The loop is a `while` even for n = 1: with an `if`, or with a call that passes the bandit on,
    # numba counts references in every round (3.4 times slower).
    end = bandit.clock[0] + n
    while bandit.checkpoints[bandit.clock[1]] <= end:
        checkpoint = bandit.checkpoints[bandit.clock[1]]
        bandit.pulls[arm] += checkpoint - bandit.clock[0]
        bandit.clock[0] = checkpoint
        bandit.curve[bandit.clock[1]] = _recorded(bandit)
        bandit.clock[1] += 1
    bandit.pulls[arm] += end - bandit.clock[0]
    bandit.clock[0] = end
