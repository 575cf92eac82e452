"""The loop over runs of many cells: planning, playing, storing, reporting."""

import dataclasses
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import below

from dpbandits.algorithms import ucb
from dpbandits.checks import against_reference
from dpbandits.config import compose
from dpbandits.config.settings import Cluster
from dpbandits.experiments import kinds
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus, progress, runner
from dpbandits.run.progress import Progress, duration, reported
from dpbandits.run.runner import compute
from dpbandits.run.tasks import Task, attempt, plan
from dpbandits.store.blocks import Store

Simulated = tuple[np.ndarray, np.ndarray]


@pytest.fixture
def cells(cell: RegretExperiment) -> list[RegretExperiment]:
    """Three cells that differ in their seeds."""
    return [dataclasses.replace(cell, seed=seed) for seed in (1, 2, 3)]


def made_up(cell: RegretExperiment, runs: range) -> Simulated:
    curves = np.array(runs)[:, None] + cell.seed * 1000.0 + cell.checkpoints() / 1e6
    return curves, np.full(len(runs), 0.5)


@pytest.fixture
def simulate_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RegretExperiment, "play", made_up)


def fill(store: Store, cell: RegretExperiment, runs: range) -> None:
    curves, seconds = made_up(cell, runs)
    store.write(cell, runs.start, curves, seconds.sum())


def test_after_an_interrupt_a_worker_begins_no_further_run(cell: RegretExperiment) -> None:
    stop, begun = threading.Event(), list[int]()

    def play(cell: Any, runs: Any) -> Simulated:
        for run in runs:
            begun.append(run)
            stop.set()
        return made_up(cell, runs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegretExperiment, "play", play)
        assert attempt(Task(cell, range(3, 8)), stop).error == "InterruptedError"
    assert begun == [3]


# The plan --------------------------------------------------------------------------------------


def test_a_task_has_as_many_runs_as_a_block(store: Store, cell: RegretExperiment) -> None:
    runs = [task.runs for task in plan(dict.fromkeys([cell], 12), store, 5)]
    assert runs == [range(5), range(5, 10), range(10, 12)]


def test_only_missing_runs_are_planned(store: Store, cell: RegretExperiment) -> None:
    fill(store, cell, range(3, 7))
    fill(store, cell, range(20, 22))
    runs = [task.runs for task in plan(dict.fromkeys([cell], 10), store, 2)]
    assert runs == [range(2), range(2, 3), range(7, 9), range(9, 10)]


def test_the_first_task_of_every_cell_comes_before_the_second_of_any(
    store: Store, cells: list[RegretExperiment]
) -> None:
    fill(store, cells[1], range(5))
    tasks = [(t.experiment.seed, t.runs.start) for t in plan(dict.fromkeys(cells, 15), store, 5)]
    assert tasks == [(1, 0), (2, 5), (3, 0), (1, 5), (2, 10), (3, 5), (1, 10), (3, 10)]


@pytest.mark.parametrize("runs", [15, 16, 17, 1000, 12_345])
@pytest.mark.parametrize("block", [1, 5])
def test_a_cell_has_at_most_16_tasks(
    store: Store, cells: list[RegretExperiment], runs: int, block: int
) -> None:
    tasks = plan(dict.fromkeys(cells, runs), store, block)
    for cell in cells:
        own = [task.runs for task in tasks if task.experiment == cell]
        assert [run for piece in own for run in piece] == list(range(runs))
        assert len(own) <= 16
        assert all(len(piece) >= block for piece in own[:-1])


# Playing ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("simulate_quickly")
@pytest.mark.parametrize("workers", [1, 2, None])
def test_played_runs_are_stored(
    store: Store, cells: list[RegretExperiment], workers: int | None
) -> None:
    assert compute(plan(dict.fromkeys(cells, 7), store, 2), store, workers, "test") == []
    for cell in cells:
        assert np.array_equal(store.load(cell, 7), made_up(cell, range(7))[0])
        assert store.seconds(cell) == pytest.approx(3.5)
    assert plan(dict.fromkeys(cells, 7), store, 2) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failed_task_stops_no_other_and_is_reported_with_its_cell_and_traceback(
    store: Store, cells: list[RegretExperiment], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fragile(cell: RegretExperiment, runs: range) -> Simulated:
        if cell.seed == 2 and 3 in runs:
            raise ZeroDivisionError("the gap is 0")
        return made_up(cell, runs)

    monkeypatch.setattr(RegretExperiment, "play", fragile)
    (failure,) = compute(plan(dict.fromkeys(cells, 6), store, 2), store, workers, "test")
    assert failure.task == Task(cells[1], range(2, 4))
    assert kinds.words(failure.task.experiment).name.startswith("adap-ucb(epsilon=1.0")
    assert failure.error == "ZeroDivisionError: the gap is 0"
    assert failure.trace is not None
    assert "in fragile" in failure.trace
    assert failure.trace.strip().endswith("ZeroDivisionError: the gap is 0")
    assert failure.curves is None
    assert [store.missing(cell, 6) for cell in cells] == [[], [range(2, 4)], []]
    # After the fix, the same command computes only what failed.
    monkeypatch.setattr(RegretExperiment, "play", made_up)
    tasks = plan(dict.fromkeys(cells, 6), store, 2)
    assert tasks == [Task(cells[1], range(2, 4))]
    assert compute(tasks, store, workers, "test") == []
    assert plan(dict.fromkeys(cells, 6), store, 2) == []


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Release workers that a test has left behind."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_reaches_the_caller_while_a_worker_is_busy(
    store: Store,
    cells: list[RegretExperiment],
    workers: int,
    release: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, kept = Store.write, threading.Event()

    def simulate(cell: RegretExperiment, runs: range) -> Simulated:
        if runs[0] > 0:
            kept.wait()  # until the first block is on the disk
            while not release.is_set():  # again: Python misses one just before a thread waits
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                release.wait(0.05)
        return made_up(cell, runs)

    def write(
        self: Store, cell: RegretExperiment, first: int, curves: np.ndarray, seconds: float
    ) -> None:
        real(self, cell, first, curves, seconds)
        kept.set()

    def interrupt_once(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    monkeypatch.setattr(RegretExperiment, "play", simulate)
    monkeypatch.setattr(Store, "write", write)
    tasks = plan(dict.fromkeys(cells[:1], 6), store, 2)
    before = threading.active_count()
    signal.signal(signal.SIGINT, interrupt_once)
    with pytest.raises(KeyboardInterrupt):
        compute(tasks, store, workers, "test")
    release.set()
    while threading.active_count() > before:  # no worker sends a signal after this test
        time.sleep(0.01)
    assert store.covered(cells[0]) == {0, 1}


def test_without_dask_the_message_has_the_command_that_installs_it(
    store: Store, cells: list[RegretExperiment], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "dpbandits.run.dask_cluster", raising=False)
    monkeypatch.delattr("dpbandits.run.dask_cluster", raising=False)
    tasks = plan(dict.fromkeys(cells, 2), store, 2)
    with pytest.raises(UserError, match=r"not installed .*pip install '\.\[dask\]'"):
        compute(tasks, store, None, "test", Cluster())


# Progress --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9.94, "9.9 s"), (9.96, "10 s"), (59.6, "1 min 00 s"), (3599.6, "1 h 00 min")],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_forecast_is_by_rounds_until_an_experiment_is_timed_and_says_what_it_leaves_out(
    cell: RegretExperiment,
) -> None:
    longer = dataclasses.replace(cell, horizon=1000)  # five times as many rounds
    other = dataclasses.replace(cell, member="ucb", params=ucb.Params())
    counted = Progress("my-figure", {cell: 10, longer: 4, other: 2}, 2)
    lines = [counted.line(10.0)]
    for experiment, runs, pace in (
        (cell, 1, 90.0),  # it may include the compilation
        (other, 1, None),  # failed: it does not count as one that took no time
        (cell, 4, 1.0),  # 5 x 1 s and 4 x 5 s are left, on two workers
        (longer, 1, 101.0),
        (other, 1, 3.0),
    ):
        counted.add(experiment, runs, pace)
        lines.append(counted.line(20.0))
    assert lines == [
        "my-figure: 0/16 runs after 10 s, 6.4e+03 rounds to play",
        "my-figure: 1/16 runs after 20 s, 6.2e+03 rounds to play",
        "my-figure: 2/16 runs after 20 s, 6e+03 rounds to play",
        "my-figure: 6/16 runs after 20 s, about 12 s left without ucb (not timed yet)",
        "my-figure: 7/16 runs after 20 s, about 2 min 34 s left without ucb (not timed yet)",
        "my-figure: 8/16 runs after 20 s, about 2 min 34 s left",
    ]
    quick = Progress("my-figure", {cell: 3, other: 2}, 1)
    quick.add(cell, 2, 1e-6)  # what is left of it takes no time that a reader could see
    assert quick.line(20.0).endswith(" rounds to play")


def test_a_line_is_printed_now_and_then_whether_or_not_anything_has_ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY", 0.0)
    called = threading.Semaphore(0)

    def line(seconds: float) -> str:
        called.release()
        return "still playing"

    with reported(line):
        assert called.acquire(timeout=60)
        assert called.acquire(timeout=60)  # the first line has been printed
    assert capsys.readouterr().err.startswith("still playing\n")
    with reported(line, shown=False):
        pass
    assert capsys.readouterr().err == ""


# The one door -----------------------------------------------------------------------------------


def a_figure(*typed: str) -> int:
    return produce.produce(
        *compose.load("adap-headline", ["figure.horizon=2000", "runs=2", *typed])
    )


def a_check(*typed: str) -> int:
    return against_reference.check(["adap-episodes"], [*typed, "runs=3"])


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("command", [a_figure, a_check])
def test_the_figure_and_the_check_ask_for_an_engine_and_report_failed_runs_alike(
    command: Callable[..., int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[Cluster | None] = []

    def play_here(tasks: Any, store: Any, workers: Any, title: str, cluster: Any, *_: Any) -> Any:
        asked.append(cluster)
        return compute(tasks, store, 1, title)

    def fail(cell: RegretExperiment, runs: range) -> Simulated:
        raise ZeroDivisionError("the gap is 0")

    monkeypatch.setattr(runner, "compute", play_here)
    monkeypatch.setattr(RegretExperiment, "play", fail)
    engine = ("engine=dask", "engine.scheduler=tcp://somewhere:8786")
    assert command(*engine, *below(tmp_path)) == ExitStatus.FAILED
    assert set(asked) == {Cluster("tcp://somewhere:8786")}
    err = capsys.readouterr().err
    assert "runs failed, the others are kept; first failure: " in err
    assert "ZeroDivisionError: the gap is 0" in err
    (report,) = tmp_path.rglob("failures.json")
    assert "Traceback" in json.loads(report.read_text())[0]["traceback"]


def test_an_error_of_a_source_of_the_project_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(produce, "error_place", lambda error: "mine.py, line 1: no")
    assert produce.status_of("a-figure", lambda: 1 // 0) == ExitStatus.MISTAKE
    assert capsys.readouterr().err == "dpbandits: a-figure: mine.py, line 1: no\n"
