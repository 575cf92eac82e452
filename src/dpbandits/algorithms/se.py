"""SE (Even-Dar, Mannor, Mansour 2002), not private: successive elimination, as in sajed2019.

After r passes the means of all viable arms have confidence intervals of half width
hᵣ = sqrt(log(4 K r²/β)/(2 r)), with β = 1/T (sajed2019, section 5). An arm is eliminated if the
upper end of its interval is below the lower end of another's.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.kernel.bandit import number_of_arms, playing, pull_each, pull_many, rounds_left
from dpbandits.kernel.compilation import kernel
from dpbandits.kernel.parameters import Rounds

LABEL = "SE"


class Params(NamedTuple):
    """Horizon T, which sets the confidence β = 1/T."""

    horizon: Rounds


@kernel
def play(params, bandit, rng):
    """Pull all viable arms in turn until one is left, then only that one."""
    arms = number_of_arms(bandit)
    viable, sums = np.arange(arms), np.zeros(arms)
    r, slack = 0.0, 0.0
    while viable.size > 1 and playing(bandit):
        # A pass moves two sums apart by at most 1, and 2 r h_r grows: `slack` passes eliminate no
        # arm. They are played in one step with the first pass that can.
        passes = 1 + math.floor(slack)
        rewards = pull_each(bandit, viable, passes)
        r += passes
        for i in range(viable.size):
            sums[i] += rewards[i]
        # An arm is eliminated if its sum is further than 2 r h_r behind.
        width = math.sqrt(2.0 * r * math.log(4.0 * arms * r * r * params.horizon))
        largest = sums[argmax(sums)]
        kept, slack = 0, width
        for i in range(viable.size):
            behind = largest - sums[i]
            if behind <= width:
                viable[kept], sums[kept] = viable[i], sums[i]
                slack = min(slack, width - behind)
                kept += 1
        viable, sums = viable[:kept], sums[:kept]
    pull_many(bandit, viable[0], rounds_left(bandit))
