"""NAS, nonmonotonic adaptive sampling (Domingo et al. 2002; sajed2019, section 3). Not private.

Halts at the first t with |mean_t| >= h_t (1/alpha + 1), where h_t = R sqrt((2/t) log(4 t^2/beta))
is the half width of Hoeffding's interval at confidence 1 - beta/(2 t^2). With probability 1 - beta
all these intervals hold, and then the mean of the t samples is within alpha |mu| of mu.
"""

import math
from typing import NamedTuple

from dpbandits.kernel.compilation import inlined, kernel
from dpbandits.kernel.parameters import Fraction
from dpbandits.stopping._samples import take

LABEL = "NAS"


class Params(NamedTuple):
    """Accuracy: the estimate is within alpha |mu| of mu with probability 1 - beta."""

    alpha: Fraction
    beta: Fraction


@inlined
def threshold(params, radius, t):
    """Return t h_t (1/alpha + 1), which the magnitude of the sum must reach."""
    t = float(t)
    h = radius * math.sqrt(2.0 / t * math.log(4.0 * t * t / params.beta))
    return t * h * (1.0 / params.alpha + 1.0)


@kernel
def play(params, samples, rng):
    """Return the number of samples used (int) and the estimate of their mean (float)."""
    radius, t, total = samples.radius, 0, 0.0
    while True:
        # A sample moves the sum by R and the threshold only grows: it cannot be reached sooner.
        distance = threshold(params, radius, t + 1) - abs(total)
        n = max(1, int(min(distance / radius, 2.0**53)))
        total += take(samples, n)
        t += n
        if abs(total) >= threshold(params, radius, t):
            return t, total / t
