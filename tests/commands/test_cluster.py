"""Dask clusters: the same bits, and workers that differ, die or come late. Needs Dask."""

import dataclasses
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import slow_worker
from commands import DPBANDITS, PATIENCE, ROOT, Process, below, blocks
from dask_processes import DaskProcesses

from dpbandits.algorithms import adap_ucb, exp3, ucb
from dpbandits.config.settings import Cluster
from dpbandits.environments import adversaries, bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.run import ExitStatus, runner
from dpbandits.run.tasks import Task, plan
from dpbandits.stopping import dp_nas
from dpbandits.store.blocks import Store

pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.lock)")
pytestmark = pytest.mark.usefixtures("in_checkout")

FIGURE = "exp3-deterministic"
TYPED = ("profile=smoke", "runs=30", "engine.block=2")
RUNS, FIRST = 4 * 30, 4 * 2  # of four algorithms: all runs, and those before the gate
Curves = dict[tuple[str, int], bytes]  # by cell and run
GOES_ON = "completed blocks are kept, and the same command continues from there"


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    (tmp_path / "dask").mkdir()
    processes = DaskProcesses(tmp_path / "dask")
    yield processes
    processes.close()


@pytest.fixture
def gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let workers play the first task of every cell, and the others when this file exists."""
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", str([slow_worker.__file__]))
    monkeypatch.setenv("GATE", str(tmp_path / "gate"))
    return tmp_path / "gate"


def start(folder: Path, *more: str, **environment: str) -> Process:
    return Process(*DPBANDITS, "run", FIGURE, *TYPED, *below(folder), *more, **environment)


def started(folder: Path, *more: str, **environment: str) -> Process:
    """Start a command; return it when it has stored the blocks before the gate."""
    process = start(folder, *more, **environment)
    process.wait_for(lambda: len(curves(folder)) == FIRST)
    return process


def curves(folder: Path) -> Curves:
    """Return the curve of every run that is kept."""
    kept = Curves()
    for path in blocks(folder):
        first = int(path.stem.partition("-")[0])
        with np.load(path) as members:
            for run, curve in enumerate(members["curves"], first):
                kept[str(path.parent.relative_to(folder)), run] = curve.tobytes()
    return kept


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Curves:
    """Curves of the threads of one process."""
    folder = tmp_path_factory.mktemp("calm")
    assert start(folder).done().counts == (RUNS, 0, "drawn")
    return curves(folder)


# Bits -------------------------------------------------------------------------------------------

TWO = bernoulli.Params((0.9, 0.5))
ADVERSARY = adversaries.Params(adversaries.Kind.STOCHASTIC)
CELLS: dict[Experiment, int] = {
    RegretExperiment(
        "ucb", ucb.Params(), "bernoulli", TWO, 2000, Grid.LOG, 1
    ): 6,  # decides every round
    RegretExperiment(
        "adap-ucb", adap_ucb.Params(1.0), "bernoulli", TWO, 2000, Grid.LINEAR, 1
    ): 6,  # batches
    RegretExperiment(
        "exp3", exp3.Params(500), "adversaries", ADVERSARY, 500, Grid.LOG, 1
    ): 6,  # a table
    StoppingExperiment(
        "dp-nas", dp_nas.Params(epsilon=1.0, alpha=0.5, beta=0.05), Stream(0.5), 1
    ): 6,
}


def test_workers_give_the_bits_of_threads_and_a_failure_stops_no_other(
    tmp_path: Path, dask: DaskProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, cluster = Store(tmp_path / "threads"), Store(tmp_path / "dask")
    assert runner.compute(plan(CELLS, threads, 2), threads, 2, "threads") == []

    def play_here(cell: RegretExperiment, runs: range) -> None:
        raise AssertionError("the process that asks plays itself")

    monkeypatch.setattr(RegretExperiment, "play", play_here)
    for _ in range(2):
        dask.worker()
    (first, *_) = CELLS
    assert isinstance(first, RegretExperiment)
    wrong = Task(dataclasses.replace(first, member="exp3"), range(2))  # with the Params of UCB
    tasks = [wrong, *plan(CELLS, cluster, 3)]
    (failure,) = runner.compute(tasks, cluster, None, "dask", Cluster(dask.address))
    for cell, runs in CELLS.items():
        assert cluster.load(cell, runs).tobytes() == threads.load(cell, runs).tobytes()
    assert failure.task == wrong
    assert failure.error is not None
    assert "in play" in (failure.trace or "")


# One machine ------------------------------------------------------------------------------------


def test_processes_of_this_machine_give_the_bits_of_threads(tmp_path: Path, calm: Curves) -> None:
    done = start(tmp_path, "engine=dask", "engine.workers=2").done()
    assert done.counts == (RUNS, 0, "drawn")
    assert curves(tmp_path) == calm


def children(process: subprocess.Popen[str]) -> list[int]:
    """Return the processes that a process has started, and their own children."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    mine = {process.pid}
    while more := {number for number, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sorted(mine - {process.pid})


@pytest.mark.usefixtures("interruptible", "gate")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are in no /proc")
def test_an_interrupt_keeps_completed_blocks_prints_one_line_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    process = started(tmp_path, "engine=dask", "engine.workers=2")
    family = children(process.popen)
    assert len(family) >= 2
    # As a terminal does: it signals all processes in the foreground.
    for number in (*family, process.popen.pid):
        os.kill(number, signal.SIGINT)
    done = process.done()
    assert (done.status, done.out) == (130, "")
    lines = [line for line in done.err.splitlines() if not line.startswith(f"{FIGURE}: ")]
    assert lines == ["", f"dpbandits: interrupted; {GOES_ON}"]
    assert len(curves(tmp_path)) == FIRST
    deadline = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{number}/cmdline").exists() for number in family):
        assert time.monotonic() < deadline
        time.sleep(0.1)


# Before work starts -----------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    done = start(tmp_path, "engine=dask", "engine.scheduler=tcp://127.0.0.1:1").done()
    done.assert_told(2, "no Dask scheduler answers at engine.scheduler=tcp://127.0.0.1:1 (")


def test_a_scheduler_without_workers_is_one_line(tmp_path: Path, dask: DaskProcesses) -> None:
    done = start(tmp_path, *dask.engine).done()
    line = f"the scheduler at {dask.address} has no worker; `dask worker {dask.address}` starts one"
    done.assert_told(2, line)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a PYTHONPATH with a copy of the sources, which a test may edit."""
    copy = tmp_path / "sources"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def append(sources: Path, file: str, line: str) -> None:
    with (sources / "dpbandits" / file).open("a") as opened:
        opened.write(f"{line}\n")


def test_a_worker_with_other_sources_or_without_the_package_plays_nothing(
    tmp_path: Path, dask: DaskProcesses, sources: Path
) -> None:
    append(sources, "algorithms/exp3.py", "# changed")
    worker = dask.worker(PYTHONPATH=str(sources))
    done = start(tmp_path, *dask.engine).done()
    failed = f"{RUNS} of {RUNS} runs failed"
    told = "the worker tcp://", "has other sources or versions than the command"
    done.assert_told(ExitStatus.FAILED, failed, *told)
    worker.kill()
    worker.wait()
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "dpbandits.py").write_text("raise ImportError('not here')")
    dask.worker(PYTHONPATH=str(tmp_path / "absent"))
    done = start(tmp_path, *dask.engine).done()
    done.assert_told(2, "the worker tcp://", "cannot import dpbandits: ", "not here")
    assert blocks(tmp_path) == []


def test_a_worker_may_differ_only_in_sources_that_its_cells_do_not_reach(
    tmp_path: Path, dask: DaskProcesses, sources: Path
) -> None:
    append(sources, "site/pages.py", "X = 1")
    worker = dask.worker(PYTHONPATH=str(sources))
    assert start(tmp_path / "alike", *dask.engine).done().counts == (RUNS, 0, "drawn")
    worker.kill()
    worker.wait()
    append(sources, "experiments/regret.py", "X = 1")
    dask.worker(PYTHONPATH=str(sources))
    done = start(tmp_path / "other", *dask.engine).done()
    failed = f"{RUNS} of {RUNS} runs failed"
    done.assert_told(ExitStatus.FAILED, failed, "has other sources or versions")


# Mid-run ----------------------------------------------------------------------------------------


def test_runs_of_a_source_that_is_edited_while_workers_play_are_not_stored(
    tmp_path: Path, dask: DaskProcesses, sources: Path, gate: Path, calm: Curves
) -> None:
    for _ in range(2):
        dask.worker(PYTHONPATH=str(sources))
    process = started(tmp_path, *dask.engine, PYTHONPATH=str(sources))
    # The algorithm sees half of every reward.
    file = sources / "dpbandits" / "algorithms" / "dp_exp3_lap.py"
    text = file.read_text()
    assert text.count("pull(bandit, ") == 1
    file.write_text(text.replace("pull(bandit, ", "0.5 * pull(bandit, "))
    gate.touch()
    edited = "algorithms/dp_exp3_lap.py: edited since this command started"
    line = "28 of 120 runs failed, the others are kept; first failure: dp-exp3-lap"
    process.done().assert_told(ExitStatus.FAILED, line, edited)
    assert curves(tmp_path).items() <= calm.items()


@pytest.mark.slow
@pytest.mark.parametrize("late", [False, True])
def test_a_worker_that_is_killed_loses_nothing_and_another_may_join_later(
    late: bool, tmp_path: Path, dask: DaskProcesses, gate: Path, calm: Curves
) -> None:
    workers = [dask.worker() for _ in range(2)]
    process = started(tmp_path, *dask.engine)
    if late:
        dask.worker()
    for worker in workers if late else workers[1:]:
        worker.kill()
    gate.touch()
    assert process.done().counts == (RUNS, 0, "drawn")
    assert curves(tmp_path) == calm


@pytest.mark.slow
def test_a_block_that_kills_its_workers_fails_alone(tmp_path: Path, dask: DaskProcesses) -> None:
    # A copy of the project: commands and workers must have the same sources.
    copy = tmp_path / "project"
    for folder in ("src", "conf", "figures"):
        ignored = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    file = copy / "src" / "dpbandits" / "experiments" / "regret.py"
    planted = "    if self.member == 'exp3' and 4 in runs:\n            __import__('os')._exit(9)\n"
    line = "        game = Game(self)\n"
    assert file.read_text().count(line) == 1
    file.write_text(file.read_text().replace(line, f"    {planted}{line}"))
    environment = {"PYTHONPATH": str(copy / "src"), "DPBANDITS_CACHE": str(tmp_path / "kernels")}
    for _ in range(5):
        dask.worker(**environment)
    done = start(tmp_path, *dask.engine, **environment).done(2 * PATIENCE)
    kept = {run for cell, run in curves(tmp_path) if "/exp3/" in cell}
    assert kept == {*range(30)} - {4, 5}
    assert len(curves(tmp_path)) == RUNS - 2
    message = "runs 4-5: 4 workers died while playing it"
    done.assert_told(ExitStatus.FAILED, f"2 of {RUNS} runs failed", message)


@pytest.mark.slow
@pytest.mark.usefixtures("gate")
def test_the_loss_of_all_workers_is_reported_and_the_same_command_resumes(
    tmp_path: Path, dask: DaskProcesses, calm: Curves
) -> None:
    workers = [dask.worker() for _ in range(2)]
    process = started(tmp_path, *dask.engine)
    for worker in workers:
        worker.kill()
    message = f"the scheduler at {dask.address} has had no worker for 30 seconds; {GOES_ON}"
    process.done().assert_told(2, message)
    assert start(tmp_path).done().counts == (RUNS - FIRST, FIRST, "drawn")
    assert curves(tmp_path) == calm


@pytest.mark.slow
@pytest.mark.usefixtures("gate")
def test_the_loss_of_the_scheduler_is_reported(tmp_path: Path, dask: DaskProcesses) -> None:
    for _ in range(2):
        dask.worker()
    process = started(tmp_path, *dask.engine)
    dask.scheduler.kill()
    message = f"the connection to the scheduler at {dask.address} is lost; {GOES_ON}"
    process.done().assert_told(2, message)
    assert len(curves(tmp_path)) == FIRST


@pytest.mark.slow
def test_a_worker_that_joins_later_with_other_sources_plays_nothing(
    tmp_path: Path, dask: DaskProcesses, sources: Path, gate: Path, calm: Curves
) -> None:
    append(sources, "algorithms/exp3.py", "# changed")
    for _ in range(2):
        dask.worker()
    process = started(tmp_path, *dask.engine)
    dask.worker(PYTHONPATH=str(sources))
    gate.touch()
    failed = f"of {RUNS} runs failed, the others are kept"
    process.done().assert_told(ExitStatus.FAILED, failed, "has other sources or")
    assert curves(tmp_path).items() <= calm.items()
