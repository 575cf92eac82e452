"""The decorators: cached machine code that is never stale, and functions dispatched by a class."""

import ast
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary

from dpbandits.core import kernel, machine_code, roots
from dpbandits.core.bandit import draw
from dpbandits.core.roots import ISLAND, ROOTS, Root
from dpbandits.core.sample_stream import SampleStream

HELPER = """\
from dpbandits.core.kernel import inlined, kernel

@inlined
def inlined_helper(x):
    return x + 1

@kernel
def kernel_helper(x):
    return x + 10
"""

USING = """\
from dpbandits.core.kernel import kernel
from dpbandits.mechanisms.helper import inlined_helper, kernel_helper

@kernel
def both(x):
    return inlined_helper(x) + 1000 * kernel_helper(x)

print(both(0), sum(both.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy of the package with a kernel in one file and its helpers in another."""
    copy = tmp_path / "copy" / "dpbandits"
    shutil.copytree(ROOTS[0].folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "mechanisms" / "helper.py").write_text(HELPER)
    (copy / "mechanisms" / "using.py").write_text(USING)
    return copy


def run(package: Path, cache: Path) -> tuple[int, int]:
    """Return the output of a fresh process, and how much of its machine code was on disk."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "DPBANDITS_CACHE": str(cache),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", "import dpbandits.mechanisms.using"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=package.parent
    )
    result, hits = done.stdout.split()
    return int(result), int(hits)


@pytest.mark.long
def test_an_edited_helper_is_never_served_stale(package: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == (10_001, 0)
    assert run(package, cache) == (10_001, 1), "machine code comes from disk in a later process"
    (package / "mechanisms" / "helper.py").write_text(HELPER.replace("x + 1\n", "x + 2\n"))
    assert run(package, cache) == (10_002, 0)
    (package / "mechanisms" / "helper.py").write_text(HELPER.replace("x + 10\n", "x + 20\n"))
    assert run(package, cache) == (20_001, 0)


@pytest.mark.long
@pytest.mark.skipif(
    not hasattr(numba.core.config, "CACHE_LOCATOR_CLASSES"), reason="numba lacks the setting"
)
def test_another_copy_of_the_same_sources_needs_no_compilation(
    package: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    assert run(package, cache) == (10_001, 0)
    second = tmp_path / "elsewhere" / "dpbandits"
    shutil.copytree(package, second)
    assert run(second, cache) == (10_001, 1)


@pytest.mark.long
def test_machine_code_for_other_types_is_never_served(package: Path, tmp_path: Path) -> None:
    # The state left by two processes that each compile for one type at once.
    cache = tmp_path / "cache"
    using = USING.replace("print(both(0), ", "print(int(both(0.5)) and both(0), ")
    (package / "mechanisms" / "using.py").write_text(using)
    assert run(package, cache) == (10_001, 0)
    assert run(package, cache) == (10_001, 2)
    first, second = sorted(cache.rglob("using.both-*.nbc"))
    (content, other) = (first.read_bytes(), second.read_bytes())
    first.write_bytes(other)
    second.write_bytes(content)
    assert run(package, cache) == (10_001, 0)
    assert run(package, cache) == (10_001, 2), "what was compiled again is kept"


@pytest.mark.long
def test_without_a_folder_nothing_is_kept(package: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder can be made below a file")
    assert run(package, blocked / "cache") == (10_001, 0)
    assert run(package, blocked / "cache") == (10_001, 0)
    assert not list(package.rglob("*.nbi"))


def test_without_room_for_machine_code_there_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPBANDITS_CACHE", str(tmp_path))
    assert machine_code.machine_code_folder() is not None
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # As on a full disk: a write beyond 8 kB fails.
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    try:
        assert machine_code.machine_code_folder() is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_the_digest_of_machine_code_covers_the_island_and_nothing_else(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each digest stands for that of a process that starts by then.
    monkeypatch.setattr(roots, "_read", roots._read.__wrapped__)
    root = Root("dpbandits", package, compiled=ISLAND)
    before = machine_code.island_digest([root])
    outside = root.sources().keys() - root.island().keys()
    assert len(outside) > 60
    assert len(root.island()) > 60
    for name in sorted(outside):
        (package / name).write_bytes(root.sources()[name] + b"x = 1\n")
    assert machine_code.island_digest([root]) == before
    seen = {before}
    for name, content in root.island().items():
        (package / name).write_bytes(content + b"x = 1\n")
        seen.add(machine_code.island_digest([root]))
        (package / name).write_bytes(content)
    assert len(seen) == 1 + len(root.island())
    (package / "environments" / "another.py").write_text("")
    assert machine_code.island_digest([root]) not in seen


def test_an_edit_while_the_process_runs_does_not_move_its_digest(package: Path) -> None:
    root = Root("dpbandits", package)
    before = machine_code.island_digest([root])
    assert not root.is_edited()
    (package / "core" / "bandit.py").write_text("x = 1\n")
    assert machine_code.island_digest([root]) == before
    assert root.is_edited()


def test_the_island_imports_nothing_but_itself() -> None:
    # Otherwise compiled code could change without a change of its digest.
    for file, source in ROOTS[0].island().items():
        for name in imported(source):
            if name.startswith("dpbandits."):
                assert name.split(".")[1] in ISLAND, f"{file} imports {name}"


def imported(source: bytes) -> Iterator[str]:
    """Yield full names of all imports of a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_kernels_become_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    # Their helpers are only linked. If an update of numba renames what LinkedCode overrides, the
    # results stay right, but compilation takes nearly twice as long: this test fails.
    finished = list[str]()
    finish: Callable[[Any], None] = JITCodeLibrary._finalize_specific

    def recorded(library: Any) -> None:
        finished.append(library.name)
        finish(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", recorded)

    @kernel.inlined
    def added(x: int) -> int:
        return x + 1

    @kernel.allocating
    def added_to_each(x: int) -> Any:
        return np.full(2, added(x))

    @numba.njit
    def both(x: int) -> Any:
        return added(x) + added_to_each(x)[1]

    assert both(1) == 4
    names = {name.rpartition(".")[2] for name in finished}
    assert "both" in names
    assert not names & {"added", "added_to_each"}


def test_a_helper_may_print(capfd: pytest.CaptureFixture[str]) -> None:
    # It reads its environment, which would be missing without machine code of its own.
    @kernel.inlined
    def shown(x: int) -> int:
        print("x is", x)
        return x

    @kernel.inlined
    def added(x: int) -> int:
        return shown(x) + 1

    @numba.njit
    def thrice(x: int) -> Any:
        return added(x) + added(x + 1) + shown(x + 2)

    assert thrice(1) == 8
    assert capfd.readouterr().out == "x is 1\nx is 2\nx is 3\n"


def test_only_the_island_compiles() -> None:
    compilers = {f"dpbandits.core.kernel.{name}" for name in ("kernel", "inlined", "by_class")}
    for file, source in ROOTS[0].sources().items():
        if file not in ROOTS[0].island():
            assert not compilers & {*imported(source)}, file


@pytest.mark.skipif(machine_code.FOLDER is None, reason="nothing is kept here")
def test_machine_code_of_other_modules_is_not_kept() -> None:
    # Its helpers may be edited without a change of the digest that names the folder.
    def play(x: int) -> int:
        return x + 1

    compiled: list[Any] = [kernel.kernel(function) for function in (draw, play)]
    caches = [dispatcher._cache for dispatcher in compiled]
    assert [isinstance(cache, NullCache) for cache in caches] == [False, True]


def test_other_users_of_numba_keep_their_cache_folder() -> None:
    settings: Any = numba.core.config
    before = settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES
    kernel.kernel(draw)
    assert before == (settings.CACHE_DIR, settings.CACHE_LOCATOR_CLASSES)


def test_threads_that_decorate_at_the_same_time_use_one_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folders = list[str]()

    def njit(**_: Any) -> Callable[..., Any]:
        time.sleep(0.02)  # the other threads come now
        folders.append(numba.core.config.CACHE_DIR)  # type: ignore[attr-defined]
        return lambda function: function

    before = numba.core.config.CACHE_DIR  # type: ignore[attr-defined]
    monkeypatch.setattr(numba, "njit", njit)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: kernel.kernel(lambda: 0), range(8)))
    assert folders == [str(machine_code.FOLDER or "")] * 8
    assert before == numba.core.config.CACHE_DIR  # type: ignore[attr-defined]


class Left(NamedTuple):
    value: float


class Right(NamedTuple):
    value: float


class Neither(NamedTuple):
    value: float


@pytest.fixture
def side(monkeypatch: pytest.MonkeyPatch) -> Any:
    # Classes of a test do not belong to the package; nothing compiled with them is cached.
    monkeypatch.setattr(machine_code, "FOLDER", None)

    @kernel.by_class
    def side(one: Any, factor: float) -> float:
        return 0.0

    @side.register(Left)
    def left(one: Any, factor: float) -> Any:
        return -factor * one.value

    @side.register(Right)
    def right(one: Any, factor: float) -> Any:
        return factor * one.value

    return side


def test_a_body_is_chosen_by_the_class_in_python_and_in_kernels(side: Any) -> None:
    @numba.njit
    def compiled(one: Any, factor: float) -> Any:
        return side(one, factor)

    for call in (side, compiled):
        chosen = [call(cls(3.0), 2.0) for cls in (Left, Right, Neither)]
        assert chosen == [-6.0, 6.0, 0.0]


def test_a_class_has_one_body(side: Any) -> None:
    with pytest.raises(TypeError, match="Left is registered already"):
        side.register(Left)(lambda one, factor: 0.0)


@pytest.mark.skipif(machine_code.FOLDER is None, reason="nothing is kept here")
def test_machine_code_for_a_class_of_no_root_is_not_kept(tmp_path: Path) -> None:
    # The index of kept code names the class by a module that other processes cannot import.
    with machine_code.kept_in(tmp_path):
        compiled: Any = numba.njit(cache=True)(first_of)
    machine_code.keep_apart(first_of, compiled)
    assert compiled(Left(3.0)) == 3.0
    assert not list(tmp_path.rglob("*.nb?"))
    assert compiled((3.0,)) == 3.0
    assert {path.suffix for path in tmp_path.rglob("*.nb?")} == {".nbi", ".nbc"}


def first_of(pair: Any) -> Any:
    """Return the first entry."""
    return pair[0]


@pytest.mark.skipif(machine_code.FOLDER is None, reason="nothing is kept here")
def test_a_class_that_later_processes_cannot_import_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Left is neither of the package dpbandits nor"):
        draw.register(Left)


@pytest.mark.skipif(machine_code.FOLDER is None, reason="nothing is kept here")
def test_a_body_from_elsewhere_is_refused_for_a_class_of_the_package() -> None:
    def foreign(law: Any, rng: Any, arm: int, t: int) -> float:
        return 0.0

    with pytest.raises(TypeError, match=r"foreign is neither of the package dpbandits nor"):
        draw.register(SampleStream)(foreign)
