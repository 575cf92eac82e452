"""SE (Even-Dar, Mannor, Mansour 2002), not private: successive elimination, as in sajed2019.

All viable arms are pulled in turn. After r passes all their means have a confidence interval of
half width hᵣ = sqrt(log(4 K r²/β)/(2 r)); an arm is eliminated if the upper end of its
interval is below the lower end of another's. By Hoeffding's inequality the intervals of all arms
and all r hold together with probability 1 - β. Section 5 of sajed2019 sets β = 1/T.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import number_of_arms, playing, pull_each, pull_many, rounds_left
from dpbandits.core.kernel import inlined, kernel
from dpbandits.core.parameters import Rounds

LABEL = "SE"


class Params(NamedTuple):
    """Horizon T, which sets the confidence β = 1/T."""

    horizon: Rounds


@inlined
def width_of_sum(params, passes, arms):
    """Return 2 r hᵣ: an arm is eliminated if its sum of r rewards is further than this behind."""
    r = float(passes)
    return math.sqrt(2.0 * r * math.log(4.0 * arms * r * r * params.horizon))


@kernel
def play(params, bandit, rng):
    """Pull all viable arms in turn until one is left, then only that one."""
    arms = number_of_arms(bandit)
    viable = np.empty(arms, np.int64)
    sums = np.zeros(arms)
    for arm in range(arms):
        viable[arm] = arm
    r, slack = 0, 0.0
    while viable.size > 1 and playing(bandit):
        # A pass moves two sums apart by at most 1, and 2 r h_r grows. So `slack` passes cannot
        # eliminate any arm; they are played in one step with the first pass that can.
        passes = 1 + math.floor(slack)
        rewards = pull_each(bandit, viable, passes)
        r += passes
        for i in range(viable.size):
            sums[i] += rewards[i]
        largest, width = sums[argmax(sums)], width_of_sum(params, r, arms)
        kept, slack = 0, width
        for i in range(viable.size):
            behind = largest - sums[i]
            if behind <= width:
                viable[kept], sums[kept] = viable[i], sums[i]
                slack = min(slack, width - behind)
                kept += 1
        viable, sums = viable[:kept], sums[:kept]
    pull_many(bandit, viable[0], rounds_left(bandit))
