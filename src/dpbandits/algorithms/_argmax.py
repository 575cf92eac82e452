"""The arm of largest index."""

import math

from dpbandits.core.kernel import inlined


@inlined
def argmax(values):
    """The position of the largest value; of several, the first."""
    largest, position = -math.inf, 0
    for i in range(values.size):
        if values[i] > largest:
            largest, position = values[i], i
    return position


@inlined
def random_argmax(values, rng):
    """The position of the largest value; of several, one uniformly. Draws only where they tie."""
    largest, position, tied = -math.inf, 0, 1
    for i in range(values.size):
        if values[i] > largest:
            largest, position, tied = values[i], i, 1
        elif values[i] == largest:
            tied += 1
            if rng.random() * tied < 1.0:
                position = i
    return position
