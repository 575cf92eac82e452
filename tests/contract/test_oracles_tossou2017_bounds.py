"""Bounds of tossou2017 on regret and privacy loss against those of the paper's text."""

import pytest
import tossou2017 as oracle

from dpbandits.theory import tossou2017 as theory


@pytest.mark.parametrize("arms", [2, 4, 37])
@pytest.mark.parametrize("horizon", [50, 2**18])
def test_every_bound_is_that_of_the_paper(arms: int, horizon: int) -> None:
    for epsilon, tau, gamma in [(0.1, 3, 0.5), (7.0, 19, 0.03), (243.0, 40, 0.001)]:
        delta = gamma**2
        pairs = [
            (theory.exp3_upper_bound(arms, horizon), oracle.regret_of_exp3(arms, horizon)),
            (
                theory.dp_exp3_lap_printed_upper_bound(arms, horizon, epsilon),
                oracle.corollary_3_1(arms, horizon, epsilon, printed=True),
            ),
            (
                theory.dp_exp3_lap_upper_bound(arms, horizon, epsilon),
                oracle.corollary_3_1(arms, horizon, epsilon, printed=False),
            ),
            (
                theory.exp3_tau_upper_bound(arms, horizon, tau, 2),
                oracle.theorem_3_4(arms, horizon, tau, 2),
            ),
            (
                theory.exp3_tau_switching_upper_bound(arms, horizon),
                oracle.corollary_3_2_regret(arms, horizon),
            ),
            (
                theory.exp3_privacy_loss(arms, horizon, gamma),
                oracle.theorem_3_3(arms, horizon, gamma, printed=False),
            ),
            (
                theory.exp3_printed_privacy_loss(arms, horizon, gamma),
                oracle.theorem_3_3(arms, horizon, gamma, printed=True),
            ),
            (
                theory.exp3_tau_privacy_loss(horizon, tau, delta),
                oracle.theorem_3_5(horizon, tau, delta, printed=False),
            ),
            (
                theory.exp3_tau_printed_privacy_loss(horizon, tau, delta),
                oracle.theorem_3_5(horizon, tau, delta, printed=True),
            ),
        ]
        for ours, literal in pairs:
            assert ours == pytest.approx(literal, rel=1e-12)
