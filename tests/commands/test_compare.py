"""`dpbandits compare`: files, table and verdict without any YAML, and its errors of one line."""

import json
import re
from pathlib import Path

import pytest
from commands import DPBANDITS, KINDS, Process
from complaints import called

from dpbandits.config.settings import Settings
from dpbandits.factory import produce
from dpbandits.spec.figure import FigureSpec

GAME = "means=0.9,0.5", "horizon=400", "runs=5", "workers=1"

ALONE = '''"""Pulls one arm."""
from typing import NamedTuple
from dpbandits.kernel.bandit import pull_many, rounds_left
from dpbandits.kernel.compilation import kernel
LABEL = "Alone"
class Params(NamedTuple):
    """The arm."""
    arm: int = 0
@kernel
def play(params, bandit, rng):
    pull_many(bandit, params.arm, rounds_left(bandit))
'''


@pytest.fixture(autouse=True)
def _in_copy(checkout: Path) -> None:
    """Work in a copy of the checkout."""


def test_it_writes_the_files_of_a_figure_and_a_verdict() -> None:
    words = "dp-se", "ucb", "adap-klucb", "epsilon=0.5,2", *GAME
    done = called("compare", *words)
    assert done.counts == (25, 0, "drawn")  # UCB plays the same runs in both panels
    (folder,) = Path("out/compare").iterdir()
    assert folder.name == "dp-se+ucb+adap-klucb-epsilon=0.5,2-horizon=400-means=0.9,0.5-runs=5"
    assert {path.suffix[1:] for path in folder.iterdir()} == KINDS
    assert {path.stem for path in folder.iterdir()} == {folder.name}
    caption = " ".join((folder / f"{folder.name}.txt").read_text("utf-8").split())
    assert (  # 400 rounds are too few for a phase of DP-SE
        "UCB is not private. Nothing is released by DP-SE. The others compose to the ε they are "
        "given." in caption
    )
    assert "Lower bound: Azize and Basu 2022, Theorem 3" in caption
    sidecar = json.loads((folder / f"{folder.name}.json").read_bytes())
    assert (
        sidecar["command"] == f"dpbandits compare {' '.join(w for w in words if 'work' not in w)}"
    )
    assert sidecar["provenance"]["versions"]["numba"]
    labels = {curve["label"] for curve in sidecar["curves"]}
    assert labels == {"DP-SE", "UCB", "AdaP-KLUCB", "Lower bound"}
    tables = done.out.split("Final regret on ")[1:]
    assert len(tables) == 2
    for table, epsilon in zip(tables, ("0.5", "2"), strict=True):
        assert f"Bernoulli, K = 2, epsilon = {epsilon}, T = 400, 5 runs" in table
        assert "not private" in table
        assert "Under global DP: " in table
    assert called("compare", *words).counts == (0, 25, "pictures are up to date")
    assert called("compare", *words, "seed=3").counts[0] == 25


def test_members_of_conf_and_parameters_of_one_algorithm() -> None:
    words = "adap-ucb", "sajed2019-dp-ucb", "adap-ucb.alpha=4,2.5", "dp-se", "epsilon=1"
    done = called("compare", *words, *GAME)
    assert done.status == 0, done.err
    (file,) = Path("out/compare").glob("*/*.json")
    curves = json.loads(file.read_bytes())["curves"]
    params = {curve["label"]: curve["sources"][0].get("params", {}) for curve in curves}
    assert params["AdaP-UCB (alpha=4)"]["alpha"] == 4
    assert "AdaP-UCB (alpha=2.5)" in done.out
    assert params["DP-UCB"]["split"] == "none"  # of conf/algorithm/sajed2019-dp-ucb.yaml
    assert "adap-ucb.alpha=4,2.5" in file.stem


def test_an_algorithm_without_yaml_in_a_project_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    for name in ("algorithms", "conf", "figures"):
        (folder / name).mkdir(parents=True)
    (folder / "dpbandits.toml").write_text('package = "some_paper"\n')
    (folder / "algorithms" / "alone.py").write_text(ALONE)
    words = "alone", "alone.arm=1", "dp-se", "epsilon=1", *GAME
    done = Process(*DPBANDITS, "compare", *words, folder=str(folder)).done()
    assert done.status == 0, done.err
    assert "Alone" in done.out
    assert list((folder / "out" / "compare").glob("alone+dp-se-*/*.png"))


def test_changes_to_an_environment_and_a_law_by_its_name() -> None:
    small = "environment.means=0.5,0.4", "horizon=100", "runs=2"
    assert "on Bernoulli, K = 2" in called("compare", "ucb", "environment=c2", *small).out
    done = called("compare", "ucb", "environment=beta", *small)
    assert "on Beta, K = 2" in done.out


def test_a_group_has_the_algorithms_of_a_definition_of_privacy_that_have_their_budgets() -> None:
    done = called(
        "compare", "zcdp", "not-private", "adac-ucb.rho=2", "horizon=60", *GAME[:1], "runs=2"
    )
    assert done.status == 0, done.err
    (file,) = Path("out/compare").glob("*/*.json")
    labels = {curve["label"] for curve in json.loads(file.read_bytes())["curves"]}
    assert labels >= {"AdaC-UCB (rho=2)", "UCB", "KL-UCB", "IMED", "TS"}
    assert not {label for label in labels if label.startswith("DP-")}
    left = called("compare", "zcdp", "dp-se", "horizon=60", *GAME[:1], "runs=2").out
    for name in ("adac-ucb", "adac-gope", "adac-oful"):
        assert f"zcdp: {name} is left out, it needs {name}.rho\n" in left


def test_ties_that_favour_the_best_arm_are_told() -> None:
    words = "adap-klucb", "adap-ucb", "epsilon=0.01", "horizon=100", "runs=2"
    told = "AdaP-KLUCB: where nothing tells the arms apart, as at small budgets, the first one is"
    assert told in " ".join(called("compare", *words, "means=0.9,0.5").out.split())
    for other in (("means=0.5,0.9",), ("means=0.9,0.5", "adap-klucb.ties=random")):
        assert "tells the arms apart" not in called("compare", *words, *other).out


def test_a_game_has_one_folder_however_it_is_written_and_no_other_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found, threads = list[str](), list[int]()

    def noticed(spec: FigureSpec, settings: Settings) -> int:
        found.append(spec.name)
        threads.extend([settings.workers] if settings.workers else [])
        return 1

    monkeypatch.setattr(produce, "produce", noticed)
    for words in (
        "dp-se ucb means=0.9,0.5 horizon=1000 epsilon=1 workers=1 paths.out=elsewhere",
        "dp-se ucb epsilon=1e0 means=[0.9,5e-1] horizon=1e3",
        "dp-se ucb means=0.9,0.5 horizon=1000 epsilon=1e+16",
        "dp-se ucb means=0.9,0.5 horizon=1000 epsilon=1e-16",
        "dp-se ucb means=0.9,0.5 horizon=1000 seed=8",
        "dp-se ucb environment={family:bernoulli,means:[0.9,0.5]} horizon=1000",
        "dp-se ucb environment={family:bernoulli,means:[0.9,0.5]} horizon=1000 runs=9",
        "adap-ucb means=0.9,0.5 adap-ucb.alpha=1e+16",
        "adap-ucb means=0.9,0.5 adap-ucb.alpha=1e-16",
    ):
        assert called("compare", *words.split()).status == 1
    assert found[0] == found[1]
    assert len({*found}) == len(found) - 1
    assert sum(bool(re.search("-[0-9a-f]{8}$", name)) for name in found) == 2  # of lost braces
    assert threads == [1]
    assert all(re.fullmatch(r"[\w.,=+-]{1,89}", name) for name in found)


def test_one_command_writes_a_picture_and_tables_for_a_paper() -> None:
    Path("paper").mkdir()
    words = "dp-se", "adap-klucb", "ucb", "epsilon=0.5,2", *GAME, "spread=confidence", "level=0.9"
    form = "name=fig1", "width=column", "figure.font_size=7", "y_axis=log", "checkpoints=20,100"
    done = called("compare", *words, *form, "--output", "paper/fig1.svg", "--latex", "--csv")
    assert done.status == 0, done.err
    made = Path("out/compare/fig1")
    assert Path("paper/fig1.svg").read_bytes() == (made / "fig1.svg").read_bytes()
    assert "90 % confidence intervals of the mean" in (made / "fig1.txt").read_text("utf-8")
    rows = [line.split(",") for line in (made / "fig1.csv").read_text("utf-8").splitlines()]
    assert {row[2] for row in rows if row[1] == "UCB"} == {"20", "100", "400"}
    latex = Path("paper/fig1.tex").read_text("utf-8")
    assert r"Regret ($\pm$ 90\,\% confidence)" in latex
    assert r"\emph{Global DP, $\epsilon = 0.5$}" in latex
    assert latex.count("UCB & ") == 3  # once where it is not private, twice AdaP-KLUCB
    table = Path("paper/fig1.csv").read_text("utf-8").splitlines()
    assert table[0].startswith("epsilon,privacy,algorithm,regret,regret ± (90 % confidence),behind")
    assert len(table) == 1 + 2 * 3
    label, regret, error = next(row for row in table if ",UCB," in row).split(",")[2:5]
    assert f"{label} & ${regret} \\pm {error}$ & " in latex


BAD = [
    ("dp-se environment=c2 epsilon=x", "epsilon must be from 1e-100 to 1e100, got 'x'"),
    ("dp-se environment=c2 epsilon=", "parameters are written as name=value, got 'epsilon='"),
    ("adac-ucb environment=c2", "adac-ucb needs rho: add adac-ucb.rho=<value>"),
    ("dp-ftpl-gauss environment=c2", "dp-ftpl-gauss needs delta: add delta=<value>"),
    ("dp-se environment={family:beta,means:[1]}", "means must be a list of two or more means"),
    ("dp-se environment={family:beta", "cannot read 'environment={family:beta'"),
    ("dp-se environment=c2 horzon=4", "key 'horzon' (command line); did you mean 'horizon'"),
    ("dp-se environment=c2 runs=1 runs=2", "runs is set twice"),
    ("dp-se environment=c2 dp-se.bet=1", "unknown parameter 'bet'"),
    ("dp-se environment=c2 ucb.alpha=1", "unknown key 'ucb.alpha' (command line)"),
    ("dp-se", "the game needs environment, such as environment=c2, or means"),
    ("dp-se means=0.1,2", "means must be a list of two or more means in [0, 1], got [0.1, 2]"),
    ("environment=c2", "no algorithm is named"),
    ("dp-se environment=c2 spread=all", "unknown spread 'all'"),
    ("dp-se environment=c2 level=0.9", "level is that of spread=confidence"),
    ("dp-se environment=c2 spread=confidence runs=1", "at 0.95 needs 2 runs, DP-SE has 1"),
    ("dp-se environment=c2 width=wide", "width must be column, page or inches from 1 to 50"),
    ("dp-se environment=c2 checkpoints=0,4", "or whole numbers from 1 to 1,000,000, the horizon"),
    ("dp-se environment=c2 name=a/b", "name is that of files, without folders: 'a/b'"),
    ("dp-se dp-se environment=c2", "dp-se is named twice; dp-se.<parameter>=<a>,<b> draws it"),
    ("dp-se environment=c2 --output no/a.pdf", "--output: there is no folder 'no'"),
    ("dp-se environment=c2 --output a.jpg", "'a.jpg' must end in .pdf or .svg or .png"),
    ("dp-se environment=c2 format=png --output a.pdf", "'a.pdf' must end in .png"),
]


@pytest.mark.parametrize(("words", "problem"), BAD, ids=[words for words, _ in BAD])
def test_a_mistake_is_one_line_and_leaves_nothing(words: str, problem: str) -> None:
    done = called("compare", *words.split())
    assert done.status == 2
    assert problem in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert not Path("out").exists()
    assert not Path("cache").exists()
