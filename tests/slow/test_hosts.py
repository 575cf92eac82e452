"""Dask over several hosts: one vanishes, one is cut off for a while, one joins late."""

import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import slow_worker
from commands import PATIENCE, Process, blocks
from dask_processes import DaskProcesses
from hosts import Host, Network
from reliability import Calm, Command, assert_as_if_calm, calm, on_disk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("in_checkout"),
    pytest.mark.filterwarnings("ignore:Couldn't detect a suitable IP address"),
]

FIGURE = Command("adap-c2", ("profile=smoke", "runs=20", "engine.block=1", "~figure.curves.dp-ucb"))
PAUSE = 0.5  # seconds that every task lasts longer
CUT = 30  # seconds
LIMIT = 90  # seconds in which a command must notice that nothing more will come
KEPT = "completed blocks are kept, and the same command continues from there"
REMOVED = re.compile(r"Remove worker addr: (tcp://[\d.:]+)")

Row = Callable[[str, str, str], None]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Calm:
    """Result of the threads of one process."""
    return calm(FIGURE, tmp_path_factory.mktemp("calm"))


@pytest.fixture
def network() -> Iterator[Network]:
    try:
        built = Network()
    except FileNotFoundError:
        pytest.skip("there is no `ip`: apt-get install iproute2")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr.strip()}")
    yield built
    built.close()


class Cluster:
    """A host for the command, one for the scheduler, and hosts with a worker each."""

    def __init__(self, folder: Path, network: Network) -> None:
        (folder / "dask").mkdir()
        self.folder, self.network = folder, network
        self.head, self.middle = network.host(), network.host()
        self.dask = DaskProcesses(folder / "dask", self.middle)
        self.workers = dict[Host, subprocess.Popen[bytes]]()

    def worker(self) -> Host:
        """Start a worker, as docs/cluster.md does, on a host of its own."""
        host = self.network.host()
        preload = ("--preload", slow_worker.__file__)
        self.workers[host] = self.dask.worker_at(host, *preload, PAUSE=str(PAUSE))
        self.wait(lambda: "Registered to" in self.log(host))
        return host

    def start(self) -> Process:
        """Start the command; return once it has stored some blocks."""
        overrides = (*FIGURE.typed, *self.dask.engine)
        process = replace(FIGURE, typed=overrides, prefix=self.head.prefix).start(self.folder)
        process.wait_for(lambda: len(blocks(self.folder)) > 5)
        return process

    def log(self, host: Host) -> str:
        """Return what the worker of a host has written."""
        return self.dask.log(self.workers[host]).read_text()

    def played(self, host: Host) -> int:
        """Return the number of tasks that the worker of a host has begun."""
        return self.log(host).count("plays ")

    def removed(self) -> bool:
        """Return whether the scheduler has given up a worker."""
        return bool(REMOVED.search(self.dask.log(self.dask.scheduler).read_text()))

    def wait(self, condition: Callable[[], bool]) -> float:
        """Wait until a condition holds; return the seconds that it took."""
        begin = time.monotonic()
        while not condition():
            assert time.monotonic() - begin < PATIENCE
            time.sleep(0.05)
        return time.monotonic() - begin


@pytest.fixture
def cluster(tmp_path: Path, network: Network) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="Dask is not installed (requirements-cluster.lock)")
    built = Cluster(tmp_path, network)
    yield built
    built.dask.close()


def assert_complete(process: Process, cluster: Cluster, undisturbed: Calm) -> None:
    """Assert that the command ends with all runs and the bytes of the threads."""
    done = process.done()
    assert done.counts == (FIGURE.runs, 0, "drawn")
    assert done.errors == ""
    assert_as_if_calm(cluster.folder, undisturbed)


def test_a_host_that_vanishes_loses_nothing(cluster: Cluster, undisturbed: Calm, row: Row) -> None:
    first, second = cluster.worker(), cluster.worker()
    process = cluster.start()
    kept = on_disk(FIGURE, cluster.folder).number
    first.vanish()
    seconds = cluster.wait(cluster.removed)
    begun = cluster.played(first)
    assert process.popen.poll() is None  # otherwise it did not need the lost tasks
    assert_complete(process, cluster, undisturbed)
    again = begun + cluster.played(second) - FIGURE.runs
    assert again >= 1
    row(
        "A worker's host vanishes",
        f"one of two; no packet leaves it from then on, when {kept} of {FIGURE.runs} runs were"
        " written",
        f"the scheduler gave the worker up after {seconds:.0f} s; the other played all that"
        f" remained, and {again} runs twice; status 0, the bytes of a run on threads",
    )


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scheduler, workers and command wait longer for each other than Dask's 30 seconds."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP", "120s")


@pytest.mark.usefixtures("patient")
def test_a_host_that_is_cut_off_for_less_than_the_timeout_returns_to_work(
    cluster: Cluster, undisturbed: Calm, row: Row
) -> None:
    first, second = cluster.worker(), cluster.worker()
    process = cluster.start()
    kept = on_disk(FIGURE, cluster.folder).number
    first.cut()
    time.sleep(CUT)
    first.mend()
    begun = cluster.played(first)
    assert process.popen.poll() is None
    assert_complete(process, cluster, undisturbed)
    after = cluster.played(first) - begun
    again = begun + after + cluster.played(second) - FIGURE.runs
    assert not cluster.removed()
    assert after > 0
    row(
        f"A worker's network is cut for {CUT} s, with a timeout of 120 s",
        f"one of two, when {kept} of {FIGURE.runs} runs were written",
        f"the worker played {after} runs after its return; {again} runs played twice;"
        " status 0, the bytes of a run on threads",
    )


def lost(cluster: Cluster, process: Process, message: str, undisturbed: Calm) -> str:
    """Assert that the command ends with a line, and resumes on threads; return what happened."""
    begin = time.monotonic()
    done = process.done()
    seconds = time.monotonic() - begin
    done.assert_told(2, f"{message}; {KEPT}")
    assert seconds < LIMIT
    there = on_disk(FIGURE, cluster.folder)
    assert there.partial == 0
    again = FIGURE.start(cluster.folder).done()
    assert again.counts == (FIGURE.runs - there.number, there.number, "drawn")
    assert_as_if_calm(cluster.folder, undisturbed)
    return (
        f"one line and status 2 after {seconds:.0f} s; {there.number} of {there.number} written"
        " runs used again, the bytes of a run on threads"
    )


def test_the_loss_of_all_hosts_is_one_line_and_the_same_command_resumes(
    cluster: Cluster, undisturbed: Calm, row: Row
) -> None:
    cluster.worker()
    process = cluster.start()
    for host in cluster.workers:
        host.vanish()
    message = f"{cluster.dask.address} has had no worker for 30 seconds"
    row(
        "The hosts of all workers vanish",
        "the only one, after some runs; then the same command on threads",
        lost(cluster, process, message, undisturbed),
    )


def test_the_loss_of_the_scheduler_s_host_is_one_line_and_the_same_command_resumes(
    cluster: Cluster, undisturbed: Calm, row: Row
) -> None:
    cluster.worker()
    process = cluster.start()
    cluster.middle.vanish()
    message = f"the connection to the scheduler at {cluster.dask.address} is lost"
    row(
        "The scheduler's host vanishes",
        "after some runs; then the same command on threads",
        lost(cluster, process, message, undisturbed),
    )
