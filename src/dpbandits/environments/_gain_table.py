"""Gains of every round and arm, made before the game, and the regret against the best fixed arm.

tossou2017, section 4. The regret is the realised one of the definition in section 2.1:

    R_t = max_i sum_{s<=t} g_{i,s} - sum_{s<=t} x_s,    x_s what the player has earned in round s.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, regret
from dpbandits.core.kernel import kernel


class SwitchFeedback(IntEnum):
    """What it costs to play another arm than in the round before, and what is seen of it."""

    OBSERVED = 0  # the gain is 0, and the player sees the 0
    HIDDEN = 1  # the gain is 0, the player sees that of the table
    UNIT = 2  # 1 is taken off the gain, the player sees that of the table
    NONE = 3  # nothing


class GainTable(NamedTuple):
    """The table of one trial. What the player did is kept in it: a table is played once."""

    gains: np.ndarray  # g_{i,t}, shape (rounds, arms)
    best: np.ndarray  # what the best fixed arm has earned by t = 0, 1, ..., shape (rounds + 1,)
    feedback: SwitchFeedback
    earned: np.ndarray  # by the player, one number
    previous: np.ndarray  # the arm that was played last, one number


def gain_table(gains: np.ndarray, feedback: SwitchFeedback) -> GainTable:
    """The table of these gains, not played yet."""
    return GainTable(gains, _of_best_arm(gains), feedback, np.zeros(1), np.full(1, -1))


@kernel
def _of_best_arm(gains):
    rounds, arms = gains.shape
    best = np.zeros(rounds + 1)
    total = np.zeros(arms)
    for t in range(rounds):
        largest = -np.inf
        for arm in range(arms):
            total[arm] += gains[t, arm]
            largest = max(largest, total[arm])
        best[t + 1] = largest
    return best


@draw.register(GainTable)
def table_draw(law, rng, arm, t):
    gain = law.gains[min(t, law.gains.shape[0] - 1), arm]  # never read beyond the last round
    earned, seen = gain, gain
    if law.feedback != SwitchFeedback.NONE and t > 0 and arm != law.previous[0]:
        earned = gain - 1.0 if law.feedback == SwitchFeedback.UNIT else 0.0
        seen = 0.0 if law.feedback == SwitchFeedback.OBSERVED else gain
    # Written in every round, cost or none: behind an `if` numba counts references in every round.
    law.previous[0] = arm
    law.earned[0] += earned
    return seen


@regret.register(GainTable)
def table_regret(law, pulls):
    t = 0
    for arm in range(pulls.size):
        t += pulls[arm]
    return law.best[t] - law.earned[0]
