"""`dpbandits check` fails where an algorithm is wrong: bugs are planted, one at a time.

Every bug is played with several seeds. The power of the check is the share of seeds for which the
check of the figures with that algorithm detects the bug; it is printed (`pytest -m slow -s`).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (1, 2, 3)
PATIENCE = 900  # seconds for a check


# Texts of a file with their wrong replacements (`edits`), the figures that should detect them, and
# the prefixes of the labels of the wrong curves.
BUGS: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("planted_bugs.yaml").read_text("utf-8")
)


@pytest.mark.parametrize("name", BUGS)
def test_the_right_text_is_in_the_file_once(name: str) -> None:
    text = (ROOT / "src" / "dpbandits" / BUGS[name]["file"]).read_text()
    assert all(text.count(right) == 1 for right in BUGS[name]["edits"])


def checked(copy: Path, figures: Sequence[str], seed: int) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "dpbandits.cli.main", "check", *figures, f"seed={seed}")
    environment = os.environ | {
        "PYTHONPATH": str(copy / "src"),
        "DPBANDITS_CACHE": str(copy / "kernels"),
    }
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the checkout, which a test may modify."""
    for folder in ("src", "conf", "figures"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    return tmp_path


def wrong_curves(output: str) -> set[str]:
    """Return the labels of the curves that a check reports outside their bands."""
    return set(re.findall(r"^  \(\w\) (.*) at [\d.,e+-]+: ", output, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_the_check_notices(name: str, copy: Path) -> None:
    bug, caught = BUGS[name], []
    file = copy / "src" / "dpbandits" / bug["file"]
    for right, wrong in bug["edits"].items():
        text = file.read_text()
        assert text.count(right) == 1, f"{file.name} has changed, plant another bug: {right}"
        file.write_text(text.replace(right, wrong))
    for seed in SEEDS:
        done = checked(copy, bug["figures"], seed)
        assert done.returncode in (0, 1), done.stderr
        wrong = wrong_curves(done.stdout)
        assert (done.returncode == 1) == bool(wrong), done.stdout
        # No other curve is flagged.
        assert all(label.startswith(tuple(bug["labels"])) for label in wrong), wrong
        caught.append(bool(wrong))
    print(f"\n{name}: noticed with {sum(caught)} of {len(caught)} seeds")
    assert all(caught), f"noticed with {sum(caught)} of {len(caught)} seeds"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_check_is_quiet_where_nothing_is_wrong(seed: int, copy: Path) -> None:
    figures = tuple(dict.fromkeys(figure for bug in BUGS.values() for figure in bug["figures"]))
    done = checked(copy, figures, seed)
    assert done.returncode == 0, done.stdout + done.stderr
