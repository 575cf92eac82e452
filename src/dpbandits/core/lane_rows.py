"""Rows of numbers, one row per arm, of a single run or of sixteen runs in step.

For a single run they are an array of shape (rows,), for sixteen an array of shape (rows, 16). Code
that uses the functions below is written once for both.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from dpbandits.core.kernel import by_class
from dpbandits.core.lane_ir import lane_load, lane_store
from dpbandits.core.lanes import LaneStreams, lane_zeros, where


class LaneRows(NamedTuple):
    """Rows of sixteen runs."""

    values: np.ndarray  # float64, shape (rows, 16)


@partial(by_class, allocating=True)
def zero_rows(rng, n):
    """Return n rows of zeros for the runs that draw from `rng`."""
    return np.zeros(n)


@zero_rows.register(LaneStreams)
def zero_lane_rows(rng, n):
    return LaneRows(lane_zeros(n))


@by_class
def get(rows, i):
    """Return row i, which is the same for all runs."""
    return rows[i]


@get.register(LaneRows)
def get_lanes(rows, i):
    return lane_load(rows.values, i)


@by_class
def put(rows, i, value):
    """Replace row i, which is the same for all runs."""
    rows[i] = value


@put.register(LaneRows)
def put_lanes(rows, i, value):
    lane_store(rows.values, i, value)


@by_class
def add_chosen(rows, chosen, value):
    """Add a value to the row that each run chose, and return what it is then."""
    rows[chosen] += value
    return rows[chosen]


@add_chosen.register(LaneRows)
def add_chosen_lanes(rows, chosen, value):
    of_chosen = chosen * 0.0
    for i in range(rows.values.shape[0]):
        here = chosen == float(i)
        total = get(rows, i) + where(here, value, 0.0)
        put(rows, i, total)
        of_chosen = where(here, total, of_chosen)
    return of_chosen


@by_class
def put_chosen(rows, chosen, value):
    """Replace the row that each run chose; `chosen` holds the numbers of the rows."""
    rows[chosen] = value


@put_chosen.register(LaneRows)
def put_chosen_lanes(rows, chosen, value):
    for i in range(rows.values.shape[0]):
        put(rows, i, where(chosen == float(i), value, get(rows, i)))
