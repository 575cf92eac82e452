"""Arm of largest index."""

import math

from dpbandits.core.kernel import by_class, in_kernels, inlined
from dpbandits.core.lane_rows import LaneRows, get
from dpbandits.core.lanes import where
from dpbandits.core.vectors import maximum

MANY = 32  # values from which on vectors are faster than a chain of comparisons


def argmax(values):
    """Return the position of the largest value, the first one if tied; `values` has shape (n,)."""
    largest, position = -math.inf, 0
    for i in range(values.size):
        if values[i] > largest:
            largest, position = values[i], i
    return position


@in_kernels(argmax)
def argmax_in_vectors(values):
    """Return the same position; the largest of many values is found in vectors."""
    largest, position = -math.inf, 0
    if values.size >= MANY:
        largest = maximum(values)
        while position < values.size - 1 and values[position] != largest:
            position += 1
        return position
    for i in range(values.size):
        if values[i] > largest:
            largest, position = values[i], i
    return position


@by_class
def argmax_of_rows(rows):
    """Return the row of each run's largest number, the first one if tied (core/lane_rows.py)."""
    return argmax(rows)


@argmax_of_rows.register(LaneRows)
def argmax_in_lanes(rows):
    largest = get(rows, 0)
    position = largest * 0.0
    for i in range(1, rows.values.shape[0]):
        value = get(rows, i)
        larger = value > largest
        largest = where(larger, value, largest)
        position = where(larger, float(i), position)
    return position


@inlined
def random_argmax(values, rng):
    """Return the position of the largest value, a uniformly random one if tied.

    `values` has shape (n,). Draws random numbers only for ties.
    """
    largest, position, tied = -math.inf, 0, 1
    for i in range(values.size):
        if values[i] > largest:
            largest, position, tied = values[i], i, 1
        elif values[i] == largest:
            tied += 1
            if rng.random() * tied < 1.0:
                position = i
    return position
