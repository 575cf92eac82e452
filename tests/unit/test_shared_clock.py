"""Noise of counters that share a clock: that of the counter itself, draw by draw."""

from typing import Any

import numpy as np
import pytest

from dpbandits.mechanisms import shared_clock as module
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.single import single_counters


class Recorded:
    """Stand-in for a generator whose Laplace draws are given."""

    def __init__(self) -> None:
        self.draw = 0.0

    def laplace(self, location: float, scale: float) -> float:
        return location + scale * self.draw


@pytest.mark.parametrize("tree", [0.3, 0.0])
@pytest.mark.parametrize("counters", [1, 3, 40, 700])
def test_the_noise_is_that_of_counters_with_the_same_draws(counters: int, tree: float) -> None:
    rng = np.random.Generator(np.random.PCG64(counters))
    rounds = 140 if counters < 700 else 12
    shared: Any = module.shared_clock(counters, rounds, 0.7, tree, rng)
    alone: Any = single_counters(counters, 0.7)
    if tree:
        alone = hybrid_counters(counters, rounds, 0.7, tree)
    recorded = Recorded()
    first = 0
    for _ in range(rounds):
        module.advance(shared)
        # The numbers of this round end where those of the next begin.
        first = shared.draws.used[0] - counters
        for which in range(counters):
            recorded.draw = shared.draws.drawn[first + which]
            released = insert(alone, recorded, which, 0.0)
            assert shared.noise[which] == pytest.approx(released, rel=1e-12, abs=1e-12)


def test_no_number_is_used_twice() -> None:
    shared: Any = module.shared_clock(100, 64, 1.0, 1.0, np.random.Generator(np.random.PCG64(1)))
    seen: list[float] = []
    for _ in range(64):
        module.advance(shared)
        seen += shared.draws.drawn[shared.draws.used[0] - 100 : shared.draws.used[0]].tolist()
    assert len({*seen}) == len(seen) == 6400
