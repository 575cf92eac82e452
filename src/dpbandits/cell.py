"""The cell: one algorithm on one environment over one horizon, the unit of computation.

Everything that moves a curve is in the cell (with the run's number it names every random draw) and
nothing else is: not the number of runs, not the figure, not the colour.
"""

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from dpbandits import parameters, registry


class Grid(Enum):
    """Where the regret is recorded. Every grid ends at the horizon."""

    LOG = "log"  # from round 1, 24 a decade, the same whatever the horizon; for a logarithmic axis
    LINEAR = "linear"  # 200 equal steps, the first one filled as LOG; for a linear axis
    END = "end"  # the horizon alone; where x is a parameter


@dataclass(frozen=True)
class Cell:
    """One algorithm on one environment."""

    algorithm: str  # name in the registry
    params: NamedTuple  # the algorithm's Params
    environment: str  # name in the registry
    instance: NamedTuple  # the environment's Params
    horizon: int  # T, rounds
    grid: Grid
    seed: int  # root of every random stream

    @property
    def name(self) -> str:
        """One line for people: in progress, in failures."""
        told = ", ".join(f"{k}={v}" for k, v in parameters.plain(self.params).items())
        arms = registry.environment(self.environment).arms(self.instance)
        return f"{self.algorithm}({told}) on {self.environment} K={arms} T={self.horizon}"

    def description(self) -> dict[str, Any]:
        """The cell as JSON values; equal cells, and only they, have equal descriptions."""
        return {
            "algorithm": self.algorithm,
            "params": parameters.plain(self.params),
            "environment": self.environment,
            "instance": parameters.plain(self.instance),
            "horizon": self.horizon,
            "grid": self.grid.value,
            "seed": self.seed,
        }

    def checkpoints(self) -> np.ndarray:
        """The rounds at which the regret is recorded, increasing, int64."""
        return checkpoints(self.horizon, self.grid)


def checkpoints(horizon: int, grid: Grid) -> np.ndarray:
    """The rounds of a grid up to the horizon, increasing, int64.

    The rounds of LOG are the same for every horizon, up to the last, so that runs of an anytime
    policy over different horizons can be compared at their common rounds.
    """
    if grid is Grid.END:
        return np.array([horizon], np.int64)
    decades = math.ceil(24 * math.log10(horizon)) + 1
    logarithmic = [round(10 ** (k / 24)) for k in range(decades)]
    rounds = {n for n in logarithmic if n <= horizon} | {horizon}
    if grid is Grid.LINEAR:
        steps = {horizon * k // 200 for k in range(1, 201)} - {0}
        rounds = {n for n in rounds if n <= min(steps)} | steps
    return np.array(sorted(rounds), np.int64)
