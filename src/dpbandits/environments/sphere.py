"""Linear bandits drawn for every run: θ* and K actions are uniform on the unit sphere.

They have a stream of their own: in a run all algorithms play the same instance.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np

from dpbandits.environments import actions as given
from dpbandits.kernel.environment import UNBOUNDED
from dpbandits.kernel.parameters import Arms, Dimension, Positive

RANGE = UNBOUNDED


class Params(NamedTuple):
    """Number of actions K, dimension d, and standard deviation σ of the rewards."""

    arms: Arms
    dimension: Dimension
    deviation: Positive = 1.0


def arms(params: Params) -> int:
    """Return the number of actions."""
    return params.arms


def actions(params: Params) -> tuple[float, bool]:
    """Return the largest norm of an action, and whether they are drawn anew in every round."""
    return 1.0, False


def phrase(params: Params) -> str:
    """Return the text for captions."""
    where = f"the unit sphere of dimension {params.dimension}"
    noise = f"rewards with noise N(0, {params.deviation**2:g})"
    return f"actions and parameter drawn uniformly on {where} for every run, {noise}"


def largest_regret(params: Params, rounds: int) -> float:
    """Return a bound on the regret of a run: no gap exceeds 2."""
    return 2.0 * rounds


def on_sphere(rng: np.random.Generator, dimension: int) -> tuple[float, ...]:
    """Draw a point uniformly on the unit sphere."""
    normal = [float(rng.standard_normal()) for _ in range(dimension)]
    length = float(np.sqrt(sum(x * x for x in normal)))
    return tuple(x / length for x in normal)


def drawn(params: Params, rng: np.random.Generator) -> tuple[ModuleType, given.Params]:
    """Return the environment and the instance of one run, drawn from `rng`."""
    theta = on_sphere(rng, params.dimension)
    features = tuple(x for _ in range(params.arms) for x in on_sphere(rng, params.dimension))
    return given, given.Params(theta, features, params.deviation)
