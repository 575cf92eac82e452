"""Probability that the first of two arms has the larger sample, for the laws of DP-FTPL."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import special, stats

from dpbandits.mechanisms.perturbation import Perturbation, quantile, tail

# Takes the law and, for each arm, the two parameters that `numbers` returns.
Leads = Callable[[Any, tuple[float, float], tuple[float, float]], float]


@cache
def gauss_leads(law: Any, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the probability that theta of the first arm is the larger one."""
    (m, s), (n, r) = first, second
    return float(stats.norm.cdf((m - n) / math.hypot(s, r)))


@cache
def beta_leads(law: Any, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the same for two beta laws."""
    (a, b), (c, d) = first, second
    x = (np.arange(4000) + 0.5) / 4000.0  # midpoints; both laws are smooth and far from the ends
    density = np.exp(
        special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x) - special.betaln(a, b)
    )
    return float((density * special.betainc(c, d, x)).mean())


@cache
def new_leads(law: Any, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the same for two noises of Lemma 15, by quadrature over theta of the second arm."""
    noise: Perturbation = law.noise
    (x, a), (y, b) = first, second
    total = 0.0
    for log_odds in np.arange(-29.99, 30.0, 0.02):  # of the uniform; a fine grid near 0 and 1
        u = 1.0 / (1.0 + math.exp(-log_odds))
        far = (y + quantile(noise, u) * b - x) / a
        above = tail(noise, far) if far >= 0.0 else 1.0 - tail(noise, -far)
        total += 0.02 * u * u * math.exp(-log_odds) * above
    return total
