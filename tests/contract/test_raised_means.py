"""Law of TS, Lazy-DP-TS and DP-TS (hu2022): the arms above a level against one draw per arm."""

from typing import Any

import numpy as np
import pytest
from many_runs import final_outcomes

from dpbandits.algorithms import dp_ts, lazy_dp_ts, ts
from dpbandits.algorithms._raised_means import Log, Method
from dpbandits.environments import bernoulli
from dpbandits.verify.same_law import p_value

C2, GAP = (0.75, 0.625, 0.5, 0.375, 0.25), (0.8, 0.05, 0.05, 0.05, 0.05)
MANY = tuple(0.3 + 0.02 * arm for arm in range(12))
# Algorithm, parameters but for the method, means, horizon, runs.
GAMES: list[tuple[Any, Any, tuple[float, ...], int, int]] = [
    (ts, ts.Params(), C2, 3000, 800),
    (ts, ts.Params(), GAP, 3000, 800),
    (ts, ts.Params(), (0.6, 0.5), 6000, 500),
    (lazy_dp_ts, lazy_dp_ts.Params(500.0), C2, 4000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(1.0), C2, 8000, 500),
    (lazy_dp_ts, lazy_dp_ts.Params(5.0, Log.NATURAL), (0.5, 0.5), 3000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(20.0), GAP, 3000, 800),
    (lazy_dp_ts, lazy_dp_ts.Params(10.0), MANY, 6000, 400),
    (dp_ts, dp_ts.Params(500.0), C2, 4000, 800),
    (dp_ts, dp_ts.Params(20.0, Log.NATURAL), C2, 8000, 400),
    (dp_ts, dp_ts.Params(5.0), (0.9, 0.3), 6000, 500),
    (dp_ts, dp_ts.Params(50.0), GAP, 3000, 800),
    (dp_ts, dp_ts.Params(100.0), MANY, 6000, 400),
]
INNER = (50, 500, 2000)
# A correct scheme fails any of the comparisons with probability 10^-4.
LIMIT = 1e-4 / sum(len(means) + 1 + len(INNER) for _, _, means, _, _ in GAMES)


def outcomes(
    module: Any, params: Any, means: tuple[float, ...], horizon: int, runs: int, method: Method
) -> np.ndarray:
    """Return the regret on the way and at the end, and the pulls of each arm."""
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    law, own = bernoulli.law(bernoulli.Params(means)), params._replace(method=method)
    return final_outcomes(name, own, law, len(means), horizon, 5 + method, runs, inner=INNER)


@pytest.mark.parametrize(("module", "params", "means", "horizon", "runs"), GAMES)
@pytest.mark.parametrize("share", [1.0, pytest.param(5.0, marks=pytest.mark.slow)])
def test_both_methods_have_the_same_law(
    module: Any, params: Any, means: tuple[float, ...], horizon: int, runs: int, share: float
) -> None:
    both = [outcomes(module, params, means, horizon, int(share * runs), each) for each in Method]
    values = [p_value(first, second) for first, second in zip(*(o.T for o in both), strict=True)]
    assert min(values) > LIMIT, values
    assert len(np.unique(both[0][:, -1])) > 1
