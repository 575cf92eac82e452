"""Features of a game, as cells to be counted: an event is a set of cells of one feature.

A feature puts every game into one of its cells. All features are functions of the sequence of arms:

    arm of round t              one feature per round
    pulls of arm a              its total number of pulls in the game, one feature per arm
    pulls at the quarters       those of the changed arm after T/4, T/2, 3T/4 and T rounds
    arms after the change       the WINDOW arms after the round that read the changed entry
    sequence                    all arms of the game

The changed arm is the one with the changed entry. The last three features are hashed into BUCKETS
cells. Games that share a bucket are not distinguished, which can hide a privacy loss but never
creates one.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

WINDOW = 16
BUCKETS = 2**16


@dataclass(frozen=True)
class Feature:
    """Cells first..stop-1 of the counts, and their description in reports."""

    words: str
    first: int
    stop: int


@lru_cache(maxsize=256)  # an audit asks for those of a few lengths again and again
def features(arms: int, rounds: int) -> tuple[Feature, ...]:
    """Return the features of a game: first those of its rounds, then those of its arms."""
    of_game = [_of_round(t, arms) for t in range(rounds)]
    at = rounds * arms
    for arm in range(arms):
        of_game.append(Feature(f"the pulls of arm {arm + 1}", at, at + rounds + 1))
        at += rounds + 1
    hashed = (
        "the pulls of the changed arm at the quarters of the game",
        f"the {WINDOW} arms after the changed reward",
        "the sequence of all arms",
    )
    for words in hashed:
        of_game.append(Feature(words, at, at + BUCKETS))
        at += BUCKETS
    return tuple(of_game)


def first_choice(counts: np.ndarray, arms: int, rounds: int) -> list[Feature]:
    """Return the arm of the first round in which the games differ, as a list of one feature.

    `counts` is uint32 of shape (2, cells). All games are identical before this round, so the law of
    its arm is that of one choice after one history. The list is empty if the games never differ.
    """
    of_rounds = counts[:, : rounds * arms].sum(axis=0).reshape(rounds, arms)
    chosen = np.flatnonzero((of_rounds > 0).sum(axis=1) > 1)
    return [_of_round(int(chosen[0]), arms)] if chosen.size else []


def all_one(*counts: np.ndarray) -> bool:
    """Return True if all games on both tables had the same sequence of arms.

    Each of `counts` is uint32 of shape (2, cells). Sequences in the same bucket count as the same.
    """
    sequences = sum(each[:, -BUCKETS:].sum(axis=0) for each in counts)
    return int(np.count_nonzero(sequences)) == 1


def _of_round(t: int, arms: int) -> Feature:
    return Feature(f"the arm of round {t + 1}", t * arms, (t + 1) * arms)


def number_of_cells(arms: int, rounds: int) -> int:
    """Return the number of cells of all features together."""
    return rounds * arms + arms * (rounds + 1) + 3 * BUCKETS


def no_games(arms: int, rounds: int) -> np.ndarray:
    """Return counts of no games, uint32 of shape (cells,): room for 10^10 games in four parts."""
    return np.zeros(number_of_cells(arms, rounds), np.uint32)
