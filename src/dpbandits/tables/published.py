"""Points of the papers' own curves, figures/published/<paper>.csv, and their place among our runs.

The file <paper>.yaml beside a table states where its numbers are from.
"""

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel.errors import UserError
from dpbandits.privacy.notions import BUDGETS, budget_of
from dpbandits.spec.figure import Curve, Points

COLUMNS = ("figure", "budget", "horizon", "instance", "curve", "round", "regret")
OFFSETS = 9  # offsets that are tried
RESOLUTION = 1e-3  # of a curve's largest number; its numbers cannot be read off more closely
Row = dict[str, str]


def rows(paper: str, figure: int | str) -> list[Row]:
    """Return the rows of a paper's figure; none without a table.

    Raises UserError for a table that cannot be read, as without a column or a number.
    """
    file = f"figures/published/{paper}.csv"
    try:
        with project.find(file).open(encoding="utf-8", newline="") as text:
            table = csv.DictReader(text)
            if missing := [name for name in COLUMNS if name not in (table.fieldnames or ())]:
                raise ValueError(f"it has no column {', '.join(missing)}")
            rows = [row for row in table if row["figure"] == str(figure)]
        for row in rows:
            _ = [float(row[name]) for name in ("budget", "horizon", "round", "regret")]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    return rows


def points(rows: Sequence[Row], curve: Curve, instance: Callable[[str], tuple[str, Any]]) -> Points:
    """Return the published points of a curve, (round or budget, regret); none of another game.

    `instance` returns the environment and the parameters of a file in conf/environment/. The column
    `curve` has algorithms and curves of our figures, any of them; `horizon` is inf for a game that
    ends by itself.
    """
    experiment = curve.sources[0]
    said = kinds.words(experiment)
    if not said.bandit:
        return ()
    over_budgets = curve.over in BUDGETS
    name = budget_of(experiment.params._fields) or ""
    budget, x = getattr(experiment.params, name, None), "budget" if over_budgets else "round"
    return tuple(
        (float(row[x]), float(row["regret"]))
        for row in rows
        if {experiment.member, curve.name} & {*row["curve"].split()}
        and float(row["horizon"]) in (said.rounds, math.inf)
        and (over_budgets or budget in (None, float(row["budget"])))
        and instance(row["instance"]) == said.bandit
    )


def rounds(rows: Iterable[Row]) -> tuple[int, ...]:
    """Return the rounds of published points as checkpoints, without repetition."""
    return tuple(sorted({_checkpoint(float(row["round"])) for row in rows}))


def at_checkpoints(curve: Curve) -> dict[float, float]:
    """Return the published points of a curve by the checkpoint, or the swept value, of each."""
    over_time = curve.x is None
    return {float(_checkpoint(x)) if over_time else x: y for x, y in curve.published}


def _checkpoint(x: float) -> int:
    # A round as read off a picture is no whole number, and may be 0.
    return max(1, round(x))


def as_far(curve: Curve, x: np.ndarray, runs: np.ndarray) -> np.ndarray:
    """Return which runs are as far from the median of all as the published curve, or farther.

    `runs`: (runs, x); the result: (offsets, runs). A published curve that was moved to start at 0
    may have lost up to the regret of one pull of each arm: the most plausible offset counts. The
    p-value is the largest share of curves, ours and the paper's.
    """
    gaps = kinds.gaps(curve.sources[0])
    assert gaps is not None
    rounds, regret = np.array([*at_checkpoints(curve).items()]).T
    if not np.isin(rounds, x).all():
        problem = "a published point has no checkpoint; set `checkpoints: published`"
        raise UserError(f"{curve.label}: {problem}")
    offsets = np.linspace(0.0, gaps.sum(), OFFSETS)
    columns = np.searchsorted(x, rounds)
    return np.array([as_far_as(runs[:, columns], regret + offset) for offset in offsets])


def as_far_as(runs: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return which curves are as far from the median of all as `other`, or farther.

    `runs`: (runs, points), `other`: (points,), the result: (runs,). The distance of a curve is the
    largest over the points, in root mean squares of all curves; differences up to the RESOLUTION
    count as 0. If `other` is one more run, the share of the curves, `other` included, is at most p
    with probability p or less, whatever the distribution of the runs is.
    """
    curves = np.vstack([runs, other])
    median = np.median(curves, axis=0)
    away = curves - median
    away[np.abs(away) <= RESOLUTION * np.abs(median).max()] = 0.0
    unit = np.sqrt(np.mean(away * away, axis=0))
    distance = np.max(np.abs(away) / np.where(unit > 0.0, unit, 1.0), axis=1)
    return np.asarray(distance[:-1] >= distance[-1] * (1.0 - 1e-12))
