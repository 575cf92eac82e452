"""Leading terms of the bounds of hu2022 on the regret, with the constants of the proofs.

Regret is in units of reward. `means`: one per arm; `horizon`: T, rounds; `epsilon`: the budget of
global DP; logarithms are binary, as in the text. The theorems have no constants; the proofs add
terms of order log T/Delta to those that are returned here.
"""

import math
from collections.abc import Sequence

from dpbandits.kernel.parameters import Positive


def dp_ts_upper_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return sum_j Delta_j L_j of the proof of Theorem 2, L_j = max{108 log T/Delta_j^2, q log q}.

    q = 72 sqrt(8) log T/(epsilon Delta_j); over the suboptimal arms.
    """
    log_t = math.log2(horizon)
    total = 0.0
    for gap in (max(means) - mean for mean in means if mean < max(means)):
        q = 72.0 * math.sqrt(8.0) * log_t / (epsilon * gap)
        private = q * math.log2(q) if q > 1.0 else 0.0
        total += gap * max(108.0 * log_t / gap**2, private)
    return total


def lazy_dp_ts_upper_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return sum_j 2 Delta_j L_j of the proof of Theorem 4.

    L_j = 72 log T/(Delta_j min{epsilon, Delta_j}). The epochs up to the one of L_j observations
    have 2 L_j pulls; over the suboptimal arms.
    """
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    return sum(144.0 * math.log2(horizon) / min(epsilon, gap) for gap in gaps)
