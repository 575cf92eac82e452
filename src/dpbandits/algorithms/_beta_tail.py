"""Beta(a, b), a, b ≥ 1, for _largest_sample.py: a bound of its tail, and a draw above a level.

The log density is concave. Where it falls with slope s > 0 at the level c, the tail is at most
f(c)/s, and an exponential beyond c with rate s is above the density. Where it does not fall, there
is no bound below 1: such an arm is sampled in every round. For b = 1 that is so at every level.
"""

import math

from dpbandits.algorithms.dp_ftpl_beta import beta_sample_above, fall, stirling
from dpbandits.core.kernel import inlined

LARGE = 14.0  # Stirling's series has an error below 1e-11 from here on

sample_tail = inlined(beta_sample_above)


@inlined
def log_gamma(x):
    """Return log Γ(x) for x > 0."""
    product = 1.0
    while x < LARGE:
        product *= x
        x += 1.0
    series = (x - 0.5) * math.log(x) - x + 0.5 * math.log(2.0 * math.pi) + stirling(x)
    return series - math.log(product)


@inlined
def tail_bound(law, a, b, level):
    """Return the bound of P[θ > level], for a level inside (0, 1)."""
    slope = fall(a, b, level)
    if slope <= 0.0:
        return 1.0
    log_density = (a - 1.0) * math.log(level) + (b - 1.0) * math.log(1.0 - level)
    log_density += log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    return math.exp(log_density) / slope
