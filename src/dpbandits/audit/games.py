"""Many games of an algorithm on a pair of tables, counted inside the kernel that plays them.

A block of games is one call of a kernel with one generator, whose stream is named by the seed, the
design and the block. The counts therefore do not depend on the number of threads, nor the memory on
the number of games. Every character of these names enters a seed, so none may change.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import joblib
import numpy as np

from dpbandits.audit.designs import Design
from dpbandits.audit.kernels import no_games, tally
from dpbandits.core import randomness, registry
from dpbandits.core.bandit import new_bandit
from dpbandits.core.kernel import kernel_around, specialised
from dpbandits.core.randomness import Role, stream
from dpbandits.environments._entries import entries

BLOCK = 2**16  # games
_tallies: dict[tuple[Any, ...], Callable[..., Any]] = {}


class Part(NamedTuple):
    """Games of an audit with their own draws: half a stage of the search, or all that measure."""

    audit: int  # number of the audit
    one_choice: bool  # True if they are played for an event of one choice
    stage: int | None = None  # stage of the search, from 0; None for the games that measure
    half: int = 0  # half of the stage, 0 or 1

    @property
    def words(self) -> str:
        """Description in the names of streams."""
        if self.stage is None:
            return f"measured, {self.one_choice}"
        return f"search {self.stage}, {self.one_choice}, {('first', 'second')[self.half]} half"


def spelt(algorithm: str, params: NamedTuple) -> str:
    """Return an algorithm with its parameters, as stream names spell them."""
    fields = (f"{name}={value!r}" for name, value in randomness.fields(params).items())
    return f"{algorithm} Params({', '.join(fields)})"


def block_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    table: np.ndarray,
    rng: np.random.Generator,
    games: int,
    counts: np.ndarray | None = None,
) -> np.ndarray:
    """Play `games` games on one table and return their counts, uint32 of shape (cells,).

    `table` is float64 of shape (arms, rounds). The games are added to `counts`, if given.
    """
    if counts is None:
        counts = no_games(design.arms, design.rounds)
    unused = np.random.Generator(np.random.PCG64(0))  # a table draws no rewards
    bandit = new_bandit(entries(table), design.arms, design.rounds, np.empty(0, np.int64), unused)
    arguments = params, bandit, rng, games, design.index, counts
    # Blocks whose parameters have equal types share machine code: numba need not look at all
    # arguments again.
    key = algorithm, *map(type, params)
    if key not in _tallies:
        kernel = kernel_around(registry.algorithm(algorithm).play, tally)
        _tallies[key] = specialised(kernel, *arguments)
    _tallies[key](*arguments)
    return counts


def counts_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    games: int,
    seed: int,
    part: Part,
    parallel: joblib.Parallel,
) -> np.ndarray:
    """Play `games` games on each table and return their counts, uint32 of shape (2, cells).

    `part` separates the random streams of these games from others of the same design and seed.
    `parallel` returns an unordered generator.
    """
    total = np.stack([no_games(design.arms, design.rounds)] * 2)
    tables = design.tables()
    name = (
        f"audit of {spelt(algorithm, params)} on {design.words}, {part.words}, audit {part.audit}"
    )

    def block(which: int, first: int) -> tuple[int, np.ndarray]:
        rng = stream(seed, Role.POLICY, first, f"{name}, table {which}")
        number = min(BLOCK, games - first)
        # The counts of a few games are mostly zeros, which take longer to add than to play.
        counts = total[which] if games <= BLOCK else None
        return which, block_of_games(algorithm, params, design, tables[which], rng, number, counts)

    work = (
        joblib.delayed(block)(which, first) for first in range(0, games, BLOCK) for which in (0, 1)
    )
    for which, counts in parallel(work):
        if games > BLOCK:
            total[which] += counts
    return total
