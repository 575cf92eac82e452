"""Sources that are edited while a command runs: every key belongs to the code that played."""

import json
import os
import py_compile
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import edited
import numba
import numpy as np
import pytest
from commands import PATIENCE, below

from dpbandits.config.compose import load
from dpbandits.drawing import plotting
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.kernel.roots import PACKAGE, Root
from dpbandits.run.runner import Completion, complete
from dpbandits.store import key


def played(folder: Path, marks: dict[str, dict[str, int]]) -> list[int]:
    """Return the value of each run that a fork stored; assert that it belongs to its key."""
    values = []
    for block in folder.glob("*/*/*.npz"):
        sources = json.loads((block.parent / "identity.json").read_text())["sources"]
        value = int("".join(str(marks[name][sources[name]]) for name in edited.MARKED))
        with np.load(block) as members:
            assert (members["curves"] == value).all(), block
            values += [value] * len(members["curves"])
    return values


@pytest.mark.parametrize("steps", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_an_edit_at_any_step_leaves_no_block_under_the_key_of_other_sources(
    steps: int, tmp_path: Path
) -> None:
    marks: dict[str, dict[str, int]] = {name: {} for name in edited.MARKED}
    for number in (2, 1):
        copy = tmp_path / str(number) / "dpbandits"
        shutil.copytree(PACKAGE.folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for name in edited.MARKED:
            edited.mark(copy / name, number)
        digests = key.sources(edited.MARKED, (Root("dpbandits", copy),))
        for name in edited.MARKED:
            marks[name][digests[name]] = number
    done = subprocess.run(
        [sys.executable, edited.__file__, str(copy), str(tmp_path), str(steps)],
        env=os.environ
        | {"DPBANDITS_CACHE": str(tmp_path / "code"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    calm, before, *others = done.stdout.splitlines()
    assert (calm.strip(), played(tmp_path / "-2", marks)) == ("-2", [11] * 3)
    assert (before.strip(), played(tmp_path / "-1", marks)) == ("-1", [21] * 3)
    assert len(others) == steps - 1
    stored = []
    for line in others:
        step, _, error = line.partition(" ")
        values = played(tmp_path / step, marks)
        assert set(values) <= {11}
        assert len(values) == 3 or "algorithms/dp_se.py: edited since this command" in error
        stored.append(len(values))
    assert 0 in stored


def test_a_library_that_is_replaced_on_disk_keeps_the_version_that_was_imported(
    cell: RegretExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "version", lambda name: "0.0")
    libraries = {"numba": numba.__version__, "numpy": np.__version__}
    assert key.identity(cell)["versions"] == libraries


def test_pictures_drawn_by_code_that_was_edited_since_are_not_up_to_date(
    checkout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec, settings = load("ftpl-new-cdf", below(tmp_path))  # without runs

    def complete_during_an_edit(*arguments: object) -> Completion:
        monkeypatch.setattr(produce, "complete", complete)
        with (checkout / "figures" / f"{spec.paper}.py").open("a") as file:
            file.write("EDITED = 1\n")
        return complete(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(produce, "complete", complete_during_an_edit)
    monkeypatch.setattr(plotting, "render", lambda *_: dict.fromkeys(plotting.FORMATS, b""))
    outcomes = []
    for _ in range(3):
        produce.produce(spec, settings)
        outcomes.append(capsys.readouterr().out.split("; ")[1])
    assert outcomes == ["drawn", "drawn", "pictures are up to date"]


def test_bytecode_that_looks_current_is_neither_used_nor_written(tmp_path: Path) -> None:
    (tmp_path / "dpbandits.toml").write_text('package = "some_paper"\n')
    (tmp_path / "algorithms").mkdir()
    for name in ("mine", "_shared"):
        file = tmp_path / "algorithms" / f"{name}.py"
        imports = "from some_paper.algorithms import _shared\n" if name == "mine" else ""
        for number in (1, 2):  # of one size and one time
            file.write_text(f"{imports}NUMBER = {number}\n")
            os.utime(file, (10**9, 10**9))
            if number == 1:
                py_compile.compile(str(file))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.pyc")}
    script = (
        "from dpbandits.kernel import roots; roots.discovery()\n"
        "from some_paper.algorithms import mine; print(mine.NUMBER, mine._shared.NUMBER)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("2 2\n", "")
    assert len(before) == 2
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.pyc")} == before
