"""Compilation ahead of the threads: which kernels, in which process, and what is kept."""

import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import composed
import joblib
import numba
import numpy as np
import pytest

from dpbandits.audit.cell import AuditCell
from dpbandits.cells.bandit_cell import Cell, StoppingCell
from dpbandits.cells.kinds import AnyCell
from dpbandits.config.compose import load
from dpbandits.core import machine_code, registry
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.run import compile_ahead
from dpbandits.run.compile_ahead import SIZE, CompilingAhead, compile_cell
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.tasks import kernel_of

# Plays pickled cells and prints how many kernels each compiled, and how many it loaded.
PLAY = """
import pickle, sys
from numba.core.dispatcher import Dispatcher
loaded = []
compile = Dispatcher.compile
def counted(self, types):
    before = sum(self.stats.cache_misses.values()), sum(self.stats.cache_hits.values())
    code = compile(self, types)
    loaded.append((sum(self.stats.cache_misses.values()) - before[0],
                   sum(self.stats.cache_hits.values()) - before[1]))
    return code
Dispatcher.compile = counted
from dpbandits.run.runner import attempt
from dpbandits.run.tasks import Task
for _ in range(int(sys.argv[1])):
    loaded.clear()
    outcome = attempt(Task(pickle.load(sys.stdin.buffer), range(1)))
    assert outcome.error is None, outcome.trace
    print(*map(sum, zip(*loaded)))
"""


def cells_of_all_figures() -> list[AnyCell]:
    names = project.names("figure")
    return [c for n in names for c in composed.load(n, ())[0].runs_of_cells()]


@pytest.fixture(scope="module")
def cells() -> dict[Hashable, list[AnyCell]]:
    """Cells of all figures, by what the module takes for their kernels."""
    by_kernel = defaultdict[Hashable, list[AnyCell]](list)
    for cell in cells_of_all_figures():
        by_kernel[kernel_of(cell)].append(cell)
    return by_kernel


def types_of(cell: AnyCell) -> Any:
    typeof: Any = numba.typeof
    law: Any = None
    if isinstance(cell, Cell):
        module = registry.environment(cell.environment)
        law = module if hasattr(module, "table") else typeof(module.law(cell.instance))
        law = law, cell.regret, cell.pulls_of is None, cell.in_lanes
    return typeof(cell.params), law


def test_cells_of_one_kernel_have_arguments_of_the_same_types(
    cells: dict[Hashable, list[AnyCell]],
) -> None:
    assert 40 < len(cells) < sum(map(len, cells.values())) / 5
    for alike in cells.values():
        assert len({types_of(cell) for cell in alike}) == 1, alike[0].name


def sized(*contents: bytes) -> bytes:
    """Return contents as they are sent to the process."""
    return b"".join(SIZE.pack(len(content)) + content for content in contents)


def one_of(cells: dict[Hashable, list[AnyCell]], kind: type, member: str) -> AnyCell:
    return next(
        c for alike in cells.values() for c in alike if type(c) is kind and c.member == member
    )


def test_the_process_keeps_the_machine_code_of_cells_of_all_kinds(
    cells: dict[Hashable, list[AnyCell]], tmp_path: Path
) -> None:
    chosen = [(Cell, "adap-klucb"), (Cell, "exp3"), (StoppingCell, "nas"), (AuditCell, "adap-ucb")]
    contents = [pickle.dumps(one_of(cells, *each)) for each in chosen]
    run: Any = {
        "env": os.environ | {"DPBANDITS_CACHE": str(tmp_path)},
        "capture_output": True,
        "check": True,
    }
    subprocess.run([sys.executable, "-m", compile_ahead.__name__], input=sized(*contents), **run)
    play = [sys.executable, "-c", PLAY, str(len(contents))]
    lines = subprocess.run(play, input=b"".join(contents), **run).stdout.split(b"\n")[:-1]
    assert len(lines) == len(contents)
    for line in lines:
        misses, hits = map(int, line.split())
        assert misses == 0
        assert hits >= 1


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with suppress(OSError):
            os.close(end)


def test_a_cell_that_cannot_be_compiled_does_not_stop_the_others(
    cell: Cell, pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = list[AnyCell]()

    def compiled(cell: AnyCell) -> None:
        seen.append(cell)
        if len(seen) == 1:
            raise RuntimeError("numba failed")

    monkeypatch.setattr(compile_ahead, "compile_cell", compiled)
    monkeypatch.setattr(compile_ahead, "MOST_MEMORY", 2**40)
    content = pickle.dumps(cell)
    os.write(pipe[1], sized(content, b"no pickle", content))
    os.close(pipe[1])
    compile_ahead.main(pipe[0])
    assert seen == [cell, cell]


def test_a_process_that_takes_much_memory_goes_on_as_a_new_one_with_the_next_cell(
    cell: Cell, pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Replaced(Exception):
        pass

    def execv(program: str, command: tuple[str, ...]) -> None:
        raise Replaced(program, command)

    seen = list[AnyCell]()
    monkeypatch.setattr(compile_ahead, "compile_cell", seen.append)
    monkeypatch.setattr(compile_ahead, "MOST_MEMORY", 1)
    monkeypatch.setattr(os, "execv", execv)
    content = pickle.dumps(cell)
    os.write(pipe[1], sized(content, content))
    with pytest.raises(Replaced) as replaced:
        compile_ahead.main(pipe[0])
    command = (sys.executable, "-m", "dpbandits.run.compile_ahead")
    assert replaced.value.args == (sys.executable, command)
    assert seen == [cell]
    assert os.read(pipe[0], 2**20) == sized(content)


def test_memory_is_that_of_now_and_of_this_program() -> None:
    # The peak that the system keeps would be that of the program before.
    before = compile_ahead.memory()
    block = np.ones(2**25)
    assert compile_ahead.memory() - before > 0.9 * block.nbytes
    del block
    assert compile_ahead.memory() - before < 2**25
    again = "from dpbandits.run.compile_ahead import memory; print(memory())"
    code = f"""import os, sys, numpy as np
x = np.ones(5 * 10**7)
os.execv(sys.executable, [sys.executable, "-c", {again!r}])"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert 1e7 < int(found.stdout) < 4e8


def test_only_a_short_game_is_played_and_none_in_an_audit(
    cells: dict[Hashable, list[AnyCell]], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = list[Any]()
    monkeypatch.setattr(compile_ahead, "attempt", lambda task: played.append(task))
    monkeypatch.setattr(compile_ahead, "compile_games", lambda *args: played.append(args))
    long = one_of(cells, Cell, "dp-se")
    assert isinstance(long, Cell)
    assert long.horizon > compile_ahead.ROUNDS
    compile_cell(long)
    compile_cell(audit := one_of(cells, AuditCell, "dp-se"))
    task, of_audit = played
    assert task.cell.horizon == task.cell.params.horizon == compile_ahead.ROUNDS
    assert len(task.runs) == 1
    assert of_audit == (audit.member, audit.params)


@pytest.mark.parametrize(
    ("processors", "empty", "figures"), [(1, True, 1), (1, True, 2), (2, False, 1)]
)
def test_no_process_is_started_where_it_does_not_help(
    processors: int, empty: bool, figures: int, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joblib, "cpu_count", lambda: processors)
    monkeypatch.setattr(compile_ahead, "is_empty", lambda: empty)
    monkeypatch.setattr(subprocess, "Popen", None)
    with CompilingAhead(figures) as compiling:
        compiling.add([cell])


@pytest.mark.parametrize(("empty", "figures"), [(True, 1), (False, 2)])
def test_cells_reach_the_process_once_and_it_ends_with_the_context(
    empty: bool, figures: int, cell: Cell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "received"
    program = f"import sys; open({str(out)!r}, 'wb').write(sys.stdin.buffer.read())"
    start = subprocess.Popen

    def receiver(command: tuple[str, ...], **kept: Any) -> Any:
        assert command == (sys.executable, "-m", "dpbandits.run.compile_ahead")
        return start([sys.executable, "-c", program], **kept)

    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    monkeypatch.setattr(compile_ahead, "is_empty", lambda: empty)
    monkeypatch.setattr(subprocess, "Popen", receiver)
    with CompilingAhead(figures) as compiling:
        compiling.add([cell])
        compiling.add([cell])
        compiling.end()
        assert compiling._process is not None
        compiling._process.wait(60)
    assert out.read_bytes() == sized(pickle.dumps(cell))
    with CompilingAhead(figures) as compiling:
        compiling.add([cell])  # and no end: the process is stopped
    assert compiling._process is not None
    assert compiling._process.returncode is not None


def test_a_figure_alone_has_all_kernels_but_its_first_compiled_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = list[str]()

    class Recorded(CompilingAhead):
        def add(self, cells: Iterable[AnyCell]) -> None:
            ahead.extend(cell.member for cell in cells)

    monkeypatch.setattr(produce, "CompilingAhead", Recorded)
    words = ["profile=smoke", f"paths.cache={tmp_path}/cache", f"paths.out={tmp_path}/out"]
    assert produce.produce(*load("adap-c1", words)) == ExitStatus.DONE
    assert ahead == ["dp-se", "adap-ucb", "adap-klucb"]  # DP-UCB comes first


def test_machine_code_is_empty_until_a_kernel_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_code, "FOLDER", None)
    assert not machine_code.is_empty()
    monkeypatch.setattr(machine_code, "FOLDER", tmp_path)
    (tmp_path / "core_1").mkdir()  # of a kernel that is decorated, and not compiled yet
    assert machine_code.is_empty()
    (tmp_path / "core_1" / "kl.nbi").touch()
    assert not machine_code.is_empty()
