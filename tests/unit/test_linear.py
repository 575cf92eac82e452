"""Linear bandits: designs, budgets, the games and their streams, and errors of one line."""

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import linear
import numpy as np
import pytest
from complaints import complaint, readable
from scipy.stats import chi2, kstest

import dpbandits as dp
from dpbandits.algorithms import adac_gope, adac_oful, gope, rs_oful
from dpbandits.algorithms._linear import g_optimal_design, on_span
from dpbandits.environments import _contexts, contexts, sphere
from dpbandits.environments import actions as given
from dpbandits.environments._clipped import Clipped
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import Game, RegretExperiment, play_run
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import draw, draw_sum
from dpbandits.privacy.releases import composed_rho

ALARM = 1e-4
SPHERE, CONTEXTS = sphere.Params(10, 3), contexts.Params(5, 3)
ORDERS = (10_000, 100_000, 1_000_000)


def played(
    name: str, params: Any, instance: Any = SPHERE, horizon: int = 4000, **more: Any
) -> RegretExperiment:
    """Return an experiment without a guarantee."""
    family = {sphere.Params: "sphere", contexts.Params: "contexts", given.Params: "actions"}
    game = family[type(instance)], instance, horizon, more.pop("grid", Grid.LOG), 1
    return RegretExperiment(name, params, *game, **{"clipped": False, **more})


# Designs -----------------------------------------------------------------------------------------


@cache
def best(number: int) -> float:
    """Return the log-determinant of the optimal design of one of the instances."""
    x, _ = on_span(INSTANCES[number])
    return float(np.linalg.slogdet(linear.information(x, linear.optimal_design(x)[0]))[1])


def instances(count: int) -> list[np.ndarray]:
    """Return sets of actions: of norm 1, near a plane, repeated, opposite, in a plane."""
    rng, made = np.random.default_rng(3), []
    for i in range(count):
        d, n = rng.integers(2, 6), rng.integers(2, 25)
        a = rng.standard_normal((n, d))
        if i % 6 == 1:
            a /= np.linalg.norm(a, axis=1, keepdims=True)
        a[:, -1] *= {2: 1e-4, 5: 0.0}.get(i % 6, 1.0)
        a = {3: np.vstack([a, a[0], a[0]]), 4: np.vstack([a, -a])}.get(i % 6, a)
        made.append(a)
    return [*made, np.array([[0.0, 0.6], [0.0, -0.6]]), np.ones((3, 4)), np.eye(5)]


INSTANCES = instances(18)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-2, 0.5])
def test_a_design_is_optimal_up_to_its_tolerance(tolerance: float) -> None:
    for number, actions in enumerate(INSTANCES):
        x, basis = on_span(actions)
        rank = linear.rank_of(actions)
        assert x.shape == (len(actions), rank)
        np.testing.assert_allclose(x @ x.T, actions @ actions.T, atol=1e-9)
        design, g = g_optimal_design(x, basis, tolerance)
        assert min(design) >= 0
        assert sum(design) == pytest.approx(1, rel=1e-9)
        v = linear.information(x, design)
        assert g == pytest.approx(linear.norms2(x, v).max(), rel=1e-7)
        assert rank * (1 - 1e-7) <= g <= rank * (1 + tolerance)
        lost = best(number) - np.linalg.slogdet(v)[1]
        assert -1e-6 <= lost <= rank * math.log1p(tolerance) + 1e-6


def test_a_design_has_few_actions_unless_many_are_equally_far() -> None:
    # On a sphere I/d is optimal, and many designs have it; elsewhere designs are unique.
    rng, large = np.random.default_rng(4), np.zeros((2, 100), bool)
    for i in range(100):
        points = rng.standard_normal((10, 3))
        for kind, actions in enumerate((points, points / np.linalg.norm(points, axis=1)[:, None])):
            design, _ = g_optimal_design(*on_span(actions), 1e-5)
            large[kind, i] = np.count_nonzero(design) > 6
    assert large[0].sum() == 0
    assert 0 < large[1].sum() < 60


@pytest.mark.parametrize("phase", [1, 4])
def test_a_phase_spends_at_most_rho_with_the_norm_that_its_design_has_and_more_with_d(
    phase: int,
) -> None:
    rho, d, most = 0.01, 3, 0.0
    for seed in range(20):
        actions = np.random.default_rng(seed).standard_normal((10, d))
        actions /= np.linalg.norm(actions, axis=1).max()
        design, g = g_optimal_design(*on_span(actions), 0.5)
        length = linear.c(d, 2.0**-phase, 1e-4, rho)
        v = linear.information(actions, np.ceil(length * design))
        moved = 4 * linear.norms2(actions, v)[design > 0].max()  # a reward of -1 becomes 1
        spent = {noise: moved / (2 * 2 * noise / (rho * length)) for noise in (float(d), g)}
        assert spent[g] <= rho * (1 + 1e-9)
        most = max(most, spent[d])
    assert most > 1.1 * rho


@pytest.mark.parametrize("rho", [1e-3, 1.0, 70.0])
@pytest.mark.parametrize(("arms", "horizon"), [(2, 10**4), (10, 10**7), (200, 10**8)])
def test_the_releases_compose_to_rho(rho: float, arms: int, horizon: int) -> None:
    members: list[tuple[Any, Any]] = [
        (adac_gope, adac_gope.Params(rho)),
        (adac_oful, adac_oful.Params(rho, horizon)),
    ]
    for module, params in members:
        found = composed_rho(module.releases(params, arms, horizon))
        assert found == pytest.approx(rho, rel=1e-12)
        assert module.guarantee(params, arms, horizon).delta == 0.0


# Games -------------------------------------------------------------------------------------------


def test_rewards_have_the_mean_and_the_noise_of_the_instance_one_by_one_and_in_sums() -> None:
    _, instance = sphere.drawn(SPHERE._replace(deviation=1.5), np.random.default_rng(2))
    law, rng = given.law(instance), np.random.default_rng(1)
    theta, actions = np.array(instance.theta), np.reshape(instance.features, (10, 3))
    np.testing.assert_allclose(np.linalg.norm([theta, *actions], axis=1), 1)
    np.testing.assert_allclose(law.gaps, max(actions @ theta) - actions @ theta, atol=1e-12)
    for arm in (0, 7):
        mean, norm = actions[arm] @ theta, "norm"
        single = [draw(law, rng, arm, 5) for _ in range(4000)]
        assert kstest(single, norm, (mean, 1.5)).pvalue > ALARM
        sums = [draw_sum(law, rng, arm, 30) for _ in range(4000)]
        assert kstest(sums, norm, (30 * mean, 1.5 * 30**0.5)).pvalue > ALARM
        clipped = Clipped(law, *given.RANGE, -1.0, 1.0)
        rewards = np.array([draw(clipped, rng, arm, 5) for _ in range(100)])
        assert (rewards.min(), rewards.max()) == (-1, 1)
        assert ((rewards > -1) & (rewards < 1)).any()


def observed(params: contexts.Params, rounds: int, run: int = 0) -> np.ndarray:
    """Return the contexts of a run, (rounds, arms, d)."""
    law, drawn = _contexts.table(params, rounds, np.random.default_rng(run)), []
    for t in range(rounds):
        _contexts.contexts_observe(law, law.features, t)
        drawn.append(law.features.copy())
    return np.array(drawn)


def test_contexts_have_their_mean_and_covariance_and_norm_1_if_normalised() -> None:
    seen = observed(CONTEXTS, 4000).reshape(-1, 3)
    centred = (seen - 3**-0.5) / 0.1**0.5
    for k in range(3):
        assert kstest(centred[:, k], "norm").pvalue > ALARM
    # Whatever the correlation, n sum (C - I)^2 is of chi-squared law.
    scatter = centred.T @ centred / len(centred)
    off = len(centred) * (scatter[np.triu_indices(3, 1)] ** 2).sum()
    assert chi2(3).sf(off) > ALARM
    normalised = observed(CONTEXTS._replace(normalised=True), 300)
    np.testing.assert_allclose(np.linalg.norm(normalised, axis=2), 1)
    raw = observed(CONTEXTS, 300)
    np.testing.assert_allclose(normalised, raw / np.linalg.norm(raw, axis=2, keepdims=True))


def test_algorithms_see_the_same_contexts_whatever_they_choose_and_horizons_are_prefixes() -> None:
    last, curves = [], []
    for name, params in (
        ("gope", gope.Params()),
        ("rs-oful", rs_oful.Params()),
        ("adac-oful", adac_oful.Params(1.0, 300)),
    ):
        bandit = play_run(played(name, params, CONTEXTS, 300, grid=Grid.END), 3)
        law: Any = bandit.law
        assert law.observed[0] == 300
        last.append([*law.features.ravel(), *law.theta])
        curves.append(bandit.curve[-1])
    np.testing.assert_array_equal(last[1:], last[:-1])
    assert len({*curves}) == 3


@pytest.mark.parametrize("instance", [SPHERE, CONTEXTS], ids=["sphere", "contexts"])
@pytest.mark.parametrize(
    ("name", "params"),
    [("gope", gope.Params()), ("adac-gope", adac_gope.Params(1.0)), ("rs-oful", rs_oful.Params())],
)
def test_a_shorter_horizon_is_a_prefix(name: str, params: Any, instance: Any) -> None:
    rounds = (1, 50, 900, 2500)
    long = played(name, params, instance, 6000, grid=(*rounds, 6000)).play(range(4))[0]
    short = played(name, params, instance, 2500, grid=rounds).play(range(4))[0]
    np.testing.assert_array_equal(long[:, :-1], short)
    assert (np.diff(long) >= 0).all()


MODES = [
    ("gope", gope.Params(), SPHERE),
    ("adac-gope", adac_gope.Params(1.0), SPHERE),
    ("adac-gope", adac_gope.Params(1.0), CONTEXTS),
    ("rs-oful", rs_oful.Params(), CONTEXTS),
    ("adac-oful", adac_oful.Params(1.0, 700), CONTEXTS._replace(normalised=True)),
    ("adac-oful", adac_oful.Params(1.0, 700), SPHERE),
]


def bits() -> list[list[str]]:
    """Return curves and pulls of short games in hexadecimal."""
    found = []
    for name, params, instance in MODES:
        horizon = 700 if "oful" in name else 4000
        for clipped in (False, True):
            if clipped and instance == CONTEXTS:
                continue
            bandit = Game(played(name, params, instance, horizon, clipped=clipped)).play(2)
            found.append([*map(str, bandit.pulls), *(float(x).hex() for x in bandit.curve)])
    return found


def test_plain_python_gives_the_same_bits() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == bits()


# Numbers -----------------------------------------------------------------------------------------


def test_regrets_are_those_of_the_prototype() -> None:
    # 100 runs of another implementation on instances of its own: means and standard errors.
    plain = played("gope", gope.Params(), horizon=10**6, grid=ORDERS).play(range(100))[0]
    private = played("adac-gope", adac_gope.Params(0.01), horizon=10**6, grid=ORDERS)
    extra = private.play(range(100, 200))[0] - plain
    for found, means, errors in (
        (plain, (3208, 10_245, 18_710), (88, 342, 1088)),
        (extra, (1285, 2110, 4716), (82, 214, 659)),
    ):
        combined = np.hypot(errors, found.std(axis=0, ddof=1) / 10)
        assert (abs(found.mean(axis=0) - means) < 4 * combined).all()


def test_private_and_non_private_runs_are_paired() -> None:
    plain = played("gope", gope.Params(), horizon=10**5, grid=ORDERS[:2])
    first = plain.play(range(200))[0]
    free = replace(plain, member="adac-gope", params=adac_gope.Params(1e6)).play(range(200))[0]
    assert (abs(free - first) <= 1e-3 * first).all()
    private = replace(plain, member="adac-gope", params=adac_gope.Params(10.0))
    paired = private.play(range(200))[0] - first
    unpaired = private.play(range(200, 400))[0] - first
    assert (paired.std(axis=0) < 0.1 * unpaired.std(axis=0)).all()


# Mistakes ----------------------------------------------------------------------------------------

S: dict[str, Any] = {"family": "sphere", "arms": 10, "dimension": 3}
C: dict[str, Any] = {"family": "contexts", "arms": 5, "dimension": 3}


def of(theta: list[float], features: list[float]) -> dict[str, Any]:
    return {"family": "actions", "theta": theta, "features": features}


BAD: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("gope", of([1, 0], [1, 0, 0]), {}, "features must be a multiple of 2, .* got 3 numbers"),
    ("gope", of([1, 0], [1, 0]), {}, "those of at least 2 actions .* got 2 numbers"),
    ("gope", of([1, 0], [1, 0, 1, 0]), {}, "features are those of 2 equal actions"),
    ("gope", of([1, 0], [1, 0, 1, 1]), {}, "the same mean reward for all actions"),
    ("gope", of([1], [1, 0]), {}, "theta must have at least 2 numbers, the dimension, got 1"),
    ("gope", of([1, 0], [1e200, 0, 0, 1]), {}, "the largest in size from 1e-50 to 1e50"),
    ("gope", of([0, 0], [1, 0, 0, 1]), {}, "theta must be a list of numbers, the largest in size"),
    ("gope", S | {"dimension": 1}, {}, "dimension must be a whole number from 2 to 64, got 1"),
    ("gope", S, {"risk": 0}, r"risk must be inside \(0, 1\), got 0"),
    ("rs-oful", S, {"risk": 1}, r"risk must be inside \(0, 1\), got 1"),
    ("gope", S, {"tolerance": 0}, "tolerance must be from 1e-6 to 1, got 0"),
    ("adac-gope", S, {"rho": 0}, "rho must be from 1e-100 to 1e100, got 0"),
    ("adac-oful", C, {"rho": -1}, "rho must be from 1e-100 to 1e100, got -1"),
    ("adac-gope", S, {"rho": 1}, "they are unbounded; `clipped: true` clips .*`clipped: false`"),
    ("gope", S | {"arms": 300}, {}, "the features of at most 256 actions, got 300"),
    ("ucb", C, {}, "ucb looks at no features, but contexts draws its actions anew"),
]


@pytest.mark.parametrize(("name", "environment", "settings", "problem"), BAD)
def test_a_mistake_is_one_line(
    name: str, environment: dict[str, Any], settings: dict[str, Any], problem: str
) -> None:
    with pytest.raises(dp.UserError, match=problem) as caught:
        dp.play(name, environment=environment, horizon=500, runs=1, progress=False, **settings)
    readable(str(caught.value))


FIGURE = """
paper: across
title: Contexts
draw: four_budgets
horizon: 100
runs: 2
centre: mean
spread: none
checkpoints: log
clipped: null
environment: sphere-contexts
curves: { adac-oful: { algorithm: adac-oful, rho: 1, risk: 0.1 } }
panels: { a: { title: A } }
"""


@pytest.mark.parametrize(
    ("game", "clipped", "problem"),
    [
        ("sphere-contexts", "true", "actions of norm at most 1, but those here may have any"),
        ("sphere-contexts", "null", "they are unbounded; `clipped: true` clips them"),
        ("{family: actions, theta: [1, 0], features: [2, 0, 0, 1]}", "true", "have norms up to 2"),
    ],
)
def test_a_game_that_releases_do_not_assume_is_refused(
    checkout: Path, game: str, clipped: str, problem: str
) -> None:
    (checkout / "conf/figure/oful.yaml").write_text(FIGURE, "utf-8")
    message = complaint("oful", [f"figure.environment={game}", f"figure.clipped={clipped}"])
    assert problem in message


def test_actions_that_span_less_than_their_space_are_played() -> None:
    singular = given.Params((1.0, 0.5, 0.0), (1.0, 0.0, 0.0, 0.5, 0.5, 0.0, -1.0, 0.0, 0.0))
    zeros = given.Params((1.0, 0.0), (-1.0, 0.0, 0.0, 0.0, 0.0, 0.0))  # those that are left
    wrong = played("gope", gope.Params(), singular, 20_000), played("gope", gope.Params(), zeros)
    for experiment in (*wrong, replace(wrong[0], member="rs-oful", params=rs_oful.Params())):
        assert 0 < play_run(experiment, 0).curve[-1] < experiment.horizon
    plain = played("ucb", registry.algorithm("ucb").Params(), horizon=3000)
    assert 0 < play_run(plain, 0).curve[-1] < 3000


if __name__ == "__main__":
    print(json.dumps(bits()))
