"""Statements of the papers as functions, against literal sums, simulation and played games."""

import math

import numpy as np
import pytest
import sajed2019 as literal
from scipy.special import zeta
from streams import Draws, Game, bernoulli_rewards, policy_stream, reward_stream

from dpbandits.algorithms import dp_ucb_int
from dpbandits.kernel.errors import UserError
from dpbandits.theory import (
    azize2022,
    azize2022_lemmas,
    azize2024,
    hu2022,
    sajed2019,
    tossou2016_privacy,
    tossou2017,
)

E10 = math.exp(-10)


@pytest.mark.parametrize("delta", [0.5, 0.1])
def test_the_failure_of_an_index_is_that_of_simulated_means(delta: float) -> None:
    rng = np.random.default_rng(1)
    n, mean, epsilon = 8, 0.3, 1.0
    private = rng.binomial(n, mean, 10**6) / n + rng.laplace(0.0, 1 / (n * epsilon), 10**6)
    allowed = -math.log(delta) / (n * epsilon)
    width = math.sqrt(-math.log(delta) / (2 * n))
    exact = azize2022_lemmas._at_most(mean, n, epsilon, mean - width, delta)
    assert np.mean(private + allowed + width <= mean) == pytest.approx(exact, abs=2e-3)
    assert exact <= azize2022_lemmas.lemma_3_ratio(delta) * delta <= 1.5 * delta
    assert 0.0 < azize2022_lemmas.lemma_4_ratio(delta) <= 1.5


def test_the_limit_of_lemma_4_has_the_divergence_of_its_level() -> None:
    y = 1.0 - azize2022._below(0.7, 0.2)
    divergence = y * math.log(y / 0.3) + (1 - y) * math.log((1 - y) / 0.7)
    assert divergence == pytest.approx(0.2, abs=1e-9)
    assert 1.0 - azize2022._below(0.1, 50.0) == pytest.approx(1.0)


def test_the_lemma_of_karwa_and_vadhan_fails_from_its_limit_on() -> None:
    # Randomised response on one sample, by its four probabilities.
    epsilon, tv = 3.0, 1e-3
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    answers = tv * truth + (1 - tv) * (1 - truth), 1 - truth
    ratio = math.log(answers[0] / answers[1]) / (6 * epsilon * tv)
    assert azize2022_lemmas.lemma_2_ratio(epsilon, tv) == pytest.approx(ratio)
    assert ratio > 1.0
    limit = azize2022_lemmas.lemma_2_limit()
    assert math.expm1(limit) == pytest.approx(6 * limit, rel=1e-12)
    for distance in (1e-6, 1e-3, 0.1, 0.9):
        assert azize2022_lemmas.lemma_2_ratio(limit, distance) <= 1.0
    assert azize2022_lemmas.lemma_2_ratio(limit + 1e-3, 1e-6) > 1.0

    divergence = answers[0] * math.log(answers[0] / answers[1]) + (1 - answers[0]) * math.log(
        (1 - answers[0]) / (1 - answers[1])
    )
    expected = divergence / (6 * epsilon * tv)
    assert azize2022_lemmas.theorem_10_ratio(epsilon, tv) == pytest.approx(expected)


def test_private_means_are_counted_as_they_are_released() -> None:
    assert azize2022_lemmas.adap_private_means(2, 9) == 2 * 4  # after 1, 2, 4 and 8 pulls
    # Epochs of both arms that fit, by the oracle's R_e.
    oracle, pulls, epochs = literal.DPSE(1 / 10**6, 1.0), 0, 0
    while (pulls := pulls + 2 * math.ceil(oracle.constants(epochs + 1, 2)[0])) <= 10**6:
        epochs += 1
    assert azize2022_lemmas.dp_se_private_means(2, 10**6, 1.0) == 2 * epochs


def test_dp_se_stays_below_the_bound_with_the_constants_of_its_epochs() -> None:
    means, horizon, epsilon = (0.9, 0.1, 0.6), 20_000, 1.0
    bound = sajed2019.dp_se_upper_bound(means, horizon, epsilon)
    for seed in range(10):
        game = Game(3, horizon, bernoulli_rewards(means, reward_stream(seed)))
        literal.DPSE(1 / horizon, epsilon).play(game, Draws(policy_stream(seed)))
        assert sum(0.9 - means[arm] for arm in game.played) <= bound
    # Arm 2 is gone after the first epoch, arm 3 (gap .3) after the second, both of three arms.
    oracle = literal.DPSE(1 / horizon, epsilon)
    first, second = (math.ceil(oracle.constants(e, 3)[0]) for e in (1, 2))
    assert bound == pytest.approx(0.8 * first + 0.3 * (first + second) + 0.8)
    assert bound <= sajed2019.dp_se_minimax_upper_bound(3, horizon, epsilon)
    assert sajed2019.fact_2_1(2.0, 0.01, 100.0) == pytest.approx(math.log(2 * math.log(100)))


def test_adac_ucb_has_the_bound_of_theorem_5_6() -> None:
    t = math.log(1000)
    one = 8 * 4.0 * t / 0.5 + 8 * math.sqrt(4.0 * t / 0.1) + 2 * 4.0 / 1.0
    assert azize2024.adac_ucb_upper_bound((0.9, 0.4, 0.9), 1000, 0.1, 4.0) == pytest.approx(one)
    with pytest.raises(UserError, match="beta > 3, got 1"):
        azize2024.adac_ucb_upper_bound((0.9, 0.4), 1000, 0.1, 1.0)


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_theorem_3_4_and_its_closed_forms_are_the_literal_sums(epsilon: float) -> None:
    e, v, t = dp_ucb_int.input_epsilon(dp_ucb_int.Params(epsilon, E10)), 1.1, 500
    single = [n ** (-v / 2) for n in range(1, t + 1)]
    root = math.sqrt(e * sum(2 * 10 / n**v for n in range(1, t + 1)))
    first = e * sum(single)
    printed = e * sum((math.exp(x) - 1) / t ** (v / 2) for x in single) + root
    proved = e * sum((math.exp(x) - 1) * x for x in single) + root
    given = (t, epsilon, E10, v)
    assert tossou2016_privacy.int_privacy_printed(*given) == pytest.approx(min(first, printed))
    assert tossou2016_privacy.int_privacy(*given) == pytest.approx(min(first, proved))
    pure = e * (t ** (1 - v / 2) - v / 2) / (1 - v / 2)
    assert first <= tossou2016_privacy.int_pure_closed_form(*given) == pytest.approx(pure)
    spent = e * float(zeta(v))
    closed = 2 * spent + math.sqrt(20 * spent)
    assert tossou2016_privacy.int_closed_form(epsilon, E10, v) == pytest.approx(closed, rel=1e-6)
    assert closed == pytest.approx(epsilon)  # Corollary 3.2 inverts it


def test_intervals_are_those_of_the_algorithm_and_groups_cost_more() -> None:
    params = dp_ucb_int.Params(1.0, E10)
    first = next(iter(dp_ucb_int.releases(params, 1, 10**4))).last
    assert tossou2016_privacy.int_first_interval(1.0, E10, 1.1) == first == 46
    assert 0.5 < tossou2016_privacy.int_largest_interval(10**5, 1.0, E10, 1.1) <= 1.0
    one, two = (tossou2016_privacy.int_composed(10**4, 1.0, E10, 1.1, group) for group in (1, 2))
    assert one < two <= 2.2 * one


def test_the_bounds_of_dp_lambda_lap_and_corollary_3_3_are_their_terms() -> None:
    width = 2 * math.log(1000) / 5.0 + 1
    ucb = 8 * width**2 * math.log(1000) / 0.2 + (1 + math.pi**2 / 3) * 0.2
    expected = ucb + 2 * 2 + math.sqrt(32 * 1000) / 5.0
    found = tossou2017.dp_lambda_lap_ucb_upper_bound((0.6, 0.4), 1000, 5.0)
    assert found == pytest.approx(expected)
    tau = math.ceil((1000 * (4 * 1.0 + 2 * math.log(1e3))) ** (1 / 3))
    expected = tossou2017.exp3_tau_upper_bound(4, 1000, tau, 1)
    assert tossou2017.exp3_tau_budget_upper_bound(4, 1000, 1.0, 1e-3) == expected


def test_the_bounds_of_thompson_sampling_are_the_terms_of_the_proofs() -> None:
    log_t = 10.0  # binary, of 1024
    q = 72 * math.sqrt(8) * log_t / (0.5 * 0.4)
    expected = 0.4 * max(108 * log_t / 0.16, q * math.log2(q))
    assert hu2022.dp_ts_upper_bound((0.9, 0.5, 0.9), 1024, 0.5) == pytest.approx(expected)
    assert hu2022.dp_ts_upper_bound((0.9, 0.5), 1024, 1e6) == pytest.approx(108 * log_t / 0.4)
    lazy = hu2022.lazy_dp_ts_upper_bound
    assert lazy((0.9, 0.5), 1024, 0.1) == pytest.approx(2 * 72 * log_t / 0.1)
    assert lazy((0.9, 0.5), 1024, 9.0) == pytest.approx(2 * 72 * log_t / 0.4)
