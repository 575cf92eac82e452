"""DP-NAS (sajed2019): Algorithm 1, NAS with the sparse vector technique. epsilon-DP.

Halts at the first t with |mean_t| >= h_t (1 + 1/alpha) + (c_t + B + A_t)/t, where B ~ Lap(sigma_1)
is drawn once and A_t ~ Lap(sigma_2) for every t, with sigma_1 = sigma_2 = 12R/epsilon.
"""

from dpbandits.core.kernel import kernel
from dpbandits.mechanisms.laplace import first_lifted
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.stopping._samples import (
    Params,
    estimate,
    out_of_reach,
    query_noise,
    releases,
    take,
    threshold,
)

__all__ = ["LABEL", "Params", "claim", "halt", "releases"]

LABEL = "DP-NAS"


@kernel
def halt(params, samples, rng):
    """Return the number of samples used (int) and the private estimate of their mean (float)."""
    radius = samples.radius
    b = query_noise(params, radius, rng)
    t, total = 0, 0.0
    while True:
        # A sample moves the sum by R and the threshold only grows: for n samples the sum stays at
        # least `below` under it, and only a noise that large can halt.
        gap = threshold(params, radius, t + 1, t + 1) + b - abs(total)
        n = out_of_reach(samples, gap / 2.0)
        below = gap - n * radius
        n, noise = first_lifted(rng, 2.0 * radius, params.epsilon / 2.0, below, n)  # -A_t
        total += take(samples, n)
        t += n
        if abs(total) + noise >= threshold(params, radius, t, t) + b:
            return t, estimate(params, radius, rng, t, total)


def claim(params: Params, radius: float) -> Guarantee:
    """Return the claim for the time of halting and the estimate together."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "sajed2019, Theorem 3.1")
