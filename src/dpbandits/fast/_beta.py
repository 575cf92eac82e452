"""Beta(a, b), a, b ≥ 1, for _largest_sample.py: a bound of its tail, and a draw above a level.

The log density is concave. Where it falls with slope s > 0 at the level c, the tail is at most
f(c)/s, and an exponential beyond c with rate s is above the density. Where it does not fall, there
is no bound below 1: such an arm is sampled in every round. For b = 1 that is so at every level.
"""

import math

from dpbandits.core.kernel import inlined

LARGE = 14.0  # Stirling's series has an error below 1e-11 from here on


@inlined
def fall(a, b, level):
    """Return minus the derivative of the log density at the level."""
    return (b - 1.0) / (1.0 - level) - (a - 1.0) / level


@inlined
def log_gamma(x):
    """Return log Γ(x) for x > 0."""
    product = 1.0
    while x < LARGE:
        product *= x
        x += 1.0
    square = x * x
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / x
    return (x - 0.5) * math.log(x) - x + 0.5 * math.log(2.0 * math.pi) + series - math.log(product)


@inlined
def tail_bound(law, a, b, level):
    """Return the bound of P[θ > level], for a level inside (0, 1)."""
    slope = fall(a, b, level)
    if slope <= 0.0:
        return 1.0
    log_density = (a - 1.0) * math.log(level) + (b - 1.0) * math.log(1.0 - level)
    log_density += log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    return math.exp(log_density) / slope


@inlined
def sample_tail(law, rng, a, b, level):
    """Draw an exponential beyond level c, accepted with probability f(x)/(f(c) exp(-s (x - c)))."""
    slope = fall(a, b, level)
    beyond = rng.standard_exponential() / slope
    spare = rng.standard_exponential()
    if beyond >= 1.0 - level:
        return -math.inf
    log_ratio = (a - 1.0) * math.log1p(beyond / level)
    log_ratio += (b - 1.0) * math.log1p(-beyond / (1.0 - level)) + slope * beyond
    return level + beyond if spare >= -log_ratio else -math.inf
