"""Explanations of why a cell is not in the cache."""

import dataclasses
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.environments import bernoulli, beta
from dpbandits.spec.figure import Bound, Curve, FigureSpec, Panel, Quantity
from dpbandits.store import fingerprint
from dpbandits.store.blocks import Store
from dpbandits.store.explain import explain
from dpbandits.store.identity import key

pytestmark = pytest.mark.usefixtures("fresh_keys")


def figure(*cells: Cell, runs: int = 5) -> FigureSpec:
    bound = Curve(
        "bound",
        "Bound",
        "Bound",
        "bound",
        Quantity.REGRET,
        "t",
        None,
        (Bound("azize2022.x", ()),),
        runs,
    )
    curves = tuple(
        Curve(str(i), str(i), str(i), c.algorithm, Quantity.REGRET, "t", None, (c,), runs)
        for i, c in enumerate(cells)
    )
    panels = (Panel("a", "", (*curves, bound)),)
    return FigureSpec("fig", "azize2022", "Title", "draw", runs, "mean", "none", False, panels)


def write(store: Store, cell: Cell, runs: int) -> None:
    store.write(cell, 0, np.zeros((runs, len(cell.checkpoints()))), 1.0)


def line(store: Store, cell: Cell, runs: int = 5) -> str:
    """Return the explanation for the only cell of a figure."""
    first, _ = explain(figure(cell, runs=runs), store)
    return first


def test_every_cell_has_a_line_with_its_key_runs_and_name(store: Store, cell: Cell) -> None:
    other = dataclasses.replace(cell, horizon=300)
    write(store, cell, 5)
    lines = list(explain(figure(cell, other), store))
    assert len(lines) == 3
    assert lines[0] == f"{key(cell)}     5/5 runs  {cell.name}"
    assert lines[1].startswith(f"{key(other)}     0/5 runs  {other.name}  ")
    assert (
        lines[2]
        == f"fig: 1 of 2 cells are complete in {store.folder}; `dpbandits run` computes the rest"
    )


def test_where_all_is_there_a_run_computes_nothing(store: Store, cell: Cell) -> None:
    write(store, cell, 7)
    assert line(store, cell).endswith(f" 5/5 runs  {cell.name}")
    *_, last = explain(figure(cell), store)
    assert (
        last
        == f"fig: 1 of 1 cells are complete in {store.folder}; `dpbandits run` computes nothing"
    )


def test_a_cell_that_was_never_computed(store: Store, cell: Cell) -> None:
    assert line(store, cell).endswith("  never computed")


def test_another_algorithm_in_the_cache_is_no_reason(store: Store, cell: Cell) -> None:
    write(store, dataclasses.replace(cell, algorithm="adap-klucb"), 5)
    assert line(store, cell).endswith("  never computed")


def test_runs_that_are_still_to_come(store: Store, cell: Cell) -> None:
    write(store, cell, 5)
    assert " 5/20 runs " in line(store, cell, runs=20)
    assert line(store, cell, runs=20).endswith("  more runs are requested than cached")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": adap_ucb.Params(0.5)}, "params.epsilon (0.5, wanted 1.0)"),
        ({"horizon": 100}, "horizon (100, wanted 200)"),
        ({"seed": 7}, "seed (7, wanted 1)"),
        ({"grid": Grid.END}, "grid (end, wanted log)"),
        ({"params": adap_ucb.Params(1.0, ties=Ties.RANDOM)}, "params.ties (random, wanted first)"),
        (
            {"environment": "beta", "instance": beta.Params((0.9, 0.5), 3.0)},
            "environment (beta, wanted bernoulli), instance.concentration (3.0, wanted none),"
            " the source environments/_lane_arms.py (new),"
            " the source environments/bernoulli.py (new), the source environments/beta.py (gone)",
        ),
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
    store: Store, cell: Cell, change: dict[str, Any], reason: str
) -> None:
    write(store, dataclasses.replace(cell, **change), 5)
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached cell differs in {reason}"
    )


def test_changed_means_of_equally_many_arms_are_printed(store: Store, cell: Cell) -> None:
    write(store, dataclasses.replace(cell, instance=bernoulli.Params((0.9, 0.625))), 5)
    message = line(store, cell)
    assert "instance.means" in message
    assert "0.625" in message
    assert "0.5" in message.partition("instance.means")[2]


def test_a_thousand_means_are_printed_in_one_short_line(store: Store, cell: Cell) -> None:
    means = tuple(0.9 - arm / 2000 for arm in range(1000))
    other = dataclasses.replace(cell, instance=bernoulli.Params(means))
    write(store, other, 5)
    wanted = dataclasses.replace(cell, instance=bernoulli.Params((0.95, *means[1:])))
    message = line(store, wanted).partition("differs in ")[2]
    assert message.startswith("instance.means ([0.9, ")
    assert ", wanted [0.95, " in message
    assert len(message) < 300


def test_the_nearest_of_several_is_the_one_of_fewest_differences(store: Store, cell: Cell) -> None:
    params = adap_ucb.Params(0.5)
    write(store, dataclasses.replace(cell, params=params, horizon=100, seed=9), 5)
    write(store, dataclasses.replace(cell, seed=9), 5)
    write(store, dataclasses.replace(cell, params=params, seed=9), 5)
    assert line(store, cell).endswith("differs in seed (9, wanted 1)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"core/bandit.py": "0123456789abcdef"}, "the source core/bandit.py"),
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
    cell: Cell,
    change: dict[str, str | None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint.sources(cell.roots) | change
    kept = {name: digest for name, digest in before.items() if digest is not None}
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "sources", lambda roots: kept)
        write(store, cell, 5)
    key.cache_clear()
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached cell differs in {reason}"
    )


@pytest.mark.parametrize("library", ["numba", "numpy"])
def test_another_version_of_numba_or_numpy_is_named(
    store: Store, cell: Cell, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            "dpbandits.store.identity.version",
            lambda n: "0.1" if n == library else metadata.version(n),
        )
        write(store, cell, 5)
    key.cache_clear()
    now = metadata.version(library)
    assert line(store, cell).endswith(f"differs in versions.{library} (0.1, wanted {now})")


def test_another_format_of_the_store_is_named(
    store: Store, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("dpbandits.store.identity.FORMAT", 0)
        write(store, cell, 5)
    key.cache_clear()
    assert line(store, cell).endswith("differs in format (0, wanted 1)")


def test_a_damaged_block_is_not_counted(store: Store, cell: Cell) -> None:
    write(store, cell, 5)
    (store.cell_folder(cell) / "0-4.npz").write_bytes(b"")
    assert " 0/5 runs " in line(store, cell)


def test_explaining_computes_and_writes_nothing(store: Store, cell: Cell) -> None:
    assert len(list(explain(figure(cell), store))) == 2
    assert not store.folder.exists()


# With the actual sources --------------------------------------------------------------------------

ONE_RUN = (
    *("adap-c2", "figure.horizon=1000", "runs=1"),
    *(f"~figure.curves.{name}" for name in ("dp-ucb", "dp-se", "adap-klucb")),
    *("~figure.panels.b", "~figure.panels.c", "~figure.panels.d"),
)
HELPER = "algorithms/_argmax.py"  # the algorithm imports a module that imports it


class Copy:
    """Copy of the package, with commands that run it and helpers that a test may edit."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.package = folder / "src" / "dpbandits"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / "src" / "dpbandits", self.package, ignore=ignored)

    def start(self, verb: str) -> subprocess.Popen[str]:
        paths = (f"paths.cache={self.folder / 'cache'}", f"paths.out={self.folder / 'out'}")
        # Plain Python, since all time would go to compilation; the cache is the same.
        own = {"PYTHONPATH": str(self.package.parent), "NUMBA_DISABLE_JIT": "1"}
        return subprocess.Popen(
            (sys.executable, "-m", "dpbandits.cli.main", verb, *ONE_RUN, *paths),
            cwd=self.root,
            env={**os.environ, **own, "DPBANDITS_CACHE": str(self.folder / "code")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.package / file
        before = path.read_text()
        assert old in before
        path.write_text(before.replace(old, new))


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    return out


def test_an_edited_helper_is_named_and_an_edited_comment_costs_nothing(
    root: Path, tmp_path: Path
) -> None:
    copy = Copy(root, tmp_path)
    assert "1 run computed, 0 from the cache" in ended(copy.start("run"))

    copy.edit(HELPER, "\n    largest", "\n    # The same, in other words.\n    largest")
    explaining, running = copy.start("explain"), copy.start("run")
    cell_line, last = ended(explaining).splitlines()
    assert "   1/1 runs  adap-ucb" in cell_line
    assert last.endswith("; `dpbandits run` computes nothing")
    assert "0 runs computed, 1 from the cache" in ended(running)

    copy.edit(HELPER, "> largest", ">= largest")  # the last of equal values, not the first
    cell_line, last = ended(copy.start("explain")).splitlines()
    assert "   0/1 runs  adap-ucb" in cell_line
    reason = f"not computed; the most similar cached cell differs in the source {HELPER}"
    assert cell_line.endswith(f"  {reason}")
    assert last.endswith("; `dpbandits run` computes the rest")
