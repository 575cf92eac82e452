"""Shared code of the three DP-FTPL algorithms (wang2024): start, releases, parameter checks."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpbandits.core.bandit import number_of_arms, pull_many, rounds_left
from dpbandits.core.kernel import allocating
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import ApproximateDP


@allocating
def first_pulls(bandit, needed):
    """Pull each arm in the listed order `while N_i < needed`, and at least once.

    Returns R, the sums of the rewards, and N, the numbers of pulls, both float64 of shape (arms,).
    """
    # At most as many pulls as rounds are left.
    n = math.ceil(min(max(needed, 1.0), float(max(rounds_left(bandit), 1))))
    sums = np.empty(number_of_arms(bandit))
    for arm in range(sums.size):
        sums[arm] = pull_many(bandit, arm, n)
    return sums, np.full(sums.size, float(n))


def samples(params: Any, arms: int, horizon: int, first_pulls: float) -> Iterator[ApproximateDP]:
    """Yield the releases θᵢ(t), one draw per arm and round after the start.

    A draw reads all earlier rewards of its arm. Each draw alone is (ε, δ)-DP, which is
    the paper's claim (Lemma 8, per round). No bound on the number of draws holds for all horizons,
    so it is declared infinite.
    """
    if first_pulls * arms < horizon:
        for arm in range(arms):
            yield ApproximateDP(arm, 1, horizon, params.epsilon, params.delta, times=math.inf)


def long_start(needed: float, arms: int, horizon: int) -> str | None:
    """Return a warning if the start phase leaves no rounds for perturbed choices, else None."""
    rounds = math.ceil(max(needed, 1.0)) * arms if needed < horizon else math.inf
    if rounds < horizon:
        return None
    return f"the start phase takes all of the {horizon:,} rounds"


def both_zero(params: Any) -> tuple[str, str] | None:
    """Return the field and the problem if ε = δ = 0, which no noise achieves; or None."""
    if params.epsilon == 0.0 and params.delta == 0.0:
        return "epsilon", "epsilon and delta must not both be 0 (wang2024: one of them is not zero)"
    return None


def no_delta(params: Any, name: str) -> tuple[str, str] | None:
    """Return the field and the problem if δ = 0, so that the start never ends; else None."""
    if params.delta == 0.0:
        return "delta", f"delta must not be 0: {name} only works when delta != 0 (Remark 17)"
    return None


def claim_of_a_round(params: Any, theorem: str) -> Guarantee:
    """Return the claim that every single round is private in each earlier reward."""
    differs = "the promise is of one round; every round draws anew from the same rewards, and no"
    differs += " number of rounds bounds what all of them tell"
    return Guarantee(
        Notion.PER_ROUND, params.epsilon, params.delta, f"wang2024, {theorem}", differs
    )
