"""Many games of an algorithm on a pair of tables, counted inside the kernel that plays them.

A block of games is one call of a kernel with one generator, whose stream is named by the seed, the
design and the block. The counts therefore do not depend on the number of threads, nor the memory on
the number of games.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import joblib
import numpy as np

from dpbandits.audit import stream_names
from dpbandits.audit.designs import SHORT, Design, constant
from dpbandits.audit.kernels import no_games, tallying
from dpbandits.audit.stream_names import Part
from dpbandits.core.bandit import new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.core.randomness import Role, stream
from dpbandits.environments._entries import entries

BLOCK = 2**16  # games
_tallies: dict[tuple[Any, ...], Callable[..., Any]] = {}


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
    arguments = params, bandit, rng, games, design.arm, design.index, counts
    # Blocks whose parameters have equal types share machine code: numba need not look at all
    # arguments again.
    key = algorithm, *map(type, params)
    if key not in _tallies:
        _tallies[key] = specialised(tallying(algorithm), *arguments)
    _tallies[key](*arguments)
    return counts


def compile_games(algorithm: str, params: NamedTuple) -> None:
    """Compile the kernel that `block_of_games` calls for these parameters; play no game."""
    design = next(constant(SHORT[0]))
    block_of_games(algorithm, params, design, design.table, np.random.default_rng(0), games=0)


def counts_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    games: int,
    seed: int,
    part: Part,
    parallel: Any = None,
) -> np.ndarray:
    """Play `games` games on each table and return their counts, uint32 of shape (2, cells).

    `part` separates the random streams of these games from others of the same design and seed.
    `parallel` is a joblib.Parallel that returns an unordered generator; by default one worker.
    """
    total = np.stack([no_games(design.arms, design.rounds)] * 2)
    tables = design.tables()

    def block(which: int, first: int) -> tuple[int, np.ndarray]:
        name = stream_names.games(algorithm, params, design.id, part, which)
        rng = stream(seed, Role.POLICY, first, name)
        number = min(BLOCK, games - first)
        # The counts of a few games are mostly zeros, which take longer to add than to play.
        own = total[which] if games <= BLOCK else None
        return which, block_of_games(algorithm, params, design, tables[which], rng, number, own)

    parallel = parallel or joblib.Parallel(1, return_as="generator_unordered")
    work = (
        joblib.delayed(block)(which, first) for first in range(0, games, BLOCK) for which in (0, 1)
    )
    for which, counts in parallel(work):
        if games > BLOCK:
            total[which] += counts
    return total
