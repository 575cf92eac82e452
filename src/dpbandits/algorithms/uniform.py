"""Uniform play: a random arm in every round, whatever the gains. The baseline without learning."""

from typing import NamedTuple

from dpbandits.kernel.bandit import number_of_arms, playing, pull
from dpbandits.kernel.compilation import kernel

LABEL = "Uniform"


class Params(NamedTuple):
    """Uniform play has no parameters."""


@kernel
def play(params, bandit, rng):
    """Pull every arm with probability 1/K in each round."""
    while playing(bandit):
        pull(bandit, int(rng.random() * number_of_arms(bandit)))
