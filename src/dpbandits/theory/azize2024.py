"""Upper bound of azize2024 on the regret of AdaC-UCB.

Regret is in units of reward. `means`: one per arm; `horizon`: T, rounds; `rho`: the budget of zCDP.
"""

import math
from collections.abc import Sequence

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Positive


def adac_ucb_upper_bound(
    means: Sequence[float], horizon: int, rho: Positive, beta: Positive
) -> float:
    """Return Theorem 5.6, sum_a (8 beta log T/Delta_a + 8 sqrt(beta log T/rho) + 2 beta/(beta-3)).

    Over the suboptimal arms; beta > 3.
    """
    if not beta > 3.0:
        raise UserError(f"Theorem 5.6 is for beta > 3, got {beta:g}")
    log_t, best = math.log(horizon), max(means)
    same = 8.0 * math.sqrt(beta * log_t / rho) + 2.0 * beta / (beta - 3.0)
    return sum(8.0 * beta * log_t / (best - mean) + same for mean in means if mean < best)
