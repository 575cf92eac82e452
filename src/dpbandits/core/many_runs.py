"""Many runs of a policy or of a stopping rule in one call of a kernel.

A batched run takes a few microseconds, and ten times as long to be called from Python.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dpbandits.core.bandit import Bandit
from dpbandits.core.kernel import allocating, around, kernel_around, play
from dpbandits.core.sample_stream import SampleStream
from dpbandits.core.stream_states import Memory


@allocating
def _restart(rewards, own, states):
    rewards.state[:] = states[0]
    own.state[:] = states[1]
    rewards.kept[0] = 0
    own.kept[0] = 0


def _play_many(params, bandit, rng, rewards, own, states, curves):
    for run in range(curves.shape[0]):
        _restart(rewards, own, states[run])
        bandit.pulls[:] = 0
        bandit.clock[:] = 0
        bandit.curve[:] = np.nan
        play(params, bandit, rng)
        if bandit.clock[0] != bandit.horizon:
            return bandit.clock[0]
        curves[run] = bandit.curve
    return bandit.horizon


def _halt_many(params, samples, rng, drawn, own, states, values):
    for run in range(values.shape[0]):
        _restart(drawn, own, states[run])
        values[run, 0], values[run, 1] = play(params, samples, rng)


@cache
def _kernel(policy: Callable[..., Any], body: Callable[..., Any]) -> Callable[..., Any]:
    return kernel_around(policy, body)


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
    loop = _kernel(policy, _play_many) if in_kernel else around(policy, _play_many)
    rounds = loop(params, bandit, rng, *memories, states, curves)
    return curves, int(rounds)


def halt_many(
    halt: Callable[..., Any],
    params: Any,
    samples: SampleStream,
    rng: np.random.Generator,
    memories: tuple[Memory, Memory],
    states: np.ndarray,
) -> np.ndarray:
    """Run a stopping rule many times; return samples used and estimate, float64 of shape (runs, 2).

    `memories` are those of the generators of the samples and of the rule, `states` their states
    before each run, uint64 of shape (runs, 2, 4).
    """
    values = np.empty((len(states), 2))
    _kernel(halt, _halt_many)(params, samples, rng, *memories, states, values)
    return values
