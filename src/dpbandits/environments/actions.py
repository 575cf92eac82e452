"""Linear bandit with given actions: the reward of an action x is <θ*, x> + N(0, σ²).

The reward of an action in a batch is drawn once. Rewards are unbounded; algorithms whose privacy
needs rewards in [-1, 1] play it `clipped`.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, draw_sum, has_closed_sum
from dpbandits.kernel.environment import UNBOUNDED
from dpbandits.kernel.parameters import Constraint, Positive

RANGE = UNBOUNDED
Numbers = Annotated[  # whose squares are numbers
    tuple[float, ...],
    Constraint(
        lambda x: x and 1e-50 <= max(map(abs, x)) <= 1e50,
        "a list of numbers, the largest in size from 1e-50 to 1e50",
    ),
]


class Params(NamedTuple):
    """θ*, of d numbers, the features of all actions one after another, and σ."""

    theta: Numbers
    features: Numbers
    deviation: Positive = 1.0

    def problem(self) -> tuple[str, str] | None:
        """Return a field and what is wrong with it."""
        d, numbers = len(self.theta), len(self.features)
        if d < 2:
            return "theta", f"theta must have at least 2 numbers, the dimension, got {d}"
        if numbers < 2 * d or numbers % d:
            needed = f"a multiple of {d}, those of at least 2 actions of the dimension of theta"
            return "features", f"features must be {needed}; got {numbers} numbers"
        actions = np.reshape(self.features, (-1, d))
        if (actions == actions[0]).all():
            return "features", f"features are those of {len(actions)} equal actions"
        if not np.ptp(actions @ np.array(self.theta)):
            return "features", "features have the same mean reward for all actions"
        return None


class Linear(NamedTuple):
    """Law for kernels."""

    features: np.ndarray  # float64, shape (arms, d)
    values: np.ndarray  # float64, shape (arms,): <θ*, x>
    gaps: np.ndarray  # float64, shape (arms,)
    deviation: float


def arms(params: Params) -> int:
    """Return K, the number of actions."""
    return len(params.features) // len(params.theta)


def actions(params: Params) -> tuple[float, bool]:
    """Return the largest norm of an action, and whether they are drawn anew in every round."""
    features = np.reshape(params.features, (-1, len(params.theta)))
    return float(np.sqrt((features * features).sum(axis=1).max())), False


def law(params: Params) -> Linear:
    """Return the law with these parameters."""
    features = np.reshape(params.features, (-1, len(params.theta))).astype(float)
    # Summed in order, for the same bits on every processor.
    values = np.array(
        [sum(t * x for t, x in zip(params.theta, row, strict=True)) for row in features]
    )
    return Linear(features, values, values.max() - values, params.deviation)


def phrase(params: Params) -> str:
    """Return the text for captions."""
    d = len(params.theta)
    return f"given actions of dimension {d}, rewards with noise N(0, {params.deviation**2:g})"


@draw.register(Linear)
def linear_draw(law, rng, arm, t):
    return law.values[arm] + law.deviation * rng.standard_normal()


has_closed_sum.register(Linear)(lambda law: True)


@draw_sum.register(Linear)
def linear_draw_sum(law, rng, arm, n):
    return n * law.values[arm] + law.deviation * math.sqrt(n) * rng.standard_normal()
