"""Random streams: which names differ, and what the streams of a run are named after."""

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpbandits.algorithms import adap_klucb, adap_ucb, dp_se, exp3, se, ucb
from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties
from dpbandits.environments import adversaries, bernoulli, beta
from dpbandits.experiments import regret
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.kernel import randomness
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Count, Positive
from dpbandits.kernel.randomness import Role, stream


def draws(name: tuple[int, Role, int, str]) -> list[int]:
    return [int(n) for n in stream(*name).integers(2**63, size=3)]


def test_streams_of_different_names_draw_differently_and_of_one_name_the_same() -> None:
    roots = (0, 1, 2, 2**32, 2**32 + 1, 2**63 - 1)
    runs = (0, 1, 2, 99, 10**9)
    descriptions = ("", "c1", "c2", "c1 ", "C1", "c1" * 1000)
    names = list(itertools.product(roots, Role, runs, descriptions))
    drawn = [tuple(draws(name)) for name in names]
    assert len(set(drawn)) == len(names)
    assert [tuple(draws(name)) for name in reversed(names)] == drawn[::-1]


def test_a_stream_draws_what_it_has_always_drawn() -> None:
    # A change of these numbers invalidates every stored result and every golden curve.
    first = [1018511622122175449, 7160235984869978429, 3321322107805148047]
    assert draws((1, Role.REWARDS, 0, "c1")) == first
    second = [5871702696214449043, 9024852850599509995, 7059587956070166634]
    assert draws((2**62, Role.POLICY, 99, "c1")) == second


# The streams of a run --------------------------------------------------------------------------

INSTANCE = bernoulli.Params((0.6, 0.5))
PLAIN = RegretExperiment("adap-ucb", adap_ucb.Params(1.0), "bernoulli", INSTANCE, 300, Grid.LOG, 5)
TABLE = adversaries.Params(adversaries.Kind.STOCHASTIC)
ON_TABLE = RegretExperiment("exp3", exp3.Params(300), "adversaries", TABLE, 300, Grid.END, 5)


@pytest.fixture
def streams_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that plays a run and returns the first draws of the streams it received."""
    asked: list[tuple[int, Role, int, str]] = []

    def listening(root: int, role: Role, run: int, description: str) -> np.random.Generator:
        asked.append((root, role, run, description))
        return stream(root, role, run, description)

    monkeypatch.setattr(regret, "stream", listening)

    def play(
        played: RegretExperiment, run: int = 3, per_round: bool = False
    ) -> dict[Role, list[int]]:
        asked.clear()
        regret.play_run(played, run, per_round)
        streams = {name[1]: draws(name) for name in asked}
        table = {Role.TABLE} if played.environment == "adversaries" else set()
        assert len(asked) == len(streams)
        assert streams.keys() == {Role.REWARDS, Role.POLICY} | table
        return streams

    return play


PLAYERS = {
    "ucb": {"member": "ucb", "params": ucb.Params()},
    "adap-klucb": {"member": "adap-klucb", "params": adap_klucb.Params(1.0)},
    "dp-se": {"member": "dp-se", "params": dp_se.Params(1.0, 300)},
    "epsilon": {"params": adap_ucb.Params(0.5)},
    "alpha": {"params": adap_ucb.Params(1.0, 2.0)},
    "ties": {"params": adap_ucb.Params(1.0, ties=Ties.RANDOM)},
    "first episode": {"params": adap_ucb.Params(1.0, first_episode=FirstEpisode.HALF)},
}
MEASUREMENTS: dict[str, Any] = {"horizon": {"horizon": 200}, "grid": {"grid": Grid.LINEAR}}
INSTANCES: dict[str, Any] = {
    "means": {"instance": bernoulli.Params((0.6, 0.4))},
    "order of the arms": {"instance": bernoulli.Params((0.5, 0.6))},
    "law": {"instance": beta.Params((0.6, 0.5)), "environment": "beta"},
    "seed": {"seed": 6},
}


@pytest.mark.parametrize(
    ("other", "rewards", "policy"),
    [
        *(pytest.param(PLAYERS[name], True, False, id=name) for name in PLAYERS),
        *(pytest.param(MEASUREMENTS[name], True, True, id=name) for name in MEASUREMENTS),
        *(pytest.param(INSTANCES[name], False, False, id=name) for name in INSTANCES),
    ],
)
def test_rewards_are_drawn_by_environment_and_seed_and_the_policy_by_its_parameters_too(
    streams_of: Any, other: dict[str, Any], rewards: bool, policy: bool
) -> None:
    known, streams = streams_of(PLAIN), streams_of(replace(PLAIN, **other))
    assert (streams[Role.REWARDS] == known[Role.REWARDS]) == rewards
    assert (streams[Role.POLICY] == known[Role.POLICY]) == policy


def test_a_policy_that_is_told_the_horizon_draws_the_same_for_every_horizon(
    streams_of: Any,
) -> None:
    def told(epsilon: float, horizon: int) -> Any:
        params = dp_se.Params(epsilon, horizon)
        return streams_of(replace(PLAIN, member="dp-se", params=params, horizon=horizon))

    assert told(1.0, 200) == told(1.0, 300) != told(2.0, 300)


def test_the_streams_of_a_run_differ_between_runs_and_roles_and_not_between_modes(
    streams_of: Any,
) -> None:
    streams = [tuple(drawn) for run in range(4) for drawn in streams_of(PLAIN, run).values()]
    assert len(set(streams)) == 8
    assert streams_of(PLAIN, 3, True) == streams_of(PLAIN, 3, False)


def test_a_table_depends_on_the_run_and_the_environment_alone(streams_of: Any) -> None:
    known = streams_of(ON_TABLE)[Role.TABLE]
    other = adversaries.Params(adversaries.Kind.FULLY_OBLIVIOUS)
    for same in (
        {"member": "ucb", "params": ucb.Params()},
        {"member": "adap-ucb", "params": adap_ucb.Params(1.0)},
        {"params": exp3.Params(700), "horizon": 700},
    ):
        assert streams_of(replace(ON_TABLE, **same))[Role.TABLE] == known
    assert streams_of(replace(ON_TABLE, instance=other))[Role.TABLE] != known
    assert streams_of(ON_TABLE, run=4)[Role.TABLE] != known
    assert [*streams_of(ON_TABLE).values()].count(known) == 1


def test_a_cell_whose_parameter_horizon_differs_is_rejected() -> None:
    with pytest.raises(
        UserError, match=r"^se: the parameter horizon is 10, but the game has 11 rounds$"
    ):
        replace(PLAIN, member="se", params=se.Params(10), horizon=11)


# Fields in the names of streams ------------------------------------------------------------------


def test_the_example_of_the_document_keeps_its_streams(root: Path) -> None:
    document = (root / "CONTRIBUTING.md").read_text("utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", document, re.DOTALL) if "Added" in c)
    names: dict[str, Any] = {"__name__": "example", "NamedTuple": NamedTuple}
    names |= {"Count": Count, "Positive": Positive, "Ties": Ties}
    exec(code, names)
    assert randomness.fields(names["Params"](1.0)) == {"epsilon": 1.0, "pulls": 100}
