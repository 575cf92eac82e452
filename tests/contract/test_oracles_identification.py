"""Algorithms that identify the best arm against tests/oracles/identification.py."""

import math
from collections import Counter
from enum import IntEnum
from typing import Any

import identification
import numpy as np
import pytest
from shared_games import game_of
from streams import Draws, policy_stream, reward_stream

from dpbandits.algorithms import _thresholds, adap_tt_star, dp_tt
from dpbandits.environments import bernoulli
from dpbandits.experiments.identification import IdentificationExperiment
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.bandit import new_bandit
from dpbandits.privacy.releases import composed_epsilon

ORACLES: dict[str, Any] = {
    "adap-tt": identification.AdaPTT,
    "adap-tt-star": identification.AdaPTTStar,
    "dp-tt": identification.DPTT,
    "eb-tci": identification.EBTCI,
    "ttucb": identification.TTUCB,
    "ctb-tt": identification.CTBTT,
    "dp-se-identify": identification.DPSEIdentify,
}
# Settings that every variant occurs in, with an instance and a limit on which most runs answer.
SETTINGS: list[tuple[str, dict[str, Any], tuple[float, ...], int]] = [
    ("adap-tt", {"epsilon": 5.0}, (0.1, 0.9, 0.3), 2500),
    ("adap-tt", {"epsilon": 1.0, "threshold": "as-drawn", "s": 1.5}, (0.1, 0.9, 0.5, 0.5), 1500),
    ("adap-tt", {"epsilon": 2.0, "bonus": "log-pulls", "tracking": "random"}, (1.0, 0.1), 2000),
    ("adap-tt", {"epsilon": 0.1, "threshold": "as-drawn"}, (0.5, 0.9, 0.2), 900),
    ("adap-tt-star", {"epsilon": 3.0}, (0.1, 0.9, 0.3), 1500),
    ("adap-tt-star", {"epsilon": 0.2, "s": 1.3, "bonus": "log-pulls"}, (0.95, 0.05), 4000),
    ("adap-tt-star", {"epsilon": 0.25, "tracking": "random"}, (0.99, 0.01), 6000),
    ("dp-tt", {"epsilon": 0.3}, (0.9, 0.3, 0.5), 600),
    ("dp-tt", {"epsilon": 10.0, "threshold": "double"}, (0.2, 0.8, 0.6, 0.6), 800),
    ("eb-tci", {}, (0.9, 0.3, 0.5), 400),
    ("eb-tci", {"threshold": "double"}, (0.2, 0.8, 0.5), 600),
    ("ttucb", {}, (0.9, 0.2, 0.4), 600),
    ("ttucb", {"threshold": "single-log"}, (0.9, 0.2, 0.4), 500),
    ("ttucb", {"threshold": "single-log", "cost": "whole"}, (0.3, 0.8, 0.4), 500),
    ("ctb-tt", {"epsilon": 2.0}, (0.9, 0.1, 0.2), 900),
    ("ctb-tt", {"epsilon": 4.0, "threshold": "single-log", "cost": "whole"}, (0.9, 0.1), 600),
    ("dp-se-identify", {"epsilon": 1.0}, (0.95, 0.1, 0.55), 12_000),
    ("dp-se-identify", {"epsilon": 0.02, "passes": "floor"}, (0.9, 0.1, 0.2), 60_000),
    (
        "dp-se-identify",
        {"epsilon": 0.5, "epoch_mean": "divided-by-all-pulls", "passes": "floor"},
        (0.9, 0.3),
        40_000,
    ),
]


def params_of(name: str, settings: dict[str, Any]) -> Any:
    """Return the Params of an algorithm with a risk of 0.1."""
    cls = registry.algorithm(name).Params
    return parameters.build(cls, {"risk": 0.1, **settings}, name, lambda _: "a test")


@pytest.mark.parametrize(
    ("name", "settings", "means", "limit"), SETTINGS, ids=lambda value: str(value)[:40]
)
def test_an_algorithm_answers_as_the_literal_one_after_the_same_draws(
    name: str, settings: dict[str, Any], means: tuple[float, ...], limit: int
) -> None:
    play, params = registry.algorithm(name).play, params_of(name, settings)
    outcomes: Counter[int] = Counter()
    for seed in range(4):
        literal = ORACLES[name](**{"risk": 0.1, **settings})
        game, draws = game_of("bernoulli", means, limit, seed), Draws(policy_stream(seed))
        literal.identify(game, draws)
        law, ours = bernoulli.law(bernoulli.Params(means)), Draws(policy_stream(seed))
        rewards, no_curve = reward_stream(seed), np.array([])
        bandit = new_bandit(law, len(means), limit, no_curve, rewards, per_round=True)
        completed = getattr(play, "py_func", play)(params, bandit, ours)
        assert bandit.clock.tolist() == [len(game.played), 0, 0]
        assert bandit.pulls.tolist() == [game.played.count(arm) for arm in range(len(means))]
        assert (bandit.answer[0], completed) == (literal.answer, literal.completed)
        assert [draw.method for draw in ours.log] == [draw.method for draw in draws.log]
        actual, expected = ([x for d in side.log for x in d.arguments] for side in (ours, draws))
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
        outcomes[literal.answer] += 1
    assert outcomes[-1] < 4  # undecided


def test_every_variant_is_compared() -> None:
    compared = {
        (name, f, v) for name, s, *_ in SETTINGS for f, v in params_of(name, s)._asdict().items()
    }
    for name in ORACLES:
        for field, annotation in parameters.fields(registry.algorithm(name).Params).items():
            if isinstance(annotation, type) and issubclass(annotation, IntEnum):
                assert {(name, field, member) for member in annotation} <= compared


@pytest.mark.parametrize("x", [0.0, 0.5, 2.3, 9.0, 80.0, 2000.0])
def test_c_g_is_the_minimum_of_c_30(x: float) -> None:
    assert _thresholds.c_g(x) == pytest.approx(identification.c_g(x), rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 1024), (2**20, 2**12)])
@pytest.mark.parametrize("gap", [0.02, 0.5])
def test_the_threshold_of_adap_tt_star_is_the_literal_one(gap: float, n: int, m: int) -> None:
    for epsilon, s in ((0.1, 2.0), (0.01, 1.2)):
        ours = adap_tt_star.two_cases(epsilon, 0.01, s, 5, gap, n, m)
        literal = identification.c_star(gap, n, m, 0.01, 5, epsilon, s)
        assert ours == pytest.approx(literal, rel=1e-9)


def test_the_cost_of_dp_tt_is_the_least_of_all_points_in_every_branch() -> None:
    rng = np.random.default_rng(1)
    for _ in range(3000):
        other, mean = sorted(rng.random(2) ** rng.choice([1.0, 6.0]))
        if rng.random() < 0.2:
            other, mean = (0.0, mean) if rng.random() < 0.5 else (other, 1.0)
        n, m = np.exp(rng.uniform(0, 14, 2))
        epsilon = math.exp(rng.uniform(-8, 3))
        ours = dp_tt.private_cost(mean, other, n, m, epsilon)
        literal = identification.c_epsilon(mean, other, n, m, epsilon)
        assert ours == pytest.approx(literal, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in ORACLES if name not in ("eb-tci", "ttucb")])
@pytest.mark.parametrize("epsilon", [0.01, 3.0])
def test_the_releases_compose_to_the_budget(name: str, epsilon: float) -> None:
    module = registry.algorithm(name)
    params = params_of(name, {"epsilon": epsilon})
    assert composed_epsilon(module.releases(params, 5, 10**7)) == pytest.approx(epsilon, rel=1e-12)
    assert module.guarantee(params, 5, 10**7).delta == 0.0  # `risk` is no delta of privacy


L, LIN, C2 = (
    (0.95, 0.9, 0.9, 0.9, 0.5),
    (1.0, 0.75, 0.5, 0.25, 0.0),
    (0.75, 0.625, 0.5, 0.375, 0.25),
)


@pytest.mark.parametrize(
    ("means", "i", "total"),
    [
        *((L, i, total) for i, total in enumerate((9_378_051, None, 549_393, 464_897, 108_802))),
        *((LIN, i, total) for i, total in enumerate((608_075, 131_010, 28_225, None, 5_310))),
        (C2, 0, 1_124_613),
        (C2, 2, 104_971),
    ],
)
def test_dp_se_as_drawn_attains_the_published_totals(
    means: tuple[float, ...], i: int, total: int | None
) -> None:
    if total is None:  # a published mean of two totals
        return
    drawn = {"epoch_mean": "divided-by-all-pulls", "passes": "floor", "risk": 0.01}
    params = params_of("dp-se-identify", {"epsilon": 10 ** (-3 + 2 * i / 3), **drawn})
    instance = bernoulli.Params(means)
    played = IdentificationExperiment("dp-se-identify", params, "bernoulli", instance, 10**9, 1)
    assert total in played.play(range(40))[0][:, 0]


@pytest.mark.parametrize(
    ("name", "settings", "means", "mean", "error"),
    [
        # Means and standard errors of an independent implementation, risk = 0.01.
        ("adap-tt", {"epsilon": 1000.0}, LIN, 7165.6, 169.5),
        ("adap-tt", {"epsilon": 1.0, "bonus": "log-pulls"}, LIN, 8893.3, 121.9),
        ("adap-tt-star", {"epsilon": 1000.0, "s": 1.5}, LIN, 3310.2, 88.1),
        ("adap-tt-star", {"epsilon": 0.1}, LIN, 48123.5, 496.9),
        ("dp-tt", {"epsilon": 10.0}, L, 4938.5, 240.6),
        ("dp-tt", {"epsilon": 10.0, "threshold": "double"}, L, 9313.4, 331.6),
        ("eb-tci", {}, C2, 806.7, 58.0),
        ("eb-tci", {"threshold": "double"}, C2, 1595.3, 71.8),
        ("ttucb", {}, LIN, 644.4, 15.5),
        ("ttucb", {"threshold": "single-log"}, LIN, 941.7, 18.5),
        ("ttucb", {"threshold": "single-log", "cost": "whole"}, C2, 1938.4, 92.2),
        ("dp-se-identify", {"epsilon": 0.1}, LIN, 9079.7, 133.9),
    ],
)
def test_stopping_times_have_the_means_of_another_implementation(
    name: str, settings: dict[str, Any], means: tuple[float, ...], mean: float, error: float
) -> None:
    params = params_of(name, {"risk": 0.01, **settings})
    instance = bernoulli.Params(means)
    played = IdentificationExperiment(name, params, "bernoulli", instance, 5_000_000, 3)
    times, answers = played.play(range(100))[0][:, :2].T
    assert (answers >= 0).all()
    combined = math.hypot(error, times.std(ddof=1) / 10)
    assert abs(times.mean() - mean) < 4 * combined
