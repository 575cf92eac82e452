"""CTB-TT (Azize et al. 2023, slides): TTUCB on one private coin per reward. ε-local DP."""

from collections.abc import Iterator
from typing import NamedTuple

from dpbandits.algorithms._top_two import constant, grows, index, observed, play, threshold
from dpbandits.algorithms.ttucb import Cost, Threshold, bonus, constant_of_printed, threshold_of
from dpbandits.kernel.parameters import Fraction, Positive
from dpbandits.mechanisms.perturbation import randomised_response
from dpbandits.privacy.notions import Notion, guaranteed
from dpbandits.privacy.releases import ApproximateDP

__all__ = ["KIND", "LABEL", "Params", "guarantee", "play", "releases"]

KIND = "identification"
LABEL = "CTB-TT"
guarantee = guaranteed(Notion.LOCAL, "slides of Azize et al. on best-arm identification, p. 19")


class Params(NamedTuple):
    """Local privacy budget of each reward, chance of a wrong answer δ, and TTUCB's variants."""

    epsilon: Positive
    risk: Fraction
    threshold: Threshold = Threshold.PRINTED
    cost: Cost = Cost.HALF


# A coin for a reward r shows 1 with probability (r (e^ε - 1) + 1)/(e^ε + 1).
observed.register(Params)(
    lambda params, rng, reward: randomised_response(rng, reward, params.epsilon)
)
constant.register(Params)(constant_of_printed)
grows.register(Params)(lambda params: True)
index.register(Params)(bonus)
threshold.register(Params)(threshold_of)


def releases(params: Params, arms: int, limit: int) -> Iterator[ApproximateDP]:
    """Yield every reward once, by randomised response."""
    for arm in range(arms):
        yield ApproximateDP(arm, 1, limit, params.epsilon, 0.0)
