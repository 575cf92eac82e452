"""Make rejects words that it would ignore and deletes no results silently."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
RUNS = ("dp-se/abc/0-4.npz", "dp-se/abc/5-19.npz", "dp-se/abc/15-24.npz", "ucb/abc/0-99.npz")
MADE = ("out/adap-c2/adap-c2.pdf", ".mypy_cache/x", "src/__pycache__/x.pyc")
KEPT = (*(f"cache/{name}" for name in RUNS), "out/bench/x.json", ".venv/ready")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of a checkout that make reads, with results, pictures and an environment."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=without)
    for name in ("conf/figure/adap-c2.yaml", *MADE, *KEPT):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a make command there, as a user does outside another make."""
    dropped = ("MAKE", "MFLAGS", "ARGS")
    environment = {k: value for k, value in os.environ.items() if not k.startswith(dropped)}
    command = ("make", f"PYTHON={sys.executable}", *words)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("typed", ["runs=5", "figure.horizon=1000", "~figure.curves.dp-se"])
def test_an_override_outside_args_is_rejected_in_one_line(typed: str, folder: Path) -> None:
    done = make(folder, "fig-adap-c2", typed, "ARGS=profile=smoke")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert typed.partition("=")[0] in line


@pytest.mark.parametrize(("target", "removed"), [("clean", MADE), ("distclean", (*MADE, *KEPT))])
def test_clean_keeps_results_and_distclean_prints_how_many_runs_it_deletes(
    target: str, removed: tuple[str, ...], folder: Path
) -> None:
    before = {path for path in folder.rglob("*") if path.is_file()}
    done = make(folder, target)
    assert (done.returncode, done.stderr) == (0, "")
    left = {path for path in folder.rglob("*") if path.is_file()}
    assert before - left == {folder / name for name in removed}
    assert " 125 runs in cache/" in done.stdout  # five runs are stored twice


def test_a_python_without_venv_is_reported_with_the_package_to_install(folder: Path) -> None:
    shutil.rmtree(folder / ".venv")
    debian = folder / "debian-python"
    debian.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n')
    debian.chmod(0o755)
    done = make(folder, "list", f"PYTHON={debian}")
    assert done.returncode == 2
    assert "sudo apt install python3-venv" in done.stderr
    assert not (folder / ".venv").exists()
