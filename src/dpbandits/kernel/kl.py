"""Kullback-Leibler divergence of Bernoulli distributions, and its upper inverse.

All functions can be called from kernels and from Python.
"""

import math

from dpbandits.kernel.compilation import inlined, kernel

RELATIVE, ABSOLUTE = 1e-9, 1e-13  # more than the rounding errors of a divergence


@inlined
def _term(x, y, difference):
    # x log(x/y) with its limits. `difference` is y - x, exact even where x and y were rounded: for
    # close x and y the two terms of d nearly cancel, and only log1p keeps the remaining digits.
    if x == 0.0:
        return 0.0
    if y == 0.0:
        return math.inf
    if abs(difference) < 0.5 * x:
        return -x * math.log1p(difference / x)
    return x * math.log(x / y)


@inlined
def bernoulli_kl(p, q):
    """Return d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)) in nats, with its limits at 0 and 1."""
    return _term(p, q, q - p) + _term(1.0 - p, 1.0 - q, p - q)


@kernel
def bernoulli_kl_upper(p, level):
    """Return max {q in [0, 1]: d(p, q) <= level} to 1e-12, for p in [0, 1] and level >= 0.

    Newton's method in u = -log(1-q), in which d is convex, and increasing beyond p. It starts at or
    above the solution, so every step decreases u and none overshoots. The start is the smaller of
    two upper bounds: Pinsker's, q <= p + sqrt(level/2), and the one from -H(p) + (1-p) u <= d,
    where H is the entropy.
    """
    if p >= 1.0:
        return 1.0
    log_1p = math.log1p(-p)
    entropy = -(1.0 - p) * log_1p
    if p > 0.0:
        entropy -= p * math.log(p)
    u = (level + entropy) / (1.0 - p)
    pinsker = p + math.sqrt(0.5 * level)
    if pinsker < 1.0:
        u = min(u, -math.log1p(-pinsker))
    for _ in range(100):  # 5 to 8 in practice
        q = -math.expm1(-u)
        if q <= p:  # level is 0 up to rounding
            return p
        excess = _term(p, q, q - p) - level
        if q - p < 0.5 * (1.0 - p):
            excess += _term(1.0 - p, 1.0 - q, p - q)
        else:
            excess += (1.0 - p) * (log_1p + u)
        step = excess * q / (q - p)  # the derivative of d in u is (q - p)/q
        u -= step
        # In q the step is (1-q) times as large.
        if step * (1.0 - q) <= 1e-14:
            break
    return max(p, -math.expm1(-u))


@inlined
def kl_upper_is_below(p, level, q):
    """Return True if `bernoulli_kl_upper(p, level)` is below q by more than rounding errors.

    This takes a tenth of the time of the inverse. Pinsker's inequality, 2 (q - p)² <= d(p, q),
    often suffices, without a logarithm.
    """
    if not p < q < 1.0:
        return False
    # The last term bounds the rounding of q, which matters near 1.
    beyond = level * (1.0 + RELATIVE) + ABSOLUTE + 1e-15 / (1.0 - q)
    return 2.0 * (q - p) * (q - p) > beyond or bernoulli_kl(p, q) > beyond
