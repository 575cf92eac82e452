"""Rarely switching OFUL (Abbasi-Yadkori, Pál, Szepesvári 2011), not private.

It is Algorithm 9 of azize2024 without noise, with the β_t of Theorem C.13.
"""

import math
from typing import NamedTuple

import numpy as np

from dpbandits.algorithms._linear import add_outer, dot, inverted, norm2, shrink_inverse
from dpbandits.kernel.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.kernel.compilation import by_class, kernel
from dpbandits.kernel.linear import features
from dpbandits.kernel.parameters import Fraction, Positive

LABEL = "RS-OFUL"
LINEAR = True
RANGE = (-1.0, 1.0)


class Params(NamedTuple):
    """Risk δ of the confidence ellipsoids, doubling schedule C and regulariser λ."""

    risk: Fraction = 0.001
    doubling: Positive = 1.0
    regulariser: Positive = 0.1


@by_class
def wider(params, d, t, episodes):
    """Return what the noise of so many episodes adds to the radius β_t after t rounds."""
    return 0.0


@by_class
def add_noise(params, rng, sums):
    """Add noise to the sums of an episode, in place."""
    return


@kernel
def play(params, bandit, rng):
    """Play episodes, in which the estimate and its ellipsoid stay as they are (Algorithm 9)."""
    arms = number_of_arms(bandit)
    d = features(bandit).shape[1]
    matrix = params.regulariser * np.eye(d)  # V_t
    inverse = np.eye(d) / params.regulariser
    since = inverse.copy()  # (V_τ)^-1
    log_det, growth = 0.0, 1.0  # log(det V_τ/λ^d), and det V_t/det V_τ
    sums, episode, image = np.zeros(d), np.zeros(d), np.zeros(d)
    theta, episodes = np.zeros(d), 0
    radius = math.sqrt(2.0 * math.log(1.0 / params.risk)) + math.sqrt(params.regulariser)
    while playing(bandit):
        if growth > 1.0 + params.doubling:
            add_noise(params, rng, episode)
            for k in range(d):
                sums[k] += episode[k]
                episode[k] = 0.0
            log_det += math.log(growth)
            growth = 1.0
            episodes += 1
            inverse = inverted(matrix)
            since = inverse.copy()
            for k in range(d):
                theta[k] = dot(since[k], sums)
            beta = math.sqrt(2.0 * math.log(1.0 / params.risk) + log_det)
            beta += math.sqrt(params.regulariser)  # ||θ*|| <= 1
            radius = beta + wider(params, d, rounds_played(bandit), episodes)
        actions = features(bandit)
        chosen, largest = 0, -math.inf
        for arm in range(arms):
            index = dot(theta, actions[arm]) + radius * math.sqrt(norm2(since, actions[arm]))
            if index > largest:
                chosen, largest = arm, index
        action = actions[chosen]
        reward = pull(bandit, chosen)
        growth *= 1.0 + norm2(inverse, action)
        add_outer(matrix, action, 1.0)
        shrink_inverse(inverse, action, 1.0, image)
        for k in range(d):
            episode[k] += action[k] * reward
