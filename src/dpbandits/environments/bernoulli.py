"""Bernoulli arms: the reward of arm a is 1 with probability mu_a, else 0."""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, draw_sum, flip_coins, has_closed_sum, has_coins
from dpbandits.core.lanes import LaneStreams, uniform
from dpbandits.core.parameters import Means
from dpbandits.core.vectors import compare
from dpbandits.environments._lane_arms import LaneArms, lane_arms


class Params(NamedTuple):
    """Means mu_a, in [0, 1]."""

    means: Means


class Bernoulli(NamedTuple):
    """Law for kernels: means and gaps, float64 of shape (arms,)."""

    means: np.ndarray
    gaps: np.ndarray


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return len(params.means)


def law(params: Params) -> Bernoulli:
    """Return the law with these parameters."""
    means = np.array(params.means)
    return Bernoulli(means, means.max() - means)


def in_step(params: Params, streams: LaneStreams, checkpoints: np.ndarray) -> LaneArms:
    """Return sixteen runs in step with these streams of rewards, up to the last checkpoint."""
    means, gaps = law(params)
    return lane_arms(means, gaps, streams, checkpoints)


@draw.register(Bernoulli)
def bernoulli_draw(law, rng, arm, t):
    return 1.0 if uniform(rng) < law.means[arm] else 0.0


@has_closed_sum.register(Bernoulli)
def bernoulli_has_closed_sum(law):
    return True


@draw_sum.register(Bernoulli)
def bernoulli_draw_sum(law, rng, arm, n):
    return float(rng.binomial(n, law.means[arm]))


@has_coins.register(Bernoulli)
def bernoulli_has_coins(law):
    return True


@flip_coins.register(Bernoulli)
def bernoulli_flip_coins(law, arm, uniforms, first, out, n):
    compare(uniforms, first, law.means[arm], out, n)
