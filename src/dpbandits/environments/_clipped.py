"""Wrapper of a law that clips the rewards to a range, which the releases of an algorithm assume.

The regret stays that of the wrapped law. A clipped sum has no closed law. A reward beyond the range
of the environment becomes nan, which ends the run.
"""

import math
from typing import Any, NamedTuple

from dpbandits.kernel.bandit import draw, regret
from dpbandits.kernel.linear import observe


class Clipped(NamedTuple):
    """Law of the rewards, its range, and the range to which they are clipped."""

    law: Any
    least: float
    most: float
    low: float
    high: float


@draw.register(Clipped)
def clipped_draw(law, rng, arm, t):
    reward = draw(law.law, rng, arm, t)
    if not law.least <= reward <= law.most:
        return math.nan
    return min(max(reward, law.low), law.high)


observe.register(Clipped)(lambda law, features, t: observe(law.law, features, t))
regret.register(Clipped)(lambda law, pulls: regret(law.law, pulls))
