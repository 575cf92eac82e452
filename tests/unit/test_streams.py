import dataclasses
import hashlib
import itertools
import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from dpbandits.algorithms import adap_klucb, adap_ucb, dp_se, exp3, se, ucb
from dpbandits.algorithms._adaptive_episodes import FirstEpisode, Ties
from dpbandits.core import parameters, randomness, registry
from dpbandits.core.errors import UserError
from dpbandits.core.parameters import Count, Positive
from dpbandits.core.randomness import AddedLater, Role, StreamName, spelt, stream, words
from dpbandits.environments import adversaries, bernoulli, beta
from dpbandits.experiments import regret
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment


def draws(name: tuple[int, Role, int, str]) -> list[int]:
    return [int(n) for n in stream(*name).integers(2**63, size=3)]


# Streams ---------------------------------------------------------------------------------------


def test_a_stream_of_the_same_name_draws_the_same() -> None:
    assert draws((1, Role.POLICY, 7, "c1")) == draws((1, Role.POLICY, 7, "c1"))


def test_streams_of_different_names_draw_differently() -> None:
    roots = (0, 1, 2, 2**32, 2**32 + 1, 2**63 - 1)
    runs = (0, 1, 2, 99, 10**9)
    descriptions = ("", "c1", "c2", "c1 ", "C1", "c1" * 1000)
    names = list(itertools.product(roots, Role, runs, descriptions))
    assert len({tuple(draws(name)) for name in names}) == len(names)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((2, Role.REWARDS, 0, "c1"), id="root"),
        pytest.param((1, Role.POLICY, 0, "c1"), id="role"),
        pytest.param((1, Role.REWARDS, 1, "c1"), id="run"),
        pytest.param((1, Role.REWARDS, 0, "c2"), id="words"),
        pytest.param((1, Role.REWARDS, 0, ""), id="no words"),
    ],
)
def test_every_part_of_the_name_counts(other: tuple[int, Role, int, str]) -> None:
    assert draws(other) != draws((1, Role.REWARDS, 0, "c1"))


def test_a_run_is_not_taken_for_a_role() -> None:
    assert draws((1, Role.REWARDS, 1, "c1")) != draws((1, Role.POLICY, 0, "c1"))


def test_a_stream_does_not_depend_on_those_asked_for_before() -> None:
    alone = draws((1, Role.POLICY, 7, "c1"))
    for run in range(5):
        draws((1, Role.POLICY, run, "c1"))
    assert draws((1, Role.POLICY, 7, "c1")) == alone


def test_the_words_are_the_first_four_of_the_digest() -> None:
    digest = hashlib.sha256(b"c1").digest()
    assert words("c1") == tuple(np.frombuffer(digest[:16], "<u4").tolist())
    assert all(0 <= word < 2**32 for word in words("c1"))


def test_a_stream_draws_what_it_has_always_drawn() -> None:
    # A change of these numbers invalidates every stored result and every golden curve.
    assert draws((1, Role.REWARDS, 0, "c1")) == [
        1018511622122175449,
        7160235984869978429,
        3321322107805148047,
    ]
    assert draws((2**62, Role.POLICY, 99, "c1")) == [
        5871702696214449043,
        9024852850599509995,
        7059587956070166634,
    ]


# The streams of a run --------------------------------------------------------------------------

BERNOULLI = bernoulli.Params((0.6, 0.5))


def cell(
    algorithm: str = "adap-ucb",
    params: Any = None,
    instance: Any = BERNOULLI,
    horizon: int = 300,
    grid: Grid = Grid.LOG,
    seed: int = 5,
) -> RegretExperiment:
    law = "beta" if isinstance(instance, beta.Params) else "bernoulli"
    told = adap_ucb.Params(1.0) if params is None else params
    return RegretExperiment(algorithm, told, law, instance, horizon, grid, seed)


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


OTHER_ALGORITHMS = {
    "ucb": cell("ucb", ucb.Params()),
    "adap-klucb": cell("adap-klucb", adap_klucb.Params(1.0)),
    "dp-se": cell("dp-se", dp_se.Params(1.0, 300)),
}
OTHER_PARAMETERS = {
    "epsilon": cell(params=adap_ucb.Params(0.5)),
    "alpha": cell(params=adap_ucb.Params(1.0, 2.0)),
    "ties": cell(params=adap_ucb.Params(1.0, ties=Ties.RANDOM)),
    "first episode": cell(params=adap_ucb.Params(1.0, first_episode=FirstEpisode.HALF)),
}
OTHER_MEASUREMENTS = {
    "horizon": cell(horizon=200),
    "grid": cell(grid=Grid.LINEAR),
}
OTHER_INSTANCES = {
    "means": cell(instance=bernoulli.Params((0.6, 0.4))),
    "order of the arms": cell(instance=bernoulli.Params((0.5, 0.6))),
    "law": cell(instance=beta.Params((0.6, 0.5))),
    "seed": cell(seed=6),
}


@pytest.mark.parametrize(
    "other",
    [*OTHER_ALGORITHMS.values(), *OTHER_PARAMETERS.values(), *OTHER_MEASUREMENTS.values()],
    ids=[*OTHER_ALGORITHMS, *OTHER_PARAMETERS, *OTHER_MEASUREMENTS],
)
def test_the_rewards_do_not_depend_on_who_plays_nor_on_how_long(
    streams_of: Any, other: RegretExperiment
) -> None:
    assert streams_of(other)[Role.REWARDS] == streams_of(cell())[Role.REWARDS]


@pytest.mark.parametrize("other", OTHER_INSTANCES.values(), ids=OTHER_INSTANCES.keys())
def test_the_rewards_depend_on_the_environment_and_the_seed(
    streams_of: Any, other: RegretExperiment
) -> None:
    assert streams_of(other)[Role.REWARDS] != streams_of(cell())[Role.REWARDS]


def test_two_laws_of_the_same_parameters_draw_apart(
    streams_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = streams_of(cell())
    monkeypatch.setattr(registry, "environment", lambda name: bernoulli)
    other = streams_of(dataclasses.replace(cell(), environment="another law"))
    assert other[Role.REWARDS] != known[Role.REWARDS]
    assert other[Role.POLICY] != known[Role.POLICY]


@pytest.mark.parametrize(
    "other",
    [*OTHER_ALGORITHMS.values(), *OTHER_PARAMETERS.values(), *OTHER_INSTANCES.values()],
    ids=[*OTHER_ALGORITHMS, *OTHER_PARAMETERS, *OTHER_INSTANCES],
)
def test_the_policy_draws_by_algorithm_parameters_environment_and_seed(
    streams_of: Any, other: RegretExperiment
) -> None:
    assert streams_of(other)[Role.POLICY] != streams_of(cell())[Role.POLICY]


@pytest.mark.parametrize("other", OTHER_MEASUREMENTS.values(), ids=OTHER_MEASUREMENTS.keys())
def test_the_policy_draws_the_same_however_long_it_plays(
    streams_of: Any, other: RegretExperiment
) -> None:
    assert streams_of(other)[Role.POLICY] == streams_of(cell())[Role.POLICY]


def test_a_policy_that_is_told_the_horizon_draws_the_same_for_every_horizon(
    streams_of: Any,
) -> None:
    short = streams_of(cell("dp-se", dp_se.Params(1.0, 200), horizon=200))
    assert streams_of(cell("dp-se", dp_se.Params(1.0, 300), horizon=300)) == short
    assert streams_of(cell("dp-se", dp_se.Params(2.0, 300), horizon=300)) != short


def test_the_streams_of_a_run_differ_between_runs_and_roles(streams_of: Any) -> None:
    streams = [tuple(draws) for run in range(4) for draws in streams_of(cell(), run).values()]
    assert len(set(streams)) == 8


TABLE = adversaries.Params(adversaries.Kind.STOCHASTIC)


def on_table(
    algorithm: str, params: Any, instance: Any = TABLE, horizon: int = 300
) -> RegretExperiment:
    return RegretExperiment(algorithm, params, "adversaries", instance, horizon, Grid.END, 5)


def test_a_table_depends_on_the_run_and_the_environment_alone(streams_of: Any) -> None:
    known = streams_of(on_table("exp3", exp3.Params(300)))[Role.TABLE]
    other = adversaries.Params(adversaries.Kind.FULLY_OBLIVIOUS)
    for same in (
        on_table("ucb", ucb.Params()),
        on_table("adap-ucb", adap_ucb.Params(1.0)),
        on_table("exp3", exp3.Params(700), horizon=700),
    ):
        assert streams_of(same)[Role.TABLE] == known
    assert streams_of(on_table("exp3", exp3.Params(300), other))[Role.TABLE] != known
    assert streams_of(on_table("exp3", exp3.Params(300)), run=4)[Role.TABLE] != known
    assert known not in [streams_of(on_table("ucb", ucb.Params()))[r] for r in list(Role)[:2]]


def test_the_mode_of_play_names_no_stream(streams_of: Any) -> None:
    assert streams_of(cell(), 3, True) == streams_of(cell(), 3, False)


def test_every_algorithm_starts_on_the_same_rewards() -> None:
    # In two rounds each of them pulls both arms once.
    players = [("ucb", ucb.Params()), ("adap-ucb", adap_ucb.Params(1.0))]
    states = [
        regret.play_run(cell(name, params, horizon=2), 3).rng.bit_generator.state
        for name, params in players
    ]
    assert states[0] == states[1]


def test_a_cell_whose_parameter_horizon_differs_is_rejected() -> None:
    law = bernoulli.Params((0.6, 0.5))
    with pytest.raises(
        UserError, match=r"^se: the parameter horizon is 10, but the game has 11 rounds$"
    ):
        RegretExperiment("se", se.Params(10), "bernoulli", law, 11, Grid.END, 1)


# Fields in the names of streams ------------------------------------------------------------------


class Fields(NamedTuple):
    epsilon: Positive
    scale: Annotated[Positive, StreamName("alpha")] = 3.1
    cap: Annotated[Positive, AddedLater(8)] = 8.0  # where the default was 8 once
    ties: Annotated[Ties, AddedLater("first")] = Ties.FIRST
    means: Annotated[tuple[float, ...], AddedLater([0.5, 0.25])] = (0.5, 0.25)


def test_fields_name_a_stream_by_their_first_names_without_what_was_added_later() -> None:
    assert randomness.fields(Fields(1.0)) == {"epsilon": 1.0, "alpha": 3.1}
    assert [*randomness.fields(Fields(1.0))] == ["epsilon", "alpha"]
    changed = Fields(1.0, 2.0, 9.0, Ties.RANDOM, (0.5, 0.5))
    assert randomness.fields(changed) == {
        "epsilon": 1.0,
        "alpha": 2.0,
        "cap": 9.0,
        "ties": Ties.RANDOM,
        "means": (0.5, 0.5),
    }
    assert randomness.plain_fields(changed)["ties"] == "random"
    assert randomness.plain_fields(changed)["means"] == [0.5, 0.5]


def test_what_is_left_out_is_what_was_played_before_whatever_the_default_has_become() -> None:
    class Defaults(NamedTuple):
        cap: Annotated[Positive, AddedLater(8.0)] = 9.0

    assert randomness.fields(Defaults()) == {"cap": 9.0}
    assert randomness.fields(Defaults(8.0)) == {}


def test_a_declaration_for_streams_limits_no_value() -> None:
    annotations = parameters.fields(Fields)
    assert annotations["scale"] == annotations["cap"] == annotations["epsilon"] == Positive
    assert annotations["ties"] is Ties
    built = parameters.build(Fields, {"epsilon": 1, "ties": "random", "cap": 2}, "it", str)
    assert built == Fields(1.0, cap=2.0, ties=Ties.RANDOM)
    with pytest.raises(UserError, match="cap must be positive and finite, got -1"):
        parameters.build(Fields, {"epsilon": 1, "cap": -1}, "it", str)
    assert parameters.plain(built)["cap"] == 2.0


def test_two_fields_of_one_name_in_streams_are_refused() -> None:
    class Twice(NamedTuple):
        scale: Annotated[Positive, StreamName("alpha")] = 3.1
        alpha: Annotated[Positive, AddedLater(1.0)] = 1.0

    with pytest.raises(TypeError, match="two fields are called 'alpha' in the names of streams"):
        randomness.fields(Twice())


def test_an_earlier_value_that_the_field_cannot_have_is_refused() -> None:
    class Impossible(NamedTuple):
        ties: Annotated[Ties, AddedLater("none")] = Ties.FIRST

    words = r"ties is AddedLater\('none'\), which must be one of first, random"
    with pytest.raises(TypeError, match=words):
        randomness.fields(Impossible())


def test_the_example_of_the_document_keeps_its_streams(root: Path) -> None:
    document = (root / "docs" / "add-an-algorithm.md").read_text("utf-8")
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", document, re.DOTALL) if "Added" in c)
    names: dict[str, Any] = {"__name__": "example", "NamedTuple": NamedTuple}
    names |= {"Count": Count, "Positive": Positive, "Ties": Ties}
    exec(code, names)
    params = names["Params"](1.0)
    assert params._asdict() == {"epsilon": 1.0, "exploration": 100, "ties": Ties.FIRST}
    assert randomness.fields(params) == {"epsilon": 1.0, "pulls": 100}


def test_a_stream_is_named_by_data_in_whatever_order() -> None:
    assert spelt({"b": [1.0, 0.1], "a": {"d": True, "c": "x"}}) == (
        '{"a": {"c": "x", "d": true}, "b": [1.0, 0.1]}'
    )
