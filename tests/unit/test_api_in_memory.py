"""Algorithms of the process: played in memory, as a file would be, and without any trace."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

import dpbandits as dp
from dpbandits.algorithms import adap_ucb
from dpbandits.api.arguments import player, specification
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import compilation, registry
from dpbandits.kernel.bandit import playing, pull, pull_many, rounds_left
from dpbandits.kernel.parameters import Positive
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.privacy.releases import Laplace
from dpbandits.run import user_algorithms

SMALL: dict[str, Any] = {"means": [0.9, 0.5], "horizon": 300, "runs": 4, "seed": 1}


class Params(NamedTuple):
    """The arm that it pulls, and a budget that it does not use."""

    epsilon: Positive
    arm: int = 1


@compilation.kernel
def one_arm(params, bandit, rng):  # type: ignore[no-untyped-def]
    pull_many(bandit, params.arm, rounds_left(bandit))


def _releases(params: Params, arms: int, horizon: int) -> list[Laplace]:
    return [Laplace(0, 1, 1, sensitivity=1.0, scale=1.0 / params.epsilon)]


def _guarantee(params: Params, arms: int, horizon: int) -> Guarantee:
    return Guarantee(Notion.GLOBAL, params.epsilon, 0.0, "a test")


OWN = SimpleNamespace(
    LABEL="One arm", Params=Params, play=one_arm, releases=_releases, guarantee=_guarantee
)


@pytest.fixture(autouse=True)
def _in_copy(checkout: Path) -> None:
    """Work in a copy of the checkout."""


def test_it_is_played_and_nothing_is_stored() -> None:
    folder = compilation.user_cache()
    before = {path for path in folder.rglob("*") if "one_arm" in path.name}
    played = dp.play(OWN, epsilon=0.5, **SMALL)
    np.testing.assert_allclose(played.regret, 0.4 * played.rounds[None, :].repeat(4, axis=0))
    assert (played.label, played.algorithm) == ("One arm", "one-arm")
    assert played.budget is not None
    assert (played.budget.claimed, played.budget.composed) == (0.5, 0.5)
    assert "key" not in played.provenance
    assert not Path("cache").exists()
    assert {path for path in folder.rglob("*") if "one_arm" in path.name} == before
    assert "one-arm" not in registry.algorithm_names()


def test_it_plays_the_runs_that_its_file_would_play() -> None:
    # The name of the algorithm is part of the random streams of the policy.
    own = SimpleNamespace(LABEL="AdaP UCB", Params=adap_ucb.Params, play=adap_ucb.play)
    assert user_algorithms.register(own) == "adap-ucb-in-memory"
    filed = dp.play("adap-ucb", epsilon=1.0, **SMALL)
    values = {"horizon": 300, "runs": 4, "seed": 1}
    players = [player("adap-ucb", {"epsilon": 1.0})]
    spec, _ = specification("play", players, (), (None, SMALL["means"]), values, ())
    (cell,) = spec.experiments()
    assert isinstance(cell, RegretExperiment)
    with patch.dict(registry.NOT_STORED, {"adap-ucb": registry.NOT_STORED["adap-ucb-in-memory"]}):
        assert not user_algorithms.is_stored(cell)
        curves, _ = cell.play(range(4))
    np.testing.assert_array_equal(curves, filed.regret)


def test_a_second_object_of_one_name_replaces_the_first() -> None:
    for noise, expected in ((1.0, 0.5), (0.5, 1.0)):
        releases = [Laplace(0, 1, 1, sensitivity=1.0, scale=noise / 0.5)]
        own = SimpleNamespace(**{**vars(OWN), "releases": lambda *game, r=releases: r})
        budget = dp.play(own, epsilon=0.5, **SMALL).budget
        assert budget
        assert budget.composed == expected


def test_a_function_and_a_class_are_algorithms_too() -> None:
    def always_second(params: Any, bandit: Any, rng: Any) -> None:
        while playing(bandit):
            pull(bandit, 1)

    class Second:
        play = always_second

    for algorithm in (always_second, Second):
        played = dp.play(algorithm, **SMALL)
        assert played.mean[-1] == pytest.approx(120)
        assert played.budget is None


def test_it_is_compared_with_stored_ones() -> None:
    undeclared = SimpleNamespace(LABEL="Undeclared", Params=Params, play=one_arm)
    found = dp.compare([(OWN, {"arm": 0}), "dp-se", undeclared], epsilon=[0.5, 1.0], **SMALL)
    assert found.plays["one-arm", 0.5].mean[-1] == 0
    assert found.standings[0].label == "One arm (arm=0)"
    assert found.standings[-1].privacy == "not declared"
    assert "The privacy of Undeclared is not declared." in " ".join(found.caption.split())
    assert {path.name for path in Path("cache").iterdir()} == {"dp-se", "format"}
    assert len(found.plot().axes) == 2


def test_its_parameters_are_checked() -> None:
    with pytest.raises(dp.UserError, match=r"unknown parameter 'arn'.*did you mean 'arm'"):
        dp.play(OWN, epsilon=1, arn=1, **SMALL)
    with pytest.raises(dp.UserError, match="one-arm: epsilon must be from 1e-100"):
        dp.play(OWN, epsilon=0, **SMALL)
    with pytest.raises(dp.UserError, match="Params must be a NamedTuple"):
        dp.play(SimpleNamespace(play=one_arm, Params=dict), **SMALL)


def test_a_play_that_stops_early_or_fails_is_an_error_with_its_traceback() -> None:
    def idle(params: Any, bandit: Any, rng: Any) -> None:
        pull(bandit, 0)

    def broken(params: Any, bandit: Any, rng: Any) -> None:
        raise ZeroDivisionError("no luck")

    with pytest.raises(dp.UserError, match=r"4 of 4 runs failed.*idle played 1 rounds of 300"):
        dp.play(idle, **SMALL)
    with pytest.raises(dp.UserError, match="ZeroDivisionError: no luck") as caught:
        dp.play(broken, **SMALL)
    assert "in broken" in caught.value.__notes__[0]
