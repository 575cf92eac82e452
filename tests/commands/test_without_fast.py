"""Without the folder fast/ everything works: the definitions play."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = "(every_round or prefix or runs_beside) and (klucb or dp-ftpl-gauss) and not beta"


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        ("-m", "pytest", "-p", "no:xdist", "tests/contract/test_algorithms.py", "-k", CONTRACT),
        ("-m", "dpbandits.cli.main", "run", "dpucb-2arms", "profile=smoke"),
    ],
    ids=["contract", "figure"],
)
def test_the_definitions_play_without_the_schemes(command: tuple[str, ...], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    skipped = shutil.ignore_patterns("fast", ".*", "out", "cache", "site", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=skipped)
    assert not (copy / "src" / "dpbandits" / "fast").exists()
    folders = {"PYTHONPATH": copy / "src", "DPBANDITS_CACHE": tmp_path / "code"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=copy,
        env=os.environ | {name: str(folder) for name, folder in folders.items()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
