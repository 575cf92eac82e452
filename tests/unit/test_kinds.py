"""Kinds of experiment are closed: a fifth one needs nothing of the rest of the package.

Also what the kinds know about budgets and samples.
"""

import ast
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from commands import ROOT

from dpbandits.algorithms import adac_ucb, dp_ftpl_new
from dpbandits.experiments import Experiment, Load, Naming, Quantity, delta_of, given
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.factory import captions, produce
from dpbandits.kernel import registry
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.run.runner import complete
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.stopping import nas
from dpbandits.store.blocks import Store, explain
from dpbandits.store.key import key
from dpbandits.tables import references, series

KINDS = re.compile(r"\w*Experiment|Formula")


@dataclass(frozen=True)
class Identification(Experiment):
    """Toy: tosses of a coin up to its first head."""

    params: tuple[()]
    coin: float
    seed: int

    columns = 1
    member = "coin"
    family = "coin"
    unit = "coin"
    files = ("experiments/stopping.py",)

    def __post_init__(self) -> None:
        vars(self).update(name=f"coin of {self.coin}", game={"probability": self.coin}, settings={})

    def description(self) -> dict[str, Any]:
        return {"coin": self.coin, "seed": self.seed}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        tosses = [np.random.default_rng([self.seed, run]).geometric(self.coin) for run in runs]
        return np.array(tosses, float)[:, None], np.zeros(len(tosses))

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        return load(slice(None))[:, 0]

    def setting(self, naming: Naming) -> str:
        return f"coins of {self.coin}"


def test_a_fifth_kind_is_played_summarised_explained_captioned_and_recorded(tmp_path: Path) -> None:
    coins = tuple(Identification((), coin, 1) for coin in (0.25, 0.5))
    shows = Quantity.SAMPLES
    curve = Curve("coin", "Coin", "Coin", "coin", shows, "coin", (0.25, 0.5), coins, 6)
    panels = (Panel("a", "", (curve,)),)
    spec = FigureSpec("toy", "across", "Toy", "draw", 6, "mean", "std", False, panels)
    settings: Any = SimpleNamespace(cache=tmp_path, block=4, workers=1, cluster=None)
    done = complete(spec.runs_of_experiments(), settings, "toy", None, progress=False)
    assert done.failures == ()
    store = Store(tmp_path)
    expected = [coin.play(range(6))[0][:, 0].mean() for coin in coins]
    (summary,) = series.summarise(spec, store)
    assert summary.mean.tolist() == expected
    lines = [line.split()[:2] for line in explain(spec, store)]
    assert lines[:2] == [[key(coin), "6/6"] for coin in coins]
    assert key(coins[0]) != key(coins[1])
    text = captions.caption(spec)
    assert "6 coins (seed 0)" in text
    assert "Coins of 0.25, coins of 0.5." in text
    assert captions.privacy(curve) == "not private"
    recorded = json.loads(json.dumps(produce.sources(curve)))
    assert [(r["coin"], r["key"], r["x"]) for r in recorded] == [
        (coin.coin, key(coin), x) for coin, x in zip(coins, (0.25, 0.5), strict=True)
    ]
    assert references.basis([spec], [])["the experiments of toy"]


def test_nobody_outside_their_room_asks_for_the_kind_of_an_experiment() -> None:
    found = []
    source = ROOT / "src" / "dpbandits"
    for path in sorted(source.rglob("*.py")):
        if path.is_relative_to(source / "experiments"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            asks = isinstance(node, ast.Compare | ast.Match)
            if isinstance(node, ast.Call):
                asks = ast.unparse(node.func) in ("isinstance", "issubclass", "type")
            if asks and KINDS.search(ast.unparse(node)):
                found.append(f"{path.name}: {ast.unparse(node)}")
    assert found == []


def test_a_bound_over_time_is_one_formula_and_may_be_divided_by_log_t() -> None:
    values = ("epsilon", 0.5), ("horizon", 1000), ("means", (0.75, 0.25))
    bound = Formula("azize2022.problem_dependent_lower_bound", values)
    assert bound.law(over_time=True) == {"bound": bound.member} | dict((values[0], values[2]))
    assert bound.law(over_time=False) == {"bound": bound.member} | dict(values)
    (limit,) = bound.observe(Quantity.PER_LOG, cast(Load, None))
    assert limit == pytest.approx(0.5 / min(bernoulli_kl(0.25, 0.75), 6 * 0.5 * 0.5))


@pytest.mark.parametrize(
    ("rule", "epsilon", "alpha", "stream", "bound"),
    [
        # 200 ((1 + 1/alpha) 4 R/|mu|)^2 + 400 (24 + 4/alpha) R/(epsilon |mu|)
        ("dp-nas", 1.0, 0.5, Stream(0.5), 200 * 24**2 + 400 * 32 * 2),
        ("dp-nas", 0.1, 0.25, Stream(-1.0, 4.0), 200 * 80**2 + 400 * 40 * 40),
        ("nas", None, 0.5, Stream(0.5, 1.0), 200 * 24**2),
    ],
)
def test_the_largest_number_of_samples_follows_from_both_terms_of_the_threshold(
    rule: str, epsilon: float | None, alpha: float, stream: Stream, bound: float
) -> None:
    accuracy = nas.Params(alpha, 0.1)
    params = registry.stopping_rule(rule).Params(epsilon, *accuracy) if epsilon else accuracy
    cell = StoppingExperiment(rule, params, stream, 1)
    assert cell.samples_at_most() == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("claim", "epsilon", "delta"),
    [
        (Guarantee(Notion.GLOBAL, 7.0, 0.3, "a theorem"), 2.0, 0.1),
        (None, 2.0, 0.1),
        # The conversion of test_concentrated.py; the classical one gives 5.76.
        (Guarantee(Notion.CONCENTRATED, 0.5, 0.0, "a theorem"), 5.22, 1e-6),
    ],
    ids=["another claim", "no claim", "zCDP"],
)
def test_a_budget_is_that_of_the_parameters_but_for_zcdp(
    claim: Guarantee | None, epsilon: float, delta: float
) -> None:
    params: Any = dp_ftpl_new.Params(2.0, 0.1, 100)
    if claim and claim.notion is Notion.CONCENTRATED:
        params = adac_ucb.Params(0.5)
    cell: Any = SimpleNamespace(params=params, declared=lambda what: claim)
    assert given(cell) == pytest.approx(epsilon, rel=0.01)
    assert delta_of(cell) == delta
