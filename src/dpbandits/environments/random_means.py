"""Bernoulli arms whose means are drawn anew for every run, uniformly in an interval.

The means have a stream of their own: in a run all algorithms play the same instance, which the
horizon does not change. The gaps are those of the means of the run.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np

from dpbandits.environments import bernoulli
from dpbandits.kernel.parameters import Arms, Delta


class Params(NamedTuple):
    """Number of arms K, and the ends in [0, 1] of the interval of their means."""

    arms: Arms
    low: Delta = 0.0
    high: Delta = 1.0


def arms(params: Params) -> int:
    """Return K, the number of arms."""
    return params.arms


def phrase(params: Params) -> str:
    """Return the text for captions."""
    interval = f"[{params.low:g}, {params.high:g}]"
    return f"Bernoulli arms, means drawn uniformly in {interval} for every run"


def largest_regret(params: Params, rounds: int) -> float:
    """Return a bound on the regret of a run: no gap exceeds the length of the interval."""
    return abs(params.high - params.low) * rounds


def drawn(params: Params, rng: np.random.Generator) -> tuple[ModuleType, bernoulli.Params]:
    """Return the environment and the instance of one run, whose means are drawn from `rng`."""
    means = params.low + (params.high - params.low) * rng.random(params.arms)
    return bernoulli, bernoulli.Params(tuple(means.tolist()))
