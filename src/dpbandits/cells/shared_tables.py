"""Tables of gains of sixteen runs, drawn once and shared by all algorithms that play on them.

The runs 16 j to 16 j + 15 are a block (core/lanes.py). The tables of the latest blocks stay in
memory until `forget`; the runner plays all algorithms on a block before the next one. A table whose
gains are all 0 or 1 takes a byte per gain.
"""

import math
import threading
from collections.abc import Hashable
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import Cell
from dpbandits.core import randomness, registry
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.vector_constants import RUNS
from dpbandits.environments._gain_table import GainTable, SwitchFeedback

MOST_BYTES = 2**28  # of the gains of a block
KEPT_BYTES = 2**27  # of all blocks
PIECE = 2**14  # rounds of a table that are compared at a time

_kept: dict[tuple[Hashable, ...], "Tables"] = {}  # the latest last
_too_large = set[tuple[Hashable, ...]]()  # names of tables that exceeded MOST_BYTES
_lock = threading.Lock()


class TooLarge(Exception):
    """The tables of a block exceed MOST_BYTES."""


def named_environment(cell: Cell) -> dict[str, Any]:
    """Return what names the streams of an environment, as JSON values."""
    return {
        "environment": cell.environment,
        "instance": randomness.plain_fields(cell.instance),
    }


def table_name(cell: Cell) -> tuple[Hashable, ...]:
    """Return what names the tables of all runs, with the rounds at which they are evaluated."""
    return cell.seed, cell.environment, cell.instance, cell.horizon, cell.grid


def tables(cell: Cell, runs: range) -> "Tables":
    """Return the tables of the block of some runs; those of other runs may not be drawn.

    Raises TooLarge if they do not fit into memory; then no block is kept beside the tables that the
    runs draw one by one.
    """
    name, block = table_name(cell), runs[0] // RUNS
    try:
        if name in _too_large:
            raise TooLarge
        with _lock:
            key = *name, block
            of_block = _kept.pop(key, None) or Tables(cell)
            _kept[key] = of_block
        of_block.draw(runs)
    except TooLarge:
        with _lock:
            _too_large.add(name)
            _kept.clear()
        raise
    _make_room(0)
    return of_block


def _make_room(size: int, block: "Tables | None" = None) -> None:
    # Forgets the oldest blocks but `block`, until `size` bytes fit beside those that are kept.
    # Tasks that play on a forgotten block still hold it.
    with _lock:
        for key in list(_kept):
            if sum(each.nbytes for each in _kept.values()) + size <= KEPT_BYTES:
                break
            if _kept[key] is not block:
                del _kept[key]


def forget() -> None:
    """Free the memory of all blocks."""
    with _lock:
        _kept.clear()
        _too_large.clear()


def _are_coins(gains: np.ndarray) -> bool:
    # In pieces: a comparison of all gains would take a third of their memory.
    pieces = (gains[first : first + PIECE] for first in range(0, len(gains), PIECE))
    return all(bool(((piece == 0.0) | (piece == 1.0)).all()) for piece in pieces)


class Tables:
    """Tables of a block, drawn when they are needed, by any thread."""

    gains: np.ndarray  # float64 or uint8, shape (tables, rounds, arms)
    best: np.ndarray  # float64, shape (checkpoints, tables): total gain of the best arm
    feedback: SwitchFeedback
    table_of: np.ndarray  # int64, shape (16,): index of the table of each run

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.checkpoints = cell.checkpoints()
        self.name = spelt(named_environment(cell))
        self.drawn: set[int] = set()
        self.nbytes = 0
        self._first = threading.Lock()
        self._drawing = [threading.Lock() for _ in range(RUNS)]
        self._adding = threading.Lock()

    def draw(self, runs: range) -> None:
        """Draw the tables of these runs that are missing."""
        # The first table may serve all runs, so that no other one is begun before it.
        with self._first:
            if not self.drawn:
                self._draw(runs[0])
        # A thread passes over a table that another thread draws, and waits for it in the end.
        for waits in (False, True):
            for run in runs:
                drawing = self._drawing[run % RUNS]
                if run % RUNS not in self.drawn and drawing.acquire(blocking=waits):
                    try:
                        if run % RUNS not in self.drawn:
                            self._draw(run)
                    finally:
                        drawing.release()

    def _draw(self, run: int) -> None:
        cell = self.cell
        rng = stream(cell.seed, Role.TABLE, run, self.name)
        before = rng.bit_generator.state
        environment = registry.environment(cell.environment)
        if not self.drawn:  # it may turn out too large
            _make_room(8 * cell.horizon * environment.arms(cell.instance), self)
        table: GainTable = environment.table(cell.instance, cell.horizon, rng)
        constant = rng.bit_generator.state == before  # the same table in every run
        coins = _are_coins(table.gains)
        with self._adding:
            if not self.drawn:
                self._allocate(table, constant, coins)
            elif not coins and self.gains.dtype == np.uint8:
                self._reserve(self.gains.shape, np.dtype(np.float64))
                self.gains = self.gains.astype(np.float64)
            index = self.table_of[run % RUNS]
            if not constant:
                self.gains[index] = table.gains
            self.best[:, index] = table.best[self.checkpoints]
            self.drawn |= {*range(RUNS)} if constant else {run % RUNS}

    def _allocate(self, table: GainTable, constant: bool, coins: bool) -> None:
        shape = 1 if constant else RUNS, *table.gains.shape
        dtype = np.dtype(np.uint8 if coins else np.float64)
        self._reserve(shape, dtype)
        # Kernels read the memory of the tables gain by gain, so that it must be contiguous.
        self.gains = (
            np.ascontiguousarray(table.gains[np.newaxis], dtype)
            if constant
            else np.zeros(shape, dtype)
        )
        self.best = np.zeros((len(self.checkpoints), shape[0]))
        self.table_of = np.zeros(RUNS, np.int64) if constant else np.arange(RUNS)
        self.feedback = table.feedback

    def _reserve(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes > MOST_BYTES:
            raise TooLarge
        _make_room(nbytes - self.nbytes, self)
        self.nbytes = nbytes
