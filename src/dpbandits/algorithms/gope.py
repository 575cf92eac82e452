"""GOPE (Lattimore and Szepesvári 2020, Algorithm 12): phased elimination by G-optimal designs.

It is Algorithm 8 of azize2024 without noise and without the second term of (5.6), and not private.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.algorithms._linear import (
    add_outer,
    backward,
    cholesky,
    dot,
    forward,
    g_optimal_design,
    on_span,
)
from dpbandits.kernel.bandit import number_of_arms, playing, pull_many, rounds_left
from dpbandits.kernel.compilation import by_class, kernel
from dpbandits.kernel.linear import features
from dpbandits.kernel.parameters import Constraint, Fraction

LABEL = "GOPE"
LINEAR = True
RANGE = (-1.0, 1.0)
Tolerance = Annotated[float, Constraint(lambda x: 1e-6 <= x <= 1, "from 1e-6 to 1")]


class Params(NamedTuple):
    """Risk δ of eliminating the best action, and how far a design may be from G-optimal."""

    risk: Fraction = 0.001
    tolerance: Tolerance = 0.01


@by_class
def longer(params, d, beta, risk):
    """Return the pulls that a phase needs because of its noise, the second term of (5.6)."""
    return 0.0


@by_class
def add_noise(params, rng, statistics, sensitivity):
    """Add noise to the statistics of a phase in place; one reward moves them by the sensitivity."""
    return


@kernel
def play(params, bandit, rng):
    """Play phases, each of them by a design on the actions that are left (Algorithm 8)."""
    arms = number_of_arms(bandit)
    actions = features(bandit)
    d = actions.shape[1]
    active = np.arange(arms)  # A_l
    phase, beta = 0, 1.0
    while active.size > 1 and playing(bandit):
        phase += 1
        beta *= 0.5
        risk = params.risk / (arms * float(phase) * (phase + 1.0))  # δ_{K,l}
        length = 8.0 * d / (beta * beta) * math.log(4.0 / risk) + longer(params, d, beta, risk)
        left = np.zeros((active.size, d))
        for i in range(active.size):
            for k in range(d):
                left[i, k] = actions[active[i], k]
        x, basis = on_span(left)
        design, g = g_optimal_design(x, basis, params.tolerance)
        matrix, sums = np.zeros((basis.size, basis.size)), np.zeros(basis.size)
        for i in range(active.size):
            if design[i] > 0.0:
                n = math.ceil(min(length * design[i], float(rounds_left(bandit))))
                total = pull_many(bandit, active[i], n)
                add_outer(matrix, x[i], float(n))
                for k in range(basis.size):
                    sums[k] += x[i, k] * total
        if not playing(bandit):
            break
        # Of a reward in [-1, 1], which weighs 1/c_l in V(π): at most 2 sqrt(g/c_l).
        factor = cholesky(matrix)
        statistics = forward(factor, sums)
        add_noise(params, rng, statistics, 2.0 * math.sqrt(g / length))
        theta = backward(factor, statistics)
        largest = -math.inf
        for i in range(active.size):
            largest = max(largest, dot(theta, x[i]))
        kept = 0
        for i in range(active.size):
            if largest - dot(theta, x[i]) <= 2.0 * beta:
                active[kept] = active[i]
                kept += 1
        active = active[:kept]
    pull_many(bandit, active[0], rounds_left(bandit))
