"""Whatever a number comes from may be edited: the next command computes the new number."""

import json
import os
import py_compile
import sys
from pathlib import Path

import pytest
from commands import ROOT, Done, Process

# The policy pulls the arm that five files and the source add up to; arm 1 costs 0.5 a round.
POLICY = """
from pathlib import Path
from typing import NamedTuple
import published, editable, homeless
from dpbandits.kernel.bandit import playing, pull
from dpbandits.kernel.compilation import kernel
from some_paper.algorithms import _helper

LABEL, OWN = "Mine", 0
class Params(NamedTuple):
    pass

@kernel
def play(params, bandit, rng):
    while playing(bandit):
        pull(bandit, ARM)

ARM = OWN + _helper.ARM + int(Path(__file__).with_name("arm.txt").read_text())
ARM += published.ARM + editable.ARM + homeless.ARM
"""
SCRIPT = """
import dpbandits as dp
found = dp.play("mine", means=[0.75, 0.25], horizon=1000, runs=2, progress=False)
print(found.mean[-1], found.computed)
"""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a project and of the libraries that it uses, with its runs and machine code."""
    folder = tmp_path_factory.mktemp("original")
    algorithms, libraries = folder / "project" / "algorithms", folder / "libraries"
    for made in (algorithms, folder / "project" / "conf", libraries / "editable"):
        made.mkdir(parents=True)
    (folder / "project" / "dpbandits.toml").write_text('package = "some_paper"\n')
    (algorithms / "mine.py").write_text(POLICY)
    (algorithms / "arm.txt").write_text("0")
    for file in (
        algorithms / "_helper.py",
        libraries / "published.py",
        libraries / "editable" / "__init__.py",
        libraries / "homeless.py",
    ):
        file.write_text("ARM = 0\n")
    for name in ("published", "editable"):
        described = libraries / f"{name}-1.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (described / "top_level.txt").write_text(f"{name}\n")
    origin = {"url": "file:///", "dir_info": {"editable": True}}
    (libraries / "editable-1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin))
    for file in folder.rglob("*.*"):
        os.utime(file, (10**9, 10**9))
    assert played(folder) == "0.0 2"
    assert played(folder) == "0.0 0"
    return folder


def run(folder: Path, *words: str) -> Done:
    """Run Python in the project."""
    return Process(
        *(sys.executable, *words),
        folder=str(folder / "project"),
        PYTHONPATH=os.pathsep.join([str(ROOT / "src"), str(folder / "libraries")]),
        PYTHONDONTWRITEBYTECODE="1",
        DPBANDITS_CACHE=str(folder / "code"),
    ).done()


def played(folder: Path) -> str:
    """Return the mean regret of two runs, and how many of them were computed."""
    done = run(folder, "-c", SCRIPT)
    assert done.status == 0, done.err
    return done.out.strip()


@pytest.mark.long
@pytest.mark.parametrize(
    "edits",
    [
        {"project/algorithms/arm.txt": ("0", "1")},
        {"project/algorithms/_helper.py": ("0", "1")},
        {"project/algorithms/mine.py": ('"Mine", 0', '"Mine", 1')},  # whose bytecode looks current
        {
            "libraries/published.py": ("0", "1"),
            "libraries/published-1.0.dist-info/METADATA": ("n: 1.0", "n: 2.0"),
        },
        {"libraries/editable/__init__.py": ("0", "1")},
        {"libraries/homeless.py": ("0", "1")},
    ],
    ids=["data file", "helper", "bytecode", "foreign package", "editable install", "loose module"],
)
def test_after_an_edit_of_one_size_and_time_the_number_is_the_new_one(
    original: Path, edits: dict[str, tuple[str, str]]
) -> None:
    before = {name: (original / name).read_text() for name in edits}
    bytecode = [py_compile.compile(str(original / name)) for name in edits if "mine" in name]
    for name, (old, new) in edits.items():
        assert old in before[name]
        (original / name).write_text(before[name].replace(old, new))
        os.utime(original / name, (10**9, 10**9))
    try:
        assert played(original) == "500.0 2"
    finally:
        for name, text in before.items():
            (original / name).write_text(text)
        for path in filter(None, bytecode):
            Path(path).unlink()


def test_a_data_file_that_is_gone_is_named_with_the_source_that_reads_it(original: Path) -> None:
    file = original / "project" / "algorithms" / "arm.txt"
    file.rename(original / "elsewhere")
    try:
        done = run(original, "-m", "dpbandits.cli.main", "compare", "mine", "ucb")
    finally:
        (original / "elsewhere").rename(file)
    done.assert_told(2, "algorithms/mine.py, line", f"No such file or directory: '{file}'")
