"""Whole runs of the package in plain Python on the streams of tests/oracles/streams.py.

Plain Python, because only then can every arm and every request for a random number be recorded;
test_plain_python.py shows that compiled kernels make the same runs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import typeof
from streams import Draw, Draws, policy_stream, reward_stream

from dpbandits.experiments.regret import scheme
from dpbandits.kernel import linear, registry
from dpbandits.kernel.bandit import Bandit, new_bandit


class Played(NamedTuple):
    """One run: the arm of every round, the policy's draws, the regret after every round."""

    arms: list[int]
    draws: list[Draw]
    regrets: np.ndarray


class Ledger(np.ndarray):
    """Counts of pulls that also list the arms in the order of their pulls."""

    listed: list[int]

    def __setitem__(self, arm: Any, count: Any) -> None:
        self.listed.extend([int(arm)] * int(count - self[arm]))
        super().__setitem__(arm, count)


def play(
    policy: Callable[..., None], params: Any, law: Any, arms: int, horizon: int, seed: int
) -> Played:
    """Play run `seed` of a policy against a law, round by round."""
    bandit = new_bandit(
        law, arms, horizon, np.arange(1, horizon + 1), reward_stream(seed), per_round=True
    )
    return play_bandit(policy, params, bandit, Draws(policy_stream(seed)))


def play_bandit(policy: Callable[..., None], params: Any, bandit: Bandit, draws: Draws) -> Played:
    """Play a given bandit, which has a checkpoint in every round."""
    ledger = bandit.pulls.view(Ledger)
    ledger.listed = []
    # With the JIT disabled `policy` is a plain function already.
    getattr(policy, "py_func", policy)(params, bandit._replace(pulls=ledger), draws)
    return Played(ledger.listed, draws.log, bandit.curve)


def assert_same_run(
    ours: Played, played: Sequence[int], draws: Sequence[Draw], unused: int = 0
) -> None:
    """Compare arms and draws one by one; arguments and values may differ by rounding errors.

    The package may draw `unused` more noises after the last choice: it also releases statistics of
    episodes that the horizon cut off.
    """
    assert ours.arms == list(played)
    assert len(ours.draws) == len(draws) + unused
    compared = ours.draws[: len(draws)]
    assert [draw.method for draw in compared] == [draw.method for draw in draws]
    actual, expected = (
        [number for draw in side for number in (*draw.arguments, draw.value)]
        for side in (compared, draws)
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


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
    features = linear.of_game(law, arms, registry.is_linear(algorithm))
    bandits = [bandit._replace(features=features) for bandit in bandits]
    types = tuple(map(typeof, (params, bandits[0], own)))
    policy = None if per_round else scheme(algorithm, params)
    play = (policy or registry.algorithm(algorithm).play).compile(types)
    for bandit in bandits:
        play(params, bandit, own)
    return np.array([[*bandit.curve, *bandit.pulls] for bandit in bandits])
