"""DP-exponential-NAS (sajed2019): Algorithm 2, DP-NAS with queries at t = 2, 4, 8, ... epsilon-DP.

Fewer queries need a smaller margin: h_t and c_t contain k^2 instead of the t^2 of DP-NAS.
"""

from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.laplace import laplace, sparse_vector_noise
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.stopping._samples import Params, releases, take, threshold

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-exponential-NAS"
guarantee = guaranteed(
    Notion.GLOBAL, "sajed2019, Corollary 3.2"
)  # of the time and the estimate together


@kernel
def play(params, samples, rng):
    """Return the number of samples used (int) and the private estimate of their mean (float)."""
    radius = samples.radius
    # Replacing a sample moves a sum by 2R; halting and the estimate spend half of epsilon each.
    moved, half = 2.0 * radius, params.epsilon / 2.0
    b = sparse_vector_noise(rng, moved, half)
    k, t, total = 0, 0, 0.0
    while True:
        k += 1
        total += take(samples, (1 << k) - t)
        t = 1 << k
        a = sparse_vector_noise(rng, moved, half)
        if abs(total) >= threshold(params, radius, t, k) + b + a:
            return t, (total + laplace(rng, moved, half)) / t
