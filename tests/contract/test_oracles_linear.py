"""Linear bandit algorithms against tests/oracles/linear.py."""

import itertools
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any

import linear
import numpy as np
import pytest
from linear import AdaCGOPE, AdaCOFUL, LinearGame
from played import Played, play_bandit
from scipy.stats import chi2_contingency
from streams import Draws, policy_stream, reward_stream

from dpbandits.algorithms import adac_gope, adac_oful, gope, rs_oful
from dpbandits.algorithms._linear import g_optimal_design, on_span
from dpbandits.environments import _contexts, contexts
from dpbandits.environments import actions as given
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import parameters
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.environment import UNBOUNDED

FALSE_ALARM = 1e-4


def on_sphere(arms: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a parameter and actions on the unit sphere."""
    points = np.random.default_rng(seed).standard_normal((arms + 1, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points[0], points[1:]


def in_a_plane(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return actions that span a plane of R^3: two are opposite, and two are equal."""
    theta, actions = on_sphere(6, 3, seed)
    actions = actions * [1, 1, 0] @ np.linalg.qr(on_sphere(3, 3, 9)[1])[0]
    return theta, np.vstack([actions, -actions[0], actions[1]])


def ours(module: Any, params: Any, law: Any, horizon: int, seed: int) -> Played:
    rounds, arms = np.arange(1, horizon + 1), len(law.features)
    game = law, arms, horizon, rounds, reward_stream(seed), True
    bandit = new_bandit(*game, within=UNBOUNDED)._replace(features=law.features)
    return play_bandit(module.play, params, bandit, Draws(policy_stream(seed)))


def given_law(theta: np.ndarray, actions: np.ndarray) -> Any:
    return given.law(given.Params(tuple(theta.tolist()), tuple(actions.ravel().tolist())))


def assert_same(played: Played, game: LinearGame, draws: Draws) -> None:
    assert played.arms == game.played
    assert [draw.method for draw in played.draws] == [draw.method for draw in draws.log]
    actual, expected = (
        [x for d in side for x in d.arguments] for side in (played.draws, draws.log)
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-9)


class Coupled(AdaCGOPE):
    """Algorithm 8 with the package's designs, and its root of V^-1, which is one of many."""

    tolerance = 0.01

    def design(self, actions: np.ndarray) -> tuple[np.ndarray, float]:
        x, basis = on_span(actions)
        self.axes = np.linalg.lstsq(actions, x, rcond=1e-9)[0].T
        return g_optimal_design(x, basis, self.tolerance)

    def root(self, matrix: np.ndarray) -> np.ndarray:
        factor = np.linalg.cholesky(self.axes @ matrix @ self.axes.T)
        return np.array(self.axes.T @ np.linalg.inv(factor).T)


INSTANCES: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "sphere": lambda seed: on_sphere(8, 3, seed),
    "plane": in_a_plane,
    "arms": lambda seed: (np.array([0.9, 0.1, 0.6, 0.4]), np.eye(4)),
}


@pytest.mark.parametrize("instance", INSTANCES)
@pytest.mark.parametrize("tolerance", [0.01, 0.5])
@pytest.mark.parametrize("rho", [None, 1.0, 0.001])
def test_gope_plays_as_the_literal_one_after_the_same_draws_and_with_the_same_designs(
    instance: str, tolerance: float, rho: float | None
) -> None:
    eliminated = 0
    for seed in range(3):
        literal, draws = Coupled(0.1, rho), Draws(policy_stream(seed))
        literal.tolerance = tolerance
        theta, actions = INSTANCES[instance](seed)
        game = LinearGame(theta, partial(np.array, actions), 16_000, reward_stream(seed))
        literal.play(game, draws)
        module: Any = gope if rho is None else adac_gope
        budget = {} if rho is None else {"rho": rho}
        params = module.Params(**budget, risk=0.1, tolerance=tolerance)
        assert_same(ours(module, params, given_law(theta, actions), 16_000, seed), game, draws)
        eliminated += len({*game.played[-3000:]}) < len(actions)
    assert eliminated


def shares(played: list[np.ndarray]) -> list[tuple[float, ...]]:
    """Return the final regrets of samples in groups that differ by rounding and by the design."""
    values = np.sort(np.concatenate(played))
    ends = values[:-1][np.diff(values) > 0.005 * values[1:]]
    return [tuple(np.bincount(np.searchsorted(ends, s), minlength=ends.size + 1)) for s in played]


def p_of(first: np.ndarray, second: np.ndarray) -> float:
    """Return the p-value of a chi-squared test on the groups of final regrets."""
    table = np.array(shares([first, second]))
    rare = table.sum(axis=0) < 10
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    return float(chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def test_gope_with_a_design_of_its_own_and_a_cholesky_factor_has_the_law_of_the_literal_one() -> (
    None
):
    # On a sphere, optimal designs are not unique, and some play other regrets.
    theta, actions = on_sphere(8, 3, 5)
    actions = actions * np.linspace(0.6, 1, 8)[:, None]
    means, horizon, runs, made = actions @ theta, 20_000, 600, {}

    class Own(AdaCGOPE):
        def design(self, actions: np.ndarray) -> tuple[np.ndarray, float]:
            key = actions.tobytes()
            if key not in made:
                made[key] = super().design(actions)
            return made[key]

    def literal(rho: float | None, seed: int) -> np.ndarray:
        rng, regrets = np.random.default_rng(seed), []
        for _ in range(runs):
            game = LinearGame(theta, lambda: actions, horizon, rng)
            Own(0.1, rho).play(game, rng)
            regrets.append(np.bincount(game.played, minlength=8) @ (means.max() - means))
        return np.array(regrets)

    found = {}
    for rho in (None, 0.01):
        instance = given.Params(tuple(theta.tolist()), tuple(actions.ravel().tolist()))
        module: Any = gope if rho is None else adac_gope
        params = module.Params(*[] if rho is None else [rho], risk=0.1, tolerance=1e-6)
        name = "gope" if rho is None else "adac-gope"
        experiment = RegretExperiment(
            name, params, "actions", instance, horizon, Grid.END, 1, clipped=False
        )
        found[rho] = experiment.play(range(2 * runs))[0][:, 0]
        assert p_of(found[rho], literal(rho, 1)) > FALSE_ALARM
    assert len(shares([found[None], found[0.01]])[0]) > 5
    assert p_of(found[0.01], literal(0.015, 2)) < FALSE_ALARM  # it would tell another budget


CHOICES = [
    {"beta": beta, "f": f, "g": g}
    for beta in ("appendix", "page-114")
    for f in ("delta-over-t", "one-over-delta")
    for g in ("leading-term", "as-printed")
]
# λ0 = 30: the terms of (5.16) that are printed leave something after a few rounds.
OFUL = [
    {},
    {"doubling": 0.3, "regulariser": 2.0, "risk": 0.01},
    *({"rho": 1.0, "eigenvalue": 30.0, **choice} for choice in CHOICES),
    {"rho": 0.01, "doubling": 3.0},
]


@pytest.mark.parametrize("anew", [False, True], ids=["given", "anew"])
@pytest.mark.parametrize("settings", OFUL, ids=str)
def test_oful_plays_as_the_literal_one_after_the_same_draws(
    settings: dict[str, Any], anew: bool
) -> None:
    settings, horizon = {"risk": 0.1, **settings}, 400
    is_private = "rho" in settings
    module: Any = adac_oful if is_private else rs_oful
    told = {"horizon": horizon} if is_private else {}
    params = parameters.build(module.Params, settings | told, "oful", str)
    updates, chosen = 0, set()
    for seed in range(3):
        theta, actions = on_sphere(5, 3, seed)
        actions = actions * np.linspace(0.6, 1, 5)[:, None]
        law, observe = given_law(theta, actions), partial(np.array, actions)
        if anew:
            rng = np.random.default_rng(seed)
            theta = rng.standard_normal(3)
            theta /= np.linalg.norm(theta)
            observe = partial(rng.normal, 3**-0.5, 0.1**0.5, (5, 3))
            stream = np.random.default_rng(seed)
            law = _contexts.table(contexts.Params(5, 3), horizon, stream)
        literal, draws = AdaCOFUL(**settings | told), Draws(policy_stream(seed))
        game = LinearGame(theta, observe, horizon, reward_stream(seed))
        literal.play(game, draws)
        played = ours(module, params, law, horizon, seed)
        assert_same(played, game, draws)
        np.testing.assert_allclose(played.regrets, game.regrets, atol=1e-9)
        updates += literal.updates
        chosen |= {*game.played}
    assert updates > 9
    assert len(chosen) > 1


def test_every_variant_is_compared() -> None:
    for field, annotation in parameters.fields(adac_oful.Params).items():
        if isinstance(annotation, type) and issubclass(annotation, IntEnum):
            names = {parameters.variant_name(member) for member in annotation}
            assert names == {choice[field] for choice in CHOICES}


@pytest.mark.parametrize(
    ("d", "risk", "rho"), [*itertools.product((2, 30), (0.2, 1e-6), (0.01, 5))]
)
def test_lengths_and_radii_are_those_of_the_thesis(d: int, risk: float, rho: float) -> None:
    params = adac_gope.Params(rho, risk)
    for phase in (1, 7):
        beta, added = 2.0**-phase, linear.c(d, 2.0**-phase, risk, rho)
        added -= linear.c(d, beta, risk, None)
        assert gope.longer(params, d, beta, risk) == pytest.approx(added, rel=1e-9)
    for choice, (t, episodes) in itertools.product(CHOICES, ((1, 1), (3000, 9), (10**7, 40))):
        settings: Any = {"risk": risk, "rho": rho, "horizon": 10**7, "eigenvalue": 0.3, **choice}
        added = AdaCOFUL(**settings).gamma(d, t, episodes)
        oful = parameters.build(adac_oful.Params, settings, "oful", str)
        assert rs_oful.wider(oful, d, t, episodes) == pytest.approx(added, rel=1e-9)
    assert rs_oful.wider(rs_oful.Params(), d, 5, 5) == gope.longer(gope.Params(), d, 0.5, risk) == 0
