"""The decorators: cached machine code that is never stale, and functions dispatched by a class."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import pytest

from dpbandits.kernel import compilation, roots
from dpbandits.kernel.bandit import draw
from dpbandits.kernel.roots import ISLAND, PACKAGE, Discovery, Root
from dpbandits.stopping._samples import SampleStream

HELPER = """\
from dpbandits.kernel.compilation import inlined, kernel

@inlined
def inlined_helper(x):
    return x + 1

@kernel
def kernel_helper(x):
    return x + 10
"""

USING = """\
from dpbandits.kernel.compilation import kernel, specialised
from dpbandits.mechanisms.helper import inlined_helper, kernel_helper

@kernel
def both(x):
    return inlined_helper(x) + 1000 * kernel_helper(x)

play = specialised(both, 0)
print(play(0), sum(both.stats.cache_hits.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Copy of the package with a kernel in one file and its helpers in another."""
    copy = tmp_path / "copy" / "dpbandits"
    shutil.copytree(PACKAGE.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
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
    printed = subprocess.check_output(command, env=environment, text=True, cwd=package.parent)
    result, hits = printed.split()
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
def test_machine_code_for_other_types_or_unreadable_is_never_served(
    package: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    using = USING.replace("play =", "specialised(both, 0.5)\nplay =")
    (package / "mechanisms" / "using.py").write_text(using)
    assert run(package, cache) == (10_001, 0)
    assert run(package, cache) == (10_001, 2)
    # The state left by two processes that each compile for one type at once.
    first, second = sorted(cache.rglob("using.both-*.nbc"))
    content, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(content)
    assert run(package, cache)[0] == 10_001
    (index,) = cache.rglob("using.both-*.nbi")
    index.write_bytes(index.read_bytes()[:-20])
    assert run(package, cache) == (10_001, 0)
    assert len(list((cache / "kernels").glob("*.damaged-*"))) == 1
    assert run(package, cache) == (10_001, 1)  # the type that was asked for afterwards is kept
    assert run(package, cache) == (10_001, 2)
    # Damaged code of a helper, when what calls it is compiled.
    for index in cache.rglob("using.both-*.nbi"):
        index.unlink()
    for code in cache.rglob("helper.kernel_helper-*.nbc"):
        code.write_bytes(code.read_bytes()[:3000])
    assert run(package, cache) == (10_001, 0)
    assert len(list((cache / "kernels").glob("*.damaged-*"))) == 2


def test_damaged_machine_code_that_another_thread_sets_aside_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined: dict[str, Any] = {}
    exec(compile("def fail(types): raise EOFError", "caching.py", "exec"), defined)
    damaged = SimpleNamespace(compile=defined["fail"], py_func=lambda x: x + 1)
    (kept := tmp_path / "kept").mkdir()
    monkeypatch.setattr(compilation, "folder", lambda: kept)
    move = Path.replace

    def move_after_another_thread(self: Path, target: Path) -> Path:
        move(self, tmp_path / "moved before")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", move_after_another_thread)
    function: Any = damaged
    assert compilation.specialised(function, 1)(1) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["moved before"]


def test_the_digest_of_machine_code_covers_the_island_and_nothing_else(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each digest stands for that of a process that starts by then.
    monkeypatch.setattr(roots, "_read_sources", roots._read_sources.__wrapped__)
    root = Root("dpbandits", package)
    monkeypatch.setattr(roots, "discovery", lambda: Discovery(None, (), (root,)))
    digest = compilation.island_digest.__wrapped__
    before = digest()
    for name, content in root.sources().items():
        if not root.compiles(name):
            (package / name).write_bytes(content + b"x = 1\n")
    assert digest() == before
    for name in ("kernel/bandit.py", "algorithms/_argmax.py", "environments/another.py"):
        before = digest()
        with (package / name).open("a") as file:
            file.write("x = 1\n")
        assert digest() != before


def test_the_island_alone_compiles_and_imports_nothing_but_itself() -> None:
    # Otherwise compiled code could change without a change of its digest.
    for file, source in PACKAGE.sources().items():
        modules = set()
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                modules |= {f"{node.module}.{alias.name}" for alias in node.names}
        if PACKAGE.compiles(file):
            folders = {name.split(".")[1] for name in modules if name.startswith("dpbandits.")}
            assert folders <= {*ISLAND}, file
        else:
            compilers = ("kernel", "inlined", "by_class")
            assert not modules & {f"dpbandits.kernel.compilation.{name}" for name in compilers}, (
                file
            )


@pytest.mark.skipif(compilation.folder() is None, reason="nothing is kept here")
def test_only_machine_code_of_sources_that_the_digest_covers_is_kept() -> None:
    def play(x: int) -> int:
        return x + 1

    kept: Any = compilation.kernel(draw)
    assert kept.stats.cache_path.startswith(str(compilation.folder()))
    unkept: Any = compilation.kernel(play)
    assert unkept.stats.cache_path is None


class Left(NamedTuple):
    value: float


class Right(NamedTuple):
    value: float


def test_a_body_is_chosen_by_the_class_in_python_and_in_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Classes of a test do not belong to the package; nothing compiled with them is cached.
    monkeypatch.setattr(compilation, "folder", lambda: None)

    @compilation.by_class
    def side(one: Any, factor: float) -> float:
        return 0.0

    @side.register(Left)
    def left(one: Any, factor: float) -> Any:
        return -factor * one.value

    @side.register(Right)
    def right(one: Any, factor: float) -> Any:
        return factor * one.value

    @numba.njit
    def compiled(one: Any, factor: float) -> Any:
        return side(one, factor)

    for call in (side, compiled):
        assert [call(cls(3.0), 2.0) for cls in (Left, Right)] == [-6.0, 6.0]
        assert call(3.0, 2.0) == 0.0
    with pytest.raises(TypeError, match="Left is registered already"):
        side.register(Left)(left)


@pytest.mark.skipif(compilation.folder() is None, reason="nothing is kept here")
@pytest.mark.parametrize("cls", [Left, SampleStream])
def test_a_class_or_a_body_from_elsewhere_is_refused(cls: type) -> None:
    def body(law: Any, rng: Any, arm: int, t: int) -> float:
        return 0.0

    with pytest.raises(TypeError, match="is neither of the package dpbandits nor"):
        draw.register(cls)(body)
