"""The search for the best value: the values it tries, its report, its rejections."""

import csv
import importlib.util
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from commands import bandit_cells, below, documented_keys
from complaints import readable

from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import compose
from dpbandits.core import parameters
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.run import runner
from dpbandits.run.exit_status import ExitStatus
from dpbandits.sweeps.tune import tune
from dpbandits.sweeps.tuned import Range, of_valid

pytestmark = pytest.mark.usefixtures("in_checkout")
needs_optuna = pytest.mark.skipif(
    importlib.util.find_spec("optuna") is None,
    reason="Optuna is not installed: pip install -r requirements-optuna.lock",
)
Captured = pytest.CaptureFixture[str]
ALPHA = "figure.curves.adap-ucb.alpha"
TINY = ("figure.horizon=2000", "runs=3", "engine.workers=1")


@pytest.fixture
def valley(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Replace the game by a regret that is least at alpha = 2; record the alphas played."""
    alphas: list[float] = []

    def simulate(cell: Cell, runs: range) -> tuple[np.ndarray, np.ndarray]:
        alpha = float(cell.params._asdict()["alpha"])
        alphas.append(alpha)
        ends = 100.0 + (alpha - 2.0) ** 2 + 0.01 * np.array(runs)
        return np.repeat(ends[:, None], cell.columns, axis=1), np.zeros(len(runs))

    monkeypatch.setattr(runner, "simulate", simulate)
    return alphas


@needs_optuna
def test_the_search_locates_a_minimum_and_prints_its_standard_error(
    valley: list[float], tmp_path: Path, capsys: Captured
) -> None:
    assert tune("adap-headline", [f"{ALPHA}=0.5..5", *TINY, *below(tmp_path)], 25) == 0
    out, err = capsys.readouterr()
    assert err == ""
    match = re.match(rf"best: {ALPHA}=([\d.]+) with 100\.\d+ \+- 0\.0058, mean and", out)
    assert match, out
    assert abs(float(match[1]) - 2) < 0.3
    folder = tmp_path / "out" / "tune" / "adap-headline" / "horizon=2000"
    stem = "adap-headline-adap-ucb-alpha"
    assert {path.name for path in folder.iterdir()} == {
        f"{stem}.{kind}" for kind in (*plotting.FORMATS, "csv", "json")
    }
    rows = list(csv.DictReader((folder / f"{stem}.csv").read_text().splitlines()))
    assert [float(row[ALPHA]) for row in rows] == valley
    for row in rows:
        assert row["label"] == "AdaP-UCB"
        assert row["x"] == "2000"
        assert float(row["mean"]) == pytest.approx(100.01 + (float(row[ALPHA]) - 2) ** 2)
        assert float(row["standard_error"]) == pytest.approx(0.01 / np.sqrt(3))
    sidecar = json.loads((folder / f"{stem}.json").read_text())
    assert set(sidecar) == documented_keys(sidecar["schema"])
    assert sidecar["best"]["values"] == {ALPHA: float(match[1])}
    assert sidecar["command"].endswith("--trials=25")


@needs_optuna
@pytest.mark.usefixtures("valley")
def test_the_same_command_tries_the_same_values(tmp_path: Path, capsys: Captured) -> None:
    tables = []
    for name in "ab":
        overrides = [f"{ALPHA}=0.5..5", *TINY, *below(tmp_path / name)]
        assert tune("adap-headline", overrides, 12) == 0
        tables.append(next((tmp_path / name / "out").rglob("*.csv")).read_bytes())
    assert tables[0] == tables[1]


@needs_optuna
def test_a_trial_that_fails_stops_no_other(
    valley: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    whole: Any = runner.__dict__["simulate"]

    def fragile(cell: Cell, runs: range) -> Any:
        if cell.params._asdict()["alpha"] > 3:
            raise ZeroDivisionError("the gap is 0")
        return whole(cell, runs)

    monkeypatch.setattr(runner, "simulate", fragile)
    assert (
        tune("adap-headline", [f"{ALPHA}=0.5..5", *TINY, *below(tmp_path)], 10) == ExitStatus.FAILED
    )
    out, err = capsys.readouterr()
    assert out.startswith("best: ")
    assert "ZeroDivisionError: the gap is 0" in err
    assert f"dpbandits: the trial {ALPHA}=" in err
    assert max(valley) <= 3


@needs_optuna
@pytest.mark.usefixtures("valley")
def test_a_single_run_has_no_standard_error(tmp_path: Path, capsys: Captured) -> None:
    overrides = [f"{ALPHA}=0.5..5", *TINY, "runs=1", *below(tmp_path)]
    assert tune("adap-headline", overrides, 3) == 0
    assert "in a single run" in capsys.readouterr().out


@needs_optuna
@pytest.mark.parametrize(
    ("typed", "trials", "told"),
    [
        ((), 5, "nothing to search: write key=low..high"),
        (
            (f"{ALPHA}=5..0.5",),
            5,
            f"'{ALPHA}=5..0.5' is not a range: write key=low..high with low below",
        ),
        ((f"{ALPHA}=1..2",), 0, "--trials must be 1 or more, got 0"),
        (("figure.epsilon=1..2",), 5, "all ranges must belong to one curve"),
        ((f"{ALPHA}=1..2", "figure.curves.dp-se.x=1..2"), 5, "all ranges must belong to one curve"),
        (("figure.curves.adap-ucb.alfa=1..2",), 5, "unknown key 'figure.curves.adap-ucb.alfa'"),
        ((f"{ALPHA}=-2..-1",), 5, "adap-ucb: alpha must be positive and finite, got -2.0"),
        ((f"{ALPHA}=1..2", "runs=0"), 5, "adap-headline: runs must be a whole number"),
    ],
)
def test_a_mistake_is_reported_in_one_line(typed: tuple[str, ...], trials: int, told: str) -> None:
    with pytest.raises(UserError) as caught:
        tune("adap-headline", list(typed), trials)
    readable(str(caught.value))
    assert str(caught.value).startswith(told)


@needs_optuna
@pytest.mark.parametrize(
    ("figure", "typed", "told"),
    [
        (
            "dpklucb-c1",
            "+figure.curves.lower-bound.epsilon=0.1..1",
            "dpklucb-c1: the curve lower-bound is a bound or a budget, which has no runs",
        ),
        (
            "adac-price",
            "figure.curves.non-private.beta=1..2",
            "adac-price: the curve non-private is drawn in no panel, others are only compared",
        ),
    ],
)
def test_a_curve_without_a_regret_to_compare_is_refused_in_one_line(
    figure: str, typed: str, told: str
) -> None:
    with pytest.raises(UserError) as caught:
        tune(figure, [typed, "profile=smoke"], 2)
    readable(str(caught.value))
    assert str(caught.value).startswith(told)


@needs_optuna
def test_a_seed_above_those_of_optuna_is_reduced(valley: list[float], tmp_path: Path) -> None:
    tried = []
    for seed in (3, 2**32 + 3):
        words = [f"{ALPHA}=0.5..5", *TINY, f"seed={seed}", *below(tmp_path / str(seed))]
        assert tune("adap-headline", words, 3) == 0
        tried.append(valley.copy())
        valley.clear()
    assert tried[0] == tried[1]


@needs_optuna
@pytest.mark.usefixtures("valley")
@pytest.mark.parametrize("ends", ["10..90.5", "10..2000"])  # linear and logarithmic
def test_only_whole_numbers_are_tried_for_a_key_that_takes_no_others(
    tmp_path: Path, capsys: Captured, ends: str
) -> None:
    key = "+figure.curves.adap-ucb.horizon"
    assert tune("adap-headline", [f"{key}={ends}", *TINY, *below(tmp_path)], 5) == 0
    assert capsys.readouterr().err == ""
    (file,) = (tmp_path / "out").rglob("*.csv")
    tried = [float(row[key[1:]]) for row in csv.DictReader(file.read_text().splitlines())]
    assert all(value.is_integer() for value in tried)
    assert len(tried) > 2


def test_a_range_is_of_whole_numbers_if_the_parameter_is() -> None:
    class Params(NamedTuple):
        batch: parameters.Count
        width: int
        horizon: float

    spec, _ = compose.load("adap-headline", [])
    curve = spec.panels[0].curves[0]
    source = replace(bandit_cells(spec)[0], params=Params(1, 1, 10.0), horizon=10)
    curve = replace(curve, sources=(source,))
    ranges = [Range(f"figure.curves.x.{name}", 1.0, 5.5) for name in Params._fields]
    valid = [of_valid(searched, curve) for searched in ranges]
    assert [(r.high, r.is_whole) for r in valid] == [(5.0, True), (5.0, True), (5.5, False)]


def test_without_optuna_the_message_has_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UserError, match=r"pip install -r requirements-optuna\.lock"):
        tune("adap-headline", [f"{ALPHA}=1..2"], 5)


def test_values_are_such_as_people_type_and_in_the_range() -> None:
    searched = Range("x", 0.12345, 5.0)
    assert [searched.rounded(v) for v in (1.23456, 0.123451, 4.999)] == [1.23, 0.12345, 5.0]
    assert not searched.is_logarithmic
    assert Range("x", 0.01, 1.0).is_logarithmic
    assert not Range("x", -1.0, 1.0).is_logarithmic
