"""Arm of largest index or sample."""

import math
from enum import IntEnum

from dpbandits.kernel.compilation import inlined


class Method(IntEnum):
    """Method that draws the arm of largest sample θ; both have the same distribution."""

    EXACT = 0  # with fewer or quicker draws (fast/)
    PLAIN = 1  # a draw for every arm in every round


@inlined
def argmax(values):
    """Return the position of the largest value, the first one if tied; `values` has shape (n,)."""
    largest, position = -math.inf, 0
    for i in range(values.size):
        if values[i] > largest:
            largest, position = values[i], i
    return position
