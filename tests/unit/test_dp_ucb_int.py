"""DP-UCB-INT: its constants, its release counts, its choices and its budget."""

import itertools
import json
import math
from collections.abc import Iterator
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.special import zeta

from dpbandits.algorithms import dp_ucb_int
from dpbandits.algorithms.dp_ucb_int import Noise, Params, Schedule
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.kinds import composed_budget
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.kernel import parameters
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.power_sums import power_sum
from dpbandits.privacy.releases import composed_epsilon

E10 = math.exp(-10)


def counts(params: Params) -> Iterator[int]:
    """Yield W_1, W_2, ... as the algorithm computes them."""
    epsilon, n, interval = dp_ucb_int.input_epsilon(params), 0, 1
    while True:
        interval = dp_ucb_int.next_interval(params, epsilon, n, interval)
        n += interval
        yield n


# Constants ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("v", [1.000001, 1.01, 1.1, 1.25, 1.5])
def test_the_power_sum_to_infinity_is_the_zeta_function(v: float) -> None:
    assert power_sum(1.0, math.inf, v) == pytest.approx(zeta(v), rel=4e-15)


@pytest.mark.parametrize("s", [0.505, 0.55, 0.75, 1.000001, 1.1, 1.5])
def test_the_power_sum_is_the_sum_of_powers(s: float) -> None:
    for first in (1, 2, 31, 32, 33, 34, 1000, 10**9, 2**52):
        for terms in (0, 1, 2, 31, 32, 33, 253, 20_000):
            last = first + terms - 1
            expected = math.fsum(float(i) ** -s for i in range(first, last + 1))
            found = power_sum(float(first), float(last), s)
            assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("wrong", [{"v": 1.0}, {"v": 1.51}, {"delta": 0.0}, {"delta": 1.1}])
def test_what_the_corollary_does_not_cover_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UserError, match=r"must be in \("):
        parameters.build(Params, {"epsilon": 1.0, **wrong}, "dp-ucb-int", lambda name: "test")


# The release counts ------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", Schedule)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 30.0])
def test_intervals_grow_up_to_one_over_epsilon(epsilon: float, schedule: Schedule) -> None:
    params = Params(epsilon, schedule=schedule)
    longest = math.ceil(1 / dp_ucb_int.input_epsilon(params))
    intervals = np.diff([0, *itertools.islice(counts(params), 3000)])
    assert np.all(np.diff(intervals) >= 0)
    assert 1 <= intervals[0] <= intervals[-1] <= longest
    # At large counts the limit is practically reached.
    far = dp_ucb_int.next_interval(params, 1 / (longest - 0.5), 10**15, 1)
    assert far == longest


@pytest.mark.parametrize(
    "horizon", [10**6, 3 * 10**6, pytest.param(3 * 10**7, marks=pytest.mark.slow)]
)
def test_groups_of_releases_are_declared_a_little_worse_than_they_are(
    horizon: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for params in (Params(1.0, 0.01, schedule=schedule) for schedule in Schedule):
        grouped = composed_epsilon(dp_ucb_int.releases(params, 1, horizon), params.delta)
        with monkeypatch.context() as patch:
            patch.setattr(dp_ucb_int, "LISTED", horizon)
            listed = composed_epsilon(dp_ucb_int.releases(params, 1, horizon), params.delta)
        assert listed < grouped < 1.002 * listed


@pytest.mark.parametrize("schedule", Schedule)
def test_fresh_noise_in_every_round_has_no_budget(schedule: Schedule) -> None:
    params = Params(1.0, schedule=schedule, noise=Noise.EVERY_ROUND)
    assert composed_epsilon(dp_ucb_int.releases(params, 2, 10**5), params.delta) == math.inf
    cell = RegretExperiment(
        "dp-ucb-int", params, "bernoulli", bernoulli.Params((0.9, 0.6)), 10**5, Grid.END, 1
    )
    assert composed_budget(cell) == math.inf
    (source,) = produce.sources(Mock(sources=(cell,), x=None))
    assert json.loads(json.dumps(source, allow_nan=False))["composed_epsilon"] == "infinite"
