"""The benchmarks measure every algorithm, and a bare loop plays the algorithm beside it."""

import figure
import kernels
import pytest
import threads
from bare_loops import BARE_LOOPS

from dpbandits.core import registry


@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize("name", BARE_LOOPS)
def test_a_bare_loop_has_the_regret_of_the_algorithm_beside_it(name: str, arms: int) -> None:
    # The benchmark itself compares the regrets.
    measured = {m.quantity: m.value for m in kernels.per_round(name, arms, 20_000, repeats=1)}
    assert measured.keys() >= {"engine", "bare loop", "ratio"}
    assert all(value > 0.0 for value in measured.values())


def test_every_algorithm_is_measured_on_one_thread_and_on_two() -> None:
    names = {*registry.algorithm_names()}
    assert {*BARE_LOOPS, *kernels.SCHEMES, *kernels.ALONE} <= names
    assert not kernels.unmeasured()
    measured = list(threads.measure(horizon=500, tasks=2, repeats=1))
    assert {m.name.partition(",")[0] for m in measured} == names
    assert all(m.value > 0.0 for m in measured)


def test_the_parts_of_a_figure_are_shares_of_its_whole_command() -> None:
    one_curve = ["~figure.curves", "+figure.curves.u.algorithm=ucb", "figure.horizon=1000"]
    measured = list(figure.measure_each(["adap-alpha"], ["profile=smoke", *one_curve]))
    alone, total = ({m.quantity: m.value for m in measured[n : n + 6]} for n in (0, 6))
    assert alone == pytest.approx(total)
    assert 60.0 < sum(alone[part] for part in figure.SHARES) <= 100.0
