"""EXP3 (Auer, Cesa-Bianchi, Freund, Schapire 2002) as in tossou2017, section 2.1. Not private."""

from typing import NamedTuple

from dpbandits.algorithms._exp3 import add_gain, draw_arm, exploration, no_estimates
from dpbandits.core.bandit import number_of_arms, playing, pull
from dpbandits.core.kernel import kernel
from dpbandits.core.parameters import Rounds

LABEL = "EXP3"


class Params(NamedTuple):
    """Horizon T, which determines γ."""

    horizon: Rounds


@kernel
def play(params, bandit, rng):
    """Draw an arm from p and add g/p to its estimated cumulative gain."""
    arms = number_of_arms(bandit)
    gamma = exploration(arms, params.horizon)
    estimates = no_estimates(arms)
    while playing(bandit):
        arm, p = draw_arm(estimates, gamma, rng)
        gain = pull(bandit, arm)
        add_gain(estimates, arm, gamma / arms * (gain / p))
