"""Games of the package and of its oracles with the same rewards, for Bernoulli and Beta arms."""

from collections.abc import Callable
from typing import Any

from played import Played, play
from streams import Game, bernoulli_rewards, beta_rewards, reward_stream

from dpbandits.environments import bernoulli, beta

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
