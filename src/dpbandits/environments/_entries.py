"""Rewards that are fixed before the game: the i-th pull of an arm reads its i-th entry.

Every definition of privacy used here compares two such tables that differ in one entry. Given the
table, only the policy's own draws are random. The law records the arm played in each round.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, regret


class Entries(NamedTuple):
    """Table of rewards and the game played on it. `read` and `played` are written in place."""

    table: np.ndarray  # float64, shape (arms, rounds): [a, i] is the reward of pull i of arm a
    read: np.ndarray  # int64, shape (arms,): number of entries read of each arm; 0 before a game
    played: np.ndarray  # int64, shape (rounds,): arm played in each round


@draw.register(Entries)
def entries_draw(law, rng, arm, t):
    i = law.read[arm]
    law.read[arm] = i + 1
    law.played[t] = arm
    return law.table[arm, i]


regret.register(Entries)(lambda law, pulls: 0.0)  # an audit records no regret
