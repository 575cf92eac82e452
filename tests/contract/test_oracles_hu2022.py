"""TS, Lazy-DP-TS, DP-TS and the reconstructed Anytime-Lazy-UCB against tests/oracles/hu2022.py."""

import itertools
import math
from collections import Counter
from typing import Any

import hu2022
import pytest
from shared_games import LAWS, MEANS, compare

from dpbandits.algorithms import anytime_lazy_ucb, dp_ts, lazy_dp_ts, ts
from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms.lazy_dp_ts import Log

EPSILONS = [0.1, 1.0, 5.0, 500.0]  # from much noise and means clipped to 1 to almost none
LOGS = {Log.TWO: math.log2, Log.NATURAL: math.log}
SAMPLED = [(lazy_dp_ts, hu2022.LazyDPTS), (dp_ts, hu2022.DPTS)]


@pytest.mark.parametrize("log", Log)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("pair", SAMPLED, ids=["lazy-dp-ts", "dp-ts"])
def test_a_private_algorithm_is_the_literal_one(pair: tuple[Any, Any], law: str, log: Log) -> None:
    module, oracle = pair
    taken: Counter[str] = Counter()
    for seed, (means, epsilon) in enumerate(itertools.product(MEANS, EPSILONS)):
        params = module.Params(epsilon, log, Method.PLAIN)
        for n in (len(means), 300 + seed):
            taken += compare(module, params, oracle(epsilon, LOGS[log]), law, means, n, seed)
    ends = {"release", "append"} if module is lazy_dp_ts else {"C", "B"}
    assert {"inside", "above 1", *ends} <= set(+taken)
    assert min(taken[branch] for branch in ("inside", "above 1", *ends)) >= 50


@pytest.mark.parametrize(("pair", "runs"), [(SAMPLED[0], 400), (SAMPLED[1], 2500)])
def test_a_mean_that_is_below_0_with_its_bonus_is_the_literal_one(
    pair: tuple[Any, Any], runs: int
) -> None:
    # The bonus is three (six) scales of the noise and more, so that this happens in first rounds.
    module, oracle = pair
    taken: Counter[str] = Counter()
    for seed in range(runs):
        params = module.Params(0.1, Log.NATURAL, Method.PLAIN)
        literal = oracle(0.1, math.log)
        taken += compare(module, params, literal, "bernoulli", (0.1, 0.2), 4, seed)
    assert taken["below 0"] >= 2


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_ts_is_the_literal_one(means: tuple[float, ...], law: str) -> None:
    compare(ts, ts.Params(Method.PLAIN), hu2022.TS(), law, means, 400, 3)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_anytime_lazy_ucb_is_its_reconstruction(epsilon: float, law: str) -> None:
    taken: Counter[str] = Counter()
    for seed, means in enumerate(MEANS):
        params = anytime_lazy_ucb.Params(epsilon)
        literal = hu2022.ReconstructedLazyUCB(epsilon, math.log2)
        taken += compare(anytime_lazy_ucb, params, literal, law, means, 500, seed)
    assert set(+taken) == {"release", "append"}
