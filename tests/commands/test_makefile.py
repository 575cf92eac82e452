"""Make rejects words that it would ignore and deletes no results silently."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")

Make = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of a checkout that make reads."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=without)
    for file in ("conf/figure/adap-c2.yaml", "conf/sweep/alpha.yaml", "figures/azize2022.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    return tmp_path


@pytest.fixture
def make(folder: Path) -> Make:
    """Run a make command there, as a user does outside another make."""
    own = {
        n: value for n, value in os.environ.items() if not n.startswith(("MAKE", "MFLAGS", "ARGS"))
    }

    def typed(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ("make", f"PYTHON={sys.executable}", *words),
            cwd=folder,
            env={**own, "LC_ALL": "C", **variables},
            capture_output=True,
            text=True,
        )

    return typed


@pytest.mark.parametrize("typed", ["runs=5", "figure.horizon=1000", "~figure.curves.dp-se"])
def test_an_override_outside_args_is_rejected_in_one_line(typed: str, make: Make) -> None:
    done = make("fig-adap-c2", typed, "ARGS=profile=smoke")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"make has no use for {typed.partition('=')[0]}" in line
    assert "ARGS=" in line


def test_variables_that_some_target_reads_are_accepted(make: Make) -> None:
    done = make("smoke", "--dry-run", "ARGS=runs=5", "BIN=elsewhere", "-s", PYTHONPATH="")
    assert (done.returncode, done.stderr) == (0, "")


def test_help_lists_every_described_target(make: Make) -> None:
    lines = make().stdout.splitlines()
    for target in ("list", "test", "clean", "distclean"):
        assert any(line.startswith(f"make {target} ") for line in lines)


# Deleting ----------------------------------------------------------------------------------------

RESULTS = (
    *("dp-se/abc/0-4.npz", "dp-se/abc/5-19.npz", "dp-se/abc/15-24.npz"),  # five runs twice
    *("ucb/abc/0-99.npz", "ucb/def/7-7.npz"),
)
NO_RESULTS = ("dp-se/abc/identity.json", "ucb/def/x-1.npz", "ucb/def/0-9.npz.tmp")
MADE = (
    *("out/adap-c2/adap-c2.pdf", "out/gallery/index.html", "out/a b/x.png", "out/failures.json"),
    *(".mypy_cache/x", ".ruff_cache/x", ".hypothesis/x", "src/__pycache__/x.pyc"),
)
MEASURED = ("out/bench/x.json", "out/leaks/x.json", "out/reliability/x.json")
ENVIRONMENT = (".venv/ready", ".venv/lib/__pycache__/x.pyc")


@pytest.fixture
def used(folder: Path) -> set[Path]:
    """Checkout with results, pictures, measurements and an environment; returns its own files."""
    own = {path for path in folder.rglob("*") if path.is_file()}
    kept = [f"cache/{name}" for name in (*RESULTS, *NO_RESULTS)]
    for name in (*kept, *MADE, *MEASURED, *ENVIRONMENT):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return own


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_clean_removes_pictures_and_caches_of_tools_and_neither_results_nor_the_environment(
    folder: Path, used: set[Path], make: Make
) -> None:
    before = files(folder)
    done = make("clean")
    assert (done.returncode, done.stderr) == (0, "")
    assert before - files(folder) == {folder / name for name in MADE}
    assert done.stdout.splitlines() == [
        "removed: out/ (entries: 4), .hypothesis, .mypy_cache, .ruff_cache,"
        " __pycache__ (folders: 1)",
        "kept: 126 runs in cache/, .venv/, the measurements in out/;"
        " make distclean removes these too",
    ]


def test_distclean_prints_the_number_of_deleted_runs_and_leaves_the_files_in_git(
    folder: Path, used: set[Path], make: Make
) -> None:
    done = make("distclean")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(folder) == used
    first, second = done.stdout.splitlines()
    assert first == "make distclean: deletes 126 runs in cache/"
    assert second.startswith("removed: cache, out, .venv, .hypothesis, ")


@pytest.mark.parametrize("target", ["clean", "distclean"])
def test_in_a_fresh_checkout_nothing_is_removed(folder: Path, target: str, make: Make) -> None:
    before = files(folder)
    done = make(target)
    assert (done.returncode, done.stderr) == (0, "")
    assert files(folder) == before
    assert "removed: nothing" in done.stdout
    assert " 0 runs in cache/" in done.stdout
