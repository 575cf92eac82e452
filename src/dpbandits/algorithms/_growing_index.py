"""Indices of the form fixed + width sqrt(log t) + slope log t.

Only a pull changes the three coefficients of an arm, so a round costs two products per arm. Width
and slope are not negative, so an index grows with t.
"""

import math

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.kernel import inlined
from dpbandits.core.vectors import maximum


@inlined
def largest_index(fixed, width, slope, index, t):
    """Return the arm of largest index in round t, the first one if tied.

    All arrays are float64 of shape (arms,); `index` is overwritten with the indices.
    """
    _write_indices(fixed, width, slope, index, t)
    return argmax(index)


@inlined
def largest_rival(fixed, width, slope, index, leader, t):
    """Return the largest index in round t of the other arms; the arrays are those above."""
    _write_indices(fixed, width, slope, index, t)
    index[leader] = -math.inf
    return maximum(index)


@inlined
def _write_indices(fixed, width, slope, index, t):
    log_t = math.log(t)
    root = math.sqrt(log_t)
    for arm in range(index.size):
        index[arm] = fixed[arm] + width[arm] * root + slope[arm] * log_t
