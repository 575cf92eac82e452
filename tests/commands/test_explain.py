"""Explanations of why a cell is not in the cache."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.environments import bernoulli
from dpbandits.experiments import Quantity
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store.blocks import Store
from dpbandits.store.explain import explain
from dpbandits.store.key import key, sources

pytestmark = pytest.mark.usefixtures("fresh_keys")


def figure(*cells: RegretExperiment, runs: int = 5) -> FigureSpec:
    """Return a figure of a curve for every cell, and of a bound, which has no cell."""
    sources: tuple[RegretExperiment | Formula, ...] = (*cells, Formula("azize2022.x", ()))
    curves = tuple(
        Curve(str(i), str(i), str(i), "s", Quantity.REGRET, "t", None, (source,), runs)
        for i, source in enumerate(sources)
    )
    panels = (Panel("a", "", curves),)
    return FigureSpec("fig", "azize2022", "Title", "draw", runs, "mean", "none", False, panels)


def write(store: Store, cell: RegretExperiment, runs: int) -> None:
    store.write(cell, 0, np.zeros((runs, len(cell.checkpoints()))), 1.0)


def line(store: Store, cell: RegretExperiment, runs: int = 5) -> str:
    """Return the explanation for the only cell of a figure."""
    first, _ = explain(figure(cell, runs=runs), store)
    return first


def test_every_cell_has_a_line_with_its_key_and_runs_and_nothing_is_written(
    store: Store, cell: RegretExperiment
) -> None:
    other = dataclasses.replace(cell, horizon=300)
    assert line(store, cell).endswith("  never computed")
    assert not store.folder.exists()
    write(store, dataclasses.replace(cell, member="adap-klucb"), 5)  # of no interest
    assert line(store, cell).endswith("  never computed")
    write(store, cell, 5)
    first, second, last = explain(figure(cell, other), store)
    assert first == f"{key(cell)}     5/5 runs  {cell.name}"
    assert second.startswith(f"{key(other)}     0/5 runs  {other.name}  ")
    assert f"1 of 2 cells are complete in {store.folder}; " in last
    assert line(store, cell, runs=20).endswith("  more runs are requested than cached")
    *_, last = explain(figure(cell), store)
    assert last.endswith("; `dpbandits run` computes nothing")
    (store.folder / "adap-ucb" / "other").mkdir()
    (store.folder / "adap-ucb" / "other" / "identity.json").write_bytes(b"{")  # passed over
    (store.cell_folder(cell) / "0-4.npz").write_bytes(b"")
    assert " 0/5 runs " in line(store, cell)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": adap_ucb.Params(0.5)}, "params.epsilon (0.5, wanted 1.0)"),
        ({"horizon": 100}, "horizon (100, wanted 200)"),
        ({"grid": Grid.END}, "grid ('end', wanted 'log')"),
        (
            {"instance": bernoulli.Params((0.9, 0.5, 0.1))},
            "instance.means (3 values, wanted 2)",
        ),
        (
            {"params": adap_ucb.Params(1.0, 3.0), "horizon": 100},
            "horizon (100, wanted 200), params.alpha (3.0, wanted 3.1)",
        ),
    ],
    ids=str,
)
def test_a_changed_field_is_named_with_both_values(
    store: Store, cell: RegretExperiment, change: dict[str, Any], reason: str
) -> None:
    write(store, dataclasses.replace(cell, **change), 5)
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached cell differs in {reason}"
    )


def test_the_nearest_of_several_is_the_one_of_fewest_differences(
    store: Store, cell: RegretExperiment
) -> None:
    params = adap_ucb.Params(0.5)
    write(store, dataclasses.replace(cell, params=params, horizon=100, seed=9), 5)
    write(store, dataclasses.replace(cell, seed=9), 5)
    write(store, dataclasses.replace(cell, params=params, seed=9), 5)
    assert line(store, cell).endswith("differs in seed (9, wanted 1)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"algorithms/old.py": "0123456789abcdef"}, "the source algorithms/old.py (gone)"),
        ({"core/bandit.py": None}, "the source core/bandit.py (new)"),
        (
            {"core/bandit.py": "0123456789abcdef", "core/randomness.py": "0123456789abcdef"},
            "the source core/bandit.py, the source core/randomness.py",
        ),
    ],
    ids=str,
)
def test_a_changed_source_is_named(
    store: Store,
    cell: RegretExperiment,
    change: dict[str, str | None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = sources(cell.roots) | change
    kept = {name: digest for name, digest in before.items() if digest is not None}
    with monkeypatch.context() as patch:
        patch.setattr("dpbandits.store.key.sources", lambda roots: kept)
        patch.setattr("dpbandits.store.blocks.check_sources", lambda cell: None)
        write(store, cell, 5)
    key.cache_clear()
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached cell differs in {reason}"
    )
