"""Cells of every algorithm of the folder, so that a new file is tested without a new line here."""

from typing import Any, NamedTuple

from dpbandits import parameters, registry
from dpbandits.cell import Cell, Grid

ALGORITHMS = registry.algorithm_names()
LAWS = registry.environment_names()


def params_of(algorithm: str, horizon: int, epsilon: float = 1.0) -> NamedTuple:
    """Params with every field that has a default left at it."""
    cls = registry.algorithm(algorithm).Params
    told = {"epsilon": epsilon, "horizon": horizon}
    values = {name: value for name, value in told.items() if name in cls._fields}
    return parameters.build(cls, values, algorithm, lambda name: "tests")


def instance_of(law: str, means: tuple[float, ...]) -> Any:
    return registry.environment(law).Params(means=means)


def cell_of(
    algorithm: str,
    law: str = "bernoulli",
    means: tuple[float, ...] = (0.6, 0.5, 0.3),
    horizon: int = 3000,
    epsilon: float = 1.0,
    grid: Grid = Grid.LOG,
    seed: int = 7,
) -> Cell:
    params = params_of(algorithm, horizon, epsilon)
    return Cell(algorithm, params, law, instance_of(law, means), horizon, grid, seed)
