"""A project brings a fifth kind of experiment: all commands know it, no file of ours changes."""

import hashlib
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from commands import DPBANDITS, ROOT, Done, Process
from test_wheel import python, run, wheel

__all__ = ["python", "wheel"]  # fixtures
PROJECT = ROOT / "tests" / "fifth_kind"
LIMIT = "40 games end after 20,000 rounds"
Run = Callable[..., Done]


def digest(folder: Path) -> str:
    """Return a digest of all files of a package."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    contents = ((p.relative_to(folder).as_posix(), p.read_bytes()) for p in files)
    return hashlib.sha256(repr([*contents]).encode()).hexdigest()


def assert_all_commands_know_it(run: Run, project: Path, *engine: str) -> None:
    """Play, explain, draw, list, verify and export the figure of the project."""
    done = run("run", "eliminate", *engine)
    assert done.counts == (120, 0, "drawn")
    assert run("run", "eliminate", *engine).counts[:2] == (0, 120)
    folder = project / "out" / "eliminate"
    caption = " ".join((folder / "eliminate.txt").read_text("utf-8").split())
    assert "Lines are means of 40 games (seed 2022)" in caption
    assert "all compose to the ε they are given" in caption.lower()
    assert LIMIT in caption
    sidecar = json.loads((folder / "eliminate.json").read_text("utf-8"))
    assert [curve["privacy"] for curve in sidecar["curves"]] == [
        "given ε = 0.003 to 1 (global DP), composes to 0.003 to 1"
    ] * 2
    assert any(LIMIT in statement["sentence"] for statement in sidecar["statements"])
    assert {s["composed_epsilon"] for c in sidecar["curves"] for s in c["sources"]} == {
        0.003,
        0.1,
        1,
    }
    picture = (folder / "eliminate.svg").read_text("utf-8")
    assert "Rounds until one arm is left" in picture
    assert "Share of misses" in picture
    verdict = json.loads((folder / "verdict.json").read_text("utf-8"))
    assert [claim["verdict"] for claim in verdict["claims"]] == ["reproduced"]
    explained = run("explain", "eliminate").out
    assert (
        "40/40 runs  dp-elimination(epsilon=0.003, risk=0.05) eliminates on bernoulli K=3"
        in explained
    )
    assert LIMIT in explained
    assert "dp-elimination" in run("list").out
    verified = run("verify", "dp-elimination")
    assert verified.status == 0, verified.out
    assert "releases compose to the guarantee: epsilon 1 of 1 on bernoulli" in verified.out
    assert "global DP" in run("privacy", "dp-elimination").out
    assert run("export", "eliminate").status == 0
    assert run("site", "eliminate").status == 0
    pages = project / "out" / "site"
    assert "elimination: " in (pages / "algorithms.html").read_text("utf-8")
    assert LIMIT in (pages / "figures" / "eliminate.html").read_text("utf-8")


def here(project: Path, *words: str) -> Done:
    return Process(*DPBANDITS, *words, folder=str(project)).done()


def copied(folder: Path) -> Path:
    shutil.copytree(PROJECT, folder / "project")
    return folder / "project"


@pytest.mark.long
def test_a_project_brings_a_fifth_kind_to_an_installed_package(
    python: Path, tmp_path: Path
) -> None:
    project = copied(tmp_path)
    (package,) = (python.parent.parent / "lib").glob("python*/site-packages/dpbandits")
    before = digest(package)
    assert_all_commands_know_it(lambda *words: run(python, project, *words), project)
    assert digest(package) == before


@pytest.mark.long
def test_a_project_brings_a_fifth_kind_to_a_cluster(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    project = copied(tmp_path)
    before = digest(ROOT / "src")

    assert_all_commands_know_it(partial(here, project), project, "engine=dask")
    assert digest(ROOT / "src") == before


KIND, NUMBERS, FIGURE = (
    "kinds/elimination.py",
    "experiments/elimination.py",
    "conf/figure/eliminate.yaml",
)
MISTAKES = {
    "a missing method": (KIND, "def read(", "def reads(", f"{KIND}, line ", "abstract method"),
    "a missing name": (KIND, 'title = "Elim', 'titel = "Elim', KIND, "must define title"),
    "no kind": (KIND, "kind = Elimination()", "kind = 5", KIND, "must be a Kind, got 5"),
    "a quantity of another kind": (
        *(FIGURE, "shows: missed", "shows: regret"),
        *(
            "figure.panels.b.shows: regret is not for dp-elimination",
            "valid: missed, rounds-needed",
        ),
    ),
    "a quantity of none": (
        *(FIGURE, "shows: missed", "shows: misse"),
        *("unknown shows 'misse' (conf/figure/eliminate.yaml)", "'missed'"),
    ),
    "no JSON": (
        NUMBERS,
        '"most_rounds": self.most_rounds',
        '"most_rounds": {self.most_rounds}',
        NUMBERS,
        "is not JSON",
    ),
    "a key of another kind": (
        *(FIGURE, "most_rounds: 20_000", "most_rounds: 20_000\nhorizon: 5"),
        *("figure.horizon is a key of the kind formula (of a figure or", "most_rounds, "),
    ),
    "a kind that there is not": (
        *("algorithms/dp_elimination.py", 'KIND = "elimination"', 'KIND = "eliminating"'),
        *("algorithms/dp_elimination.py: unknown KIND 'eliminating'", "'elimination'"),
    ),
    "a quantity that another kind has": (
        *(NUMBERS, 'TIME, MISSED = "rounds-needed"', 'TIME, MISSED = "samples"'),
        *("have a quantity 'samples', ", "kinds/elimination.py and "),
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_kind_is_one_line_that_names_the_file_and_what_is_valid(
    mistake: str, tmp_path: Path
) -> None:
    project, (file, right, wrong, *fragments) = copied(tmp_path), MISTAKES[mistake]
    text = (project / file).read_text("utf-8")
    assert text.count(right) == 1
    (project / file).write_text(text.replace(right, wrong), "utf-8")
    here(project, "run", "eliminate").assert_told(2, *fragments)


@pytest.mark.long
def test_a_kind_of_a_taken_name_is_refused_with_both_files(tmp_path: Path) -> None:
    project = copied(tmp_path)
    (project / "kinds" / "elimination.py").rename(project / "kinds" / "regret.py")
    files = "src/dpbandits/kinds/regret.py and kinds/regret.py"
    here(project, "run", "eliminate").assert_told(2, f"two kinds are named 'regret', {files}")
