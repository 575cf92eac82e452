"""Sums of powers of integers, for long and infinite ranges."""

import math

from dpbandits.kernel.compilation import inlined

DIRECT = 32  # terms that are added one by one


@inlined
def power_sum(first, last, s):
    """Return sum_{i=first}^{last} i^-s for s > 0 other than 1; from 1 to infinity it is zeta(s).

    Adds the first terms directly and the rest by Euler and Maclaurin; relative error below 10⁻¹³.
    """
    total = 0.0
    while first <= min(last, DIRECT):
        total += math.pow(first, -s)
        first += 1.0
    if first > last:
        return total
    a, b = math.pow(first, -s), math.pow(last, -s)
    # (first^(1-s) - last^(1-s))/(s-1), without loss of digits if the two powers are close.
    log_ratio = math.log1p((last - first) / first)
    total += a * first * math.expm1((1.0 - s) * log_ratio) / (1.0 - s)
    total += (a + b) / 2.0
    a, b = a / first * s, b / last * s
    total += (a - b) / 12.0
    a, b = a / first / first * (s + 1.0) * (s + 2.0), b / last / last * (s + 1.0) * (s + 2.0)
    total -= (a - b) / 720.0
    a, b = a / first / first * (s + 3.0) * (s + 4.0), b / last / last * (s + 3.0) * (s + 4.0)
    return total + (a - b) / 30240.0
