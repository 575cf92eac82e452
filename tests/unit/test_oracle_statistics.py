"""Whole tables against statistics from their definitions (tests/oracles/run_statistics.py)."""

import csv
import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import run_statistics as oracle

from dpbandits.config import compose
from dpbandits.experiments import Quantity
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import statistics
from dpbandits.tables.series import summarise, to_csv

DRAWN = [
    ("mean", "std"),
    ("mean", "standard-error"),
    ("median", "quartiles"),
    ("median-of-means", "gini"),
    ("median-of-means", "none"),
]


class MadeUp:
    """Store of made-up runs: values with ties at some x, spread over decades at others."""

    def load(self, source: Any, runs: int, part: slice = slice(None)) -> np.ndarray:
        """Return runs of a cell, float64 of shape (runs, columns of the part)."""
        name = repr(source.description())
        rng = np.random.Generator(np.random.PCG64(list(name.encode())))
        if isinstance(source, StoppingExperiment):
            error = rng.choice([0.3, 0.49, 0.51, 2.0], runs) * rng.choice([-1, 1], runs)
            return np.column_stack([rng.integers(1, 10**6, runs), source.stream.mean * (1 + error)])
        values = rng.lognormal(3.0, 2.0, (runs, source.columns))
        values[:, ::3] = rng.choice([1.5, 2.0, 40.25], values[:, ::3].shape)
        return values[:, part]


def expected_columns(spec: FigureSpec, curve: Any) -> list[list[float]]:
    """Return the values of all runs at every x of a curve, from the made-up runs."""
    if curve.x is None:
        return np.transpose(MadeUp().load(curve.sources[0], curve.runs)).tolist()
    columns = []
    for source in curve.sources:
        values = MadeUp().load(source, curve.runs)
        if isinstance(source, RegretExperiment):
            per = math.log(source.horizon) if curve.shows is Quantity.PER_LOG else 1.0
            columns.append([value / per for value in values[:, -1].tolist()])
        elif curve.shows is Quantity.SAMPLES:
            columns.append(values[:, 0].tolist())
        else:
            mean, alpha = source.stream.mean, source.params.alpha
            columns.append(
                [float(abs(e - mean) >= alpha * abs(mean)) for e in values[:, 1].tolist()]
            )
    return columns


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("figure", "overrides"),
    [
        ("dpucb-2arms", ["figure.horizon=40", "runs=31"]),  # over time
        ("horizons", ["figure.sweep.values=[1000,2000]", "runs=7"]),  # over a parameter, per log T
        ("stopping-rules", ["runs=26"]),  # samples, failures
    ],
)
def test_every_number_of_a_table_is_that_of_its_definition(
    figure: str, overrides: list[str]
) -> None:
    spec, _ = compose.load(figure, overrides)
    curves = {(p.letter, c.label): c for p in spec.panels for c in p.curves if not c.is_exact}
    assert curves
    store: Any = MadeUp()
    for centre, spread in DRAWN:
        series = summarise(replace(spec, centre=centre, spread=spread), store)
        table: dict[tuple[str, str], list[dict[str, str]]] = {}
        for line in csv.DictReader(io.StringIO(to_csv(series).decode())):
            table.setdefault((line["panel"], line["label"]), []).append(line)
        for place, curve in curves.items():
            columns = expected_columns(spec, curve)
            assert len(table[place]) == len(columns)
            for line, values in zip(table[place], columns, strict=True):
                assert int(line["runs"]) == len(values) == curve.runs
                expected = oracle.row(values, centre, spread)
                size = max(map(abs, values))
                for name, number in expected.items():
                    assert float(line[name]) == pytest.approx(number, rel=0, abs=1e-12 * size), name


@pytest.mark.usefixtures("in_checkout")
def test_a_bound_has_one_value_in_all_columns_and_no_runs() -> None:
    spec, _ = compose.load("adap-ksweep", ["runs=2"])
    bounds = {
        (p.letter, c.label)
        for p in spec.panels
        for c in p.curves
        if isinstance(c.sources[0], Formula)
    }
    store: Any = MadeUp()
    table = csv.DictReader(io.StringIO(to_csv(summarise(spec, store)).decode()))
    rows = [row for row in table if (row["panel"], row["label"]) in bounds]
    assert rows
    for row in rows:
        same = {row[name] for name in ("mean", "median", "min", "max", "centre", "low", "high")}
        assert len(same) == 1
        assert (row["runs"], float(row["std"])) == ("0", 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_slope_and_miss_are_those_of_least_squares(seed: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.lognormal(0.0, 2.0, 9)
    y = rng.lognormal(0.0, 2.0, 9) * rng.choice([1.0, 1.0, 0.0, -1.0], 9)
    y[:3] = 1.0, 2.0, 0.5
    exponent, miss = oracle.power_law(x.tolist(), y.tolist())
    assert statistics.power_law(x, y) == pytest.approx((exponent, miss), rel=1e-10)
