"""Kernel that plays an algorithm many times on one table and counts every game."""

from collections.abc import Callable
from functools import cache

from dpbandits.audit_kernels.count import count
from dpbandits.core import registry
from dpbandits.core.kernel import kernel_around, play


def tally(params, bandit, rng, games, arm, index, counts):  # type: ignore[no-untyped-def]
    """Play `games` games and add them to `counts`, uint32 of shape (cells,); see features.py."""
    for _ in range(games):
        bandit.clock[0] = 0
        bandit.clock[1] = 0
        bandit.pulls[:] = 0
        bandit.law.read[:] = 0
        play(params, bandit, rng)
        count(bandit.law.played, bandit.pulls, arm, index, counts)


@cache
def tallying(algorithm: str) -> Callable[..., None]:
    """Return `tally` for an algorithm. Raises UserError for an unknown one."""
    return kernel_around(registry.algorithm(algorithm).play, tally)
