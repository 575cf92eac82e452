"""Rounds at which curves over time have their points."""

import math
from enum import Enum

import numpy as np


class Grid(Enum):
    """Rounds at which the regret is recorded. Every grid ends at the horizon."""

    LOG = "log"  # 24 rounds per decade from round 1, the same for all horizons; logarithmic axis
    LINEAR = "linear"  # 200 equal steps, the first one refined as in LOG; linear axis
    END = "end"  # only the horizon; for figures whose x is a parameter


def checkpoints(horizon: int, grid: Grid | tuple[int, ...]) -> np.ndarray:
    """Return the rounds of a grid up to the horizon: increasing, int64, shape (checkpoints,).

    The rounds of LOG are the same for all horizons, except for the last one, so that runs of an
    anytime policy over different horizons can be compared at their common rounds. A tuple has the
    rounds themselves, with the horizon or not.
    """
    if isinstance(grid, tuple):
        return np.array(sorted({n for n in grid if n <= horizon} | {horizon}), np.int64)
    if grid is Grid.END:
        return np.array([horizon], np.int64)
    decades = math.ceil(24 * math.log10(horizon)) + 1
    logarithmic = [round(10 ** (k / 24)) for k in range(decades)]
    rounds = {n for n in logarithmic if n <= horizon} | {horizon}
    if grid is Grid.LINEAR:
        steps = {horizon * k // 200 for k in range(1, 201)} - {0}
        rounds = {n for n in rounds if n <= min(steps)} | steps
    return np.array(sorted(rounds), np.int64)
