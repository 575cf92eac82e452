"""Wrapper of a law that makes the ledger record the pulls of one arm instead of the regret."""

from typing import Any, NamedTuple

from dpbandits.core.bandit import (
    draw,
    draw_sum,
    flip_coins,
    has_closed_sum,
    has_coins,
    regret,
)


class PullsOf(NamedTuple):
    """Law of the rewards, and the arm whose pulls are recorded (0 is the first)."""

    law: Any
    arm: int


@regret.register(PullsOf)
def pulls_of_regret(law, pulls):
    return float(pulls[law.arm])


@draw.register(PullsOf)
def pulls_of_draw(law, rng, arm, t):
    return draw(law.law, rng, arm, t)


@has_closed_sum.register(PullsOf)
def pulls_of_has_closed_sum(law):
    return has_closed_sum(law.law)


@draw_sum.register(PullsOf)
def pulls_of_draw_sum(law, rng, arm, n):
    return draw_sum(law.law, rng, arm, n)


@has_coins.register(PullsOf)
def pulls_of_has_coins(law):
    return has_coins(law.law)


@flip_coins.register(PullsOf)
def pulls_of_flip_coins(law, arm, uniforms, first, out, n):
    flip_coins(law.law, arm, uniforms, first, out, n)
