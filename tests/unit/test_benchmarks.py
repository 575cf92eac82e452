"""The benchmarks measure what they say: the same algorithm twice."""

import kernels
import pytest
from bare_loops import BARE_LOOPS

from dpbandits import registry


@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize("name", BARE_LOOPS)
def test_a_bare_loop_has_the_regret_of_the_algorithm_beside_it(name: str, arms: int) -> None:
    measured = {m.quantity: m.value for m in kernels.per_round(name, arms, 20_000, repeats=1)}
    assert measured.keys() == {"engine", "bare loop", "ratio"}
    assert all(value > 0.0 for value in measured.values())


def test_what_is_measured_exists() -> None:
    assert set(BARE_LOOPS) | set(kernels.BATCHED) <= set(registry.algorithm_names())
