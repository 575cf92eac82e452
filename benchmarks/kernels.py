"""Speed of the engine, as ratios within one process: `make bench`.

Two questions. What does a policy that plays a bandit cost against the same algorithm as one bare
loop? And does a batched policy's run cost the same whatever the horizon? A single time on a shared
machine says little; the ratio of two that alternate says a lot.
"""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from dpbandits import registry
from dpbandits.algorithms import ucb
from dpbandits.bandit import NEVER, new_bandit
from dpbandits.cell import Grid, checkpoints
from dpbandits.environments import bernoulli

MEANS = (0.75, 0.625, 0.5, 0.375, 0.25)
REPEATS = 9


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@numba.njit(nogil=True)
def bare_ucb(means: Any, gaps: Any, horizon: int, rounds: Any, rng: Any) -> Any:
    """UCB as anybody would write it: one loop, rewards and regret in place."""
    arms = means.size
    pulls = np.ones(arms)
    sums = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for arm in range(arms):
        sums[arm] = 1.0 if rng.random() < means[arm] else 0.0
        regret += gaps[arm]
        if arm + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    for t in range(arms, horizon):
        log_t = math.log(t + 1)
        best, largest = 0, -math.inf
        for arm in range(arms):
            index = sums[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            if index > largest:
                best, largest = arm, index
        sums[best] += 1.0 if rng.random() < means[best] else 0.0
        pulls[best] += 1.0
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


def many_plays(play: Any) -> Any:
    """A kernel that plays many runs, so that the call from Python does not count."""

    @numba.njit(nogil=True)
    def plays(params: Any, bandit: Any, rng: Any, n: int) -> None:
        for _ in range(n):
            bandit.clock[:] = 0
            bandit.pulls[:] = 0
            play(params, bandit, rng)

    return plays


def seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def per_round(horizon: int = 1_000_000) -> None:
    law = bernoulli.law(bernoulli.Params(MEANS))
    rounds = checkpoints(horizon, Grid.LOG)
    ends = np.append(rounds, NEVER)

    def engine() -> Any:
        bandit = new_bandit(law, len(MEANS), horizon, rounds, generator(1))
        ucb.play(ucb.Params(), bandit, generator(2))
        return bandit.curve

    def bare() -> Any:
        return bare_ucb(law.means, law.gaps, horizon, ends, generator(1))[:-1]

    np.testing.assert_allclose(engine(), bare(), rtol=1e-9)  # the same pulls
    pairs = [(seconds(engine), seconds(bare)) for _ in range(REPEATS)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    print(f"{'ucb':<12}{ours / horizon * 1e9:10.1f}{theirs / horizon * 1e9:10.1f}{ratio:10.2f}")


def batched(name: str, plays: int = 300) -> None:
    law = bernoulli.law(bernoulli.Params(MEANS))
    module = registry.algorithm(name)
    many = many_plays(module.play)

    def play(horizon: int) -> Callable[[], None]:
        told = {"epsilon": 1.0, "horizon": horizon}
        params = module.Params(**{k: v for k, v in told.items() if k in module.Params._fields})
        # The same two checkpoints, so that the horizons differ in nothing else.
        rounds = np.array([len(MEANS), horizon])
        bandit = new_bandit(law, len(MEANS), horizon, rounds, generator(1))
        return lambda: many(params, bandit, generator(2), plays)

    horizons = [10**6, 10**9, 10**12]
    for horizon in horizons:
        play(horizon)()
    rows = [[seconds(play(horizon)) for horizon in horizons] for _ in range(REPEATS)]
    medians = [statistics.median(column) / plays * 1e6 for column in zip(*rows, strict=True)]
    ratio = statistics.median(row[-1] / row[0] for row in rows)
    print(f"{name:<12}" + "".join(f"{m:10.1f}" for m in medians) + f"{ratio:10.2f}")


def main() -> None:
    print("ns a round, K = 5, T = 10^6     engine, bare loop, their ratio")
    per_round()
    print("us a run inside a kernel, K = 5     T = 10^6, 10^9, 10^12, ratio of last to first")
    for name in ("adap-ucb", "adap-klucb", "dp-se"):
        batched(name)


if __name__ == "__main__":
    main()
