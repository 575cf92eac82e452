"""Why a cell is not in the cache, in words."""

import dataclasses
from importlib import metadata
from typing import Any

import numpy as np
import pytest

from dpbandits import fingerprint
from dpbandits.algorithms import adap_ucb
from dpbandits.cell import Cell
from dpbandits.environments import bernoulli
from dpbandits.explain import explain
from dpbandits.spec import Bound, Curve, FigureSpec, Panel
from dpbandits.store import Store, key

pytestmark = pytest.mark.usefixtures("fresh_keys")


def figure(*cells: Cell, runs: int = 5) -> FigureSpec:
    bound = Curve("bound", "Bound", "bound", None, (Bound("azize2022.x", ()),))
    curves = tuple(Curve(str(i), str(i), c.algorithm, None, (c,)) for i, c in enumerate(cells))
    panels = (Panel("a", "", (*curves, bound)),)
    return FigureSpec("fig", "azize2022", "Title", "draw", runs, "mean", "none", False, panels)


def write(store: Store, cell: Cell, runs: int) -> None:
    store.write(cell, 0, np.zeros((runs, len(cell.checkpoints()))), 1.0)


def line(store: Store, cell: Cell, runs: int = 5) -> str:
    """What is said of a figure's only cell."""
    first, _ = explain(figure(cell, runs=runs), store)
    return first


def test_every_cell_has_a_line_with_its_key_runs_and_name(store: Store, cell: Cell) -> None:
    other = dataclasses.replace(cell, horizon=300)
    write(store, cell, 5)
    lines = list(explain(figure(cell, other), store))
    assert len(lines) == 3
    assert lines[0] == f"{key(cell)}     5/5 runs  {cell.name}"
    assert lines[1].startswith(f"{key(other)}     0/5 runs  {other.name}  ")
    assert lines[2] == f"fig: 1 of 2 cells are complete in {store.folder}; a run computes the rest"


def test_where_all_is_there_a_run_computes_nothing(store: Store, cell: Cell) -> None:
    write(store, cell, 7)
    assert line(store, cell).endswith(f" 5/5 runs  {cell.name}")
    *_, last = explain(figure(cell), store)
    assert last == f"fig: 1 of 1 cells are complete in {store.folder}; a run computes nothing"


def test_a_cell_that_was_never_computed(store: Store, cell: Cell) -> None:
    assert line(store, cell).endswith("  never computed")


def test_another_algorithm_in_the_cache_is_no_reason(store: Store, cell: Cell) -> None:
    write(store, dataclasses.replace(cell, algorithm="adap-klucb"), 5)
    assert line(store, cell).endswith("  never computed")


def test_runs_that_are_still_to_come(store: Store, cell: Cell) -> None:
    write(store, cell, 5)
    assert " 5/20 runs " in line(store, cell, runs=20)
    assert line(store, cell, runs=20).endswith("  more runs are asked for than there are")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": adap_ucb.Params(0.5)}, "params.epsilon (0.5, wanted 1.0)"),
        ({"horizon": 100}, "horizon (100, wanted 200)"),
        ({"seed": 7}, "seed (7, wanted 1)"),
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
def test_what_changed_in_the_cell_is_named_with_both_values(
    store: Store, cell: Cell, change: dict[str, Any], reason: str
) -> None:
    write(store, dataclasses.replace(cell, **change), 5)
    assert line(store, cell).endswith(f"  not computed; the nearest that is differs in {reason}")


def test_changed_means_of_as_many_arms_are_told_by_their_values(store: Store, cell: Cell) -> None:
    write(store, dataclasses.replace(cell, instance=bernoulli.Params((0.9, 0.625))), 5)
    told = line(store, cell)
    assert "instance.means" in told
    assert "0.625" in told
    assert "0.5" in told.partition("instance.means")[2]


def test_the_nearest_of_several_is_the_one_of_fewest_differences(store: Store, cell: Cell) -> None:
    params = adap_ucb.Params(0.5)
    write(store, dataclasses.replace(cell, params=params, horizon=100, seed=9), 5)
    write(store, dataclasses.replace(cell, seed=9), 5)
    write(store, dataclasses.replace(cell, params=params, seed=9), 5)
    assert line(store, cell).endswith("differs in seed (9, wanted 1)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"bandit.py": "0123456789abcdef"}, "the source bandit.py"),
        ({"algorithms/old.py": "0123456789abcdef"}, "the source algorithms/old.py (gone)"),
        ({"bandit.py": None}, "the source bandit.py (new)"),
        (
            {"bandit.py": "0123456789abcdef", "streams.py": "0123456789abcdef"},
            "the source bandit.py, the source streams.py",
        ),
    ],
    ids=str,
)
def test_a_changed_source_is_named(
    store: Store,
    cell: Cell,
    change: dict[str, str | None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint.sources(cell.algorithm, cell.environment) | change
    kept = {name: digest for name, digest in before.items() if digest is not None}
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "sources", lambda algorithm, environment: kept)
        write(store, cell, 5)
    key.cache_clear()
    assert line(store, cell).endswith(f"  not computed; the nearest that is differs in {reason}")


def test_another_version_of_numba_is_told(
    store: Store, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            "dpbandits.store.version", lambda n: "0.1" if n == "numba" else metadata.version(n)
        )
        write(store, cell, 5)
    key.cache_clear()
    now = metadata.version("numba")
    assert line(store, cell).endswith(f"differs in versions.numba (0.1, wanted {now})")


def test_a_damaged_block_is_not_counted(store: Store, cell: Cell) -> None:
    write(store, cell, 5)
    (store.cell_folder(cell) / "0-4.npz").write_bytes(b"")
    assert " 0/5 runs " in line(store, cell)


def test_explaining_computes_and_writes_nothing(store: Store, cell: Cell) -> None:
    assert len(list(explain(figure(cell), store))) == 2
    assert not store.folder.exists()
