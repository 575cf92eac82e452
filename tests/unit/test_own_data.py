"""Means that a figure, a command or Python reads from a column of a table."""

from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas
import pytest
from complaints import readable

from dpbandits.api.arguments import bandit, environment_of, player, specification
from dpbandits.config import compose, conf_files, instances
from dpbandits.experiments import kinds
from dpbandits.factory import captions
from dpbandits.files import project
from dpbandits.kernel.errors import UserError

TABLE = "arm,ctr,bad,low\nA,0.2,0,20%\nB, 0.5,x,50%\nC,1,1.5,\n"
GAME = "bernoulli", ((0.2, 0.5, 1.0),)


@pytest.fixture
def rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a project with the table rates.csv, and one beside it with the same table."""
    for folder in (tmp_path / "project", tmp_path / "elsewhere"):
        folder.mkdir()
        (folder / "rates.csv").write_text(TABLE, "utf-8-sig")
    monkeypatch.setattr(project, "folder", lambda: tmp_path / "project")
    return tmp_path / "project"


def own(file: object, column: str = "ctr") -> dict[str, Any]:
    return {"family": "bernoulli", "means": {"file": str(file), "column": column}}


def test_the_means_of_a_column_are_the_instance_and_its_file_is_not(rates: Path) -> None:
    assert instances.instance(own("rates.csv"), "conf/figure/x.yaml", "x") == GAME
    elsewhere = rates.parent / "elsewhere" / "rates.csv"
    assert bandit("play", None, own(elsewhere)["means"]) == GAME
    typed = f"figure.environment={{family: bernoulli, means: {{file: {elsewhere}, column: ctr}}}}"
    spec, _ = compose.load("adap-c2", [typed])
    assert {kinds.words(experiment).bandit for experiment in spec.experiments()} == {GAME}
    table = "{file: rates.csv, column: ctr}"
    assert compose.value("means", table) == {"file": "rates.csv", "column": "ctr"}


@pytest.mark.parametrize(
    ("file", "column", "problem"),
    [
        ("no.csv", "ctr", "no.csv No such file"),
        ("rates.csv", "crt", "rates.csv has no column 'crt'; did you mean 'ctr'?"),
        ("rates.csv", "bad", "rates.csv line 3: column bad must be a number in [0, 1], got 'x'"),
        ("rates.csv", "low", "line 2: column low must be a number in [0, 1], got '20%'; divide"),
        ("rates.csv", "9", "rates.csv has no column '9'; valid: arm, bad, ctr, low"),
        ("/etc/passwd", "ctr", "/etc/passwd must be a file below"),
        ("../elsewhere/rates.csv", "ctr", "must be a file below"),
        ("link.csv", "ctr", "must be a file below"),
        ("one.csv", "ctr", "two or more means"),
    ],
)
def test_a_table_that_a_figure_cannot_use_is_refused_in_one_line(
    rates: Path, file: str, column: str, problem: str
) -> None:
    (rates / "link.csv").symlink_to(rates / ".." / "elsewhere" / "rates.csv")
    (rates / "one.csv").write_text("ctr\n0.5\n")
    with pytest.raises(UserError) as caught:
        instances.instance(own(file, column), "conf/figure/x.yaml", "x")
    readable(str(caught.value))
    assert problem in str(caught.value)
    assert "conf/figure/x.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "column", "means"),
    [
        ("0.2\n0.5\n\n", "", (0.2, 0.5)),
        ("ctr\n0.2\n0.5\n", "", (0.2, 0.5)),
        ("0.2,1\n0.5,0\n", ":2", (1, 0)),
        ("a,ctr\nx,0.2\ny,0.5\n", ":2", (0.2, 0.5)),
        (",0\n0,0.2\n1,0.5\n", ":0", (0.2, 0.5)),  # of pandas, a series without a name
        (",0\n0,0.2\n1,0.5\n", ":2", "'0' of line 1 may be a name or a mean"),
        ("A,0.2\nB,0.5\n", ":2", "'0.2' of line 1 may be a name or a mean"),
        ("a,ctr\nx,0.2\ny,0.5\n", "", "has 2 columns: add :<name or number>; valid: a, ctr"),
        ("a,a\n1,0.2\n", ":a", "has several columns 'a': choose one by its number"),
        ("0.2\n\n0.5\n", "", "line 2: column 1 must be a number in [0, 1], got ''"),
        ("a,ctr\nx\n", ":ctr", "line 2: column ctr must be a number in [0, 1], got ''"),
        ("ctr\n0.2\n1.2\n", "", "line 3: column ctr must be a number in [0, 1], got '1.2' (arg"),
        ("ctr\n20\n70\n", "", "got '20'; divide percentages by 100"),
        ("", "", "is empty"),
    ],
)
def test_a_column_is_chosen_by_name_or_number_and_no_mean_is_lost(
    rates: Path, monkeypatch: pytest.MonkeyPatch, content: str, column: str, means: object
) -> None:
    monkeypatch.chdir(rates)
    (rates / "own.csv").write_text(content)
    if isinstance(means, str):
        with pytest.raises(UserError) as caught:
            bandit("play", None, f"own.csv{column}")
        assert means in str(caught.value)
    else:
        assert bandit("play", f"own.csv{column}", None) == ("bernoulli", (means,))


def test_figures_and_comparisons_name_the_table_also_of_an_instance_that_is_changed(
    rates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(rates)
    figure, _ = compose.load("adap-c2", ["figure.environment=rates.csv:ctr", "profile=smoke"])
    monkeypatch.setattr(project, "names", lambda group: ["own"])
    monkeypatch.setattr(conf_files, "read_member", lambda *_: own("rates.csv"))
    changed = {**environment_of("own"), "name": None}
    values, ucb = {"horizon": 100, "runs": 1}, [player("uniform", {})]
    specs = [
        specification("compare", ucb, [1.0], game, values)[0]
        for game in ((None, Path("rates.csv:ctr")), (changed, None))
    ]
    for spec in (figure, *specs):
        ((file, column, digest),) = spec.data
        assert (file, column) == ("rates.csv", "ctr")
        assert digest == sha256((rates / file).read_bytes()).hexdigest()
        caption = " ".join(captions.caption(spec).split())
        assert "The means are column ctr of rates.csv." in caption
        assert {kinds.words(e).bandit for e in spec.experiments()} == {GAME}


@pytest.mark.parametrize(
    ("means", "hint"),
    [
        ({"a": 0.1, "b": 0.3}, "give its values alone, [0.1, 0.3]"),
        (pandas.DataFrame({"ctr": [0.1, 0.3]}), "give a column as means, one of 'ctr'"),
        ([35, 60], "divide percentages by 100"),
    ],
)
def test_means_of_another_form_are_answered_with_the_right_one(means: Any, hint: str) -> None:
    with pytest.raises(UserError) as caught:
        bandit("play", None, means)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "means", [pandas.Series([0.2, 0.5, 1]), [Decimal("0.2"), Decimal("0.5"), Decimal(1)]]
)
def test_a_column_of_pandas_and_decimals_are_means(means: Any) -> None:
    assert bandit("play", None, means) == GAME
