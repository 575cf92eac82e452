"""Make rejects words that it would ignore, answers near misses, and deletes no results silently."""

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


IGNORED = {
    ("fig-adap-c2", "runs=5"): (
        'make has no use for runs: overrides are given in ARGS, make fig-adap-c2 ARGS="runs=5".'
    ),
    ("fig-adap-c2", "figure.horizon=1000"): 'make fig-adap-c2 ARGS="figure.horizon=1000".',
    ("fig-adap-c2", "+algorithm@figure.curves.x=ucb"): (
        'make fig-adap-c2 ARGS="+algorithm@figure.curves.x=ucb".'
    ),
    ("fig-adap-c2", "ARGS=profile=smoke", "runs=5"): (
        'make fig-adap-c2 ARGS="profile=smoke runs=5".'
    ),
    ("fig-adap-c2", "figure.title=a b"): """make fig-adap-c2 ARGS="figure.title='a b'".""",
    ("fig-adap-c2", "args=runs=5"): 'make fig-adap-c2 ARGS="runs=5".',
    ("fig-adap-c2", "~figure.curves.dp-se"): 'make fig-adap-c2 ARGS="~figure.curves.dp-se".',
    ("runs=5",): 'make fig-<name> ARGS="runs=5".',
    ("test", "k=privacy"): "make has no use for k: ",
    ("clean", "all=yes"): "make has no use for all: ",
}


@pytest.mark.parametrize("typed", IGNORED, ids=" ".join)
def test_a_variable_that_no_target_reads_is_rejected_in_one_line_that_names_args(
    typed: tuple[str, ...], make: Make
) -> None:
    done = make(*typed)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "overrides are given in ARGS, make " in line
    assert IGNORED[typed] in line


@pytest.mark.parametrize(
    "typed",
    [("ARGS=runs=5",), ("BIN=elsewhere",), ("SHELL=/bin/sh",), ("--jobs=2",), ("-s",), ("-k",)],
    ids=" ".join,
)
def test_a_variable_that_some_target_reads_is_accepted(typed: tuple[str, ...], make: Make) -> None:
    done = make("smoke", "--dry-run", *typed)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", ["help", "list", "lint", "clean", "distclean"])
def test_args_for_a_target_that_reads_none_are_rejected(target: str, make: Make) -> None:
    done = make(target, "ARGS=runs=5")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"*** make {target} takes no ARGS.  Stop.")
    # Not an error beside a target that reads them, nor if the shell's environment has some.
    assert make("fig-adap-c2", target, "--dry-run", "ARGS=runs=5").returncode == 0
    assert make("help", ARGS="runs=5").returncode == 0


def test_a_variable_of_the_environment_is_not_an_error(make: Make) -> None:
    assert make("help", runs="5", PYTHONPATH="").returncode == 0


WHICH = "which figure? make fig-<name>, as in make fig-adap-c2; make list shows the names"
NEAR_MISSES = {
    **dict.fromkeys(("fig-", "fig", "figure", "figures"), WHICH),
    "explain-": WHICH.replace("make fig-<name>", "make explain-<name>"),
    "paper-": "which paper? make paper-<name>, one of paper-azize2022",
    "sweep": "which sweep? make sweep-<name>, one of sweep-alpha",
    "gallry": "no target 'gallry' (did you mean make gallery?): make help lists the targets",
    "adap-c2": "no target 'adap-c2' (did you mean make fig-adap-c2?): make help",
    "azize2022": "no target 'azize2022' (did you mean make paper-azize2022?): make help",
    "conf": "no target 'conf': make help lists the targets",  # a folder of that name
    "it's": "no target 'it's': make help lists the targets",
}


@pytest.mark.parametrize("typed", NEAR_MISSES)
def test_an_unknown_target_is_answered_with_the_right_command(typed: str, make: Make) -> None:
    done = make(typed)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert f"*** {NEAR_MISSES[typed]}" in line


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
