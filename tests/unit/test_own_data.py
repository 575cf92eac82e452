"""Means that a figure, a command or Python reads from a column of a table."""

from pathlib import Path
from typing import Any

import pytest
from complaints import readable

from dpbandits.api.arguments import bandit
from dpbandits.config import compose, instances
from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel.errors import UserError

TABLE = "arm,ctr,bad\nA,0.2,0\nB, 0.5,x\nC,1,1.5\n"


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
    game = "bernoulli", ((0.2, 0.5, 1.0),)
    assert instances.instance(own("rates.csv"), "conf/figure/x.yaml", "x") == game
    elsewhere = rates.parent / "elsewhere" / "rates.csv"
    assert bandit("play", None, own(elsewhere)["means"]) == game
    typed = f"figure.environment={{family: bernoulli, means: {{file: {elsewhere}, column: ctr}}}}"
    spec, _ = compose.load("adap-c2", [typed])
    assert {kinds.words(experiment).bandit for experiment in spec.experiments()} == {game}
    table = "{file: rates.csv, column: ctr}"
    assert compose.value("means", table) == {"file": "rates.csv", "column": "ctr"}


@pytest.mark.parametrize(
    ("file", "column", "problem"),
    [
        ("no.csv", "ctr", "no.csv No such file"),
        ("rates.csv", "crt", "rates.csv must have one column 'crt'; did you mean 'ctr'?"),
        ("rates.csv", "bad", "rates.csv line 3: bad must be a number in [0, 1], got 'x'"),
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
