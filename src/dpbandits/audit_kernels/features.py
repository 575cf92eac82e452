"""What is told of a game, as cells to be counted: an event is a set of cells of one feature.

A feature puts every game into one of its cells; all are functions of the sequence of arms:

    arm of round t              one feature a round
    pulls of arm a              how often it was pulled in the game, one feature an arm
    pulls at the quarters       of the arm with the changed entry after T/4, T/2, 3T/4 and T rounds
    what follows                the WINDOW arms after the round in which the changed entry was read
    sequence                    all arms of the game

The last three are hashed into BUCKETS cells. Games that share a bucket are told apart by nobody,
which can hide a loss and never makes one.
"""

from dataclasses import dataclass

import numpy as np

WINDOW = 16
BUCKETS = 2**16


@dataclass(frozen=True)
class Feature:
    """The cells first..stop-1 of the counts, and what they tell."""

    words: str
    first: int
    stop: int


def features(arms: int, rounds: int) -> list[Feature]:
    """The features of a game; those of its rounds come first."""
    found = [_of_round(t, arms) for t in range(rounds)]
    at = rounds * arms
    for arm in range(arms):
        found.append(Feature(f"the pulls of arm {arm + 1}", at, at + rounds + 1))
        at += rounds + 1
    hashed = (
        "the pulls of the changed arm at the quarters of the game",
        f"the {WINDOW} arms after the changed reward",
        "the sequence of all arms",
    )
    for words in hashed:
        found.append(Feature(words, at, at + BUCKETS))
        at += BUCKETS
    return found


def first_choice(counts: np.ndarray, arms: int, rounds: int) -> list[Feature]:
    """The arm of the first round in which more than one was seen; counts of shape (2, cells).

    Before it all these games are alike: among them its law is that of one choice on one history.
    """
    of_rounds = counts[:, : rounds * arms].sum(axis=0).reshape(rounds, arms)
    chosen = np.flatnonzero((of_rounds > 0).sum(axis=1) > 1)
    return [_of_round(int(chosen[0]), arms)] if chosen.size else []


def all_one(counts: np.ndarray) -> bool:
    """Whether all games, on both tables, had the same sequence of arms; counts of shape (2, cells).

    As far as its bucket tells.
    """
    return int(np.count_nonzero(counts[:, -BUCKETS:].any(axis=0))) == 1


def _of_round(t: int, arms: int) -> Feature:
    return Feature(f"the arm of round {t + 1}", t * arms, (t + 1) * arms)


def number_of_cells(arms: int, rounds: int) -> int:
    """How many cells all features have together."""
    return rounds * arms + arms * (rounds + 1) + 3 * BUCKETS
