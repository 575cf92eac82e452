"""The code of docs/add-an-algorithm.md works: dropped in, it is drawn, or answers, as it says."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT

DOCUMENT = (ROOT / "docs" / "add-an-algorithm.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
((FIGURE, TYPED),) = re.findall(r"^dpbandits run (\S+) (.*)$", DOCUMENT, re.MULTILINE)
NAME = "explore-then-commit"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy of the checkout with the files of the document and nothing else new."""
    folder = tmp_path_factory.mktemp("example")
    for name in ("src", "conf", "figures", "tests/contract", "tests/oracles"):
        leave = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)
    names = ["explore_then_commit.py", f"{NAME}.yaml", "uniform_bai.py"]
    assert [Path(path).name for path in FILES] == names
    for path, content in FILES.items():
        path = f"src/dpbandits/{path}" if path.startswith("algorithms/") else path
        assert not (folder / path).exists(), f"{path} is in the way of the document's"
        (folder / path).write_text(content, "utf-8")
    return folder


def run(folder: Path, *command: str) -> str:
    """Return the output of a command that must succeed in the copy."""
    # A separate cache of machine code, because the sources differ. A pytest that a test starts is
    # not one of the workers of the pytest around it either.
    own = {"PYTHONPATH": str(folder / "src"), "DPBANDITS_CACHE": str(folder / "kernels")}
    inherited = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
    done = subprocess.run(
        command, cwd=folder, env=inherited | own, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_documented_command_draws_it_with_the_budget_of_its_releases(example: Path) -> None:
    out = run(example, *DPBANDITS, "run", FIGURE, *shlex.split(TYPED), "profile=smoke")
    assert "40 runs computed" in out  # five curves on four panels, two runs
    folder = example / "out" / "smoke" / FIGURE / f"etc={NAME}"
    rows = csv.DictReader((folder / f"{FIGURE}.csv").read_text("utf-8").splitlines())
    assert {row["panel"] for row in rows if row["label"] == "DP-ETC"} == {*"abcd"}
    # Texts in an SVG are paths; matplotlib adds a comment to each.
    assert "<!-- DP-ETC -->" in (folder / f"{FIGURE}.svg").read_text("utf-8")
    curves = json.loads((folder / f"{FIGURE}.json").read_text("utf-8"))["curves"]
    mine = [source for c in curves for source in c["sources"] if source["algorithm"] == NAME]
    assert len(mine) == 4
    for source in mine:
        assert source["composed_epsilon"] == pytest.approx(source["params"]["epsilon"], rel=1e-12)


def test_the_list_and_the_contract_tests_find_it(example: Path) -> None:
    lines = [line.split()[:2] for line in run(example, *DPBANDITS, "list").splitlines()]
    assert ["algorithm", NAME] in lines
    # The tests that compile nothing more; `make test` runs the others too.
    asked = "complete or types or beside_it and bernoulli or compose or own_arms or promise"
    command = ("-m", "pytest", "tests/contract/test_algorithms.py", "-k", f"{NAME} and ({asked})")
    out = run(example, sys.executable, *command, "-vv", "-n", "0", "-p", "no:cacheprovider")
    assert len(re.findall(rf"\[{NAME}\S* PASSED", out)) >= 6


def test_the_algorithm_that_answers_is_played_as_documented(example: Path) -> None:
    (call,) = re.findall(r"`(dp\.identify\(.*?\))`", DOCUMENT, re.DOTALL)
    program = f"import dpbandits as dp; found = {call}; print(found.wrong.count, found.budget)"
    wrong, budget = run(example, sys.executable, "-c", program).split(" ", 1)
    assert int(wrong) < 15  # of 100 runs at a risk of 0.05
    assert "composed=1.0" in budget
