"""Rewards that are fixed before the game: the i-th pull of an arm reads its i-th entry.

Two such tables that differ in one entry are what every definition of privacy here compares; the
policy's own randomness is all that is left. The law writes down which arm was played when.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, regret


class Entries(NamedTuple):
    """A table and the game that is played on it. The last two arrays are written in place."""

    table: np.ndarray  # shape (arms, rounds): [a, i], what pull i of arm a gives
    read: np.ndarray  # shape (arms,), int64: how many entries of each arm were read
    played: np.ndarray  # shape (rounds,), int64: the arm of every round


def entries(table: np.ndarray) -> Entries:
    """The law of a table before its first game."""
    arms, rounds = table.shape
    return Entries(table, np.zeros(arms, np.int64), np.zeros(rounds, np.int64))


@draw.register(Entries)
def entries_draw(law, rng, arm, t):
    i = law.read[arm]
    law.read[arm] = i + 1
    law.played[t] = arm
    return law.table[arm, i]


@regret.register(Entries)
def entries_regret(law, pulls):
    return 0.0  # nobody asks
