"""Pairs of neighbouring tables that make an algorithm tell as much as it ever does.

Constant arms, all 0 and all 1 in every combination, with one entry flipped: the first, where one
reward is all that is known of an arm; at a power of two, where counters release and episodes end;
in between. Many arms, of which the changed one must beat all others. And tables on the edge of a
decision, which are found by bisection: where means of many rewards are compared, constant arms
decide for certain.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpbandits.audit import stream_names

SHORT = (8, 64, 256)  # rounds
LONG = 4096  # of which a quarter more is played at most
TIMES = (2, 4, 8)  # as long as the shortest games are those in which an arm waits
INDICES = (1, 2, 3, 4, 16)
ARMS, MANY = 2, 64
AFTER = 8  # rounds after the first pulls of many arms
EDGES = (0.01, 0.1, 0.5, 0.9, 0.99)  # of the pulls that its mean decides, what arm 1 gets
STEPS = 14  # bisections


@dataclass(frozen=True, eq=False)
class Design:
    """A pair of tables that differ in one entry, and what they are called."""

    id: str  # names the random streams of its games (stream_names.py); frozen, and never shown
    words: str  # for people, in any wording
    table: np.ndarray  # shape (arms, rounds), rewards in [0, 1]
    arm: int  # of the changed entry, 0 the first
    index: int  # of the changed entry, 1 the first: the pull that reads it
    changed: float  # its other value

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return int(self.table.shape[0])

    @property
    def rounds(self) -> int:
        """T, the horizon of a game."""
        return int(self.table.shape[1])

    @property
    def family(self) -> tuple[int, int, float]:
        """What tables must share for a search to keep the better: their size, and the other arms.

        Those matter where there are many. To win against rewards of 1 is a rarer event than against
        rewards of 0: it tells more, and seems to tell less as long as it was hardly seen.
        """
        others = float(self.table[1, 0]) if self.arms > ARMS else 0.0
        return self.arms, self.rounds, others

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Both tables."""
        other = self.table.copy()
        other[self.arm, self.index - 1] = self.changed
        return self.table, other


def horizons(released: Callable[[int], bool]) -> list[int]:
    """The horizons at which games are played, where `released` says whether one releases anything.

    The first is a quarter longer than the shortest game that does; then 64 and 256. None where
    4096 rounds are too short.
    """
    if not released(LONG):
        return []
    short, long = 0, LONG
    while long - short > 1:
        middle = (short + long) // 2
        if released(middle):
            long = middle
        else:
            short = middle
    first = long + max(SHORT[0] - 1, long // 4)
    return [first, *(rounds for rounds in SHORT if rounds > first)]


def is_short(rounds: list[int]) -> bool:
    """Whether more is played at these horizons than on the edge of a decision."""
    return rounds[0] <= max(SHORT)


def longest(rounds: list[int]) -> int:
    """The rounds of the longest games of two arms, those in which an arm waits included."""
    return max(rounds[-1], TIMES[-1] * rounds[0]) if is_short(rounds) else rounds[-1]


def constant(rounds: int) -> Iterator[Design]:
    """Two arms of constant rewards, a reward of the first flipped."""
    for own in (0.0, 1.0):
        for other in (0.0, 1.0):
            for index in INDICES:
                if 4 * index <= rounds or index == 1:
                    table = np.empty((ARMS, rounds))
                    table[0], table[1] = own, other
                    name = stream_names.constant(own, other, rounds, index)
                    words = f"rewards {own:.0f} and {other:.0f}, T = {rounds}"
                    yield flipped(name, words, table, index)


def waiting(first: int) -> Iterator[Design]:
    """Arms of constant rewards 0 and 1, of which one waits, in games of twice `first` and more."""
    for times in TIMES:
        for design in constant(times * first):
            if design.index == 1 and design.table[0, 0] != design.table[1, 0]:
                yield design


def many_arms(arms: int) -> Iterator[Design]:
    """An arm of constant rewards among many others, its first reward flipped."""
    rounds = arms + AFTER
    for own in (0.0, 1.0):
        for other in (0.0, 1.0):
            table = np.full((arms, rounds), other)
            table[0] = own
            name = stream_names.many_arms(own, other, arms, rounds, 1)
            words = f"rewards {own:.0f} and, of {arms - 1} arms, {other:.0f}, T = {rounds}"
            yield flipped(name, words, table, 1)


def flipped(name: str, words: str, table: np.ndarray, index: int) -> Design:
    """The table and the one whose entry `index` of the first arm is 1 less what it is.

    `name` is the id of the design, `words` describe the table alone.
    """
    described = f"{words}, reward {index} of arm 1 flipped"
    return Design(name, described, table, 0, index, 1.0 - float(table[0, index - 1]))


def spread(share: float, rounds: int) -> np.ndarray:
    """Rewards 0 and 1, as evenly as can be, of which every beginning has this share of 1."""
    return np.diff(np.floor(share * np.arange(rounds + 1) + 0.5))


def at_the_edge(rounds: int, pulls_of_first: Callable[[Design], float]) -> Iterator[Design]:
    """Arm 1 beside one of mean 1/2, and of such a mean itself that either wins in some games.

    `pulls_of_first` plays some games and tells the mean number of pulls of arm 1, which grows with
    its mean.
    """

    def of_mean(share: float) -> Design:
        table = np.stack([spread(share, rounds), spread(0.5, rounds)])
        name = stream_names.at_the_edge(share, rounds, 1)
        words = f"rewards of mean {share:.6g} and 0.5, spread evenly, T = {rounds}"
        return flipped(name, words, table, 1)

    least, most = pulls_of_first(of_mean(0.0)), pulls_of_first(of_mean(1.0))
    for edge in EDGES:
        goal = least + edge * (most - least)
        low, high = 0.0, 1.0
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            if pulls_of_first(of_mean(middle)) < goal:
                low = middle
            else:
                high = middle
        yield of_mean(high)
