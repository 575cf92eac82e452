"""Protocol of an experiment: its numbers, as keys, caches and tables use them.

An experiment is a frozen value that holds everything that affects its numbers; with the number of
a run it names every random draw. It holds nothing else: not the number of runs, figure or colour.
What is said of it in words is in kinds/, in the file of the same name as its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dpbandits.kernel import registry

Load = Callable[[slice], np.ndarray]  # columns of a block: float64 of shape (runs, columns)


class Experiment(ABC):
    """What keys, caches and tables ask of an experiment; a kind of them is a frozen dataclass.

    A method has no docstring of its own where it answers as described here.
    """

    member: str  # name of the algorithm, rule or function
    params: Any  # its Params; () for a formula
    seed: int  # root of every random stream
    libraries: tuple[str, ...] = ("numba", "numpy")  # whose versions may change the numbers

    @property
    @abstractmethod
    def columns(self) -> int:
        """Number of values of a run; 0 for a formula, which is evaluated without runs."""

    @property
    def grows(self) -> bool:
        """True if the values of a run are at least 0 and never decrease."""
        return False

    @property
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others: its own and those that the registry imports."""
        return (registry.source_of(type(self).__module__),)

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """Return it as JSON values; descriptions are equal if and only if experiments are."""

    def streams(self) -> Mapping[str, dict[str, Any]]:
        """Return the names of its random streams by their purpose, as JSON values."""
        return {}

    @abstractmethod
    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of runs, float64 (runs, columns), and the seconds of each, (runs,).

        A row depends only on the number of its run, not on the other runs or their order.
        """

    def checkpoints(self) -> np.ndarray:
        """Return the rounds of a curve over time, int64; none if there is no such curve."""
        return np.array([], np.int64)

    @abstractmethod
    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        """Return a quantity of every run, (runs,), or at some checkpoints, (runs, checkpoints).

        `load` returns columns of the runs' values. What needs no runs has one row.
        """
