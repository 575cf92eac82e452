"""Wrapper of a law that makes the ledger record the regret by received rewards.

Realised regret of tossou2016, (2.1): t mu* minus the rewards of the first t rounds. Its mean equals
the pseudo-regret. The wrapped law draws the same numbers from the same stream.

Rewards that were drawn as a sum are in no order yet. At a checkpoint within the sum, the part
before it is drawn from its law given the sum: of n rewards 0 or 1 that add up to s, the sum of the
first m is hypergeometric. A policy sees only the whole sum, so its choices are distributed alike.
"""

from typing import Any, NamedTuple

import numpy as np

from dpbandits.kernel.bandit import draw, draw_sum, has_closed_sum, regret


class Realised(NamedTuple):
    """Law of the rewards and an account of them, which is written in place.

    It can be played only once.
    """

    law: Any
    best: float  # mu*
    counted: np.ndarray  # int64, shape (arms,): pulls whose rewards are in `earned`
    drawn: np.ndarray  # int64, shape (arms,): number of rewards drawn
    waiting: np.ndarray  # float64, shape (arms,): sum of the rewards drawn and not counted
    earned: np.ndarray  # float64, shape (1,): sum of the rewards of all counted pulls
    order: np.random.Generator  # stream of the order of rewards within a sum


def realised(law: Any, means: tuple[float, ...], order: np.random.Generator) -> Realised:
    """Return a law with an empty account; `means` are those of its arms."""
    counted, drawn = np.zeros((2, len(means)), np.int64)
    return Realised(law, max(means), counted, drawn, np.zeros(len(means)), np.zeros(1), order)


@draw.register(Realised)
def realised_draw(law, rng, arm, t):
    reward = draw(law.law, rng, arm, t)
    law.drawn[arm] += 1
    law.waiting[arm] += reward
    return reward


has_closed_sum.register(Realised)(lambda law: has_closed_sum(law.law))


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
            # Draw the sum of the first `part` of n rewards 0 or 1 of which `ones` are 1.
            n, ones, total = law.drawn[arm] - law.counted[arm], total, 0.0
            for i in range(part):
                if law.order.random() * (n - i) < ones - total:
                    total += 1.0
        law.counted[arm] = pulls[arm]
        law.waiting[arm] -= total
        law.earned[0] += total
        t += pulls[arm]
    return law.best * t - law.earned[0]
