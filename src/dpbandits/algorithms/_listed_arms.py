"""Arms that are sampled in every round, and the segments of all others (_largest_sample.py).

The arrays `often` (bool), `listed` (int64) and `length` (float64) have shape (arms,): whether an
arm is listed, the listed arms, and the segments of the others.
"""

import math

from dpbandits.algorithms._leads import chance_above
from dpbandits.core.kernel import inlined

OFTEN = 0.25  # an arm with this chance or more to exceed the level is sampled in every round


@inlined
def list_often(law, a, b, level, often, listed, length):
    """List the arms that often exceed the level, and compute the segments of the others.

    Returns the number of listed arms.
    """
    many = 0
    often[:] = False
    for arm in range(often.size):
        own = segment(chance_above(law, a[arm], b[arm], level))
        many = enter(often, listed, length, many, arm, own)
    return many


@inlined
def segment(chance):
    """Return the segment length that is hit with this chance; inf if it is OFTEN or more."""
    return -math.log1p(-chance) if chance < OFTEN else math.inf


@inlined
def enter(often, listed, length, many, arm, own):
    """Enter the new segment of an arm, which is listed if it is inf; return how many are listed."""
    length[arm] = 0.0 if own == math.inf else own
    if (own == math.inf) == often[arm]:
        return many
    if often[arm]:
        many -= 1
        place = 0
        while listed[place] != arm:
            place += 1
        listed[place] = listed[many]
    else:
        listed[many] = arm
        many += 1
    often[arm] = own == math.inf
    return many
