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
from itertools import product

import numpy as np

SHORT = (8, 64, 256)  # horizons of short games, in rounds
LONG = 4096  # longest game in which a first release is sought; at most a quarter more is played
UNTIL_ANSWERS = (512, 1024, 2048, LONG)  # horizons of games that end with answers
TIMES = (2, 4, 8)  # horizons of games in which an arm waits, as multiples of the shortest game
INDICES = (1, 2, 3, 4, 16)  # positions of the flipped entry
ARMS, MANY = 2, 64
MANY_ACTIONS = 8  # of linear algorithms, for which K arms have K dimensions: K³ steps in a round
BESIDE = 0.5  # mean of the second arm of tables at the edge
BESIDE_LINEAR = 1.0  # AdaC-GOPE keeps arms up to a gap of half the range
LATER = 8  # rounds of the games of a later reward, as a multiple of its position
AFTER = 8  # rounds after the first pulls of many arms
EDGES = (0.01, 0.1, 0.5, 0.9, 0.99)  # arm 1's share of the pulls that depend on its mean
STEPS = 14  # steps of a bisection


@dataclass(frozen=True, eq=False)
class Design:
    """Table of rewards, and its neighbour in which one entry x of arm 1 is replaced by 1 - x.

    Entries 0 and 1 stand for the ends of the range that the algorithm assumes.
    """

    rewards: str  # description of the table
    table: np.ndarray  # float64, shape (arms, rounds): rewards, as shares of the range
    index: int  # pull of arm 1 that reads the changed entry, from 1

    @property
    def name(self) -> str:
        """Description of both tables. It names the streams of their games: no letter may change."""
        return f"{self.rewards}, reward {self.index} of arm 1 flipped"

    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Return both tables, each float64 of shape (arms, rounds)."""
        other = self.table.copy()
        other[0, self.index - 1] = 1.0 - other[0, self.index - 1]
        return self.table, other


def longest(rounds: list[int]) -> int:
    """Return the rounds of the longest games with two arms, games with a waiting arm included."""
    return max(rounds[-1], TIMES[-1] * rounds[0]) if rounds[0] <= SHORT[-1] else rounds[-1]


def constant(rounds: int, indices: Iterable[int] = INDICES, arms: int = ARMS) -> Iterator[Design]:
    """Yield arms of constant rewards, with one reward of the first flipped.

    `indices` are the positions of that reward. All other arms have the same reward.
    """
    number = f", of {arms - 1} arms," if arms > ARMS else ""
    for first, other in product((0.0, 1.0), repeat=2):
        table = np.full((arms, rounds), other)
        table[0] = first
        title = f"rewards {first:.0f} and{number} {other:.0f}, T = {rounds}"
        for index in indices:
            if 4 * index <= rounds or index == 1:
                yield Design(title, table, index)


def evenly_spread(mean: float, rounds: int, index: int = 1, beside: float = BESIDE) -> Design:
    """Return arm 1 of a mean beside an arm of another, with reward `index` of arm 1 flipped."""
    title = f"rewards of mean {mean:.6g} and {beside}, spread evenly, T = {rounds}"
    # Every initial segment of an arm has its share of ones, up to rounding.
    ones = np.floor(np.array([[mean], [beside]]) * np.arange(rounds + 1) + 0.5)
    return Design(title, np.diff(ones), index)


def at_the_edge(
    rounds: int,
    pulls_of_first: Callable[[Design], float],
    index: int = 1,
    beside: float = BESIDE,
) -> Iterator[Design]:
    """Yield arm 1 beside an arm of a mean, with a mean at which each of them wins some games.

    `pulls_of_first` plays some games of a design and returns the mean number of pulls of arm 1,
    which increases with the mean of this arm. Reward `index` of arm 1 is flipped.
    """

    def spread(mean: float) -> Design:
        return evenly_spread(mean, rounds, index, beside)

    least, most = pulls_of_first(spread(0.0)), pulls_of_first(spread(1.0))
    for edge in EDGES:
        goal = least + edge * (most - least)
        low, high = 0.0, 1.0
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            above = pulls_of_first(spread(middle)) >= goal
            low, high = (low, middle) if above else (middle, high)
        yield spread(high)


def in_games_of(
    rounds: list[int],
    pulls_of_first: Callable[[Design], float],
    many_arms: int = MANY,
    changed_reward: int | None = None,
    beside: float = BESIDE,
) -> list[Design]:
    """Return all designs of an audit whose horizons are `rounds`, at least one and increasing.

    With a `changed_reward`, those in which it is read early enough and no other is changed.
    """
    if changed_reward is not None:
        rounds = [n for n in rounds if n >= 4 * changed_reward] or [LATER * changed_reward]
        edges = at_the_edge(rounds[-1], pulls_of_first, changed_reward, beside)
        return [*edges, *(design for n in rounds for design in constant(n, (changed_reward,)))]
    chosen = list(at_the_edge(rounds[-1], pulls_of_first, beside=beside))
    if rounds[0] <= SHORT[-1]:  # otherwise only tables at the edge fit the horizons
        chosen += [design for n in rounds for design in constant(n)]
        # In longer games, an arm of rewards 0 waits beside one of rewards 1, or the reverse.
        waiting = [design for times in TIMES for design in constant(times * rounds[0], (1,))]
        chosen += [design for design in waiting if design.table[0, 0] != design.table[1, 0]]
        chosen += constant(many_arms + AFTER, (1,), many_arms)
    return chosen
