"""Tidy tables of pandas, and quantiles."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbandits.core.errors import UserError, shown
from dpbandits.curves import series
from dpbandits.curves.series import Series

if TYPE_CHECKING:
    from pandas import DataFrame


def quantiles(regret: np.ndarray, q: float | Sequence[float]) -> np.ndarray:
    """Return quantiles over the runs; raise UserError unless every probability is in [0, 1].

    `regret` is float64 of shape (runs, checkpoints). The result has shape (checkpoints,) for one
    probability, else (len(q), checkpoints).
    """
    try:
        wanted = np.asarray(q, float)
        valid = wanted.ndim <= 1 and bool(((wanted >= 0) & (wanted <= 1)).all())
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise UserError(
            f"quantiles: q must be in [0, 1], or a list of such numbers, got {shown(q)}"
        )
    result: np.ndarray = np.quantile(regret, wanted, axis=0)
    return result


def of_runs(label: str, rounds: np.ndarray, regret: np.ndarray) -> "DataFrame":
    """Return a table with a row for every run and checkpoint: algorithm, run, round, regret."""
    runs = len(regret)
    return frame(
        {
            "algorithm": label,
            "run": np.repeat(np.arange(runs), len(rounds)),
            "round": np.tile(rounds, runs),
            "regret": regret.ravel(),
        }
    )


def of_series(summarised: Iterable[Series]) -> "DataFrame":
    """Return the table of a figure's CSV: a row for every point of every curve."""
    header = (*series.PLACE, *series.STATISTICS)
    numbers = len(series.STATISTICS)
    rows = [(*row[:-numbers], *map(float, row[-numbers:])) for row in series.rows(summarised)]
    return frame(rows, columns=list(header))


def frame(content: Any, **settings: Any) -> "DataFrame":
    """Return a table of pandas; raise UserError if pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise UserError(
            f"a table needs pandas, which cannot be imported ({error}):"
            " pip install 'dpbandits[pandas]', in a checkout pip install '.[pandas]'"
        ) from error
    return pandas.DataFrame(content, **settings)


def joined(parts: "Sequence[DataFrame]") -> "DataFrame":
    """Return the rows of several tables as one table."""
    import pandas

    return pandas.concat(parts, ignore_index=True)
