"""Exported curves for other programs equal the drawn curves, in every figure."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FIGURES
from complaints import readable
from composed import load

from dpbandits.config.settings import Settings
from dpbandits.factory import produce
from dpbandits.factory.stored_results import export, exported
from dpbandits.kernel.errors import UserError
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.series import STATISTICS, summarise, to_csv

Loaded = tuple[FigureSpec, Settings]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Callable[..., Loaded]:
    """Return figures whose runs are all in the cache, made up: no test reads real curves."""
    folder = tmp_path_factory.mktemp("export")

    def fill(figure: str, *overrides: str, profile: str = "smoke") -> Loaded:
        spec, settings = load(figure, [f"profile={profile}", *overrides])
        settings = replace(settings, cache=folder / "cache", out=folder / "out")
        store, rng = Store(settings.cache), np.random.default_rng(1)
        tasks = plan(spec.runs_of_experiments(), store, settings.block)
        # Episodes are drawn from real pulls; all other cells are made up.
        true = [t for t in tasks if getattr(t.experiment, "pulls_of", None) is not None]
        assert runner.compute(true, store, 1, figure) == []
        for task in (task for task in tasks if task not in true):
            values = rng.exponential(size=(len(task.runs), task.experiment.columns))
            store.write(task.experiment, task.runs.start, values.cumsum(axis=1), 0.0)
        return spec, settings

    return fill


pytestmark = pytest.mark.usefixtures("in_checkout")


def strict(content: bytes) -> Any:
    """Parse JSON without the NaN and the Infinity that Python would accept."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(content, parse_constant=refuse)


@pytest.mark.long
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_is_exported_with_the_numbers_of_its_table(
    figure: str, filled: Callable[..., Loaded], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, settings = filled(figure)
    series = summarise(spec, Store(settings.cache))
    assert exported(spec, settings, "csv") == to_csv(series)
    # Every kind is written from these.
    monkeypatch.setattr("dpbandits.factory.stored_results.summarise", lambda *_: series)
    content = strict(exported(spec, settings, "json"))
    assert [panel["title"] for panel in content["panels"]] == [p.title for p in spec.panels]
    curves = [(panel["panel"], curve) for panel in content["panels"] for curve in panel["curves"]]
    for (panel, curve), one in zip(curves, series, strict=True):
        assert (panel, curve["label"], curve["runs"]) == (one.panel, one.label, one.runs)
        for name in ("x", *STATISTICS):
            numbers = getattr(one, name)
            finite = np.where(np.isfinite(numbers), numbers, np.nan)  # JSON has no other
            assert np.array_equal(np.array(curve[name], float), finite, equal_nan=True)


TABLE = re.compile(r"\\addplot \[[^\n]*(?:\n[^\n]*)?\ntable \{%\n([^}]*)\};")
OTHERWISE = {  # curves are not drawn as lines through their points
    *("adap-episodes", "adap-regimes", "counter-error", "ftpl-beta-cdf", "ftpl-gauss-cdf"),
    *("ftpl-new-cdf", "leaderboard", "privacy-audit", "variants-azize2022"),
    *("identification-leaderboard", "identification-regimes", "free", "tail"),
    *("variants-azize2025", "variants-sajed2019", "variants-tossou2016", "stopping-rules"),
}
# matplot2tikz writes no table, no sub-figure.
IN_PARTS = {"int-theorem-3-5", "leaderboard-epsilon", "constant", "equal-privacy"}


@pytest.mark.long
@pytest.mark.parametrize("figure", FIGURES)
def test_a_tikz_file_has_the_axes_and_the_points_of_the_picture(
    figure: str, filled: Callable[..., Loaded]
) -> None:
    pytest.importorskip("matplot2tikz", reason="no matplot2tikz: requirements-tikz.lock")
    spec, settings = filled(figure)
    if figure in IN_PARTS:
        with pytest.raises(UserError, match=r"matplot2tikz cannot write this figure .*use its PDF"):
            exported(spec, settings, "tikz")
        return
    tex = exported(spec, settings, "tikz").decode()
    assert tex.count(r"\begin{tikzpicture}") == tex.count(r"\end{tikzpicture}") == 1
    axes = tex.count(r"\nextgroupplot") or tex.count(r"\begin{axis}")
    panels = produce.drawing(spec, summarise(spec, Store(settings.cache))).panels
    assert axes >= 1 if figure in OTHERWISE else axes >= len(panels)
    plots = [np.array([r.split() for r in m.splitlines()], float) for m in TABLE.findall(tex)]
    assert len(plots) == tex.count(r"\addplot") > 1
    lines = [] if figure in OTHERWISE else [s for panel in panels for s in panel.series]
    for series in lines:
        points = np.column_stack((series.x, series.centre))
        close = (
            plot.shape == points.shape and np.allclose(plot, points, rtol=1e-11, equal_nan=True)
            for plot in plots
        )
        assert any(close), series.label
    assert r"{\bfseries Changed: scale of the profile smoke}" in tex


def test_without_matplot2tikz_one_line_says_what_to_install(
    filled: Callable[..., Loaded], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplot2tikz", None)
    with pytest.raises(UserError) as caught:
        exported(*filled("lower-bounds"), "tikz")
    readable(str(caught.value))
    assert "pip install 'dpbandits[tikz]'" in str(caught.value)


def test_json_tells_of_every_curve_what_the_sidecar_tells(filled: Callable[..., Loaded]) -> None:
    spec, settings = filled("adap-ksweep")
    content = strict(exported(spec, settings, "json"))
    assert exported(spec, settings, "json").endswith(b"\n}\n")
    assert content["command"].startswith("dpbandits run adap-ksweep profile=smoke")
    assert {"revision", "versions", "machine"} == set(content["provenance"])
    (adap,) = (c for c in content["panels"][1]["curves"] if c["label"] == "AdaP-UCB")
    assert adap["algorithm"] == "adap-ucb"
    assert [source["x"] for source in adap["sources"]] == adap["x"] == [2, 4, 8]
    assert {source["params"]["epsilon"] for source in adap["sources"]} == {1.0}
    assert all(s["composed_epsilon"] == pytest.approx(1.0) for s in adap["sources"])
    (bound,) = (c for c in content["panels"][0]["curves"] if c["runs"] == 0)
    assert bound["algorithm"] is None
    assert "bound" in bound["sources"][0]


def test_the_points_of_a_published_curve_are_exported_with_it(
    filled: Callable[..., Loaded],
) -> None:
    spec, settings = filled("lazyts-gap", "runs=2", profile="paper")
    panel, *others = strict(exported(spec, settings, "json"))["panels"]
    published = {c["label"]: c["published"] for c in panel["curves"] if "published" in c}
    expected = {c.label: [[*p] for p in c.published] for c in spec.panels[0].curves if c.published}
    assert published == expected
    assert len(expected) == 4  # what else fits has the points, too
    assert not any("published" in curve for other in others for curve in other["curves"])


# To a file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing/x.csv", "folder", "file/x.csv", f"{'x' * 300}.csv"])
def test_a_file_that_cannot_be_written_is_refused_in_one_line(
    filled: Callable[..., Loaded],
    tmp_path: Path,
    name: str,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    spec, settings = filled("adap-c2")
    with pytest.raises(UserError, match=r"^cannot write [^\n]*$"):
        export(spec, settings, "csv", tmp_path / name)
    assert export(spec, settings, "csv", tmp_path / "folder" / "x.csv") == 0
    table = to_csv(summarise(spec, Store(settings.cache)))
    assert (tmp_path / "folder" / "x.csv").read_bytes() == table
    assert export(spec, settings, "csv", None) == 0
    assert capsysbinary.readouterr().out == table
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file"}


def test_runs_that_are_missing_are_told_with_the_command_that_computes_them(tmp_path: Path) -> None:
    spec, settings = load("adap-c2", ["profile=smoke", f"paths.cache={tmp_path}"])
    for kind in ("csv", "json", "tikz"):
        with pytest.raises(UserError) as caught:
            exported(spec, settings, kind)
        readable(str(caught.value))
        assert "32 runs are not computed yet" in str(caught.value)
        assert produce.command("run", spec, settings) in str(caught.value)
