"""Every reference is of a figure as its file describes it and has the numbers that were written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FIGURES, ROOT
from composed import load
from drawn_tables import table

from dpbandits.checks import against_reference, new_reference
from dpbandits.files import project, provenance
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references, statistics
from dpbandits.tables.series import STATISTICS, Series, identity

REFERENCES = sorted(path.stem for path in (ROOT / "figures/reference").glob("*.csv"))
WITH_CI = [
    name
    for name in REFERENCES
    if '"ci": {' in (ROOT / f"figures/reference/{name}.json").read_text("utf-8")
]
PROFILES = [*((name, "paper") for name in REFERENCES), *((name, "ci") for name in WITH_CI)]


def test_every_figure_and_nothing_else_has_a_reference() -> None:
    assert set(REFERENCES) == set(FIGURES)


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize(("figure", "profile"), PROFILES)
def test_a_reference_is_current_and_has_the_curves_that_its_command_would_make(
    figure: str, profile: str
) -> None:
    spec, _ = against_reference.referenced(figure, profile)
    assert references.stale(spec, profile) == "", f"dpbandits reference {figure}"
    record = references.record(figure, profile)
    assert record is not None
    assert "dirty" not in record["revision"]
    found = references.read_series(spec, profile)
    assert [(s.panel, s.label) for s in found] == [
        (p.letter, c.label) for p in spec.panels for c in p.curves
    ]
    if profile == "paper":  # the reader agrees with one that shares no line with it
        for series, columns in zip(found, table(figure).values(), strict=True):
            for name, column in columns.items():
                np.testing.assert_allclose(getattr(series, name), column, rtol=1e-15)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder in which references are written and read."""
    monkeypatch.setattr(project, "home", lambda *_: tmp_path)
    return tmp_path


def a_figure(**changes: Any) -> FigureSpec:
    spec, _ = load("adap-headline", ["figure.horizon=2000", "runs=3"])
    return replace(spec, panels=spec.panels[:1], **changes)


def made_up(spec: FigureSpec, seed: int) -> list[Series]:
    """Return curves of made-up runs; all runs agree at the first x."""
    rng, found = np.random.default_rng(seed), []
    for panel in spec.panels:
        for curve in panel.curves:
            x, runs = np.array([1.0, 2.5, 10.0**9, 10.0**15 + 1]), 1 if curve.is_exact else 3
            values = np.repeat(rng.lognormal(0.0, 20.0, (1, 4)), runs, axis=0)
            values[:, 1:] *= rng.lognormal(0.0, 0.1, (runs, 3))
            mean, std = values.mean(0), statistics.standard_deviation(values)
            centre = statistics.CENTRES[spec.centre](values)
            ends = statistics.SPREADS[spec.spread](values, centre)
            numbers = (mean, std, np.median(values, 0), values.min(0), values.max(0), centre, *ends)
            columns: dict[str, Any] = dict(zip(STATISTICS, numbers, strict=True))
            number = 0 if curve.is_exact else curve.runs
            place = identity(panel.letter, curve)
            found.append(Series(**place, runs=number, slope=None, x=x, **columns))
    return found


ORIGIN = {"command": "c", "revision": "abc"}


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("centre", "spread"),
    [("mean", "std"), ("median", "standard-error"), ("median", "quartiles"), ("mean", "none")],
)
def test_numbers_read_back_to_ten_digits_and_both_profiles_share_a_table(
    centre: str, spread: str, elsewhere: Path
) -> None:
    spec = a_figure(centre=centre, spread=spread)
    both = {"ci": made_up(spec, 1), "paper": made_up(spec, 2)}
    for profile, series in (*both.items(), *both.items()):  # the second time in their own place
        references.write(spec, profile, series, ORIGIN)
    for profile, series in both.items():
        assert references.stale(spec, profile) == ""
        for read, written in zip(references.read_series(spec, profile), series, strict=True):
            assert (read.label, read.runs) == (written.label, written.runs)
            assert read.x.tolist() == written.x.tolist()
            largest = np.abs(written.max)
            for name in STATISTICS:
                ours, theirs = getattr(read, name), getattr(written, name)
                near = 1e-10 * np.abs(theirs) + 1e-12 * largest
                near += 6e-8 * written.std if name in ("std", "low", "high") else 0.0
                assert (np.abs(ours - theirs) <= near).all()
    lines = (elsewhere / references.file(spec.name)).read_text("utf-8").splitlines()
    assert len(lines) == 1 + 2 * 4 * len(both["ci"])
    drawn = {"low,high"} if spread == "quartiles" else set()
    assert lines[0] == ",".join(["profile,panel,label,x,mean,std,median,min,max", *drawn])


@pytest.mark.usefixtures("in_checkout", "elsewhere")
def test_a_reference_is_stale_when_runs_statistics_or_experiments_change() -> None:
    spec = a_figure()
    assert references.stale(spec, "paper")
    references.write(spec, "paper", made_up(spec, 1), ORIGIN)
    assert references.stale(spec, "paper") == ""
    assert references.stale(replace(spec, spread="none"), "paper") == "the statistics"
    (panel,) = spec.panels
    one_run_more = tuple(replace(c, runs=c.runs + 1) for c in panel.curves)
    more = replace(spec, panels=(replace(panel, curves=one_run_more),))
    assert "numbers of runs" in references.stale(more, "paper")
    longer, _ = load("adap-headline", ["figure.horizon=3000", "runs=3"])
    longer = replace(longer, panels=longer.panels[:1])
    assert references.stale(longer, "paper") == "the experiments of adap-headline"


@pytest.mark.usefixtures("in_checkout")
def test_a_table_that_was_changed_by_hand_is_an_error(elsewhere: Path) -> None:
    spec = a_figure()
    references.write(spec, "paper", made_up(spec, 1), ORIGIN)
    file = elsewhere / references.file(spec.name)
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(UserError, match=r"it is not the recorded table; .*dpbandits reference"):
        references.read_series(spec, "paper")


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("revision", ["abc-dirty", None])
def test_curves_that_cannot_be_repeated_are_not_a_reference(
    revision: str | None, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provenance, "git_revision", lambda: revision)
    with pytest.raises(UserError, match=r"is at abc-dirty: commit first|needs a checkout"):
        new_reference.store_figure("adap-episodes", "paper")
    assert not [*elsewhere.iterdir()]
