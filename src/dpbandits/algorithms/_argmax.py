"""Arm of largest index."""

import math

from dpbandits.core.kernel import inlined
from dpbandits.core.vectors import maximum

MANY = 32  # values from which on vectors are faster than a chain of comparisons


@inlined
def argmax(values):
    """Return the position of the largest value, the first one if tied; `values` has shape (n,)."""
    position = 0
    if values.size >= MANY:
        largest = maximum(values)
        while position < values.size - 1 and values[position] != largest:
            position += 1
        return position
    largest = -math.inf
    for i in range(values.size):
        if values[i] > largest:
            largest, position = values[i], i
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
