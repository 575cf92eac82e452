"""Kernel that plays an algorithm many times on one table and counts every game."""

from collections.abc import Callable
from functools import cache

from dpbandits.audit_kernels.count import count
from dpbandits.core import registry
from dpbandits.core.kernel import kernel


@cache
def tallying(algorithm: str) -> Callable[..., None]:
    """Return a kernel that plays `games` games of an algorithm and adds them to `counts`.

    `counts` is int64 of shape (cells,), with the cells of features.py. Raises UserError for an
    unknown algorithm.
    """
    play = registry.algorithm(algorithm).play

    def tally(params, bandit, rng, games, arm, index, counts):  # type: ignore[no-untyped-def]
        for _ in range(games):
            bandit.clock[0] = 0
            bandit.clock[1] = 0
            bandit.pulls[:] = 0
            bandit.law.read[:] = 0
            play(params, bandit, rng)
            count(bandit.law.played, bandit.pulls, arm, index, counts)

    compiled: Callable[..., None] = kernel(tally, kept=False)
    return compiled
