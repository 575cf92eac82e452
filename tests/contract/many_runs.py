"""Outcomes of many runs of an algorithm: samples of its law."""

from typing import Any

import numpy as np
from numba import typeof

from dpbandits.core import registry
from dpbandits.core.bandit import new_bandit


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
    play = registry.algorithm(algorithm).play.compile(types)
    for bandit in bandits:
        play(params, bandit, own)
    return np.array([[*bandit.curve, *bandit.pulls] for bandit in bandits])
