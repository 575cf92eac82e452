"""Curves of a figure without playing it: from the cache, else from its reference, or none."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from dpbandits.factory import stored_results
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

DRAWN = "adap-alpha"


@pytest.mark.usefixtures("in_checkout")
def test_the_cache_comes_before_the_reference_and_says_when(tmp_path: Path) -> None:
    cache = f"paths.cache={tmp_path}"
    empty, store = stored_results.load("adap-episodes", [cache]), Store(tmp_path)
    tasks = plan(empty.spec.runs_of_experiments(), store, 7)
    assert runner.compute(tasks, store, 1, "it") == []
    full = stored_results.load("adap-episodes", [cache])
    assert empty.source
    assert full.source
    kinds = stored_results.ResultKind
    assert (empty.source.kind, full.source.kind) == (kinds.REFERENCE, kinds.CACHE)
    assert full.source.dates
    assert dict(full.source.versions)["numpy"] == np.__version__
    assert [s.label for s in full.series] == [s.label for s in empty.series]
    # Another seed gives other curves, so the reference does not apply.
    assert stored_results.load("adap-episodes", ["seed=1", cache]).source is None


@pytest.mark.parametrize("new", ["runs: 21", "horizon: 1_000_000"])
def test_a_reference_of_another_game_is_not_shown(root: Path, checkout: Path, new: str) -> None:
    shutil.rmtree(checkout / "conf" / "claims")
    shutil.copytree(root / "figures" / "reference", checkout / "figures" / "reference")
    assert stored_results.load(DRAWN).source is not None
    path = checkout / "conf" / "figure" / f"{DRAWN}.yaml"
    path.write_text(re.sub(rf"(?m)^{new.split(':')[0]}: \S+", new, path.read_text()))
    assert stored_results.load(DRAWN).source is None
