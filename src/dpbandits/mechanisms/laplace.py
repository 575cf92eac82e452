"""The Laplace mechanism (Dwork and Roth 2014, Theorem 3.6; azize2022, Theorem 1)."""

from dpbandits.kernel import inlined


@inlined
def laplace(rng, sensitivity, epsilon):
    """Noise that makes a statistic of this L1 sensitivity epsilon-DP: Lap(sensitivity/epsilon)."""
    return rng.laplace(0.0, sensitivity / epsilon)
