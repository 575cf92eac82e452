"""Curves of figures on resamples of their runs: the estimate first, then RESAMPLES resamples.

Every statistic is evaluated on all resamples at once. Resamples of as many runs as there are give
intervals; resamples of as many runs as the paper has show what the paper's own experiment shows.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.spec.figure import Curve
from dpbandits.store.blocks import Store
from dpbandits.tables import published
from dpbandits.tables.series import values, x_values
from dpbandits.tables.statistics import interval_of_share

RESAMPLES = 1000
AT_ONCE = 250  # resamples that are held in memory at a time


@dataclass(eq=False)
class Resampler:
    """Statistics of curves on all resamples, from the runs of a store.

    `size` is the number of runs of a resample: None for as many as there are, with streams shared
    as in the runs; otherwise that of the paper, whose curves were drawn independently. `used` has
    the played curves that were asked for and their numbers of runs.
    """

    store: Store
    runs: Mapping[Experiment, int]
    size: int | None = None
    used: dict[Curve, int] = field(default_factory=dict)
    _known: dict[tuple[object, ...], np.ndarray] = field(default_factory=dict)

    def statistic(self, curve: Curve, name: str, columns: np.ndarray) -> np.ndarray:
        """Return a statistic at some points, float64 of shape (1 + RESAMPLES, points).

        `p_value` is one number for all points: that of the published curve among the runs.
        """
        if curve.is_exact:
            return np.asarray(values(curve, Store(Path()))[:1, columns])
        number = self.used[curve] = min(
            self.runs.get(experiment, curve.runs) for experiment in curve.played
        )
        group = self.size or curve.runs
        key = (curve, number, group, name, columns.tobytes())
        if key not in self._known:
            runs = values(replace(curve, runs=number), self.store)
            if name == "p_value":
                beyond = published.as_far(curve, x_values(curve), runs).T.astype(float)
                size = self.size or number
                shares = self._reduced(curve.sources[0], beyond, "mean", group)
                statistics = ((shares * size + 1) / (size + 1)).max(1, keepdims=True)
            elif name == "upper_99":
                count = runs[:, columns].sum(0)
                _, upper = interval_of_share(count, len(runs), 0.98)  # 1 % beyond either end
                statistics = np.broadcast_to(upper, (1 + RESAMPLES, len(columns)))
            elif curve.x is None:  # points over time belong to the same runs
                statistics = self._reduced(curve.sources[0], runs[:, columns], name, group)
            else:  # points of a sweep are games of their own
                swept = [(curve.sources[i], runs[:, [i]]) for i in columns]
                statistics = np.hstack([self._reduced(s, game, name, group) for s, game in swept])
            self._known[key] = statistics
        return self._known[key]

    def _reduced(self, source: Experiment, runs: np.ndarray, name: str, group: int) -> np.ndarray:
        # Experiments share the counts: their runs and their resamples, in an order of their own,
        # make them independent.
        streams = source.description() if self.size else kinds.words(source).shared
        seed = hashlib.sha256(json.dumps([streams, self.size]).encode()).digest()
        rng, counts = np.random.default_rng([*seed]), _counts(len(runs), self.size or len(runs))
        shuffled, rows = runs[rng.permutation(len(runs))], rng.permutation(RESAMPLES)
        parts = (counts[rows[i : i + AT_ONCE]] for i in range(0, RESAMPLES, AT_ONCE))
        resamples = (weighted(name, shuffled, part.astype(float), group) for part in parts)
        return np.vstack([weighted(name, runs, np.ones((1, len(runs))), group), *resamples])


class Planner:
    """Stand-in for a Resampler that has no runs: it notes which played curves a text asks for."""

    def __init__(self) -> None:
        self.used: dict[Curve, None] = {}

    def statistic(self, curve: Curve, name: str, columns: np.ndarray) -> np.ndarray:
        """Return the values of a formula, or ones in place of a statistic, (1, points)."""
        if curve.is_exact:
            return np.asarray(values(curve, Store(Path()))[:1, columns])
        self.used[curve] = None
        return np.ones((1, 1 if name == "p_value" else len(columns)))


@lru_cache(8)
def _counts(runs: int, size: int) -> np.ndarray:
    # How often every resample has every run, (RESAMPLES, runs).
    rng = np.random.default_rng([runs, size])
    samples = (rng.integers(0, runs, size) for _ in range(RESAMPLES))
    return np.array([np.bincount(d, minlength=runs) for d in samples], np.min_scalar_type(size))


def weighted(name: str, runs: np.ndarray, counts: np.ndarray, group: int) -> np.ndarray:
    """Return a statistic of runs (n, x) that occur as often as counts (s, n) say, (s, x).

    The spread is the mean of the largest minus the smallest of `group` runs; of a resample of that
    size its own.
    """
    if name == "mean":
        known = np.where(np.isinf(runs).any(0), np.nan, runs)  # an infinite run has no mean
        return np.asarray(counts @ known / counts.sum(1, keepdims=True))
    if name == "deviation":
        squares = weighted("mean", (runs - runs.mean(0)) ** 2, counts, group)
        return np.sqrt(squares - (weighted("mean", runs, counts, group) - runs.mean(0)) ** 2)
    statistics = []
    for column in runs.T:
        order = np.argsort(column)
        ordered, weights = column[order], counts[:, order]
        if name == "median":
            reached, half = np.cumsum(weights, axis=1), weights.sum(1, keepdims=True) / 2
            low, high = (reached < half).sum(1), (reached <= half).sum(1)
            statistics.append((ordered[low] + ordered[high.clip(max=len(ordered) - 1)]) / 2)
        elif name == "spread" and weights[0].sum() != group:
            below = (np.cumsum(weights, axis=1) / weights.sum(1, keepdims=True))[:, :-1]
            statistics.append((1 - below**group - (1 - below) ** group) @ np.diff(ordered))
        else:
            smallest = ordered[np.argmax(weights > 0, axis=1)]
            largest = ordered[len(ordered) - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)]
            ends = {"max": largest, "min": smallest, "spread": largest - smallest}
            statistics.append(ends[name])
    return np.stack(statistics, 1)


_x_values = cache(x_values)  # a judge asks thousands of times


@dataclass(frozen=True)
class Line:
    """Curve of a panel at some of its points."""

    resampler: Resampler | Planner
    statistic: str
    curve: Curve
    columns: np.ndarray
    x: np.ndarray  # (points,)
    chosen: bool = False  # every point is compared; otherwise the last one stands for the curve

    @classmethod
    def of(cls, resampler: Resampler | Planner, statistic: str, curve: Curve) -> "Line":
        """Return a whole curve."""
        x = _x_values(curve)
        return cls(resampler, statistic, curve, np.arange(len(x)), x)
