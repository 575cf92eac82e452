"""Beta(a, b), a, b ≥ 1, as law of _largest_sample.py: bound of its tail, draw above a level.

The log density is concave. Where it falls with slope s > 0 at the level c, the tail is at most
f(c)/s, and an exponential beyond c with rate s is above the density. Where it does not fall, there
is no bound below 1: such an arm is sampled in every round. For b = 1 that is so at every level.
"""

import math

from dpbandits.core.kernel import inlined
from dpbandits.fast._largest_sample import chance_above, sample, sample_above

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


@inlined
def draw_beta(law, rng, a, b):
    """Draw θ."""
    return rng.beta(a, b)


def register_beta(law, draw=draw_beta):
    """Make Beta(a, b) the law of θ for a class; `draw` is its body of `sample`."""
    sample.register(law)(draw)
    chance_above.register(law)(tail_bound)
    sample_above.register(law)(sample_tail)
