"""Samples of a reward distribution, from which its contract is checked."""

from typing import Any

from dpbandits.kernel.bandit import draw, draw_sum
from dpbandits.kernel.compilation import kernel


@kernel
def fill(law: Any, rng: Any, rounds: Any, sample: Any) -> None:
    """Draw `sample`, float64 of shape (rounds, arms, draws)."""
    for i in range(rounds.size):
        for arm in range(sample.shape[1]):
            for k in range(sample.shape[2]):
                sample[i, arm, k] = draw(law, rng, arm, rounds[i])


@kernel
def fill_sums(law: Any, rng: Any, arm: Any, n: Any, sums: Any) -> None:
    """Draw `sums`, float64 of shape (sums,), of n rewards of an arm."""
    for k in range(sums.size):
        sums[k] = draw_sum(law, rng, arm, n)
