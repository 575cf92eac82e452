"""Count of one game's outcomes, in the cells that features.py defines."""

import numpy as np

from dpbandits.audit_kernels.features import BUCKETS, WINDOW
from dpbandits.core.kernel import inlined

SHIFT = np.uint64(64 - BUCKETS.bit_length() + 1)  # the upper bits of a hash are its bucket
FACTOR = np.uint64(6364136223846793005)  # of the linear congruential generator MMIX


@inlined
def mixed(code, number):
    """Return the hash of a sequence, given the hash of its beginning and the next number."""
    return (code + np.uint64(number) + np.uint64(1)) * FACTOR


@inlined
def count(played, pulls, arm, index, counts):
    """Add one game to `counts`, uint32 of shape (cells,), in place.

    `played` (int64, shape (rounds,)) holds the arm of each round, `pulls` (int64, shape (arms,))
    the final pulls. The changed entry is number `index` (from 1) of `arm`.
    """
    rounds, arms = played.size, pulls.size
    sequence, window, quarters = np.uint64(0), np.uint64(0), np.uint64(0)
    read, left, phase = 0, 0, 0
    for t in range(rounds):
        chosen = played[t]
        counts[t * arms + chosen] += 1
        sequence = mixed(sequence, chosen)
        if left > 0:
            window = mixed(window, chosen)
            left -= 1
        if chosen == arm:
            read += 1
            if read == index:
                left = WINDOW
        phase += 4  # since the last quarter, in quarters of a round: no division
        if phase >= rounds:
            phase -= rounds
            quarters = mixed(quarters, read)
    at = rounds * arms
    for a in range(arms):
        counts[at + pulls[a]] += 1
        at += rounds + 1
    for code in (quarters, window, sequence):
        counts[at + np.int64(code >> SHIFT)] += 1
        at += BUCKETS
