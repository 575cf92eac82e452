"""Many runs of a policy in one call of a kernel.

A batched run takes a few microseconds, and ten times as long to be called from Python.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dpbandits.core.bandit import Bandit
from dpbandits.core.kernel import around, kernel_around, play
from dpbandits.core.stream_states import Memory


def _play_many(params, bandit, rng, rewards, own, states, curves):
    for run in range(curves.shape[0]):
        rewards.state[:] = states[run, 0]
        own.state[:] = states[run, 1]
        rewards.kept[0] = 0
        own.kept[0] = 0
        bandit.pulls[:] = 0
        bandit.clock[:] = 0
        bandit.curve[:] = np.nan
        play(params, bandit, rng)
        if bandit.clock[0] != bandit.horizon:
            return bandit.clock[0]
        curves[run] = bandit.curve
    return bandit.horizon


@cache
def _kernel(policy: Callable[..., Any]) -> Callable[..., Any]:
    return kernel_around(policy, _play_many)


def play_many(
    policy: Callable[..., Any],
    params: Any,
    bandit: Bandit,
    rng: np.random.Generator,
    memories: tuple[Memory, Memory],
    states: np.ndarray,
    in_kernel: bool,
) -> tuple[np.ndarray, int]:
    """Play runs on one bandit; return their curves and the rounds of the last run.

    `memories` are those of the generators of the rewards and of the policy, `states` their states
    before each run, uint64 of shape (runs, 2, 4). The curves are float64 of shape (runs,
    checkpoints). A run that does not end at the horizon is the last one that is played. With
    `in_kernel`, the policy is a kernel, and the loop is compiled around it.
    """
    curves = np.empty((len(states), len(bandit.curve)))
    loop = _kernel(policy) if in_kernel else around(policy, _play_many)
    rounds = loop(params, bandit, rng, *memories, states, curves)
    return curves, int(rounds)
