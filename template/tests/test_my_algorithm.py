"""The algorithm keeps the contract of dpbandits, and the figure can be made."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def dpbandits(*words: str) -> None:
    command = [sys.executable, "-m", "dpbandits.cli.main", *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_my_algorithm_keeps_the_contract() -> None:
    dpbandits("verify", "my-algorithm")


def test_my_figure_can_be_made() -> None:
    dpbandits("run", "my-figure", "profile=smoke")
