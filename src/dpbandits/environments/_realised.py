"""Wrapper of a law that makes the ledger record the regret by received rewards.

Realised regret of tossou2016, (2.1): t mu* minus the rewards of the first t rounds. Its mean equals
the pseudo-regret. The wrapped law draws the same numbers from the same stream.

Rewards that were drawn as a sum are in no order yet. At a checkpoint within the sum, the part
before it is drawn from its law given the sum: of n rewards 0 or 1 that add up to s, the sum of the
first m is hypergeometric. A policy sees only the whole sum, so its choices have the same law.
"""

from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.bandit import draw, draw_sum, has_closed_sum, regret
from dpbandits.core.kernel import inlined


class Realised(NamedTuple):
    """Law of the rewards and an account of them, which is written in place.

    A Realised can be played only once. `counted` and `drawn` are int64 and `waiting` is float64,
    all of shape (arms,); `earned` is float64 of shape (1,).
    """

    law: Any
    best: float  # mu*
    counted: np.ndarray  # pulls of each arm whose rewards are in `earned`
    drawn: np.ndarray  # number of rewards drawn of each arm
    waiting: np.ndarray  # sum of the rewards that are drawn and not counted
    earned: np.ndarray  # sum of the rewards of all counted pulls
    order: np.random.Generator  # stream of the order of rewards within a sum


def realised(law: Any, means: tuple[float, ...], order: np.random.Generator) -> Realised:
    """Return a law with an empty account; `means` are those of its arms."""
    arms = len(means)
    pulls = np.zeros(arms, np.int64)
    return Realised(law, max(means), pulls, pulls.copy(), np.zeros(arms), np.zeros(1), order)


@draw.register(Realised)
def realised_draw(law, rng, arm, t):
    reward = draw(law.law, rng, arm, t)
    law.drawn[arm] += 1
    law.waiting[arm] += reward
    return reward


@has_closed_sum.register(Realised)
def realised_has_closed_sum(law):
    return has_closed_sum(law.law)


@draw_sum.register(Realised)
def realised_draw_sum(law, rng, arm, n):
    total = draw_sum(law.law, rng, arm, n)
    law.drawn[arm] += n
    law.waiting[arm] += total
    return total


@regret.register(Realised)
def realised_regret(law, pulls):
    t = 0
    for arm in range(pulls.size):
        part = pulls[arm] - law.counted[arm]
        total = law.waiting[arm]
        if pulls[arm] < law.drawn[arm]:
            total = _first_of_sum(law.order, part, law.drawn[arm] - law.counted[arm], total)
        law.counted[arm] = pulls[arm]
        law.waiting[arm] -= total
        law.earned[0] += total
        t += pulls[arm]
    return law.best * t - law.earned[0]


@inlined
def _first_of_sum(rng, part, n, ones):
    # Draw the sum of the first `part` of n rewards 0 or 1 with `ones` ones, in O(part).
    total = 0.0
    for i in range(part):
        if rng.random() * (n - i) < ones - total:
            total += 1.0
    return total
