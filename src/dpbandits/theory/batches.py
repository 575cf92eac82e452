"""What batches cost an algorithm whose index attains the lower bound of azize2025.

A batch ends when the pulls of an arm are `ratio` times what they were, and the arm is left at the
first end of a batch past the N that its index needs. If log N is uniform between two ends, the arm
has on average (ratio - 1)/log(ratio) times N pulls.
"""

import math
from collections.abc import Sequence

from dpbandits.algorithms.dp_klucb import Ratio
from dpbandits.kernel.parameters import Positive
from dpbandits.theory.azize2025 import lower_bound


def bound_in_batches(
    means: Sequence[float], horizon: int, epsilon: Positive, ratio: Ratio = 1.5
) -> float:
    """Return the lower bound of azize2025 on the regret, times (ratio - 1)/log(ratio)."""
    return lower_bound(means, horizon, epsilon) * (ratio - 1.0) / math.log(ratio)
