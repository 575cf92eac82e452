"""Games of an audit: the kernel that plays and counts them, and the features of their outcomes.

A feature puts every game into one of its cells. All features are functions of the sequence of arms:

    arm of round t              one feature per round
    pulls of arm a              its total number of pulls in the game, one feature per arm
    pulls at the quarters       those of the changed arm after T/4, T/2, 3T/4 and T rounds
    arms after the change       the WINDOW arms after the round that read the changed entry
    sequence                    all arms of the game

The changed arm is the first one. The last three features are hashed into BUCKETS
cells. Games that share a bucket are not distinguished, which can hide a privacy loss but never
creates one.

Games that may end early, with an answer, have a sequence of one more symbol than rounds: from its
end on, a game of K arms has the symbol K + a for the answer a, or 2 K for none at the limit. The
number of these symbols is another feature: the round of the answer, with the answer.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np

from dpbandits.kernel.answers import UNDECIDED
from dpbandits.kernel.compilation import inlined, play

WINDOW = 16
BUCKETS = 2**16
SHIFT = np.uint64(64 - BUCKETS.bit_length() + 1)  # the upper bits of a hash are its bucket
FACTOR = np.uint64(6364136223846793005)  # of the linear congruential generator MMIX


@dataclass(frozen=True)
class Feature:
    """Cells first..stop-1 of the counts, and their description in reports."""

    name: str
    first: int
    stop: int


@lru_cache(maxsize=256)  # an audit asks for those of a few lengths again and again
def features(arms: int, rounds: int, answers: bool = False) -> tuple[Feature, ...]:
    """Return the features of a game: first those of its rounds, then those of its arms.

    With `answers`, those of its answers follow the latter.
    """
    symbols, length = alphabet(arms, rounds, answers)
    of_round = "the arm or answer" if answers else "the arm"
    sizes = [(f"{of_round} of round {t + 1}", symbols) for t in range(length)]
    sizes += [(f"the pulls of arm {arm + 1}", length + 1) for arm in range(arms)]
    if answers:
        sizes += [(f"the round of the answer {arm + 1}", length + 1) for arm in range(arms)]
        sizes += [("the end without an answer", length + 1)]
    sizes += [
        ("the pulls of the changed arm at the quarters of the game", BUCKETS),
        (f"the {WINDOW} arms after the changed reward", BUCKETS),
        ("the sequence of all arms", BUCKETS),
    ]
    stops = accumulate(size for _, size in sizes)
    return tuple(
        Feature(name, stop - size, stop) for (name, size), stop in zip(sizes, stops, strict=True)
    )


def alphabet(arms: int, rounds: int, answers: bool) -> tuple[int, int]:
    """Return the number of symbols of a game, which are arms and ends, and their sequence's length.

    `answers` is True for a game that may end with an answer.
    """
    return (2 * arms + 1, rounds + 1) if answers else (arms, rounds)


def first_choice(
    counts: np.ndarray, arms: int, rounds: int, answers: bool = False
) -> list[Feature]:
    """Return the arm of the first round in which the games differ, as a list of one feature.

    `counts` is uint32 of shape (2, cells). All games are identical before this round, so the
    distribution of its arm is that of one choice after one history. The list is empty if the games
    never differ.
    """
    symbols, length = alphabet(arms, rounds, answers)
    played = counts[:, : length * symbols].sum(axis=0).reshape(length, symbols)
    differing = np.flatnonzero((played > 0).sum(axis=1) > 1)
    return [features(arms, rounds, answers)[t] for t in differing[:1]]


@inlined
def mixed(code, number):  # type: ignore[no-untyped-def]
    """Return the hash of a sequence, given the hash of its beginning and the next number."""
    return (code + np.uint64(number) + np.uint64(1)) * FACTOR


@inlined
def count(played, pulls, index, counts):  # type: ignore[no-untyped-def]
    """Add one game to `counts`, uint32 of shape (cells,), in place.

    `played` (int64, shape (rounds,)) holds the arm of each round, `pulls` (int64, shape (arms,))
    the final pulls; or the symbols of a game with answers and their numbers. The changed entry is
    number `index` (from 1) of the first arm.
    """
    rounds, arms = played.size, pulls.size
    sequence, window, quarters = np.uint64(0), np.uint64(0), np.uint64(0)
    read, left, phase = 0, 0, 0
    for t in range(rounds):
        chosen = played[t]
        counts[t * arms + chosen] += 1
        sequence = mixed(sequence, chosen)
        if left > 0:
            window = mixed(window, chosen)
            left -= 1
        if chosen == 0:
            read += 1
            if read == index:
                left = WINDOW
        phase += 4  # since the last quarter, in quarters of a round: no division
        if phase >= rounds:
            phase -= rounds
            quarters = mixed(quarters, read)
    first = rounds * arms
    for a in range(arms):
        counts[first + pulls[a]] += 1
        first += rounds + 1
    for code in (quarters, window, sequence):
        counts[first + np.int64(code >> SHIFT)] += 1
        first += BUCKETS


def tally(params, bandit, rng, games, index, counts):  # type: ignore[no-untyped-def]
    """Play `games` games and add them to `counts`, uint32 of shape (cells,); see `features`."""
    for _ in range(games):
        bandit.clock[0] = 0
        bandit.clock[1] = 0
        bandit.pulls[:] = 0
        bandit.law.read[:] = 0
        play(params, bandit, rng)
        count(bandit.law.played, bandit.pulls, index, counts)


def tally_with_answers(params, bandit, rng, games, index, counts):  # type: ignore[no-untyped-def]
    """Do the same for games that may end with an answer; `played` has room for a symbol more."""
    arms, played = bandit.pulls.size, bandit.law.played
    numbers = np.zeros(2 * arms + 1, np.int64)
    for _ in range(games):
        bandit.clock[:] = 0
        bandit.pulls[:] = 0
        bandit.answer[0] = UNDECIDED
        bandit.law.read[:] = 0
        play(params, bandit, rng)
        end, answer = bandit.clock[0], bandit.answer[0]
        symbol = 2 * arms if answer == UNDECIDED else arms + answer
        played[end:] = symbol
        numbers[:arms] = bandit.pulls
        numbers[arms:] = 0
        numbers[symbol] = played.size - end
        count(played, numbers, index, counts)
