"""Counters of DP-UCB-BOUND and DP-UCB (tossou2016) in three readings of "hybrid mechanism"."""

from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from typing import Any

from dpbandits.core.bandit import number_of_arms, rounds_left
from dpbandits.core.kernel import by_class, inlined, kernel
from dpbandits.mechanisms.hybrid import hybrid_counters, hybrid_releases
from dpbandits.mechanisms.single import single_counters, single_releases
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace


class Counter(IntEnum):
    """Reading: the hybrid mechanism of tossou2016, section 2.3."""

    HYBRID_FULL = 0  # Lemma B.2: epsilon for each part; an item is in both, so 2 epsilon
    HYBRID_SPLIT = 1  # epsilon/2 for each part
    SINGLE = 2  # section 2.3 read literally, one fresh draw per release; not private


DIFFERS = {
    Counter.HYBRID_FULL: "either part of a counter has epsilon, and a reward is in both; Lemma B.2"
    " sees no need to compose them, as a sum is drawn from one part given all the others",
    Counter.HYBRID_SPLIT: "",
    Counter.SINGLE: "every sum has one draw of its own and reads all rewards before it: the budgets"
    " of all sums add up",
}


@inlined
def part_epsilon(params):
    """Return the budget of each of the two parts of a hybrid counter."""
    return 0.5 * params.epsilon if params.counter == Counter.HYBRID_SPLIT else params.epsilon


@partial(by_class, allocating=True)
def play_with(params, counters, bandit, rng):
    """Play to the horizon with one counter per arm."""
    raise NotImplementedError("these Params registered no body for `play_with`")


@kernel
def play(params, bandit, rng):
    """Play UCB on private sums, by counters of the reading."""
    arms, part = number_of_arms(bandit), part_epsilon(params)
    if params.counter == Counter.SINGLE:
        play_with(params, single_counters(arms, params.epsilon), bandit, rng)
    else:
        play_with(params, hybrid_counters(arms, rounds_left(bandit), part, part), bandit, rng)


def releases(params: Any, arms: int, horizon: int) -> Iterator[Laplace]:
    """Yield the releases of one counter per arm, which gets an item per pull or per round."""
    for arm in range(arms):
        if params.counter == Counter.SINGLE:
            yield from single_releases(arm, horizon, params.epsilon)
        else:
            yield from hybrid_releases(arm, horizon, part_epsilon(params), part_epsilon(params))


def claim(params: Any, arms: int, horizon: int) -> Guarantee:
    """Return the claim of Theorem 3.1 (by Lemma B.2); Algorithm 2 has no theorem of its own."""
    where = "tossou2016, Theorem 3.1 (of Algorithm 1)"
    return Guarantee(Notion.PER_ROUND, params.epsilon, 0.0, where, DIFFERS[params.counter])
