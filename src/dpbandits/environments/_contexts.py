"""Law of contexts.py: the game of a run, with the stream of its features."""

import math
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments.sphere import on_sphere
from dpbandits.kernel.bandit import draw, regret
from dpbandits.kernel.compilation import inlined
from dpbandits.kernel.environment import UNBOUNDED
from dpbandits.kernel.linear import observe

RANGE = UNBOUNDED
Params = tuple[Any, ...]  # those of contexts.py


class Contexts(NamedTuple):
    """Law for kernels; arrays and the generator change in place: it can be played only once."""

    theta: np.ndarray  # float64, shape (d,)
    features: np.ndarray  # float64, shape (arms, d): of the round that was observed last
    observed: np.ndarray  # int64, shape (1,): rounds whose features were drawn
    total: np.ndarray  # float64, shape (1,): regret against the best action of every round
    contexts: np.random.Generator  # stream of the features
    deviation: float
    normalised: bool


def arms(params: Any) -> int:
    """Return the number of actions."""
    number: int = params.arms
    return number


def table(params: Any, horizon: int, rng: np.random.Generator) -> Contexts:
    """Return the law of one run."""
    theta = np.array(on_sphere(rng, params.dimension))
    features = np.zeros((params.arms, params.dimension))
    numbers = np.zeros(1, np.int64), np.zeros(1)
    return Contexts(theta, features, *numbers, rng, params.deviation, params.normalised)


@observe.register(Contexts)
def contexts_observe(law, features, t):
    if law.observed[0] > t:
        return
    law.observed[0] = t + 1
    arms, d = law.features.shape
    for arm in range(arms):
        norm2 = 0.0
        for k in range(d):
            x = 1.0 / math.sqrt(d) + math.sqrt(0.1) * law.contexts.standard_normal()
            law.features[arm, k] = x
            norm2 += x * x
        if law.normalised:
            for k in range(d):
                law.features[arm, k] /= math.sqrt(norm2)


@inlined
def value(law, arm):
    """Return the mean reward of an action of the observed round."""
    total = 0.0
    for k in range(law.theta.size):
        total += law.theta[k] * law.features[arm, k]
    return total


@draw.register(Contexts)
def contexts_draw(law, rng, arm, t):
    observe(law, law.features, t)  # for policies that do not look
    best = -math.inf
    for other in range(law.features.shape[0]):
        best = max(best, value(law, other))
    chosen = value(law, arm)
    law.total[0] += best - chosen
    return chosen + law.deviation * rng.standard_normal()


regret.register(Contexts)(lambda law, pulls: law.total[0])
