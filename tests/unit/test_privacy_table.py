"""Table of promised and composed privacy, the command that prints it, and a notion added to it."""

import json
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from tossou2017 import corollary_3_2_epsilon

from dpbandits.cli import privacy_commands
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.kinds import composed_budget, delta_of, given_budget
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import captions
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Positive
from dpbandits.privacy.accounting import NotComputed
from dpbandits.privacy.notions import DELTA, Guarantee, Notion
from dpbandits.privacy.releases import (
    Laplace,
    composed_epsilon,
    epsilon_of_rho,
    gaussian_epsilon,
)
from dpbandits.tables import audits
from dpbandits.tables import privacy_table as table
from dpbandits.tables.privacy_table import Row, rows


def of(found: list[Row], name: str) -> dict[str, tuple[Any, Any]]:
    """Return claimed and composed epsilon, by variant."""
    return {row.variant: (row.stated.epsilon, row.composed) for row in found if row.name == name}


GAME: dict[str, Any] = {"epsilon": 1.0, "rho": 1.0, "horizon": 10**6, "arms": 5, "delta": None}


@pytest.fixture(scope="module")
def all_rows() -> list[Row]:
    """Return the rows of all private algorithms and stopping rules."""
    return rows(horizon=10**5, arms=3)


def test_every_private_algorithm_and_rule_has_a_row_and_nobody_else(all_rows: list[Row]) -> None:
    private = {
        name
        for name in registry.members("algorithm")
        if hasattr(registry.algorithm(name), "releases")
    }
    assert {row.name for row in all_rows} == private


def test_what_is_promised_and_what_is_composed_at_epsilon_1(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(table, "tight_epsilon", composed_epsilon)  # seconds, and not compared here
    found = rows(epsilon=1.0, horizon=10**6, arms=5)
    for name in ("adap-ucb", "adap-klucb", "dp-se", "dp-exp3-lap", "gdp-elim-new"):
        assert of(found, name) == {"": (1.0, pytest.approx(1.0, rel=1e-12))}
    for name in ("dp-ucb", "dp-ucb-bound"):
        composed = of(found, name)
        assert composed["counter: hybrid-full"] == (1.0, pytest.approx(2.0, rel=1e-12))
        assert composed["counter: hybrid-split"] == (1.0, pytest.approx(1.0, rel=1e-12))
        assert composed["counter: single"] == (1.0, pytest.approx(78_640, abs=5))
    for name in ("dp-ftpl-gauss", "dp-ftpl-beta", "dp-ftpl-new"):
        assert of(found, name) == {"": (1.0, math.inf)}
    assert of(found, "private-ucb") == {
        "split: arms, feed: own-pulls": (1.0, pytest.approx(0.2)),
        "split: none, feed: own-pulls": (1.0, pytest.approx(1.0)),
        # 20 levels, whose noise is that of ln(10^6) = 13.8
        "split: arms, feed: every-round": (1.0, pytest.approx(0.28953, abs=1e-5)),
        "split: none, feed: every-round": (1.0, pytest.approx(1.44765, abs=1e-5)),
    }
    assert of(found, "dp-ucb-int") == {
        "schedule: series, noise: per-release | frozen": (1.0, pytest.approx(0.8307, abs=1e-4)),
        "schedule: series-x, noise: per-release | frozen": (1.0, pytest.approx(0.6289, abs=1e-4)),
        "schedule: constant, noise: per-release | frozen": (1.0, pytest.approx(0.5461, abs=1e-4)),
        "noise: every-round": (1.0, math.inf),
    }
    corollary = corollary_3_2_epsilon(5, 10**6)
    assert of(found, "exp3-tau") == {
        "calibration: regret, tau_rounding: ceil": (
            pytest.approx(corollary, rel=1e-14),
            pytest.approx(104.7, abs=0.1),
        ),
        "calibration: regret, tau_rounding: floor": (
            pytest.approx(corollary, rel=1e-14),
            pytest.approx(114.1, abs=0.1),
        ),
        "calibration: budget, tau_rounding: ceil": (1.0, pytest.approx(0.49, abs=1e-3)),
        "calibration: budget, tau_rounding: floor": (1.0, pytest.approx(0.4915, abs=1e-3)),
    }


def test_the_tight_epsilon_is_never_the_larger_one_and_pure_promises_gain_nothing(
    all_rows: list[Row],
) -> None:
    for row in all_rows:
        if row.tight is not None:
            assert row.tight <= row.composed
            if row.stated.delta == 0.0:
                assert row.tight == row.composed
            elif row.name == "exp3-tau":
                assert row.tight < 0.8 * row.composed
        assert bool(row.why) == (row.guarantee.differs != "")


def test_a_delta_that_is_given_is_that_of_all_that_have_one() -> None:
    for row in rows(["dp-ucb-int", "dp-ftpl-new", "dp-se"], horizon=10**4, delta=0.01):
        assert row.stated.delta == (0.0 if row.name == "dp-se" else 0.01)


def test_the_notions_of_the_papers_are_kept_apart(all_rows: list[Row]) -> None:
    notion = {row.name: row.guarantee.notion for row in all_rows}
    per_round = {f"dp-{name}" for name in ("ucb", "ucb-bound", "ucb-int")}
    per_round |= {f"dp-ftpl-{name}" for name in ("beta", "gauss", "new")}
    assert {name for name, n in notion.items() if n is Notion.PER_ROUND} == per_round
    assert notion["gdp-elim-new"] is Notion.REVISED
    assert notion["dp-exp3-lap"] is Notion.LOCAL
    assert notion["adac-ucb"] is Notion.CONCENTRATED
    assert notion["adap-ucb"] is notion["dp-nas"] is Notion.GLOBAL


def test_zcdp_is_claimed_in_rho_and_stated_at_a_delta() -> None:
    (row,) = rows(["adac-ucb"], horizon=10**5, arms=3, rho=0.5, delta=1e-5)
    assert row.guarantee.budget == 0.5
    assert row.spent == pytest.approx(0.5, rel=1e-12)
    assert row.stated.delta == 1e-5
    assert row.stated.epsilon == pytest.approx(epsilon_of_rho(0.5, 1e-5), rel=1e-12)
    assert row.composed == pytest.approx(row.stated.epsilon, rel=1e-9)
    assert row.tight == pytest.approx(gaussian_epsilon(0.5, 1e-5), rel=1e-9)
    assert row.guarantee.epsilon == math.inf


def test_the_command_prints_rho(capsys: pytest.CaptureFixture[str]) -> None:
    privacy_commands.show(["adac-ucb"], **{**GAME, "rho": 0.5})
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith("Privacy at epsilon = 1, rho = 0.5, 1,000,000 rounds, 5 arms")
    assert f"AdaC-UCB rho = 0.5 rho = 0.5 {gaussian_epsilon(0.5, 1e-6):.4g} 1e-06" in out


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"names": ["dp-ucbb"]}, "unknown algorithm 'dp-ucbb'; did you mean 'dp-ucb'"),
        ({"names": ["ucb"]}, "'ucb' promises no privacy"),
        ({"epsilon": 0}, "epsilon must be from 1e-100 to 1e100, got 0"),
        ({"rho": 0}, "rho must be from 1e-100 to 1e100, got 0"),
        ({"horizon": 0.5}, r"horizon must be a whole number from 1 to 2\^53, got 0.5"),
        ({"arms": 1}, r"arms must be a whole number from 2 to 10\^6, got 1"),
        ({"delta": 2}, r"delta must be in \[0, 1\], got 2"),
        ({"names": ["dp-ftpl-gauss"], "delta": 0}, r"delta must be in \(0, 1\], got 0"),
    ],
    ids=str,
)
def test_a_mistake_is_told_in_one_line(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        rows(**asked)


def test_without_the_accountant_there_is_a_question_mark_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(releases: Any, delta: float) -> float:
        raise NotComputed("not computed without it: pip install 'dpbandits[accounting]'")

    monkeypatch.setattr(table, "tight_epsilon", missing)
    privacy_commands.show(["dp-se"], **GAME)
    out = capsys.readouterr().out
    assert "?" in out
    assert "pip install 'dpbandits[accounting]'" in " ".join(out.split())


# A new notion needs no line outside its own definition -------------------------------------------

TOY = Notion(
    "toy DP",
    "Half of an epsilon, and nothing at delta = 0.",
    ("a test",),
    budget="mu",
    symbol="μ",
    conversion=lambda mu, delta: 2.0 * mu if delta else float("inf"),
    composition=lambda releases: composed_epsilon(releases) / 2.0,
)


class Params(NamedTuple):
    """Budget of the toy notion."""

    mu: Positive = 0.25


def releases(params: Params, arms: int, horizon: int) -> Iterator[Laplace]:
    yield from (Laplace(arm, 1, 5, 1.0, 1.0 / (2.0 * params.mu)) for arm in range(arms))


def guarantee(params: Params, arms: int, horizon: int) -> Guarantee:
    return Guarantee(TOY, params.mu, 0.0, "a test")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> RegretExperiment:
    """A private algorithm whose guarantee is of a notion that the package does not know."""
    module: Any = SimpleNamespace(
        Params=Params, releases=releases, guarantee=guarantee, LABEL="Toy"
    )
    known = registry.algorithm
    monkeypatch.setattr(
        registry, "algorithm", lambda name: module if name == "toy" else known(name)
    )
    members, ucb = registry.members, registry.member("algorithm", "ucb")
    monkeypatch.setattr(
        registry,
        "members",
        lambda of: {**members(of), **({"toy": ucb} if of == "algorithm" else {})},
    )
    monkeypatch.setattr(audits, "audited", lambda algorithm, params: None)
    instance = bernoulli.Params((0.5, 0.6))
    return RegretExperiment("toy", Params(), "bernoulli", instance, 100, Grid.END, seed=1)


def test_a_new_notion_has_a_budget_words_a_row_and_a_key(
    toy: RegretExperiment, capsys: pytest.CaptureFixture[str]
) -> None:
    assert given_budget(toy) == composed_budget(toy) == 0.5
    assert delta_of(toy) == DELTA
    curve: Any = SimpleNamespace(sources=[toy])
    assert captions.privacy(curve) == ("given μ = 0.25 (toy DP), composes to ε = 0.5 at δ = 1·10⁻⁶")
    (row,) = rows(["toy"])
    assert (row.guarantee.budget, row.spent, row.stated.epsilon, row.composed) == (
        0.25,
        0.25,
        0.5,
        0.5,
    )
    privacy_commands.show(["toy"], epsilon=1, rho=1, horizon=100, arms=2, delta=None)
    printed = " ".join(capsys.readouterr().out.split())
    assert f" toy DP (a test): {TOY.definition} Toy: a test" in printed
    assert json.loads(json.dumps(toy.description()))["params"] == {"mu": 0.25}
