"""Contextual linear bandits of azize2024, section 5.5.2: actions are drawn anew in every round.

The features of K actions are N((1/sqrt d, ..., 1/sqrt d), I/10), and θ* is uniform on the unit
sphere, drawn for every run. Features have a stream of their own, so that all algorithms see the
same in a run.
"""

from types import ModuleType
from typing import NamedTuple

from dpbandits.environments import _contexts
from dpbandits.kernel.environment import UNBOUNDED
from dpbandits.kernel.parameters import Arms, Dimension, Positive

RANGE = UNBOUNDED


class Params(NamedTuple):
    """Number of actions K, dimension d, σ of the rewards, and whether actions have norm 1."""

    arms: Arms
    dimension: Dimension
    deviation: Positive = 1.0
    normalised: bool = False


def arms(params: Params) -> int:
    """Return the number of actions."""
    return params.arms


def actions(params: Params) -> tuple[float, bool]:
    """Return the largest norm of an action, and whether they are drawn anew in every round."""
    return 1.0 if params.normalised else float("inf"), True


def phrase(params: Params) -> str:
    """Return the text for captions."""
    norm = "scaled to norm 1, " if params.normalised else ""
    noise = f"rewards with noise N(0, {params.deviation**2:g})"
    return f"actions of dimension {params.dimension} drawn anew in every round, {norm}{noise}"


def drawn(params: Params, rng: object) -> tuple[ModuleType, Params]:
    """Return the environment of one run, which draws its parameter and then its contexts."""
    return _contexts, params
