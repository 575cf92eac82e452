"""Laplace mechanism (Dwork and Roth 2014, Theorem 3.6; azize2022, Theorem 1)."""

from dpbandits.core.kernel import by_class


@by_class
def laplace(rng, sensitivity, epsilon):
    """Draw Lap(sensitivity/epsilon), which makes a statistic of this L1 sensitivity epsilon-DP."""
    scale = sensitivity / epsilon
    return rng.laplace(0.0, scale)
