"""Rewards beyond [0, 1]: environments declare their range, private algorithms the assumed one."""

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb, ucb
from dpbandits.config import instances
from dpbandits.contract import distributions
from dpbandits.contract.conditions import Broken
from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment, play_run
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import draw
from dpbandits.kernel.errors import UserError
from dpbandits.run import user_algorithms

MEANS = (0.5, 0.0, -0.5)


class Params(NamedTuple):
    """No parameters."""


class Signs(NamedTuple):
    """Rewards 2 or -2."""

    means: np.ndarray
    gaps: np.ndarray


Signs.__module__ = "__main__"  # as in a notebook


@draw.register(Signs)
def sign(law, rng, arm, t):  # type: ignore[no-untyped-def]
    return 2.0 if rng.random() < 0.5 + law.means[arm] / 4 else -2.0


def law(params: Params) -> Signs:
    means = np.array(MEANS)
    return Signs(means, means.max() - means)


@pytest.fixture
def signs(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The environment, with its range."""
    module = ModuleType("signs")
    vars(module).update(Params=Params, arms=lambda params: 3, law=law, RANGE=(-2.0, 2.0))
    monkeypatch.setitem(registry.NOT_STORED, "signs", module)
    yield module
    distributions.rewards.cache_clear()


def played(member: str, params: Any, clipped: bool | None = None) -> RegretExperiment:
    game = "signs", Params(), 500, Grid.END, 3
    return RegretExperiment(member, params, *game, clipped=clipped)


def test_a_private_algorithm_refuses_a_wider_range_unless_rewards_are_clipped(
    signs: ModuleType,
) -> None:
    problem = r"its releases assume rewards in \[0, 1\], but signs draws them in \[-2, 2\]"
    with pytest.raises(UserError, match=f"adap-ucb: {problem}; `clipped: true` clips them"):
        played("adap-ucb", adap_ucb.Params(1.0))
    wide = played("ucb", ucb.Params())
    assert play_run(wide, 0).clock[0] == 500
    clipped = played("adap-ucb", adap_ucb.Params(1.0), clipped=True)
    assert clipped.description()["clipped"] is True
    assert "clipped" not in wide.description()
    assert clipped.streams()["game"] == wide.streams()["game"]
    bandit = play_run(clipped, 0)
    assert bandit.clock[0] == 500
    seen = {draw(bandit.law, bandit.rng, 0, 0) for _ in range(50)}
    assert seen == {0.0, 1.0}
    assert bandit.curve[-1] == float(bandit.pulls @ np.array([0.0, 0.5, 1.0]))
    said = kinds.setting(clipped, lambda environment, params: "signs")
    assert said == "signs, rewards clipped to [0, 1]"


def test_an_algorithm_may_declare_the_range_that_it_assumes(
    signs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = SimpleNamespace(LABEL="Wide", play=adap_ucb.play, Params=adap_ucb.Params)
    own.RANGE = (-2.0, 2.0)
    own.releases, own.guarantee = adap_ucb.releases, adap_ucb.guarantee
    monkeypatch.setattr(registry, "NOT_STORED", dict(registry.NOT_STORED))
    name = user_algorithms.register(own)
    assert play_run(played(name, adap_ucb.Params(1.0)), 0).clock[0] == 500


def test_a_reward_beyond_the_declared_range_ends_the_run_and_fails_the_check(
    signs: ModuleType,
) -> None:
    signs.RANGE = (-1.0, 1.5)  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match=r"signs drew a reward outside \[-1, 1.5\]"):
        play_run(played("ucb", ucb.Params()), 0)
    subject = distributions.Distribution("signs", Params())
    with pytest.raises(Broken, match=r"a reward of arm \d is -?2, not in \[-1, 1.5\]"):
        distributions.in_range(subject)
    signs.RANGE = (-2.0, 2.0)  # type: ignore[attr-defined]
    assert "between -2 and 2" in distributions.in_range(subject)
    assert "the largest mean is in" in distributions.gaps_of_means(subject)


def test_gaps_are_at_most_the_width_of_the_range(signs: ModuleType) -> None:
    assert instances.instance({"family": "signs"}, "a file", "x") == ("signs", Params())
    signs.RANGE = (0.0, 0.9)  # type: ignore[attr-defined]
    with pytest.raises(UserError, match=r"an array of 3 numbers in \[0, 0.9\]"):
        instances.instance({"family": "signs"}, "a file", "x")


def test_runs_of_the_usual_range_are_not_touched_by_clipping() -> None:
    from dpbandits.environments import bernoulli

    instance = bernoulli.Params((0.5, 0.7))
    plain = RegretExperiment("ucb", ucb.Params(), "bernoulli", instance, 300, Grid.LOG, 3)
    single = play_run(plain, 1, per_round=True)
    clipped = play_run(replace(plain, clipped=True), 1, per_round=True)
    assert np.array_equal(single.curve, clipped.curve)
