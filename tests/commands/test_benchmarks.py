"""The benchmarks measure what they claim: the same algorithm twice."""

import figure
import kernels
import pytest
import threads
from bare_loops import BARE_LOOPS
from loops_in_c import library, loop_in_c

from dpbandits.core import registry


@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize("name", BARE_LOOPS)
def test_a_bare_loop_has_the_regret_of_the_algorithm_beside_it(name: str, arms: int) -> None:
    measured = {m.quantity: m.value for m in kernels.per_round(name, arms, 20_000, repeats=1)}
    in_c = {"C loop"} if loop_in_c(name) else set()
    assert measured.keys() == {"engine", "bare loop", "ratio"} | in_c
    assert all(value > 0.0 for value in measured.values())


def test_without_a_compiler_there_is_no_loop_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loop_in_c("klucb") is None
    monkeypatch.setenv("CC", "no-such-compiler")
    library.cache_clear()
    assert loop_in_c("ucb") is None
    library.cache_clear()


@pytest.mark.parametrize("name", kernels.IN_LANES)
def test_single_rounds_stand_beside_runs_in_step(name: str) -> None:
    measured = {m.quantity: m.value for m in kernels.in_lanes(name, 2000, repeats=1)}
    expected = measured["single rounds"] / measured["sixteen in step"]
    assert measured["ratio"] == pytest.approx(expected)


def test_a_run_among_many_stands_beside_one_alone() -> None:
    measured = {m.quantity: m.value for m in kernels.many_runs("dp-se", 50, repeats=1)}
    assert measured.keys() == {"alone", "among 50"}
    assert all(value > 0.0 for value in measured.values())


@pytest.mark.parametrize("name", kernels.TWO_METHODS)
def test_two_methods_stand_above_their_ratio(name: str) -> None:
    measured = {m.quantity: m.value for m in kernels.two_methods(name, 9, 20_000, repeats=1)}
    assert measured["ratio"] == pytest.approx(measured["plain"] / measured["exact"])


@pytest.mark.parametrize("name", kernels.SCHEMES)
def test_single_rounds_stand_beside_the_scheme(name: str) -> None:
    measured = {m.quantity: m.value for m in kernels.against_single_rounds(name, 3, 20_000, 1)}
    assert measured["ratio"] == pytest.approx(measured["single rounds"] / measured["scheme"])


def test_the_bare_loop_on_a_table_has_the_regret_of_exp3() -> None:
    measured = {m.quantity: m.value for m in kernels.on_table(20_000, repeats=1)}
    assert measured.keys() == {"engine", "bare loop", "ratio"}


@pytest.mark.parametrize("name", kernels.ALONE)
def test_an_algorithm_without_a_partner_is_measured(name: str) -> None:
    (measured,) = kernels.alone(name, 3, 2000, repeats=1)
    assert measured.quantity == "a round"
    assert measured.value > 0.0


def test_measured_names_exist() -> None:
    measured = {*BARE_LOOPS, *kernels.BATCHED, *kernels.SCHEMES, *kernels.TWO_METHODS}
    measured |= {*kernels.ALONE}
    assert measured <= set(registry.algorithm_names())
    assert not kernels.unmeasured()


def test_every_algorithm_is_timed_on_one_thread_and_on_two() -> None:
    measured = list(threads.measure(horizon=500, tasks=2, repeats=1))
    assert {m.name.partition(",")[0] for m in measured} == set(registry.algorithm_names())
    assert {m.quantity for m in measured} == {"a run", "speed-up"}
    assert all(m.value > 0.0 for m in measured)


def test_the_parts_of_a_figure_are_shares_of_its_whole_command() -> None:
    one_curve = ["~figure.curves", "+figure.curves.u.algorithm=ucb", "figure.horizon=1000"]
    measured = list(figure.measure_each(["adap-alpha"], ["profile=smoke", *one_curve]))
    alone, total = ({m.quantity: m.value for m in measured[n : n + 6]} for n in (0, 6))
    assert alone == pytest.approx(total)
    assert 60.0 < sum(alone[part] for part in figure.SHARES) <= 100.0
    assert alone["again"] < alone["cold"]
