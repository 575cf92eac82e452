"""Many games of an algorithm on a pair of tables, counted inside the kernel that plays them.

A block of games is one call of a kernel with one generator, whose stream is named by the seed, the
design and the block. The counts therefore do not depend on the number of threads, nor the memory on
the number of games.
"""

from typing import Any, NamedTuple

import joblib
import numpy as np

from dpbandits.audit import stream_names
from dpbandits.audit.designs import Design
from dpbandits.audit.stream_names import Part
from dpbandits.audit_kernels.features import number_of_cells
from dpbandits.audit_kernels.tally import tallying
from dpbandits.core.bandit import new_bandit
from dpbandits.core.randomness import Role, stream
from dpbandits.environments._entries import entries

BLOCK = 2**16  # games


def block_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    table: np.ndarray,
    rng: np.random.Generator,
    games: int,
) -> np.ndarray:
    """Play `games` games on one table and return their counts, int64 of shape (cells,).

    `table` is float64 of shape (arms, rounds).
    """
    counts = np.zeros(number_of_cells(design.arms, design.rounds), np.int64)
    unused = np.random.Generator(np.random.PCG64(0))  # a table draws no rewards
    bandit = new_bandit(entries(table), design.arms, design.rounds, np.empty(0, np.int64), unused)
    tallying(algorithm)(params, bandit, rng, games, design.arm, design.index, counts)
    return counts


def counts_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    games: int,
    seed: int,
    part: Part,
    parallel: Any = None,
) -> np.ndarray:
    """Play `games` games on each table and return their counts, int64 of shape (2, cells).

    `part` separates the random streams of these games from others of the same design and seed.
    `parallel` is a joblib.Parallel that returns an unordered generator; by default one worker.
    """
    total = np.zeros((2, number_of_cells(design.arms, design.rounds)), np.int64)
    tables = design.tables()

    def block(which: int, first: int) -> tuple[int, np.ndarray]:
        name = stream_names.games(algorithm, params, design.id, part, which)
        rng = stream(seed, Role.POLICY, first, name)
        number = min(BLOCK, games - first)
        return which, block_of_games(algorithm, params, design, tables[which], rng, number)

    parallel = parallel or joblib.Parallel(1, return_as="generator_unordered")
    work = (
        joblib.delayed(block)(which, first) for first in range(0, games, BLOCK) for which in (0, 1)
    )
    for which, counts in parallel(work):
        total[which] += counts
    return total
