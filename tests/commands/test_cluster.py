"""Dask clusters: the same bits, and workers that differ, die or come late. Needs Dask."""

import dataclasses
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import DPBANDITS, PATIENCE, ROOT, Done, Process, below, blocks
from dask_processes import DaskProcesses

from dpbandits.algorithms import adap_ucb, exp3, ucb
from dpbandits.config.settings import Cluster
from dpbandits.environments import adversaries, bernoulli
from dpbandits.experiments import Experiment
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.run import runner
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.tasks import Task, plan
from dpbandits.stopping import dp_nas
from dpbandits.store.blocks import Store

pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.lock)")
pytestmark = pytest.mark.usefixtures("in_checkout")

FIGURE = "exp3-deterministic"
TYPED = ("profile=smoke", "runs=30", "engine.block=2", "figure.horizon=2_000_000")
RUNS = 4 * 30  # of four algorithms
Curves = dict[tuple[str, int], bytes]  # by cell and run
GOES_ON = "completed blocks are kept, and the same command continues from there"


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[DaskProcesses]:
    (tmp_path / "dask").mkdir()
    processes = DaskProcesses(tmp_path / "dask")
    yield processes
    processes.close()


def start(folder: Path, *more: str) -> Process:
    return Process(*DPBANDITS, "run", FIGURE, *TYPED, *below(folder), *more)


def assert_told(done: Done, status: int, *fragments: str) -> None:
    """Assert one line on stderr that contains all fragments, beside lines of progress."""
    assert (done.status, done.out) == (status, ""), done.err
    lines = [line for line in done.err.splitlines() if not line.startswith(f"{FIGURE}: ")]
    assert len(lines) == 1, done.err
    assert lines[0].startswith("dpbandits: ")
    for fragment in fragments:
        assert fragment in lines[0]


def curves(folder: Path) -> Curves:
    """Return the curve of every run that is kept.

    How many of them a block holds depends on the speed of the machine.
    """
    kept_curves = Curves()
    for path in blocks(folder):
        first = int(path.stem.partition("-")[0])
        with np.load(path) as members:
            for run, curve in enumerate(members["curves"], first):
                kept_curves[str(path.parent.relative_to(folder)), run] = curve.tobytes()
    return kept_curves


def some_kept(folder: Path) -> Curves:
    """Return the curves that are kept; assert that several blocks are, and not all runs."""
    assert len(blocks(folder)) > 3
    kept = curves(folder)
    assert len(kept) < RUNS
    return kept


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Curves:
    """Curves computed by threads."""
    folder = tmp_path_factory.mktemp("calm")
    assert start(folder).done().counts == (RUNS, 0, "drawn")
    return curves(folder)


# One machine ------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_of_this_machine_give_the_bits_of_threads(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, cluster = Store(tmp_path / "threads"), Store(tmp_path / "dask")
    assert runner.play(plan(CELLS, threads, 2), threads, 2, "threads") == []

    def play_here(cell: RegretExperiment, runs: range) -> None:
        raise AssertionError("the process that asks plays itself")

    monkeypatch.setattr(RegretExperiment, "play", play_here)
    tasks = plan(CELLS, cluster, 3)
    assert runner.play(tasks, cluster, workers, "dask", Cluster()) == []
    for cell, runs in CELLS.items():
        assert cluster.load(cell, runs).tobytes() == threads.load(cell, runs).tobytes()


def test_a_failure_on_a_worker_is_returned_with_its_traceback_and_stops_no_other(
    tmp_path: Path, cell: RegretExperiment
) -> None:
    store = Store(tmp_path)
    wrong = Task(dataclasses.replace(cell, algorithm="no-such"), range(2))
    (failure,) = runner.play([wrong, Task(cell, range(3))], store, 1, "test", Cluster())
    assert failure.task == wrong
    assert failure.error is not None
    assert failure.error.startswith("UserError: unknown algorithm 'no-such'")
    assert failure.trace is not None
    assert "in simulate" in failure.trace
    assert store.covered(cell) == {0, 1, 2}


def children(process: subprocess.Popen[str]) -> list[int]:
    """Return the processes that a process has started, and their own children."""
    processes = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, parent = (
                int(stat.parent.name),
                int(stat.read_text().rpartition(")")[2].split()[1]),
            )
        except OSError:
            continue
        processes.append((number, parent))
    mine = {process.pid}
    while more := {number for number, parent in processes if parent in mine} - mine:
        mine |= more
    return sorted(mine - {process.pid})


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the processes are in no /proc")
def test_an_interrupt_keeps_completed_blocks_prints_one_line_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    process = start(tmp_path, "engine=dask", "engine.workers=2")
    process.wait_for(lambda: len(blocks(tmp_path)) > 3)
    family = children(process.popen)
    assert len(family) >= 2
    # As a terminal does: it signals all processes in the foreground.
    for number in (*family, process.popen.pid):
        os.kill(number, signal.SIGINT)
    interrupted = time.monotonic()
    done = process.done()
    assert time.monotonic() - interrupted < 10
    assert (done.status, done.out) == (130, "")
    lines = [line for line in done.err.splitlines() if not line.startswith(f"{FIGURE}: ")]
    assert lines == ["", f"dpbandits: interrupted; {GOES_ON}"]
    some_kept(tmp_path)
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{number}/cmdline").exists() for number in family):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_nothing_to_play_starts_nothing(tmp_path: Path) -> None:
    assert runner.play([], Store(tmp_path), None, "test", Cluster("tcp://127.0.0.1:1")) == []


# Schedulers --------------------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    before = time.monotonic()
    done = start(tmp_path, "engine=dask", "engine.scheduler=tcp://127.0.0.1:1").done()
    assert_told(done, 2, "no Dask scheduler answers at engine.scheduler=tcp://127.0.0.1:1 (")
    assert time.monotonic() - before < 15


def test_a_scheduler_without_workers_is_one_line(tmp_path: Path, dask: DaskProcesses) -> None:
    done = start(tmp_path, *dask.engine).done()
    started = f"`dask worker {dask.address}` starts one"
    assert_told(done, 2, f"the scheduler at {dask.address} has no worker; {started}")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a PYTHONPATH with a copy of the sources, which a test may edit."""
    copy = tmp_path / "sources"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def modified(sources: Path) -> str:
    """Return a PYTHONPATH with a copy of the sources in which a comment is changed."""
    with (sources / "dpbandits" / "algorithms" / "exp3.py").open("a") as file:
        file.write("# changed\n")
    return str(sources)


@pytest.fixture
def absent(tmp_path: Path) -> str:
    """Return a PYTHONPATH that hides the package from Python."""
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "dpbandits.py").write_text("raise ImportError('not here')")
    return str(tmp_path / "absent")


def test_a_worker_with_other_sources_is_reported_before_work_starts(
    tmp_path: Path, dask: DaskProcesses, modified: str
) -> None:
    dask.worker(PYTHONPATH=modified)
    done = start(tmp_path, *dask.engine).done()
    assert_told(
        done,
        2,
        "the worker tcp://127.0.0.1:",
        "differs from this process: source digest ",
        ", here ",
    )
    assert blocks(tmp_path) == []


def test_a_worker_may_differ_only_in_sources_that_its_cells_do_not_reach(
    tmp_path: Path, dask: DaskProcesses, sources: Path
) -> None:
    with (sources / "dpbandits" / "gallery" / "pages.py").open("a") as file:
        file.write("X = 1\n")
    worker = dask.worker(PYTHONPATH=str(sources))
    done = start(tmp_path / "alike", *dask.engine).done()
    assert done.counts == (RUNS, 0, "drawn")
    worker.kill()
    worker.wait()
    with (sources / "dpbandits" / "cells" / "play_bandit.py").open("a") as file:
        file.write("X = 1\n")
    dask.worker(PYTHONPATH=str(sources))
    done = start(tmp_path / "other", *dask.engine).done()
    assert_told(
        done, ExitStatus.FAILED, f"{RUNS} of {RUNS} runs failed", "has other sources or versions"
    )


def test_runs_of_a_source_that_is_edited_while_workers_play_are_not_stored(
    tmp_path: Path, sources: Path, calm: Curves
) -> None:
    played = (*below(tmp_path), "engine=dask", "engine.workers=2")
    process = Process(*DPBANDITS, "run", FIGURE, *TYPED, *played, PYTHONPATH=str(sources))
    process.wait_for(lambda: len(blocks(tmp_path)) > 3)
    # The algorithm sees half of every reward.
    file = sources / "dpbandits" / "algorithms" / "dp_exp3_lap.py"
    text = file.read_text()
    assert text.count("pull(bandit, ") == 1
    file.write_text(text.replace("pull(bandit, ", "0.5 * pull(bandit, "))
    done = process.done()
    edited = "algorithms/dp_exp3_lap.py: edited since this command started"
    assert_told(done, ExitStatus.FAILED, "the others are kept; first failure: dp-exp3-lap", edited)
    assert some_kept(tmp_path).items() <= calm.items()


def test_a_worker_without_the_package_is_reported_before_work_starts(
    tmp_path: Path, dask: DaskProcesses, absent: str
) -> None:
    dask.worker(PYTHONPATH=absent)
    done = start(tmp_path, *dask.engine).done()
    assert_told(
        done,
        2,
        "the worker tcp://127.0.0.1:",
        "does not report its versions and sources",
        "not here",
    )


# Mid-run -----------------------------------------------------------------------------------------


def started_with(
    folder: Path, dask: DaskProcesses, workers: int
) -> tuple[Process, list[subprocess.Popen[bytes]]]:
    """Start a command; return it once it has stored some blocks, with the workers that play it."""
    started = [dask.worker() for _ in range(workers)]
    process = start(folder, *dask.engine)
    process.wait_for(lambda: len(blocks(folder)) > 3)
    return process, started


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(
    tmp_path: Path, dask: DaskProcesses, calm: Curves
) -> None:
    process, workers = started_with(tmp_path, dask, 2)
    workers[0].kill()
    done = process.done()
    assert done.counts == (RUNS, 0, "drawn")
    assert curves(tmp_path) == calm


@pytest.mark.slow
def test_the_loss_of_all_workers_is_reported_and_the_same_command_resumes(
    tmp_path: Path, dask: DaskProcesses, calm: Curves
) -> None:
    process, workers = started_with(tmp_path, dask, 2)
    for worker in workers:
        worker.kill()
    message = f"the scheduler at {dask.address} has had no worker for 30 seconds; {GOES_ON}"
    assert_told(process.done(), 2, message)
    kept = len(some_kept(tmp_path))
    dask.worker()
    assert start(tmp_path, *dask.engine).done().counts == (RUNS - kept, kept, "drawn")
    assert curves(tmp_path) == calm


@pytest.mark.slow
def test_the_loss_of_the_scheduler_is_reported(tmp_path: Path, dask: DaskProcesses) -> None:
    process, _ = started_with(tmp_path, dask, 2)
    dask.scheduler.kill()
    message = f"the connection to the scheduler at {dask.address} is lost; {GOES_ON}"
    assert_told(process.done(), 2, message)
    some_kept(tmp_path)


def has_joined(log: Path) -> Callable[[], bool]:
    return lambda: "Registered to" in log.read_text()


@pytest.mark.slow
def test_a_worker_may_join_later(tmp_path: Path, dask: DaskProcesses, calm: Curves) -> None:
    process, (first,) = started_with(tmp_path, dask, 1)
    dask.worker()
    process.wait_for(has_joined(tmp_path / "dask" / "worker-2.log"))
    first.kill()
    assert process.done().counts == (RUNS, 0, "drawn")
    assert curves(tmp_path) == calm


@pytest.mark.slow
def test_a_worker_that_joins_later_with_other_sources_plays_nothing(
    tmp_path: Path, dask: DaskProcesses, modified: str, calm: Curves
) -> None:
    process, _ = started_with(tmp_path, dask, 1)
    dask.worker(PYTHONPATH=modified)
    done = process.done()
    assert_told(
        done,
        ExitStatus.FAILED,
        f"of {RUNS} runs failed, the others are kept",
        "has other sources or",
    )
    assert some_kept(tmp_path).items() <= calm.items()


@pytest.mark.slow
def test_a_block_that_kills_its_workers_fails_alone(tmp_path: Path, dask: DaskProcesses) -> None:
    # A copy of the project: commands and workers must have the same sources.
    copy = tmp_path / "project"
    for folder in ("src", "conf", "figures"):
        ignored = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / folder, copy / folder, ignore=ignored)
    file = copy / "src" / "dpbandits" / "cells" / "play_bandit.py"
    planted = "    if cell.member == 'exp3' and 4 in runs:\n        __import__('os')._exit(9)\n"
    line = "    seconds = np.empty(len(runs))\n"
    assert file.read_text().count(line) == 1
    file.write_text(file.read_text().replace(line, line + planted))
    own = {"PYTHONPATH": str(copy / "src"), "DPBANDITS_CACHE": str(tmp_path / "kernels")}
    for _ in range(5):
        dask.worker(**own)
    process = Process(*DPBANDITS, "run", FIGURE, *TYPED, *below(tmp_path), *dask.engine, **own)
    done = process.done(2 * PATIENCE)
    kept = [run for cell, run in curves(tmp_path) if "/exp3/" in cell]
    lost = sorted({*range(30)} - {*kept})
    assert 4 in lost
    assert lost == [*range(lost[0], lost[-1] + 1)]  # one block
    assert len(curves(tmp_path)) == RUNS - len(lost)
    message = f"runs {lost[0]}-{lost[-1]}: 4 workers died while playing it"
    assert_told(done, ExitStatus.FAILED, f"{len(lost)} of {RUNS} runs failed", message)
