"""What the three DP-FTPL (wang2024) share: the start, what is released and what they refuse."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpbandits.core.bandit import number_of_arms, pull_many, rounds_left
from dpbandits.core.kernel import inlined
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import Approximate


@inlined
def first_pulls(bandit, needed):
    """Arm by arm in the listed order, `while N_i < needed`: once at least. Returns R and N."""
    # No more pulls than rounds are left.
    n = math.ceil(min(max(needed, 1.0), float(max(rounds_left(bandit), 1))))
    sums = np.empty(number_of_arms(bandit))
    for arm in range(sums.size):
        sums[arm] = pull_many(bandit, arm, n)
    return sums, np.full(sums.size, float(n))


def samples(params: Any, arms: int, horizon: int, first_pulls: float) -> Iterator[Approximate]:
    """theta_i(t), drawn anew from all rewards of arm i in every round after the start.

    Each alone is (epsilon, delta)-DP, which is what the paper promises (Lemma 8, per round).
    Nothing bounds their number whatever the horizon is.
    """
    if first_pulls * arms < horizon:
        for arm in range(arms):
            yield Approximate(arm, 1, horizon, params.epsilon, params.delta, times=math.inf)


def long_start(needed: float, arms: int, horizon: int) -> str | None:
    """What a reader must know of a start that leaves no round to the perturbations."""
    rounds = math.ceil(max(needed, 1.0)) * arms if needed < horizon else math.inf
    if rounds < horizon:
        return None
    return f"the start phase takes all of the {horizon:,} rounds"


def both_zero(params: Any) -> tuple[str, str] | None:
    """What is wrong with a budget of (0, 0), which no noise gives."""
    if params.epsilon == 0.0 and params.delta == 0.0:
        return "epsilon", "epsilon and delta must not both be 0 (wang2024: one of them is not zero)"
    return None


def no_delta(params: Any, name: str) -> tuple[str, str] | None:
    """What is wrong with delta = 0 where the start would never end."""
    if params.delta == 0.0:
        return "delta", f"delta must not be 0: {name} only works when delta != 0 (Remark 17)"
    return None


def claim_of_a_round(params: Any, theorem: str) -> Claim:
    """Every round alone, of a change of one earlier reward."""
    differs = "the promise is of one round; every round draws anew from the same rewards, and no"
    differs += " number of rounds bounds what all of them tell"
    return Claim(Notion.PER_ROUND, params.epsilon, params.delta, f"wang2024, {theorem}", differs)
