"""Speed of the kernels: definitions, exact schemes and noise drawn in vectors.

On a shared machine a single time is unreliable; the ratio of two alternating measurements is
stable.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments import adversaries, bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Game, RegretExperiment
from dpbandits.fast._noise import fill_laplaces, fill_words, noise_ahead
from dpbandits.kernel import registry

ARMS = (5, 101)
HORIZON = 10**5
STOCHASTIC = adversaries.Params(adversaries.Kind.STOCHASTIC)  # of tossou2017, with four arms
ON_TABLES = ("dp-exp3-lap", "exp3", "exp3-tau", "uniform")


class Measured(NamedTuple):
    """One measured number with its group, name, quantity and unit."""

    group: str
    name: str
    quantity: str
    value: float
    unit: str


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def cell_of(name: str, instance: Any, horizon: int) -> RegretExperiment:
    """Return a cell with default Params; epsilon = 1 and delta = 0.01 where they are needed."""
    module = registry.algorithm(name)
    values = {"epsilon": 1.0, "rho": 1.0, "delta": 0.01, "horizon": horizon}
    needed = set(module.Params._fields) - set(module.Params._field_defaults)
    params = module.Params(**{field: value for field, value in values.items() if field in needed})
    law = "adversaries" if instance is STOCHASTIC else "bernoulli"
    return RegretExperiment(name, params, law, instance, horizon, Grid.LOG, 1)


def rounds(name: str, arms: int, horizon: int = HORIZON, repeats: int = 5) -> Iterator[Measured]:
    """Measure a run of the definition, round by round, and of what figures play, per round."""
    means = tuple(np.linspace(0.75, 0.25, arms).tolist())
    on_table = name in ON_TABLES
    game = Game(cell_of(name, STOCHASTIC if on_table else bernoulli.Params(means), horizon))
    actions: list[Callable[[], Any]] = [lambda: game.play(0, True), lambda: game.play(0)]
    for action in actions:
        action()  # compiles
    pairs = [[seconds(action) / horizon * 1e9 for action in actions] for _ in range(repeats)]
    label = f"{name}, K = {STOCHASTIC.arms if on_table else arms}"
    for quantity, column in zip(
        ("per round", "as in a figure"), zip(*pairs, strict=True), strict=True
    ):
        yield Measured(f"a round, T = {horizon}", label, quantity, statistics.median(column), "ns")
    ratio = statistics.median(first / second for first, second in pairs)
    yield Measured(f"a round, T = {horizon}", label, "ratio", ratio, "")


def vectors(repeats: int = 1000) -> Iterator[Measured]:
    """Measure a number of either loop of the noise, and count its vector divisions."""
    noise: Any = noise_ahead(np.random.default_rng(1), 1, 0.0)
    fill_words(noise.state, noise.words)
    fill_laplaces(noise.words, noise.drawn, 0.0)
    for name, action in (
        ("words", lambda: fill_words(noise.state, noise.words)),
        ("Lap(1) of words", lambda: fill_laplaces(noise.words, noise.drawn, 0.0)),
    ):
        taken = min(seconds(action) for _ in range(repeats)) / noise.drawn.size * 1e9
        yield Measured("noise drawn ahead", name, "a number", taken, "ns")
    code: Any = fill_laplaces
    assembly = "".join(code.inspect_asm().values()) if hasattr(code, "inspect_asm") else ""
    count = float(assembly.count("divpd"))
    yield Measured("noise drawn ahead", "Lap(1) of words", "vector divisions", count, "")


def measure() -> Iterator[Measured]:
    """Measure all kernels."""
    for name in registry.algorithm_names():
        for arms in ARMS[:1] if name in ON_TABLES else ARMS:
            yield from rounds(name, arms)
    yield from vectors()
