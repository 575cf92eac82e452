"""Curves of a figure without playing it: from the cache, else from its reference, or none."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from commands import FIGURES, ROOT, below
from composed import load

from dpbandits.drawing import plotting
from dpbandits.factory import produce, stored_results
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

DRAWN = "adap-alpha"


@pytest.mark.usefixtures("in_checkout")
def test_the_cache_comes_before_the_reference_and_says_when(tmp_path: Path) -> None:
    cache = f"paths.cache={tmp_path}"
    empty, store = stored_results.load("adap-episodes", [cache]), Store(tmp_path)
    first, *others = plan(empty.spec.runs_of_experiments(), store, 7)
    assert runner.compute([first], store, 1, "it") == []
    assert stored_results.load("adap-episodes", [cache]).source == empty.source  # runs are missing
    assert runner.compute(others, store, 1, "it") == []
    full = stored_results.load("adap-episodes", [cache])
    assert empty.source
    assert full.source
    kinds = stored_results.ResultKind
    assert (empty.source.kind, full.source.kind) == (kinds.REFERENCE, kinds.CACHE)
    assert full.source.dates
    assert len(empty.source.dates) == 1
    assert dict(full.source.versions)["numpy"] == np.__version__
    assert [s.label for s in full.series] == [s.label for s in empty.series]
    # Another seed gives other curves, so the reference does not apply.
    assert stored_results.load("adap-episodes", ["seed=1", cache]).source is None


@pytest.mark.usefixtures("in_checkout")
def test_a_file_that_was_changed_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plotting, "render", lambda *_: dict.fromkeys(plotting.FORMATS, b""))
    spec, settings = load("ftpl-new-cdf", below(tmp_path))  # without runs
    outcomes = []
    for changed in ("", "ftpl-new-cdf.txt", "ftpl-new-cdf.csv", ""):
        for file in tmp_path.rglob(changed or "none"):
            file.write_text("changed by hand")
        produce.produce(spec, settings)
        outcomes.append(capsys.readouterr().out.split("; ")[1])
    assert outcomes == ["drawn", "drawn", "drawn", "pictures are up to date"]


def test_the_figures_of_a_paper_are_those_whose_files_name_it() -> None:
    files = {
        name: (ROOT / "conf" / "figure" / f"{name}.yaml").read_text("utf-8") for name in FIGURES
    }
    named = [name for name, text in files.items() if "\npaper: sajed2019\n" in f"\n{text}"]
    assert len(named) > 1
    assert produce.figures_of("sajed2019") == named


@pytest.mark.parametrize("new", ["runs: 21", "horizon: 1_000_000"])
def test_a_reference_of_another_game_is_not_shown(root: Path, checkout: Path, new: str) -> None:
    shutil.rmtree(checkout / "conf" / "claims")
    shutil.copytree(root / "figures" / "reference", checkout / "figures" / "reference")
    assert stored_results.load(DRAWN).source is not None
    path = checkout / "conf" / "figure" / f"{DRAWN}.yaml"
    path.write_text(re.sub(rf"(?m)^{new.split(':')[0]}: \S+", new, path.read_text()))
    assert stored_results.load(DRAWN).source is None
