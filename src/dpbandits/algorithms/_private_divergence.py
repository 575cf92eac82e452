"""Divergence d_ε of azize2025 between Bernoulli means, and its upper inverse.

d_ε(x, y) = inf {ε |z - x| + kl(z, y): z between x and y}. It is at most kl(x, y) and at most
ε |x - y|. Both functions can be called from kernels and from Python.
"""

import math

from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.kl import bernoulli_kl, bernoulli_kl_upper


@inlined
def _tilted(y, weight):
    # The mean whose odds are `weight` times those of y; 1 for y = 1, where weight may be 0.
    return y * weight / (y * weight + (1.0 - y)) if y < 1.0 else 1.0


@inlined
def private_divergence(x, y, epsilon):
    """Return d_ε(x, y) in nats for x and y in [0, 1].

    The infimum is at the mean z with e^-ε times the odds of y, or at x if z is beyond x: there
    ε ≥ log(y/x) + log((1-x)/(1-y)), and privacy is free. For x > y both means are reflected.
    """
    low, high = (x, y) if x <= y else (1.0 - x, 1.0 - y)
    z = max(low, _tilted(high, math.exp(-epsilon)))
    return bernoulli_kl(z, high) + epsilon * (z - low)


@kernel
def private_divergence_upper(x, level, epsilon):
    """Return max {y in [0, 1]: d_ε(x, y) ≤ level}, for x in [0, 1] and level ≥ 0.

    Up to the mean with e^ε times the odds of x, d_ε is kl, which is inverted to 1e-12. Beyond it,
    d_ε is -log(1 - y (1 - e^-ε)) - ε x, whose inverse is closed.
    """
    if x >= 1.0 or level >= epsilon * (1.0 - x):  # d_ε(x, 1) = ε (1 - x)
        return 1.0
    shrink = math.exp(-epsilon)
    free = x / (x + (1.0 - x) * shrink) if x > 0.0 else 0.0
    if level <= bernoulli_kl(x, free):
        return bernoulli_kl_upper(x, level)
    return min(1.0, math.expm1(-level - epsilon * x) / math.expm1(-epsilon))
