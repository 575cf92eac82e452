"""Thresholds of azize2024, section 5.4: the function C_G of (C.30), and what it is made of."""

import math

from dpbandits.kernel.compilation import inlined, kernel

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
TERMS = 10  # of the sum of zeta; the rest is below 1e-12


@inlined
def zeta(s):
    """Return the Riemann zeta function at s > 1, by the formula of Euler and Maclaurin."""
    total = 0.0
    for n in range(1, TERMS):
        total += math.pow(n, -s)
    last = math.pow(TERMS, -s)
    total += last * (TERMS / (s - 1.0) + 0.5)
    term = last * s / TERMS  # s (s + 1) ... (s + 2 j) TERMS^(-s - 1 - 2 j)
    total += term / 12.0
    term *= (s + 1.0) * (s + 2.0) / (TERMS * TERMS)
    total -= term / 720.0
    term *= (s + 3.0) * (s + 4.0) / (TERMS * TERMS)
    return total + term / 30240.0


@inlined
def _within_c_g(x, rate):
    # (g(λ) + x)/λ of (C.30) at λ = rate.
    g = 2.0 * rate - 2.0 * rate * math.log(4.0 * rate)
    g += math.log(zeta(2.0 * rate)) - 0.5 * math.log(1.0 - rate)
    return (g + x) / rate


@kernel
def c_g(x):
    """Return C_G(x) = min over 1/2 < λ < 1 of (g(λ) + x)/λ to 1e-12, x >= 0, by golden section."""
    low, high = 0.5, 1.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = _within_c_g(x, left), _within_c_g(x, right)
    for _ in range(36):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = _within_c_g(x, left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = _within_c_g(x, right)
    return min(at_left, at_right)


@inlined
def gaussian_threshold(log, n, m):
    """Return c^G of (5.10) for arms of n and m rewards; `log` is ln((K - 1)/δ)."""
    return 2.0 * c_g(0.5 * log) + 2.0 * (math.log(4.0 + math.log(n)) + math.log(4.0 + math.log(m)))


@inlined
def transport(gap, n, m):
    """Return the Gaussian cost W^G of (5.9) for a gap of means over n and m rewards, σ = 1/2."""
    gap = max(gap, 0.0)
    return 2.0 * gap * gap * n * m / (n + m)


@inlined
def phases(n):
    """Return k(n) = log2 n + 2 of (5.11)."""
    return math.log2(n) + 2.0


@inlined
def inverse_of_lambert(x):
    """Return y >= 1 with y - ln y = x, for x > 1: W^-1 of (5.14), by Newton's method."""
    y = x + math.log(x)
    for _ in range(30):
        step = (y - math.log(y) - x) * y / (y - 1.0)
        y -= step
        if abs(step) <= 1e-14 * y:
            break
    return y
