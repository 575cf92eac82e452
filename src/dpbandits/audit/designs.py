"""Pairs of neighbouring tables on which an algorithm loses as much privacy as possible.

Three kinds of pairs:

* Constant arms, all 0 or all 1 in every combination, with one entry flipped: the first, when one
  reward is all that is known of an arm; one at a power of two, where counters release and episodes
  end; or one in between.
* Many arms. The changed arm must beat all others.
* Tables at the edge of a decision, determined by bisection. They are for algorithms that compare
  means of many rewards, whose decisions on constant arms are certain.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpbandits.audit import stream_names

SHORT = (8, 64, 256)  # horizons of short games, in rounds
LONG = 4096  # longest game in which a first release is sought; at most a quarter more is played
TIMES = (2, 4, 8)  # horizons of games in which an arm waits, as multiples of the shortest game
INDICES = (1, 2, 3, 4, 16)  # positions of the flipped entry
ARMS, MANY = 2, 64
LATER = 8  # rounds of the games of a later reward, as a multiple of its position
AFTER = 8  # rounds after the first pulls of many arms
EDGES = (0.01, 0.1, 0.5, 0.9, 0.99)  # arm 1's share of the pulls that depend on its mean
STEPS = 14  # steps of a bisection


@dataclass(frozen=True, eq=False)
class Design:
    """Pair of tables that differ in one entry, with an id and a description."""

    id: str  # names the random streams of its games (stream_names.py); fixed, and never displayed
    words: str  # description for readers; its wording may change
    table: np.ndarray  # float64, shape (arms, rounds): rewards in [0, 1]
    arm: int  # arm of the changed entry, from 0
    index: int  # pull that reads the changed entry, from 1
    changed: float  # value of the changed entry in the other table

    @property
    def arms(self) -> int:
        """Number of arms, K."""
        return int(self.table.shape[0])

    @property
    def rounds(self) -> int:
        """Horizon of a game, T."""
        return int(self.table.shape[1])

    @property
    def family(self) -> tuple[int, int, float]:
        """Key of tables that a search compares: numbers of arms and rounds, reward of other arms.

        The last part is 0 for two arms. With many arms, a win against rewards of 1 is rarer than
        one against rewards of 0: it reveals more, but seems to reveal less until enough games have
        shown it.
        """
        others = float(self.table[1, 0]) if self.arms > ARMS else 0.0
        return self.arms, self.rounds, others

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Return both tables, each float64 of shape (arms, rounds)."""
        other = self.table.copy()
        other[self.arm, self.index - 1] = self.changed
        return self.table, other


def horizons(released: Callable[[int], bool]) -> list[int]:
    """Return the horizons of the games; `released(n)` is True if games of n rounds release.

    The first horizon is a quarter, and at least 7 rounds, longer than the shortest game with a
    release. 64 and 256 follow if they are longer. The list is empty if 4096 rounds are too short.
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
    """Return True if other tables than those at the edge of a decision fit these horizons."""
    return rounds[0] <= max(SHORT)


def longest(rounds: list[int]) -> int:
    """Return the rounds of the longest games with two arms, games with a waiting arm included."""
    return max(rounds[-1], TIMES[-1] * rounds[0]) if is_short(rounds) else rounds[-1]


def later(index: int, rounds: list[int]) -> list[int]:
    """Return the horizons of games in which reward `index` of an arm is read early enough.

    `rounds` are the horizons of the usual games.
    """
    return [n for n in rounds if n >= 4 * index] or [LATER * index]


def constant(rounds: int, indices: Iterable[int] = INDICES) -> Iterator[Design]:
    """Yield two arms of constant rewards, with one reward of the first flipped.

    `indices` are the positions of that reward.
    """
    for own in (0.0, 1.0):
        for other in (0.0, 1.0):
            for index in indices:
                if 4 * index <= rounds or index == 1:
                    table = np.empty((ARMS, rounds))
                    table[0], table[1] = own, other
                    name = stream_names.constant(own, other, rounds, index)
                    words = f"rewards {own:.0f} and {other:.0f}, T = {rounds}"
                    yield flipped(name, words, table, index)


def waiting(first: int) -> Iterator[Design]:
    """Yield arms of constant rewards 0 and 1, one of which waits, at the multiples of `first`.

    The multiples in TIMES are the horizons of these games.
    """
    for times in TIMES:
        for design in constant(times * first):
            if design.index == 1 and design.table[0, 0] != design.table[1, 0]:
                yield design


def many_arms(arms: int) -> Iterator[Design]:
    """Yield an arm of constant rewards among many others, with its first reward flipped."""
    rounds = arms + AFTER
    for own in (0.0, 1.0):
        for other in (0.0, 1.0):
            table = np.full((arms, rounds), other)
            table[0] = own
            name = stream_names.many_arms(own, other, arms, rounds, 1)
            words = f"rewards {own:.0f} and, of {arms - 1} arms, {other:.0f}, T = {rounds}"
            yield flipped(name, words, table, 1)


def flipped(name: str, words: str, table: np.ndarray, index: int) -> Design:
    """Return the design of a table and of its copy with one entry x of arm 1 replaced by 1 - x.

    `table` has shape (arms, rounds), `index` (from 1) is the position of the entry, `name` is the
    id of the design, and `words` describes the table alone.
    """
    described = f"{words}, reward {index} of arm 1 flipped"
    return Design(name, described, table, 0, index, 1.0 - float(table[0, index - 1]))


def spread(share: float, rounds: int) -> np.ndarray:
    """Return rewards 0 and 1, float64 of shape (rounds,), with this share of ones, evenly spread.

    Every initial segment has this share of ones, up to rounding.
    """
    return np.diff(np.floor(share * np.arange(rounds + 1) + 0.5))


def at_the_edge(
    rounds: int, pulls_of_first: Callable[[Design], float], index: int = 1
) -> Iterator[Design]:
    """Yield arm 1 beside an arm of mean 1/2, with a mean at which each of them wins some games.

    `pulls_of_first` plays some games of a design and returns the mean number of pulls of arm 1,
    which increases with the mean of this arm. Reward `index` of arm 1 is flipped.
    """

    def of_mean(share: float) -> Design:
        table = np.stack([spread(share, rounds), spread(0.5, rounds)])
        name = stream_names.at_the_edge(share, rounds, index)
        words = f"rewards of mean {share:.6g} and 0.5, spread evenly, T = {rounds}"
        return flipped(name, words, table, index)

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
