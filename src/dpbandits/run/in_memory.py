"""Cells of algorithms that exist in this process only, such as one defined in a notebook.

Such an algorithm has no source that a key could cover. Its runs and its machine code are therefore
kept in memory only, and only threads of this process play it. The random streams have names like
those of any other cell.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpbandits.algorithms import uniform
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.cells.play_bandit import Game
from dpbandits.cells.shared_tables import named_environment
from dpbandits.core import randomness
from dpbandits.core.randomness import spelt
from dpbandits.privacy.notions import AnyGuarantee
from dpbandits.store.blocks import ALL, Store


@dataclass(frozen=True, eq=False)
class Definition:
    """Algorithm of this process: what a file in algorithms/ defines. Equal only to itself."""

    label: str
    params: type  # its Params
    play: Callable[..., Any]
    releases: Callable[..., Iterable[Any]] | None = None
    claim: Callable[..., AnyGuarantee] | None = None


@dataclass(frozen=True)
class MemoryCell(Cell):
    """Cell of an algorithm of this process; `algorithm` is a name that the registry need not have.

    Its runs in one process are those that a file of this name in algorithms/ would play.
    """

    definition: Definition | None = None  # never None; a default is needed after that of Cell

    @property
    def has_lane_streams(self) -> bool:
        """False: runs are played one by one, and not in lanes."""
        return False

    def releases(self) -> Iterable[Any] | None:
        """Return the releases that the algorithm declares; None if it declares none."""
        assert self.definition is not None
        declared = self.definition.releases
        return None if declared is None else declared(self.params, self._arms, self.horizon)

    def claim(self) -> AnyGuarantee | None:
        """Return the privacy claim; None if the algorithm is not private."""
        assert self.definition is not None
        promise = self.definition.claim
        return None if promise is None else promise(self.params, self._arms, self.horizon)

    def warning(self) -> str | None:
        """Return None: there are no warnings."""
        return None


class MemoryGame(Game):
    """Game of a cell of this process."""

    def __init__(self, cell: MemoryCell) -> None:
        assert cell.definition is not None
        # The environment's part does not depend on the algorithm.
        super().__init__(replace(cell, algorithm="uniform", params=uniform.Params()))
        params = randomness.plain_fields(cell.params)
        params.pop("horizon", None)
        named = {"algorithm": cell.algorithm, "params": params}
        self.cell = cell
        self.policy_name = spelt(named_environment(cell) | named)
        self.policy = cell.definition.play


def simulate(cell: MemoryCell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return the regret of the runs at the checkpoints, and the seconds that each run took.

    float64 of shape (runs, checkpoints) and (runs,), as play_bandit.simulate returns them.
    """
    game = MemoryGame(cell)
    curves = np.empty((len(runs), len(game.checkpoints)))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        curves[row] = game.play(run).curve
        seconds[row] = time.perf_counter() - start
    return curves, seconds


@dataclass(frozen=True)
class StoreWithMemory(Store):
    """Blocks below a folder, and in memory those of cells that cannot be stored."""

    played: dict[MemoryCell, dict[int, tuple[np.ndarray, float]]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def write(self, cell: AnyCell, first: int, curves: np.ndarray, seconds: float) -> None:
        """Keep the curves of runs first, first + 1, ... as one block."""
        if isinstance(cell, MemoryCell):
            self.played.setdefault(cell, {})[first] = curves, seconds
        else:
            super().write(cell, first, curves, seconds)

    def seconds(self, cell: AnyCell) -> float:
        """Return the seconds that the cell's blocks took to compute, summed over threads."""
        if not isinstance(cell, MemoryCell):
            return super().seconds(cell)
        return sum(seconds for _, seconds in self.played.get(cell, {}).values())

    def provenance(self, cell: AnyCell) -> list[dict[str, Any]]:
        """Return the provenance of each stored block; there is none for blocks in memory."""
        return [] if isinstance(cell, MemoryCell) else super().provenance(cell)

    def missing(self, cell: AnyCell, runs: int) -> list[range]:
        """Return the runs below `runs` that no block holds, as maximal ranges."""
        if not isinstance(cell, MemoryCell):
            return super().missing(cell, runs)
        return [] if cell in self.played else [range(runs)]

    def load(self, cell: AnyCell, runs: int, columns: slice = ALL) -> np.ndarray:
        """Return the curves of runs 0, ..., runs - 1: float64 of shape (runs, columns)."""
        if not isinstance(cell, MemoryCell):
            return super().load(cell, runs, columns)
        blocks = self.played[cell]
        return np.concatenate([blocks[first][0] for first in sorted(blocks)])[:runs, columns]
