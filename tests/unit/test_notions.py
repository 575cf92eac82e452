"""A notion of privacy is one object: a new one needs no line outside its own definition."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from dpbandits.cli import privacy_commands
from dpbandits.core import registry
from dpbandits.core.parameters import Positive
from dpbandits.environments import bernoulli
from dpbandits.experiments import budget, delta_of, given
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import captions
from dpbandits.privacy.notions import DELTA, Guarantee, Notion
from dpbandits.privacy.releases import Laplace, composed_epsilon
from dpbandits.privacy.table import rows

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


def claim(params: Params, arms: int, horizon: int) -> Guarantee:
    return Guarantee(TOY, params.mu, 0.0, "a test")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> RegretExperiment:
    """A private algorithm whose claim is of a notion that the package does not know."""
    module: Any = SimpleNamespace(Params=Params, releases=releases, claim=claim, LABEL="Toy")
    known = registry.algorithm
    monkeypatch.setattr(
        registry, "algorithm", lambda name: module if name == "toy" else known(name)
    )
    monkeypatch.setattr(registry, "algorithm_names", lambda: ["toy"])
    monkeypatch.setattr(captions, "audited", lambda algorithm, params: None)
    instance = bernoulli.Params((0.5, 0.6))
    return RegretExperiment("toy", Params(), "bernoulli", instance, 100, Grid.END, seed=1)


def test_a_new_notion_has_a_budget_words_a_row_and_a_key(toy: RegretExperiment) -> None:
    assert given(toy) == budget(toy) == 0.5
    assert delta_of(toy) == DELTA
    curve: Any = SimpleNamespace(sources=[toy])
    assert captions.privacy(curve) == ("given μ = 0.25 (toy DP), composes to ε = 0.5 at δ = 1·10⁻⁶")
    (row,) = rows(["toy"])
    assert (row.claim.budget, row.spent, row.stated.epsilon, row.composed) == (0.25, 0.25, 0.5, 0.5)
    assert f"toy DP (a test): {TOY.definition}" in privacy_commands.notes([row])
    assert json.loads(json.dumps(toy.description()))["params"] == {"mu": 0.25}
