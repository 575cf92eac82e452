"""The Kullback-Leibler divergence of Bernoulli distributions and its upper inverse.

Plain functions, in kernels and in Python alike.
"""

import math

from dpbandits.kernel import inlined, kernel


@inlined
def _x_log_ratio(x, y):
    # x log(x/y) with its limits.
    if x == 0.0:
        return 0.0
    return math.inf if y == 0.0 else x * math.log(x / y)


@inlined
def bernoulli_kl(p, q):
    """d(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)), in nats, with the limits at 0 and 1."""
    return _x_log_ratio(p, q) + _x_log_ratio(1.0 - p, 1.0 - q)


@kernel
def bernoulli_kl_upper(p, level):
    """max {q in [0, 1]: d(p, q) <= level}, to 1e-12; p in [0, 1], level >= 0.

    Newton's method in u = -log(1-q), where d is convex and increasing beyond p. It starts at or
    above the solution, so every step goes down and none overshoots. The start is the smaller of two
    upper bounds: Pinsker's, q <= p + sqrt(level/2), and -H(p) + (1-p) u <= d with the entropy H.
    """
    if p >= 1.0:
        return 1.0
    entropy = -_x_log_ratio(p, 1.0) - _x_log_ratio(1.0 - p, 1.0)
    u = (level + entropy) / (1.0 - p)
    pinsker = p + math.sqrt(0.5 * level)
    if pinsker < 1.0:
        u = min(u, -math.log1p(-pinsker))
    for _ in range(100):  # 5 to 8 in practice
        q = -math.expm1(-u)
        if q <= p:  # level is 0 to the last digit
            return p
        excess = p * math.log(p / q) if p > 0.0 else 0.0
        excess += (1.0 - p) * (math.log1p(-p) + u) - level
        step = excess * q / (q - p)  # the derivative of d in u is (q - p)/q
        u -= step
        # In q the step is (1-q) times as large.
        if step * (1.0 - q) <= 1e-14:
            break
    return max(p, -math.expm1(-u))
