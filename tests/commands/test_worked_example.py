"""The code of docs/add-an-algorithm.md works: dropped in, it is an algorithm in a figure."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import DPBANDITS, ROOT

DOCUMENT = (ROOT / "docs" / "add-an-algorithm.md").read_text("utf-8")
FILES = dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
COMMANDS = re.findall(r'^make fig-(\S+) ARGS="([^"]*)"$', DOCUMENT, re.MULTILINE)
NAME = "explore-then-commit"


@dataclass
class Example:
    """Copy of the checkout with the files of the document, in which commands can be run."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> str:
        """Return the output of a command that must succeed."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def file(self, kind: str) -> str:
        """Return the text of a file that the documented command made."""
        ((figure, _),) = COMMANDS
        (file,) = (self.folder / "out" / "smoke" / figure / "etc=explore-then-commit").glob(
            f"{figure}.{kind}"
        )
        return file.read_text("utf-8")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Exact result of following the document; the figure is drawn."""
    folder = tmp_path_factory.mktemp("example")
    for name in ("src", "conf", "figures", "tests/contract"):
        leave = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / name, folder / name, ignore=leave)
    shutil.copy(ROOT / "pyproject.toml", folder)
    for path, content in FILES.items():
        assert not (folder / path).exists(), f"{path} is in the way of the document's"
        (folder / path).write_text(content, "utf-8")
    # A separate cache of machine code, because the sources differ.
    own = {"PYTHONPATH": str(folder / "src"), "DPBANDITS_CACHE": str(folder / "kernels")}
    # A pytest that a test starts is not one of the workers of the pytest around it either.
    inherited = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
    example = Example(folder, inherited | own)
    ((figure, typed),) = COMMANDS
    out = example.run(*DPBANDITS, "run", figure, *shlex.split(typed), "profile=smoke")
    assert "40 runs computed" in out  # five curves on four panels, two runs
    return example


def test_the_document_shows_two_files_and_a_command() -> None:
    assert [Path(path).name for path in FILES] == ["explore_then_commit.py", f"{NAME}.yaml"]
    ((figure, typed),) = COMMANDS
    assert (ROOT / "conf" / "figure" / f"{figure}.yaml").exists()
    assert NAME in typed


def test_the_list_shows_it(example: Example) -> None:
    lines = example.run(*DPBANDITS, "list").splitlines()
    (line,) = (line for line in lines if line.split()[:2] == ["algorithm", NAME])
    (added,) = (line for line in lines if line.split()[:2] == ["+algorithm", NAME])
    assert added.split()[2] == NAME
    first = FILES["src/dpbandits/algorithms/explore_then_commit.py"].splitlines()[0].strip('"')
    assert line.endswith(first)


def test_the_command_draws_it_in_the_figure(example: Example) -> None:
    rows = list(csv.DictReader(example.file("csv").splitlines()))
    assert {row["panel"] for row in rows if row["label"] == "DP-ETC"} == set("abcd")
    assert "DP-UCB" in {row["label"] for row in rows}
    # Texts in an SVG are paths; matplotlib adds a comment to each.
    assert "<!-- DP-ETC -->" in example.file("svg")


def test_the_caption_tells_the_budget_that_its_releases_compose_to(example: Example) -> None:
    caption = " ".join(example.file("txt").split())
    assert "compose to the ε they are given" in caption
    curves = json.loads(example.file("json"))["curves"]
    for letter, epsilon in zip("abcd", ("0.1", "0.25", "0.5", "1"), strict=True):
        line = f"given ε = {epsilon} (global DP), composes to {epsilon}"
        assert [
            c["privacy"] for c in curves if c["panel"] == letter and c["label"] == "DP-ETC"
        ] == [line]
    sources: list[dict[str, Any]] = [s for c in curves for s in c["sources"]]
    mine = [source for source in sources if source["algorithm"] == NAME]
    assert len(mine) == 4
    for source in mine:
        assert source["composed_epsilon"] == pytest.approx(source["params"]["epsilon"], rel=1e-12)


def test_the_contract_tests_find_it_and_hold(example: Example) -> None:
    # The tests that compile nothing more; `make test` runs the others too.
    asked = "complete or types or beside_it and bernoulli or compose or own_arms or promise"
    command = ("-m", "pytest", "tests/contract/test_algorithms.py", "-k", f"{NAME} and ({asked})")
    out = example.run(sys.executable, *command, "-vv", "-n", "0", "-p", "no:cacheprovider")
    passed = set(re.findall(r"::(\w+)\[\S+\] PASSED", out))
    assert passed == {
        "test_an_algorithm_file_is_complete",
        "test_its_parameters_have_the_types_that_a_configuration_can_hold",
        "test_a_run_does_not_depend_on_the_runs_beside_it",
        "test_the_declared_releases_compose_to_the_budget_that_was_given",
        "test_an_algorithm_releases_rewards_of_its_own_arms_within_the_horizon",
        "test_who_declares_releases_says_what_is_promised_and_nobody_else",
        "test_a_promise_is_what_the_releases_compose_to_or_says_why_not",
    }
