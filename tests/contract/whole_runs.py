"""Comparison of a whole run of the package with that of an oracle: arms, draws, regrets."""

import itertools
from collections.abc import Sequence

import numpy as np
from played import Played
from streams import Draw, Game


def assert_same_run(
    ours: Played, game: Game, draws: Sequence[Draw], regrets: np.ndarray, rounding: float = 1e-12
) -> None:
    """Compare every arm, every draw and every regret.

    Numbers may differ by `rounding`: relative for the arguments and the values of draws, absolute
    and a thousand times as much for the regrets, which are sums.
    """
    assert ours.arms == game.played
    assert [draw.method for draw in ours.draws] == [draw.method for draw in draws]
    for one, other in (
        ([draw.value for draw in side] for side in (ours.draws, draws)),
        (list(itertools.chain(*(draw.arguments for draw in side))) for side in (ours.draws, draws)),
    ):
        np.testing.assert_allclose(one, other, rtol=rounding, atol=0)
    np.testing.assert_allclose(ours.regrets, regrets, rtol=0, atol=1000 * rounding)
