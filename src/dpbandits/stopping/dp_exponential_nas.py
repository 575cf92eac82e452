"""DP-exponential-NAS (sajed2019): Algorithm 2, DP-NAS with queries at t = 2, 4, 8, ... epsilon-DP.

Fewer queries need a smaller margin: h_t and c_t contain k^2 instead of the t^2 of DP-NAS.
"""

from dpbandits.core.kernel import kernel
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.stopping._samples import Params, estimate, query_noise, releases, take, threshold

__all__ = ["LABEL", "Params", "claim", "halt", "releases"]

LABEL = "DP-exponential-NAS"


@kernel
def halt(params, samples, rng):
    """Return the number of samples used (int) and the private estimate of their mean (float)."""
    radius = samples.radius
    b = query_noise(params, radius, rng)
    k, t, total = 0, 0, 0.0
    while True:
        k += 1
        total += take(samples, (1 << k) - t)
        t = 1 << k
        a = query_noise(params, radius, rng)
        if abs(total) >= threshold(params, radius, t, k) + b + a:
            return t, estimate(params, radius, rng, t, total)


def claim(params: Params, radius: float) -> Guarantee:
    """Return the claim for the time of halting and the estimate together."""
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "sajed2019, Corollary 3.2")
