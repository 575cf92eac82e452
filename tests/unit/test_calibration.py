"""Noise from a target: the budget whose releases are (epsilon, delta)-DP."""

from typing import Any

import pytest

import dpbandits as dp
from dpbandits.privacy.releases import gaussian_epsilon, rho_of_gaussian


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (3.0, 0.01)])
def test_a_target_of_gaussian_noise_is_met_exactly(epsilon: float, delta: float) -> None:
    found = dp.budget("adac-ucb", epsilon=epsilon, delta=delta)
    rho = found.parameters["rho"]
    assert rho == pytest.approx(rho_of_gaussian(epsilon, delta), rel=1e-8)
    assert gaussian_epsilon(rho, delta) <= epsilon
    assert found.delta == delta
    assert found.tight == pytest.approx(epsilon, rel=1e-8)
    # A mean of one reward: its noise has variance 1/(2 rho).
    assert found.noise == pytest.approx((2.0 * rho) ** -0.5)


@pytest.mark.parametrize(
    ("algorithm", "epsilon"), [("dp-se", 0.5), ("dp-ucb", 0.25), ("private-ucb", 1.5)]
)
def test_a_target_is_what_all_releases_compose_to(algorithm: str, epsilon: float) -> None:
    # A hybrid counter spends twice its epsilon, Private-UCB a third of it, over three arms.
    found = dp.budget(algorithm, target=0.5, arms=3)
    assert found.parameters["epsilon"] == pytest.approx(epsilon, rel=1e-8)
    assert found.composed == pytest.approx(0.5, rel=1e-8)
    assert found.composed <= 0.5


def test_zcdp_is_stated_at_the_delta_that_is_given() -> None:
    loose, strict = (dp.budget("adac-ucb", rho=0.1, delta=delta) for delta in (1e-6, 1e-9))
    assert dp.budget("adac-ucb", rho=0.1) == loose
    assert strict.delta == 1e-9
    assert strict.tight == pytest.approx(gaussian_epsilon(0.1, 1e-9))
    assert (strict.tight or 0.0) > (loose.tight or 0.0)


@pytest.mark.parametrize(
    ("algorithm", "settings", "reason"),
    [
        ("adac-ucb", {"epsilon": 1, "delta": 0}, "zCDP needs a delta above 0"),
        ("exp3-tau", {"target": 1, "delta": 1e-5}, "compose to more whatever their noise"),
        ("dp-ftpl-gauss", {"target": 1, "delta": 1e-6}, "leaves no rounds for releases"),
        ("dp-se", {"target": -1}, "target must be"),
        ("dp-se", {"epsilon": 1, "delta": 1e-6}, "unknown parameter 'delta'"),
        ("ucb", {"target": 1}, "promises no privacy"),
    ],
)
def test_a_target_that_no_noise_meets_is_one_line(
    algorithm: str, settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(dp.UserError, match=reason) as error:
        dp.budget(algorithm, **settings)
    assert "\n" not in str(error.value)
