"""Outcomes of runs of an algorithm: samples of its law, and counts at checkpoints."""

from typing import Any

import numpy as np
import pytest
from numba import typeof

from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.experiments.regret import scheme


def final_outcomes(
    algorithm: str,
    params: Any,
    law: Any,
    arms: int,
    horizon: int,
    seed: int,
    runs: int,
    per_round: bool = False,
    inner: tuple[int, ...] = (),
) -> np.ndarray:
    """Return the regret after the inner rounds, the final regret and the pulls of each arm.

    The shape is (runs, len(inner) + 1 + arms).

    All runs take turns at the same two streams, and numba looks up the machine code once: a stream
    and a look-up for every run would take longer than a short run.
    """
    rewards, own = (np.random.Generator(np.random.PCG64([seed, role])) for role in range(2))
    rounds = np.array([*inner, horizon])
    bandits = [new_bandit(law, arms, horizon, rounds, rewards, per_round) for _ in range(runs)]
    types = tuple(map(typeof, (params, bandits[0], own)))
    policy = None if per_round else scheme(algorithm, params)
    play = (policy or registry.algorithm(algorithm).play).compile(types)
    for bandit in bandits:
        play(params, bandit, own)
    return np.array([[*bandit.curve, *bandit.pulls] for bandit in bandits])


def check_counts(every: Bandit, none: Bandit, means: tuple[float, ...]) -> None:
    """Compare a run with checkpoints after every round with the same run without any.

    Both have the same pulls, and the curve counts every one.
    """
    np.testing.assert_array_equal(every.pulls, none.pulls)
    gaps = max(means) - np.array(means)
    steps = np.diff(every.curve, prepend=0.0)
    assert set(np.round(steps, 9)) <= set(np.round(gaps, 9))
    assert every.curve[-1] == pytest.approx(gaps @ every.pulls, rel=1e-12)
