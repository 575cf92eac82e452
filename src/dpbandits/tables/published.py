"""Points of the papers' own curves, figures/published/<paper>.csv, and their place among our runs.

The file <paper>.yaml beside a table states where its numbers are from.
"""

import csv
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpbandits.files import project
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import Curve, Points

COLUMNS = ("figure", "epsilon", "horizon", "instance", "curve", "round", "regret")
OFFSETS = 9  # offsets that are tried
RESOLUTION = 1e-3  # of a curve's largest number; its numbers cannot be read off more closely
Row = dict[str, str]


def rows(paper: str, figure: int) -> list[Row]:
    """Return the rows of a paper's figure; none without a table.

    Raises UserError for a table that cannot be read, as without a column or a number.
    """
    file = f"figures/published/{paper}.csv"
    try:
        with project.find(file).open(encoding="utf-8", newline="") as text:
            table = csv.DictReader(text)
            if missing := [name for name in COLUMNS if name not in (table.fieldnames or ())]:
                raise ValueError(f"it has no column {', '.join(missing)}")
            found = [row for row in table if row["figure"] == str(figure)]
        for row in found:
            _ = [float(row[name]) for name in ("epsilon", "horizon", "round", "regret")]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    return found


def points(rows: Sequence[Row], curve: Curve, instance: Callable[[str], tuple[str, Any]]) -> Points:
    """Return the published points of a curve over time: (round, regret); none of another game.

    `instance` returns the law and the parameters of a file in conf/environment/.
    """
    experiment = curve.sources[0]
    if curve.x is not None or not experiment.bandit:
        return ()
    budget = getattr(experiment.params, "epsilon", None)
    return tuple(
        (float(row["round"]), float(row["regret"]))
        for row in rows
        if row["curve"] == experiment.member
        and float(row["horizon"]) == experiment.rounds
        and budget in (None, float(row["epsilon"]))
        and instance(row["instance"]) == experiment.bandit
    )


def as_far(curve: Curve, x: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Return which runs are as far from the median of all as the published curve, or farther.

    `runs`: (runs, x); the result: (offsets, runs). A published curve that was moved to start at 0
    may have lost up to the regret of one pull of each arm: the most plausible offset counts. The
    p-value is the largest share of curves, ours and the paper's.
    """
    gaps = curve.sources[0].gaps()
    assert gaps is not None
    rounds, regret = np.array(curve.published).T
    if not np.isin(rounds, x).all():
        problem = "a published round has no checkpoint; set `checkpoints: linear`"
        raise UserError(f"{curve.label}: {problem}")
    offsets = np.linspace(0.0, gaps.sum(), OFFSETS)
    columns = np.searchsorted(x, rounds)
    return np.array([as_far_as(runs[:, columns], regret + offset) for offset in offsets])


def as_far_as(runs: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return which curves are as far from the median of all as `other`, or farther.

    `runs`: (runs, points), `other`: (points,), the result: (runs,). The distance of a curve is the
    largest over the points, in root mean squares of its side, since runs may be skewed; differences
    up to the RESOLUTION count as 0. If `other` is one more run, the share of the curves, `other`
    included, is at most p with probability p or less, whatever the distribution of the runs is.
    """
    curves = np.vstack([runs, other])
    median = np.median(curves, axis=0)
    away = curves - median
    away[np.abs(away) <= RESOLUTION * np.abs(median).max()] = 0.0
    distance = np.zeros(len(curves))
    for side in (away, -away):
        beyond = np.maximum(side, 0.0)
        number = np.maximum(np.count_nonzero(beyond, axis=0), 1)
        unit = np.sqrt(np.sum(beyond * beyond, axis=0) / number)
        scaled = beyond / np.where(unit > 0.0, unit, 1.0)
        distance = np.maximum(distance, scaled.max(axis=1))
    return np.asarray(distance[:-1] >= distance[-1] * (1.0 - 1e-12))
