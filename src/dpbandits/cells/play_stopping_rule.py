"""Simulation of a stopping cell: samples used and estimates of its runs."""

import time
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import StoppingCell
from dpbandits.core import randomness, registry
from dpbandits.core.many_runs import halt_many
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.sample_stream import SampleStream
from dpbandits.core.stream_states import memory, pcg64_states


class _Streams:
    """Streams of a cell's runs: that of the samples and that of the rule's own draws."""

    def __init__(self, cell: StoppingCell) -> None:
        of_samples = {"stream": randomness.plain_fields(cell.stream)}
        of_rule = of_samples | {"rule": cell.rule, "params": randomness.plain_fields(cell.params)}
        self.seed = cell.seed
        self.names = (Role.REWARDS, spelt(of_samples)), (Role.POLICY, spelt(of_rule))

    def generators(self, run: int) -> list[np.random.Generator]:
        return [stream(self.seed, role, run, name) for role, name in self.names]

    def states(self, runs: range) -> np.ndarray:
        # Returns uint64 of shape (runs, 2, 4).
        states = [pcg64_states(self.seed, role, runs, name) for role, name in self.names]
        return np.stack(states, axis=1)


def simulate(cell: StoppingCell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return samples used and estimate of the mean per run, and the seconds that each run took.

    The values are float64 of shape (runs, 2), the seconds float64 of shape (runs,). The seed, the
    run and the law name the stream of the samples; the name of the rule's stream adds the rule and
    its parameters. A row depends on nothing else.
    """
    start = time.perf_counter()
    streams = _Streams(cell)
    halt = registry.stopping_rule(cell.rule).halt
    drawn, own = streams.generators(runs[0])
    samples = _samples(cell, drawn)
    drawn_memory, own_memory = memory(drawn), memory(own)
    if drawn_memory is None or own_memory is None:
        values = np.array([_run(cell, halt, *streams.generators(run)) for run in runs])
    else:
        memories = drawn_memory, own_memory
        values = halt_many(halt, cell.params, samples, own, memories, streams.states(runs))
    return values, np.full(len(runs), (time.perf_counter() - start) / len(runs))


def _run(cell: StoppingCell, halt: Any, drawn: Any, own: Any) -> tuple[int, float]:
    used, estimate = halt(cell.params, _samples(cell, drawn), own)
    return used, estimate


def _samples(cell: StoppingCell, rng: np.random.Generator) -> SampleStream:
    mean, radius = cell.stream.mean, cell.stream.radius
    return SampleStream(radius, (1.0 + mean / radius) / 2.0, rng)
