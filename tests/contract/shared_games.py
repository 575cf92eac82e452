"""Games of the package and of its oracles with the same rewards, for Bernoulli and Beta arms."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from played import Played, assert_same_run, play
from streams import (
    Draws,
    Game,
    bernoulli_rewards,
    beta_rewards,
    policy_stream,
    regret_curve,
    reward_stream,
)

from dpbandits.environments import bernoulli, beta

MEANS = [(0.9, 0.1), (0.3, 0.5, 0.45), (0.5, 0.5, 0.5, 0.5), (0.05, 0.95, 0.2)]
LAWS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "bernoulli": (bernoulli, bernoulli_rewards),
    "beta": (beta, beta_rewards),
}


def game_of(law: str, means: tuple[float, ...], horizon: int, seed: int) -> Game:
    """Return the game of an oracle in run `seed`."""
    return Game(len(means), horizon, LAWS[law][1](means, reward_stream(seed)))


def ours_of(
    module: Any, params: Any, law: str, means: tuple[float, ...], horizon: int, seed: int
) -> Played:
    """Play run `seed` of an algorithm of the package."""
    environment = LAWS[law][0]
    of_arms = environment.law(environment.Params(means))
    return play(module.play, params, of_arms, len(means), horizon, seed)


def cut(literal: Any) -> int:
    """Return how many noises the package draws for an episode that the horizon cut off."""
    return int(literal.branches["cut"])


def same_run(
    module: Any,
    params: Any,
    literal: Any,
    law: str,
    means: tuple[float, ...],
    horizon: int,
    seed: int,
    unused: Callable[[Any], int] = lambda literal: 0,
) -> Played:
    """Compare every arm, draw and regret of a run with the oracle's, and return the run.

    `unused` counts the draws of the package that the oracle does not make.
    """
    ours = ours_of(module, params, law, means, horizon, seed)
    game, draws = game_of(law, means, horizon, seed), Draws(policy_stream(seed))
    literal.play(game, draws)
    assert_same_run(ours, game.played, draws.log, unused(literal))
    expected = regret_curve(game.played, means)
    np.testing.assert_allclose(ours.regrets, expected, rtol=1e-9, atol=1e-12)
    return ours


def compare(module: Any, params: Any, literal: Any, *game: Any) -> Counter[str]:
    """Do so, and return the branches that the oracle took."""
    same_run(module, params, literal, *game)
    taken: Counter[str] = getattr(literal, "branches", None) or Counter()
    return taken


class Scripted:
    """Generator of given numbers, noises, or shares of pulls with reward 1; then of `rest`."""

    def __init__(self, values: list[float], rest: float = 0.0) -> None:
        self.values, self.rest = iter(values), rest

    def random(self) -> float:
        return next(self.values, self.rest)

    def laplace(self, location: float, scale: float) -> float:
        return self.random()

    def binomial(self, n: int, p: float) -> int:
        return math.floor(self.random() * n)
