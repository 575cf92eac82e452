"""Table of gains drawn before the game, and the regret against the best fixed arm.

tossou2017, section 4. The regret is the realised regret as defined in section 2.1:

    R_t = max_i sum_{s<=t} g_{i,s} - sum_{s<=t} x_s,    where the player earns x_s in round s.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, regret
from dpbandits.core.kernel import kernel


class SwitchFeedback(IntEnum):
    """Cost of switching to an arm not played in the previous round, and the gain observed then."""

    OBSERVED = 0  # the player earns 0 and observes 0
    HIDDEN = 1  # the player earns 0 and observes the gain in the table
    UNIT = 2  # the player earns the gain less 1 and observes the gain in the table
    NONE = 3  # switching costs nothing


class GainTable(NamedTuple):
    """Table of one trial. It also records the play, so a table can be played only once."""

    gains: np.ndarray  # float64, shape (rounds, arms): g_{i,t}
    best: np.ndarray  # float64, shape (rounds + 1,): total of the best fixed arm by t = 0, 1, ...
    feedback: SwitchFeedback
    earned: np.ndarray  # float64, shape (1,): total that the player has earned
    previous: np.ndarray  # int64, shape (1,): arm played last, -1 before round 1


def gain_table(gains: np.ndarray, feedback: SwitchFeedback) -> GainTable:
    """Return the unplayed table of these gains, float64 of shape (rounds, arms)."""
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
    gain = law.gains[min(t, law.gains.shape[0] - 1), arm]  # no read past the last round
    earned, seen = gain, gain
    if law.feedback != SwitchFeedback.NONE and t > 0 and arm != law.previous[0]:
        earned = gain - 1.0 if law.feedback == SwitchFeedback.UNIT else 0.0
        seen = 0.0 if law.feedback == SwitchFeedback.OBSERVED else gain
    # Written in every round, with or without a cost: inside an `if`, numba would count references
    # in every round.
    law.previous[0] = arm
    law.earned[0] += earned
    return seen


@regret.register(GainTable)
def table_regret(law, pulls):
    t = 0
    for arm in range(pulls.size):
        t += pulls[arm]
    return law.best[t] - law.earned[0]
