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
LIMIT = "40 games reached the limit of 20,000 rounds"
Run = Callable[..., Done]


def digest(folder: Path) -> str:
    """Return a digest of all files of a package."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    contents = ((p.relative_to(folder).as_posix(), p.read_bytes()) for p in files)
    return hashlib.sha256(repr([*contents]).encode()).hexdigest()


def assert_all_commands_know_it(run: Run, project: Path, *engine: str) -> None:
    """Play, explain, draw, list, verify and export the figure of the project."""
    done = run("run", "identify", *engine)
    assert done.counts == (120, 0, "drawn")
    assert run("run", "identify", *engine).counts[:2] == (0, 120)
    folder = project / "out" / "identify"
    caption = " ".join((folder / "identify.txt").read_text("utf-8").split())
    assert "Lines are means of 40 games (seed 2022)" in caption
    assert "all compose to the ε they are given" in caption.lower()
    assert LIMIT in caption
    sidecar = json.loads((folder / "identify.json").read_text("utf-8"))
    assert [curve["privacy"] for curve in sidecar["curves"]] == [
        "given ε = 0.003 to 1 (global DP), composes to 0.003 to 1"
    ] * 2
    assert any(LIMIT in statement["sentence"] for statement in sidecar["statements"])
    assert {s["composed_epsilon"] for c in sidecar["curves"] for s in c["sources"]} == {
        0.003,
        0.1,
        1,
    }
    picture = (folder / "identify.svg").read_text("utf-8")
    assert "Rounds until the answer" in picture
    assert "Share of wrong answers" in picture
    verdict = json.loads((folder / "verdict.json").read_text("utf-8"))
    assert [claim["verdict"] for claim in verdict["claims"]] == ["reproduced"]
    explained = run("explain", "identify").out
    assert (
        "40/40 runs  dp-elimination(epsilon=0.003, risk=0.05) identifies on bernoulli K=3"
        in explained
    )
    assert LIMIT in explained
    assert "dp-elimination" in run("list").out
    verified = run("verify", "dp-elimination")
    assert verified.status == 0, verified.out
    assert "releases compose to the guarantee: epsilon 1 of 1 on bernoulli" in verified.out
    assert "global DP" in run("privacy", "dp-elimination").out
    assert run("export", "identify").status == 0
    assert run("site", "identify").status == 0
    pages = project / "out" / "site"
    assert "identification: " in (pages / "algorithms.html").read_text("utf-8")
    assert LIMIT in (pages / "figures" / "identify.html").read_text("utf-8")


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
    "kinds/identification.py",
    "experiments/identification.py",
    "conf/figure/identify.yaml",
)
MISTAKES = {
    "a missing method": (KIND, "def read(", "def reads(", f"{KIND}, line ", "abstract method"),
    "a missing name": (KIND, 'title = "Ident', 'titel = "Ident', KIND, "must define title"),
    "no kind": (KIND, "kind = Identification()", "kind = 5", KIND, "must be a Kind, got 5"),
    "a quantity of another kind": (
        *(FIGURE, "shows: wrong-answers", "shows: regret"),
        *("figure.panels.b.shows: regret is not for dp-elimination", "valid: stopping-time, wrong"),
    ),
    "a quantity of none": (
        *(FIGURE, "shows: wrong-answers", "shows: wrong-answer"),
        *("unknown shows 'wrong-answer' (conf/figure/identify.yaml)", "'wrong-answers'"),
    ),
    "no JSON": (NUMBERS, '"limit": self.limit', '"limit": {self.limit}', NUMBERS, "is not JSON"),
    "a key of another kind": (
        *(FIGURE, "limit: 20_000", "limit: 20_000\nhorizon: 5"),
        *("figure.horizon is a key of the kind formula (of a figure or", "limit, "),
    ),
    "a kind that there is not": (
        *("algorithms/dp_elimination.py", 'KIND = "identification"', 'KIND = "identifying"'),
        *("algorithms/dp_elimination.py: unknown KIND 'identifying'", "'identification'"),
    ),
    "a quantity that another kind has": (
        *(NUMBERS, 'TIME, WRONG = "stopping-time"', 'TIME, WRONG = "samples"'),
        *("have a quantity 'samples', ", "kinds/identification.py and "),
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
    here(project, "run", "identify").assert_told(2, *fragments)


@pytest.mark.long
def test_a_kind_of_a_taken_name_is_refused_with_both_files(tmp_path: Path) -> None:
    project = copied(tmp_path)
    (project / "kinds" / "identification.py").rename(project / "kinds" / "regret.py")
    files = "src/dpbandits/kinds/regret.py and kinds/regret.py"
    here(project, "run", "identify").assert_told(2, f"two kinds are named 'regret', {files}")
