"""Uniform play: an arm at random in every round, whatever the gains are. What learning saves."""

from typing import NamedTuple

from dpbandits.core.bandit import number_of_arms, playing, pull
from dpbandits.core.kernel import kernel

LABEL = "Uniform"


class Params(NamedTuple):
    """Uniform play has no parameters."""


@kernel
def play(params, bandit, rng):
    """Every arm with probability 1/K."""
    while playing(bandit):
        pull(bandit, int(rng.random() * number_of_arms(bandit)))
