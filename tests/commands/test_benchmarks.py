"""The benchmarks measure what they claim."""

import figure
import kernels
import pytest
import threads

from dpbandits.core import registry


@pytest.mark.parametrize("name", ["ucb", "dp-ftpl-new", "exp3"])
def test_a_definition_stands_beside_what_figures_play(name: str) -> None:
    measured = {m.quantity: m.value for m in kernels.rounds(name, 3, 2000, repeats=1)}
    ratio = measured["per round"] / measured["as in a figure"]
    assert measured["ratio"] == pytest.approx(ratio)


def test_noise_is_drawn_in_vectors() -> None:
    measured = {(m.name, m.quantity): m.value for m in kernels.vectors(repeats=2)}
    assert measured["Lap(1) of words", "vector divisions"] > 0.0
    assert measured["words", "a number"] > 0.0


def test_every_algorithm_is_timed_on_one_thread_and_on_two() -> None:
    measured = list(threads.measure(horizon=500, tasks=2, repeats=1))
    assert {m.name.partition(",")[0] for m in measured} == {*registry.algorithm_names()}
    assert all(m.value > 0.0 for m in measured)


def test_the_parts_of_a_figure_are_shares_of_its_whole_command() -> None:
    one_curve = ["~figure.curves", "+figure.curves.u.algorithm=ucb", "figure.horizon=1000"]
    measured = list(figure.measure_each(["adap-alpha"], ["profile=smoke", *one_curve]))
    alone, total = ({m.quantity: m.value for m in measured[n : n + 6]} for n in (0, 6))
    assert alone == pytest.approx(total)
    assert 60.0 < sum(alone[part] for part in figure.SHARES) <= 100.0
