"""SE (Even-Dar, Mannor, Mansour 2002), not private: successive elimination, as sajed2019 tells it.

All viable arms are pulled in turn; after r passes their means have the same confidence interval, of
half width h_r = sqrt(log(4 K r^2/beta)/(2 r)), and an arm whose upper end is below another one's
lower end is viable no more. By Hoeffding's inequality all intervals, of all arms and all r, hold
together with probability 1 - beta. Section 5 of sajed2019 sets beta = 1/T.
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
    """The horizon T, of which the confidence is beta = 1/T."""

    horizon: Rounds


@inlined
def width_of_sum(params, passes, arms):
    """2 r h_r: how far two sums of r rewards must lie apart for one arm to go."""
    r = float(passes)
    return math.sqrt(2.0 * r * math.log(4.0 * arms * r * r * params.horizon))


@kernel
def play(params, bandit, rng):
    """Pull all viable arms in turn until one is left, then that one."""
    arms = number_of_arms(bandit)
    viable = np.empty(arms, np.int64)
    sums = np.zeros(arms)
    for arm in range(arms):
        viable[arm] = arm
    r, slack = 0, 0.0
    while viable.size > 1 and playing(bandit):
        # A pass moves two sums apart by 1 at most, and 2 r h_r grows: `slack` passes cannot remove
        # anybody, and are played in one step with the one that may.
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
