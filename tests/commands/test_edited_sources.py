"""Sources that are edited while a command runs: every key belongs to the code that played."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import scipy
from commands import PATIENCE, ROOT, RUN_PY, below
from edited import MARKED, Scenario, mark, with_mark

from dpbandits.cells.bandit_cell import Cell
from dpbandits.config.compose import load
from dpbandits.core.roots import ROOTS, Root
from dpbandits.drawing import plotting
from dpbandits.factory import produce
from dpbandits.files import provenance
from dpbandits.run import worker
from dpbandits.run.missing_runs import Completing
from dpbandits.store import fingerprint
from dpbandits.store.identity import identity

SEARCH = MARKED[2]
AGAIN = "edited since this command started"


def copied(folder: Path) -> Path:
    """Return a copy of the package whose marked files have the mark 1."""
    copy = folder / "dpbandits"
    shutil.copytree(ROOTS[0].folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in MARKED:
        file = copy / name
        file.write_text(with_mark(file.read_text("utf-8"), 1), "utf-8")
    return copy


@dataclass(frozen=True)
class Result:
    """Outcome of a scenario."""

    status: int
    folder: Path

    @property
    def reports(self) -> list[str]:
        """Lines about edited sources."""
        return [line for line in self.err.splitlines() if AGAIN in line]

    @property
    def err(self) -> str:
        return (self.folder / "stderr").read_text()

    def facts(self) -> dict[str, Any]:
        assert self.status == 0, self.err
        facts: dict[str, Any] = json.loads((self.folder / "facts.json").read_text())
        return facts


class Forks:
    """Process that runs scenarios in forks, and the copy of the package that they edit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.copy = copied(folder / "copy")
        environment = os.environ | {"DPBANDITS_CACHE": str(folder / "machine code")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("edited.py"))],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, scenario: Scenario) -> Result:
        """Run a scenario; start and leave with marks 1 everywhere."""
        assert self.process.stdout is not None
        folder = Path(scenario.folder)
        scenario.write_to(self.process.stdin)
        status = int(self.process.stdout.readline())
        mark(self.copy / scenario.edited, 1)
        return Result(status, folder)

    def close(self) -> None:
        self.process.communicate(timeout=PATIENCE)


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    forks = Forks(tmp_path_factory.mktemp("edited"))
    yield forks
    forks.close()


@pytest.fixture(scope="module")
def digests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """Marks by the digests that a fingerprint has for them, by file."""
    found: dict[str, dict[str, int]] = {name: {} for name in MARKED}
    for number in (1, 2):
        copy = copied(tmp_path_factory.mktemp("digests"))
        for name in MARKED:
            mark(copy / name, number)
        for name in MARKED:
            found[name][fingerprint.sources((name,), (Root("dpbandits", copy),))[name]] = number
    assert all(len(of_file) == 2 for of_file in found.values())
    return found


def check_blocks(folder: Path, digests: dict[str, dict[str, int]]) -> set[int]:
    """Assert that every block was played by the sources in its key; return the values."""
    values = set()
    blocks = list((folder / "cache").glob("*/*/*.npz"))
    assert blocks
    for block in blocks:
        sources = json.loads((block.parent / "identity.json").read_text())["sources"]
        marks = [digests[name][sources[name]] for name in MARKED if name in sources]
        with np.load(block) as members:
            curves = members["curves"]
        value = int("".join(map(str, marks)) or 0)
        assert (curves == value).all(), (block, marks, curves[0, 0])
        values.add(value)
    return values


# Every step ---------------------------------------------------------------------------------------

STEPS = 6


@pytest.fixture(scope="module")
def calm(forks: Forks) -> dict[str, Any]:
    """Facts without an edit, when the .pyc files of the copy have been written."""
    forks.run(Scenario(str(forks.copy), str(forks.folder / "first")))
    result = forks.run(Scenario(str(forks.copy), str(forks.folder / "calm")))
    assert not result.reports
    return result.facts()


@pytest.fixture(scope="module")
def edited_before(forks: Forks, calm: dict[str, Any]) -> dict[str, Any]:
    """Facts of a process that starts after the edit."""
    return forks.run(Scenario(str(forks.copy), str(forks.folder / "edited"), event=0)).facts()


def check_step(
    step: int,
    steps: int,
    forks: Forks,
    calm: dict[str, Any],
    edited_before: dict[str, Any],
    digests: dict[str, dict[str, int]],
) -> None:
    folder = forks.folder / f"step {step} of {steps}"
    event = calm["events"] * step // steps
    result = forks.run(Scenario(str(forks.copy), str(folder), event=event))
    facts = result.facts()
    assert facts["events"] > event
    values = check_blocks(result.folder, digests)
    assert values in ({11, 111}, {21, 211})
    before = calm if values == {11, 111} else edited_before
    for fact in ("folder", "island", "worker"):
        assert facts[fact] == before[fact]
    # An edit during the last report may escape it.
    if 2 * step <= steps or values == {21, 211}:
        assert len(result.reports) == (values == {11, 111})


def test_an_edit_of_the_same_size_and_time_replaces_the_bytecode(
    forks: Forks, calm: dict[str, Any], digests: dict[str, dict[str, int]]
) -> None:
    bytecode = forks.copy / "algorithms" / "__pycache__"
    assert list(bytecode.glob("dp_se.*.pyc"))
    folder = forks.folder / "bytecode"
    forks.run(Scenario(str(forks.copy), str(folder), event=0))
    assert check_blocks(folder, digests) == {21, 211}


def test_the_marks_decide_the_digests(calm: dict[str, Any], edited_before: dict[str, Any]) -> None:
    assert calm["folder"] == calm["island"] != edited_before["island"] == edited_before["folder"]
    assert not {*calm["worker"]} & {*edited_before["worker"]}


@pytest.mark.parametrize("step", range(STEPS))
def test_an_edit_at_any_step_leaves_no_block_under_the_key_of_other_sources(
    step: int,
    forks: Forks,
    calm: dict[str, Any],
    edited_before: dict[str, Any],
    digests: dict[str, dict[str, int]],
) -> None:
    check_step(step, STEPS, forks, calm, edited_before, digests)


@pytest.mark.slow
def test_an_edit_at_any_of_many_steps_leaves_no_block_under_the_key_of_other_sources(
    forks: Forks,
    calm: dict[str, Any],
    edited_before: dict[str, Any],
    digests: dict[str, dict[str, int]],
) -> None:
    for step in range(150):
        check_step(step, 150, forks, calm, edited_before, digests)


# Commands -----------------------------------------------------------------------------------------

FIRST_BLOCK = "store.blocks.Store.write"
FEW = ("runs=2", "engine.workers=1")
SMOKE = ("profile=smoke", *FEW)
COMMANDS = {
    "run-all": ("dpbandits", "run-all", "--paper", "sajed2019", *SMOKE),
    "multirun": (RUN_PY[1], "-m", "figure=adap-headline,dpse-epsilon", *SMOKE),
}


def check_reported_once(result: Result, digests: dict[str, dict[str, int]]) -> None:
    """Assert that an edit of dp_se.py reached no block and that one line reports it."""
    values = check_blocks(result.folder, digests)
    assert 11 in values
    assert values <= {0, 1, 11}  # 0 and 1: cells that reach no marked file, or laplace.py alone
    (line,) = result.reports
    assert line.startswith("dpbandits: algorithms/dp_se.py: edited since this command started")
    assert line.endswith("run it again to use the edit")


@pytest.mark.parametrize("name", COMMANDS)
def test_an_edit_at_the_first_block_is_reported_once_and_reaches_no_key(
    name: str, forks: Forks, digests: dict[str, dict[str, int]]
) -> None:
    folder = str(forks.folder / name)
    result = forks.run(Scenario(str(forks.copy), folder, COMMANDS[name], moment=FIRST_BLOCK))
    assert result.status == 0, result.err
    check_reported_once(result, digests)


def test_after_an_edit_at_the_first_block_of_a_check_the_next_check_computes_with_it(
    forks: Forks, digests: dict[str, dict[str, int]]
) -> None:
    command = ("dpbandits", "check", "adap-headline", "dpse-epsilon", *FEW)
    folder = str(forks.folder / "check")
    scenario = Scenario(str(forks.copy), folder, command, moment=FIRST_BLOCK)
    result = forks.run(scenario)
    assert result.status == 1, result.err  # constant curves are outside their bands
    check_reported_once(result, digests)
    result = forks.run(replace(scenario, moment="", event=0))
    assert 21 in check_blocks(result.folder, digests)
    assert not result.reports


def test_an_edit_between_planning_and_a_late_import_does_not_reach_the_runs(
    forks: Forks, digests: dict[str, dict[str, int]]
) -> None:
    # audit/search.py is imported by the first audit.
    command = ("dpbandits", "run", "privacy-audit", *SMOKE)
    folder = forks.folder / "audits"
    scenario = Scenario(str(forks.copy), str(folder), command, SEARCH, "run.tasks.plan")
    result = forks.run(scenario)
    assert check_blocks(folder, digests) == {1, 11, 111}
    assert [line.split()[1] for line in result.reports] == [f"{SEARCH}:"]


# Versions -----------------------------------------------------------------------------------------


def test_a_library_that_is_replaced_on_disk_keeps_the_version_that_was_imported(
    cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "0.0")
    libraries = {"numba": numba.__version__, "numpy": np.__version__}
    assert identity(cell)["versions"] == libraries
    assert worker.facts.__wrapped__().items() >= (libraries | {"scipy": scipy.__version__}).items()


@pytest.mark.parametrize("edited", [False, True])
def test_sources_that_were_edited_are_not_those_of_the_commit(
    edited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = subprocess.CompletedProcess("git", 0, "0123456789ab\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: described)
    monkeypatch.setattr(Root, "is_edited", lambda _: edited)
    assert provenance._described.__wrapped__(ROOTS[0]) == "0123456789ab" + "-dirty" * edited


# Pictures -----------------------------------------------------------------------------------------


def test_pictures_drawn_by_code_that_was_edited_since_are_not_up_to_date(
    checkout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec, settings = load("ftpl-new-cdf", below(tmp_path))  # without runs

    def completing_during_an_edit(*arguments: Any) -> Any:
        monkeypatch.setattr(produce, "Completing", Completing)
        with (checkout / "figures" / f"{spec.paper}.py").open("a") as file:
            file.write("EDITED = 1\n")
        return Completing(*arguments)

    monkeypatch.setattr(produce, "Completing", completing_during_an_edit)
    monkeypatch.setattr(plotting, "render", lambda *_: dict.fromkeys(plotting.FORMATS, b""))
    outcomes = []
    for _ in range(3):
        produce.produce(spec, settings)
        outcomes.append(capsys.readouterr().out.split("; ")[1])
    assert outcomes == ["drawn", "drawn", "pictures are up to date"]
