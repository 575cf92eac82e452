"""Gaussian mechanism (Bun and Steinke 2016, Proposition 1.6; azize2024, Theorem 2.14)."""

import math

from dpbandits.core.kernel import inlined


@inlined
def gaussian(rng, sensitivity, rho):
    """Draw N(0, sensitivity²/(2 rho)), which makes a statistic of this L2 sensitivity rho-zCDP."""
    return rng.normal(0.0, sensitivity / math.sqrt(2.0 * rho))
