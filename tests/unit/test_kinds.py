"""What kinds of experiment know about bounds, samples and budgets."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpbandits.algorithms import adac_ucb, dp_ftpl_new
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Load
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.kinds import delta_of, given_budget
from dpbandits.experiments.regret import PER_LOG
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.kernel import registry
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.privacy.notions import Guarantee, Notion
from dpbandits.stopping import nas


def test_a_bound_over_time_is_one_formula_and_may_be_divided_by_log_t() -> None:
    values = ("epsilon", 0.5), ("horizon", 1000), ("means", (0.75, 0.25))
    bound = Formula("azize2022.problem_dependent_lower_bound", values)
    kind = kinds.of(bound)
    held = {"bound": bound.member} | dict((values[0], values[2]))
    assert kind.same_distribution(bound, True) == held
    assert kind.same_distribution(bound, False) == {"bound": bound.member} | dict(values)
    (limit,) = bound.observe(PER_LOG, cast(Load, None))
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
    params = registry.algorithm(rule).Params(epsilon, *accuracy) if epsilon else accuracy
    cell = StoppingExperiment(rule, params, stream, 1)
    assert cell.samples_at_most() == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("guarantee", "epsilon", "delta"),
    [
        (Guarantee(Notion.GLOBAL, 7.0, 0.3, "a theorem"), 2.0, 0.3),
        (None, 2.0, 0.0),
        # The conversion of test_concentrated.py; the classical one gives 5.76.
        (Guarantee(Notion.CONCENTRATED, 0.5, 0.0, "a theorem"), 5.22, 1e-6),
    ],
    ids=["another guarantee", "no guarantee", "zCDP"],
)
def test_a_budget_is_that_of_the_parameters_but_for_zcdp_and_a_delta_that_of_the_claim(
    guarantee: Guarantee | None, epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    params: Any = dp_ftpl_new.Params(2.0, 0.1, 100)
    if guarantee and guarantee.notion is Notion.CONCENTRATED:
        params = adac_ucb.Params(0.5)
    cell: Any = SimpleNamespace(params=params)
    monkeypatch.setattr(kinds, "declared", lambda experiment, what: guarantee)
    assert given_budget(cell) == pytest.approx(epsilon, rel=0.01)
    assert delta_of(cell) == delta
