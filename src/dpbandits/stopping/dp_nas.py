"""DP-NAS (sajed2019): Algorithm 1, NAS with the sparse vector technique. epsilon-DP.

Halts at the first t with |mean_t| >= h_t (1 + 1/alpha) + (c_t + B + A_t)/t, where B ~ Lap(sigma_1)
is drawn once and A_t ~ Lap(sigma_2) for every t, with sigma_1 = sigma_2 = 12R/epsilon.
"""

from dpbandits.kernel.compilation import kernel
from dpbandits.mechanisms.laplace import first_lifted, laplace, sparse_vector_noise
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.stopping._samples import Params, releases, take, threshold

__all__ = ["LABEL", "Params", "guarantee", "play", "releases"]

LABEL = "DP-NAS"
guarantee = guaranteed(
    Notion.GLOBAL, "sajed2019, Theorem 3.1"
)  # of the time and the estimate together


@kernel
def play(params, samples, rng):
    """Return the number of samples used (int) and the private estimate of their mean (float)."""
    radius = samples.radius
    # Replacing a sample moves a sum by 2R; halting and the estimate spend half of epsilon each.
    moved, half = 2.0 * radius, params.epsilon / 2.0
    b = sparse_vector_noise(rng, moved, half)
    t, total = 0, 0.0
    while True:
        # A sample moves the sum by R and the threshold only grows: for n samples the sum stays at
        # least `below` under it, and only a noise that large can halt.
        gap = threshold(params, radius, t + 1, t + 1) + b - abs(total)
        n = max(1, int(min(gap / 2.0 / radius, 2.0**53)))
        below = gap - n * radius
        n, noise = first_lifted(rng, moved, half, below, n)  # -A_t
        total += take(samples, n)
        t += n
        if abs(total) + noise >= threshold(params, radius, t, t) + b:
            return t, (total + laplace(rng, moved, half)) / t
