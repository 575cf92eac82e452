"""Curves of figures on resamples of their runs: the estimate first, then RESAMPLES resamples.

Every statistic is evaluated on all resamples at once. Resamples of as many runs as there are give
intervals; resamples of as many runs as the paper has show what the paper's own experiment shows.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np

from dpbandits.core import registry
from dpbandits.experiments import Experiment
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.spec.figure import Curve
from dpbandits.store.blocks import Store
from dpbandits.tables import published
from dpbandits.tables.series import values, x_values

RESAMPLES = 1000
AT_ONCE = 250  # resamples that are held in memory at a time
Reduce = Callable[[np.ndarray, np.ndarray], np.ndarray]  # runs (n, x), counts (s, n) -> (s, x)


class Resampler:
    """Statistics of curves on all resamples, from the runs of a store.

    `size` is the number of runs of a resample: None for as many as there are, with streams shared
    as in the runs; otherwise that of the paper, whose curves were drawn independently. Without a
    store every statistic is 1: then only `used`, the played curves that were asked for, counts.
    With `resamples` 0 there is only the estimate.
    """

    def __init__(
        self,
        store: Store | None,
        runs: Mapping[Experiment, int],
        size: int | None = None,
        resamples: int = RESAMPLES,
    ) -> None:
        self.store, self.size, self.resamples = store, size, resamples
        self.used: dict[Curve, None] = {}
        self._runs = runs
        self._known: dict[tuple[object, ...], np.ndarray] = {}

    def number(self, curve: Curve) -> int:
        """Return the number of runs of a played curve."""
        return min(self._runs.get(cell, curve.runs) for cell in cells(curve))

    def statistic(self, curve: Curve, name: str, columns: np.ndarray) -> np.ndarray:
        """Return a statistic at some points, float64 of shape (1 + RESAMPLES, points)."""
        if curve.is_exact:
            return np.asarray(values(curve, Store(Path()))[:1, columns])
        reduce = STATISTICS[name] if name != "spread" else _spread(self.size or curve.runs)
        # The points of a sweep are games of their own; those over time belong to the same runs.
        if curve.x is None:
            blocks = [(curve.sources[0], columns)]
        else:
            blocks = [(curve.sources[column], np.array([column])) for column in columns]
        return self._cached(
            curve,
            (name, columns.tobytes()),
            lambda runs: np.hstack([self._reduced(s, runs[:, c], reduce) for s, c in blocks]),
            len(columns),
        )

    def p_value(self, curve: Curve) -> np.ndarray:
        """Return the p-value of the published curve among the runs, (1 + RESAMPLES, 1)."""

        def share(runs: np.ndarray) -> np.ndarray:
            beyond = published.as_far(curve, x_values(curve), runs).T.astype(float)
            shares, size = self._reduced(curve.sources[0], beyond, _mean), self.size or len(runs)
            return np.asarray((shares * size + 1) / (size + 1)).max(1, keepdims=True)

        return self._cached(curve, ("p",), share, 1)

    def _cached(
        self,
        curve: Curve,
        what: tuple[object, ...],
        compute: Callable[[np.ndarray], np.ndarray],
        points: int,
    ) -> np.ndarray:
        self.used[curve] = None
        if self.store is None:
            return np.ones((1, points))
        number = self.number(curve)
        key = (curve.sources, curve.against, curve.shows, number, *what)
        if key not in self._known:
            self._known[key] = compute(values(replace(curve, runs=number), self.store))
        return self._known[key]

    def _reduced(
        self, source: Experiment | Formula, runs: np.ndarray, reduce: Reduce
    ) -> np.ndarray:
        assert not isinstance(source, Formula)
        streams = source.description() if self.size else _streams(source)
        seed = hashlib.sha256(json.dumps([streams, self.size]).encode()).digest()
        rng, counts = np.random.default_rng([*seed]), _counts(len(runs), self.size or len(runs))
        shuffled, rows = runs[rng.permutation(len(runs))], rng.permutation(RESAMPLES)
        parts = (counts[rows[i : i + AT_ONCE]] for i in range(0, self.resamples, AT_ONCE))
        found = (reduce(shuffled, part.astype(float)) for part in parts)
        return np.vstack([reduce(runs, np.ones((1, len(runs)))), *found])


@lru_cache(8)
def _counts(runs: int, size: int) -> np.ndarray:
    # How often every resample has every run, (RESAMPLES, runs). Experiments share the counts:
    # their runs and their resamples, in an order of their own, make them independent.
    rng = np.random.default_rng([runs, size])
    drawn = (rng.integers(0, runs, size) for _ in range(RESAMPLES))
    return np.array([np.bincount(d, minlength=runs) for d in drawn], np.min_scalar_type(size))


def cells(curve: Curve) -> list[Experiment]:
    """Return the cells that a curve is played from."""
    return [c for c in (*curve.sources, *curve.against) if not isinstance(c, Formula)]


def _streams(source: Experiment) -> dict[str, object]:
    # What names the streams of a run: games on one table of gains share it, and so do horizons.
    described = {**source.description()}
    if isinstance(source, RegretExperiment):
        if hasattr(registry.environment(source.environment), "table"):
            return {key: described[key] for key in ("environment", "instance", "seed")}
        described["params"] = {k: v for k, v in described["params"].items() if k != "horizon"}
    return {k: v for k, v in described.items() if k not in ("horizon", "grid", "pulls_of")}


def _mean(runs: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.asarray(counts @ runs / counts.sum(1, keepdims=True))


def _of_columns(reduce: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Reduce:
    # A statistic of sorted values (n,) with their counts (s, n).
    def every(runs: np.ndarray, counts: np.ndarray) -> np.ndarray:
        orders = [np.argsort(column) for column in runs.T]
        columns = zip(runs.T, orders, strict=True)
        return np.stack([reduce(column[order], counts[:, order]) for column, order in columns], 1)

    return every


def _median(ordered: np.ndarray, counts: np.ndarray) -> np.ndarray:
    reached, half = np.cumsum(counts, axis=1), counts.sum(1, keepdims=True) / 2
    middle = (reached < half).sum(1), (reached <= half).sum(1).clip(max=len(ordered) - 1)
    return np.asarray((ordered[middle[0]] + ordered[middle[1]]) / 2)


def _largest(ordered: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.asarray(ordered[len(ordered) - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)])


def _smallest(ordered: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.asarray(ordered[np.argmax(counts > 0, axis=1)])


def _spread(size: int) -> Reduce:
    # Mean of the largest minus the smallest of `size` runs; of a resample of that size its own.
    def spread(ordered: np.ndarray, counts: np.ndarray) -> np.ndarray:
        if counts[0].sum() == size:
            return _largest(ordered, counts) - _smallest(ordered, counts)
        below = (np.cumsum(counts, axis=1) / counts.sum(1, keepdims=True))[:, :-1]
        return np.asarray((1 - below**size - (1 - below) ** size) @ np.diff(ordered))

    return _of_columns(spread)


_x_values = cache(x_values)  # a judge asks thousands of times

STATISTICS: dict[str, Reduce] = {
    "mean": _mean,
    "median": _of_columns(_median),
    "max": _of_columns(_largest),
    "min": _of_columns(_smallest),
}


@dataclass(frozen=True)
class Line:
    """Curve of a panel at some of its points."""

    resampler: Resampler
    statistic: str
    curve: Curve
    columns: np.ndarray
    chosen: bool = False  # every point is compared; otherwise the last one stands for the curve

    @classmethod
    def of(cls, resampler: Resampler, statistic: str, curve: Curve) -> "Line":
        """Return a whole curve."""
        return cls(resampler, statistic, curve, np.arange(len(_x_values(curve))))

    @cached_property
    def x(self) -> np.ndarray:
        """The points, float64 of shape (points,)."""
        return _x_values(self.curve)[self.columns]

    def take(self, mask: np.ndarray) -> "Line":
        """Return the curve at some of its points, all of which are then compared."""
        return replace(self, columns=self.columns[mask], chosen=True)

    def values(self) -> np.ndarray:
        """Return the statistic at the points on all resamples."""
        return self.resampler.statistic(self.curve, self.statistic, self.columns)
