"""Curves against a counterpart: extra regret, price of privacy, and the keys that ask for them."""

import math
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from complaints import complaint

from dpbandits.checks import against_reference
from dpbandits.config import compose
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.privacy.releases import gaussian_epsilon, rho_of_gaussian
from dpbandits.spec.figure import Curve
from dpbandits.store.blocks import Store
from dpbandits.tables import series

FIGURE = "adac-price"
pytestmark = pytest.mark.usefixtures("in_checkout")


class MadeUp:
    """Store of made-up runs; the counterpart has no regret at the first x of a curve over time."""

    def load(self, source: Any, runs: int, part: slice = slice(None)) -> np.ndarray:
        name = repr(source.description())
        rng = np.random.Generator(np.random.PCG64(list(name.encode())))
        values = 1.0 + rng.lognormal(1.0, 0.5, (runs, source.columns))
        if source.member == "adaptive-ucb":
            values[:, 0] = 0.0
        return values[:, part]


def curve_of(letter: str, name: str) -> Curve:
    spec, _ = compose.load(FIGURE, ["runs=300"])
    (panel,) = (panel for panel in spec.panels if panel.letter == letter)
    (curve,) = (curve for curve in panel.curves if curve.name == name)
    return curve


def loaded(cell: Any, runs: int) -> np.ndarray:
    return MadeUp().load(cell, runs)


def test_the_counterpart_plays_the_game_of_the_curve() -> None:
    curve = curve_of("a", "t-short")
    assert (curve.shows.name, curve.over) == ("extra-regret", "rho")
    assert len(curve.sources) == len(curve.against) == 16
    assert {cast(RegretExperiment, cell).horizon for cell in curve.sources} == {100_000}
    (other,) = {cast(RegretExperiment, cell) for cell in curve.against}  # which has no rho
    assert (other.member, other.horizon) == ("adaptive-ucb", 100_000)


def test_extra_regret_is_the_difference_within_runs() -> None:
    curve = curve_of("a", "t-long")
    found = series.values(curve, cast(Store, MadeUp()))
    for i, (own, other) in enumerate(zip(curve.sources, curve.against, strict=True)):
        expected = loaded(own, 300)[:, -1] - loaded(other, 300)[:, -1]
        np.testing.assert_allclose(found[:, i], expected, rtol=1e-12)


def test_the_price_of_privacy_is_the_quotient_of_means_with_its_error_by_the_delta_method() -> None:
    curve = curve_of("b", "rho-small")
    found = series.values(curve, cast(Store, MadeUp()))
    own, other = loaded(curve.sources[0], 300), loaded(curve.against[0], 300)
    for i in (1, 77, 199):
        a, b = own[:, i], other[:, i]
        price = (a.mean() - b.mean()) / b.mean()
        assert found[:, i].mean() == pytest.approx(price, rel=1e-12)
        # The price is a/b - 1: relative variances add up, less twice the covariance.
        c = np.cov(a / a.mean(), b / b.mean())
        error = a.mean() / b.mean() * math.sqrt((c[0, 0] + c[1, 1] - 2.0 * c[0, 1]) / 300)
        assert found[:, i].std(ddof=1) / math.sqrt(300) == pytest.approx(error, rel=1e-9)
    assert not found[:, 0].any()  # the counterpart has no regret there


def test_a_reference_with_another_counterpart_has_no_common_points() -> None:
    curve = curve_of("b", "rho-small")
    large = curve_of("b", "rho-large")
    other = replace(curve, against=cast(tuple[RegretExperiment, ...], large.sources))
    x = series.x_values(curve)
    statistics: dict[str, Any] = {name: np.zeros(x.size) for name in series.STATISTICS}
    identity = series.identity("b", curve)
    reference = series.Series(**identity, runs=1, slope=None, x=x, **statistics)
    common = against_reference.common
    assert len(common(curve, curve, reference)) == x.size
    assert common(curve, other, reference) == []
    over_rho = curve_of("a", "t-short")
    values = series.x_values(over_rho)
    swept = replace(reference, x=values)
    assert len(common(over_rho, over_rho, swept)) == values.size
    itself = replace(over_rho, against=cast(tuple[RegretExperiment, ...], over_rho.sources))
    assert common(over_rho, itself, swept) == []


def test_rho_may_be_that_of_an_epsilon_and_a_delta() -> None:
    rho = "figure.curves.rho-small.rho=from-epsilon"
    spec, _ = compose.load(FIGURE, [rho, "+figure.epsilon=0.5", "+figure.delta=1e-5"])
    params: Any = cast(RegretExperiment, spec.panels[1].curves[0].sources[0]).params
    assert params.rho == rho_of_gaussian(0.5, 1e-5)
    assert gaussian_epsilon(params.rho, 1e-5) == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["~figure.panels.a.against"], "`shows: extra-regret or price-of-privacy` need each other"),
        (["figure.panels.a.against=non-privat"], "did you mean 'non-private'"),
        (["figure.curves.rho-small.rho=0"], "rho must be from 1e-100 to 1e100, got 0"),
        (["figure.curves.rho-small.rho=from-epsilon"], "figure.epsilon is missing"),
        (
            ["figure.curves.rho-small.rho=from-epsilon", "+figure.epsilon=1", "+figure.delta=0"],
            "delta must be inside (0, 1), got 0",
        ),
    ],
    ids=str,
)
def test_a_mistake_is_one_line(overrides: list[str], words: str) -> None:
    assert words in complaint(FIGURE, overrides)
