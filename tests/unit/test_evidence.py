"""Statistics by which claims are judged, their standard errors, and their committed tables."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from composed import load
from scipy import stats

from dpbandits.config import claims
from dpbandits.core.errors import UserError
from dpbandits.curves import evidence, evidence_records, references
from dpbandits.curves.evidence import _statistics
from dpbandits.factory import gather_evidence, judged_claims
from dpbandits.run.exit_status import ExitStatus
from dpbandits.store.blocks import Store

RNG = np.random.default_rng(5)


def of(values: np.ndarray, size: int = 100, scale: float | None = None) -> dict[str, float]:
    """Return the statistics of runs at a single x."""
    column = np.asarray(values, float)[:, None]
    summed = _statistics(column, column, size, scale)
    return {name: float(numbers[0]) for name, numbers in summed.items()}


def test_the_error_of_a_mean_is_that_of_its_runs() -> None:
    values = RNG.gamma(2.0, size=400)
    assert of(values)["mean_error"] == pytest.approx(values.std(ddof=1) / 20)


@pytest.mark.parametrize("runs", [20, 2000])
def test_equal_runs_have_the_error_of_one_that_was_not_seen(runs: int) -> None:
    assert of(np.full(runs, 50.0))["mean_error"] == pytest.approx(50 / (runs + 1))
    # A probability of 0 is no closer than one further failure.
    assert of(np.zeros(runs), scale=1.0)["mean_error"] == pytest.approx(1 / (runs + 1))
    few = np.repeat([10.0, 30.0], runs // 2)
    error = math.hypot(few.std(ddof=1) / math.sqrt(runs), 20 / (runs + 1))
    assert of(few)["mean_error"] == pytest.approx(error)


def test_a_single_run_decides_nothing() -> None:
    assert of(np.array([3.0]))["mean_error"] == math.inf


def test_the_error_of_a_median_is_that_of_a_bootstrap() -> None:
    values = RNG.gamma(2.0, size=501)
    boot = stats.bootstrap((values,), np.median, n_resamples=4000, rng=1, method="percentile")
    assert of(values)["median_error"] == pytest.approx(boot.standard_error, rel=0.05)
    assert of(np.full(20, 3.3))["median_error"] == 0


def test_a_spread_is_the_mean_over_groups_of_as_many_runs_as_the_paper_has() -> None:
    values = RNG.normal(size=1050)
    spreads = [np.ptp(values[first : first + 100]) for first in range(0, 1000, 100)]
    found = of(values)
    assert found["spread"] == pytest.approx(np.mean(spreads))
    assert found["spread_error"] == pytest.approx(np.std(spreads, ddof=1) / math.sqrt(10))
    assert of(values[:150])["spread_error"] == math.inf  # a single group


def test_what_is_still_to_come_has_the_error_of_a_difference_within_runs() -> None:
    first = RNG.normal(100, 30, size=300)
    last = first + RNG.gamma(2.0, size=300)
    summed = _statistics(np.column_stack([first, last]), last[:, None], 100, None)
    assert summed["rest"] == pytest.approx([np.mean(last - first), 0.0])
    assert summed["rest_error"][0] == pytest.approx(np.std(last - first, ddof=1) / math.sqrt(300))
    assert summed["rest_error"][0] < summed["mean_error"][0] / 5


# Tables ------------------------------------------------------------------------------------------


FIGURE = "adap-alpha"


def cheap(checkout: Path) -> None:
    """Let the figure have few runs and a short game, and no committed evidence."""
    file = checkout / "conf" / "figure" / f"{FIGURE}.yaml"
    text = file.read_text("utf-8").replace("horizon: 10_000_000", "horizon: 10_000")
    text = text.replace("runs: 20\n", "runs: 3\n").replace("{ runs: 2000 }", "{ runs: 7 }")
    file.write_text(text, "utf-8")
    for name in ("evidence.csv", "evidence.json"):
        (references.folder(FIGURE) / name).unlink(missing_ok=True)


def gathered_with(checkout: Path, **changes: Any) -> Path:
    """Gather the evidence, change its record and return the record's file."""
    cheap(checkout)
    assert gather_evidence.gather([FIGURE]) == 0
    file = references.folder(FIGURE) / "evidence.json"
    file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))
    return file


def test_evidence_is_gathered_stored_and_read_again(checkout: Path) -> None:
    cheap(checkout)
    spec, settings = load(FIGURE, [])
    assert evidence.read(spec) is None
    assert gather_evidence.gather([FIGURE]) == 0
    found = evidence.read(spec)
    assert found is not None
    assert evidence_records.is_current(spec)
    more, _ = load(FIGURE, ["profile=evidence"])
    played = evidence.of_runs(more, spec, Store(settings.cache))
    assert found.keys() == played.keys()
    for place, each in played.items():
        assert found[place].runs == each.runs == 7
        np.testing.assert_array_equal(found[place].x, each.x)
        for name in evidence.NAMES:
            np.testing.assert_allclose(found[place].statistics[name], each.statistics[name], 1e-7)
            np.testing.assert_allclose(found[place].errors[name], each.errors[name], 1e-7)
    named = {result.claim.name for result in judged_claims.about(spec, Store(settings.cache))}
    assert named == {"one-is-better", "ticks"}
    assert judged_claims.before_runs(spec) is None  # a claim is also about runs of another figure


def test_evidence_of_fewer_runs_than_are_drawn_has_the_bits_of_the_drawn_ones(
    checkout: Path,
) -> None:
    file = checkout / "conf" / "figure" / f"{FIGURE}.yaml"
    file.write_text(file.read_text("utf-8").replace("{ runs: 2000 }", "{ runs: 2 }"), "utf-8")
    record = json.loads(gathered_with(checkout).read_bytes())
    assert (record["runs"], record["drawn_runs"]) == ([2], 12)
    assert gather_evidence.confirm(FIGURE) == ExitStatus.DONE


def test_evidence_of_other_cells_is_none_and_a_changed_table_is_refused(checkout: Path) -> None:
    cheap(checkout)
    assert gather_evidence.gather([FIGURE]) == 0
    spec, _ = load(FIGURE, [])
    other, _ = load(FIGURE, ["seed=1"])
    assert evidence.read(other) is None
    table = references.folder(FIGURE) / "evidence.csv"
    table.write_bytes(table.read_bytes().replace(b",7,", b",8,", 1))
    remedy = rf"; `dpbandits report --gather {FIGURE}` writes it$"
    with pytest.raises(UserError, match=f"is not the recorded table{remedy}"):
        evidence.read(spec)
    (references.folder(FIGURE) / "evidence.json").write_text("{")
    with pytest.raises(UserError, match=rf"evidence\.json cannot be read: .*JSON{remedy}"):
        evidence.read(spec)
    (references.folder(FIGURE) / "evidence.json").unlink()
    for action in (lambda: evidence.read(spec), lambda: gather_evidence.confirm(FIGURE)):
        with pytest.raises(UserError, match=rf"^figures/.*evidence\.json is missing{remedy}"):
            action()


def test_evidence_from_other_sources_gives_way_to_the_runs_of_the_figure(checkout: Path) -> None:
    gathered_with(checkout, sources="other")
    spec, settings = load(FIGURE, [])
    assert not evidence_records.is_current(spec)
    assert judged_claims.before_runs(spec) is None
    (judged,) = (
        result
        for result in judged_claims.about(spec, Store(settings.cache))
        if result.claim.name == "one-is-better"
    )
    assert judged.verdict.value != "not tested"  # by the 3 runs of the figure
    empty = judged_claims.about(spec, Store(checkout / "nowhere"))
    assert {result.verdict.value for result in empty if result.claim.name == "one-is-better"} == {
        "not tested"
    }


def test_evidence_is_confirmed_for_other_sources_if_the_drawn_runs_have_the_same_bits(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cheap(checkout)
    assert gather_evidence.gather([FIGURE]) == 0
    spec, _ = load(FIGURE, [])
    file = references.folder(FIGURE) / "evidence.json"
    gathered = json.loads(file.read_bytes())
    file.write_text(json.dumps(gathered | {"sources": "other"}))
    assert gather_evidence.confirm(FIGURE) == ExitStatus.DONE
    assert evidence_records.is_current(spec)
    confirmed = json.loads(file.read_bytes())
    assert confirmed.pop("confirmed").keys() >= {"revision", "versions", "written"}
    assert confirmed == gathered
    assert capsys.readouterr().out.endswith(
        f"{FIGURE}: confirmed, 12 runs of 4 cells have the same bits\n"
    )


def test_evidence_whose_bits_moved_is_not_confirmed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = gathered_with(checkout, sources="other")
    spec, _ = load(FIGURE, [])
    before = file.read_bytes()
    whole, last = Store.load, [*spec.cells()][-1]

    def load_with_a_moved_bit(self: Store, cell: Any, runs: int) -> np.ndarray:
        curves = whole(self, cell, runs).copy()
        if cell == last:
            curves[-1, -1] = np.nextafter(curves[-1, -1], np.inf)
        return curves

    monkeypatch.setattr(Store, "load", load_with_a_moved_bit)
    assert gather_evidence.confirm(FIGURE) == ExitStatus.ALARM
    assert f"`dpbandits report --gather {FIGURE}`" in capsys.readouterr().out
    assert file.read_bytes() == before
    assert not evidence_records.is_current(spec)


@pytest.mark.parametrize("other", [{"drawn_runs": None}, {"drawn_runs": 13}, {"cells": None}])
def test_evidence_without_runs_to_compare_with_is_not_confirmed(
    checkout: Path, other: dict[str, Any]
) -> None:
    file = gathered_with(checkout, sources="other", **other)
    before = file.read_bytes()
    assert gather_evidence.confirm(FIGURE) == ExitStatus.MISTAKE
    assert file.read_bytes() == before


def test_verdicts_by_current_evidence_need_no_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(evidence_records, "is_current", lambda spec: True)
    spec, _ = load("adap-ksweep", [])
    results = judged_claims.before_runs(spec)
    assert results
    assert results == judged_claims.about(spec, Store(tmp_path))


def test_a_changed_figure_has_no_verdicts() -> None:
    spec, settings = load(FIGURE, ["figure.horizon=1000"])
    assert judged_claims.about(spec, Store(settings.cache)) == []
    assert judged_claims.before_runs(spec) == []
    assert claims.about(FIGURE)
    assert replace(spec, changes=()).changes == ()
