"""Indices that grow with t alone while an arm waits: fixed + width sqrt(log t) + slope log t.

Only a pull changes the three numbers of an arm, so that a round costs two products an arm.
"""

import math

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.kernel import inlined


@inlined
def largest_index(fixed, width, slope, index, t):
    """The arm of largest index in round t; of several, the first. Fills `index`."""
    log_t = math.log(t)
    root = math.sqrt(log_t)
    for arm in range(index.size):
        index[arm] = fixed[arm] + width[arm] * root + slope[arm] * log_t
    return argmax(index)
