"""Numbers that errata quote, by other ways to compute them."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import betainc

from dpbandits.algorithms import dp_ftpl_beta
from dpbandits.algorithms.dp_ucb_bound import Counter
from dpbandits.theory import (
    sajed2019_samples,
    tossou2016_counters,
    tossou2016_privacy,
    tossou2017,
    tossou2017_games,
    wang2024,
    wang2024_proofs,
)

E10 = math.exp(-10)


# tossou2016 --------------------------------------------------------------------------------------


def test_the_bound_2_2_is_tighter_than_the_quoted_one_from_its_number_of_items_on() -> None:
    def both(n: float) -> tuple[float, float]:  # epsilon = .5, gamma = n^-4
        ours = math.sqrt(8) / 0.5 * math.log(4 * n**4) * (math.log(n) + 1)
        return ours, math.log(n**4) * math.log(n) ** 1.5 / 0.5

    for n in (10, 1000, 10**6):
        assert tossou2016_counters.error_bound_quoted(n, 0.5, 4.0) == pytest.approx(both(n)[1])
    first = tossou2016_counters.tighter_from(4.0)
    ours, quoted = both(first)
    assert ours < quoted
    ours, quoted = both(first - 1)
    assert ours >= quoted


@pytest.mark.parametrize(("exponent", "parts", "first"), [(0.5, 1, 15), (4.0, 2, 7)])
def test_the_error_exceeds_the_bound_first_where_it_is_said_to(
    exponent: float, parts: int, first: int
) -> None:
    found = tossou2016_counters.error_exceeds_from(exponent, parts)
    assert found == 2**first - 1
    counter = {1: Counter.HYBRID_FULL, 2: Counter.HYBRID_SPLIT}[parts]
    for k in (first - 1, first):
        n = 2**k - 1
        error = tossou2016_counters.error_exact(n, 0.5, exponent, counter)
        assert (error > tossou2016_counters.error_bound(n, 0.5, exponent)) == (k == first)
    assert tossou2016_counters.error_exceeds_from(4.0, 1) == math.inf


@pytest.mark.parametrize("v", [1.1, 1.3, 1.5])
def test_the_noise_of_an_arm_that_is_always_pulled_exceeds_the_bonus_in_the_end(v: float) -> None:
    first = tossou2016_privacy.int_noise_exceeds_from(v)
    for t, larger in ((0.99 * first, False), (1.01 * first, True), (first**2, True)):
        assert (t ** (v / 2 - 1) > math.sqrt(2 * math.log(t) / t)) == larger
    ratio = tossou2016_privacy.int_noise_over_bonus(50, 1000, v)
    assert ratio == pytest.approx(50 ** (v / 2 - 1) / math.sqrt(2 * math.log(1000) / 50))


# tossou2017 --------------------------------------------------------------------------------------


def test_the_late_game_is_one_of_exp3_and_its_loss_is_that_of_the_chances_of_its_arms() -> None:
    # By the weights of both games, round by round, for every number of gains of arm 1.
    arms, horizon, gamma = 3, 400, 0.3

    def loss(m: int) -> float:
        v, changed, total, t = np.zeros(arms), np.zeros(arms), 0.0, 0

        def chances(values: np.ndarray) -> np.ndarray:
            weights = np.exp(values)
            return (1 - gamma) * weights / weights.sum() + gamma / arms

        while chances(v)[0] > 2 * gamma / arms:
            v[1] += gamma / arms / chances(v)[1]
            t += 1
        changed = v.copy()
        changed[0] += gamma / arms / chances(v)[0]
        for i in range(horizon - t - 1):
            p, q = chances(v)[0], chances(changed)[0]
            total += math.log(q / p)
            if i < m:
                v[0] += gamma / arms / p
                changed[0] += gamma / arms / q
        return total

    found = tossou2017_games.exp3_late_game_privacy_loss(arms, horizon, gamma)
    assert found == pytest.approx(max(map(loss, range(65))), rel=1e-9)
    assert found > tossou2017_games.exp3_game_privacy_loss(arms, horizon, gamma)


def test_the_loss_of_exp3_is_linear_in_the_horizon_at_its_own_gamma() -> None:
    small, large = (tossou2017_games.exp3_tuned_loss(4, t) for t in (2**14, 2**20))
    gamma = math.sqrt(4 * math.log(4) / ((math.e - 1) * 2**14))
    assert small * 2**14 == tossou2017_games.exp3_late_game_privacy_loss(4, 2**14, gamma)
    assert large >= small > 0.25
    least = tossou2017_games.exp3_least_loss_or_regret(4, 2**14)
    for of in (gamma, 0.2, 0.5, 0.9):
        loss = tossou2017_games.exp3_late_game_privacy_loss(4, 2**14, of) / 2**14
        assert max(loss, 0.75 * of) >= 0.97 * least  # between the points of a grid


def test_a_fixed_arm_loses_the_gap_of_dekel_et_al_unless_it_is_the_best() -> None:
    gap = 4 ** (1 / 3) * 4096 ** (-1 / 3) / (9 * 12)
    found = tossou2017_games.fixed_arm_switching_regret(4, 4096)
    assert found == pytest.approx(0.75 * 4096 * gap)


def test_the_choices_of_corollary_3_3_compose_to_less_than_its_epsilon() -> None:
    t, epsilon, delta = 10**6, 0.7, 1e-9
    tau = ((4 * t * epsilon + 2 * t * math.log(1 / delta)) / epsilon**2) ** (1 / 3)
    k, each = t / tau, 1 / tau
    advanced = each * math.sqrt(2 * k * math.log(1 / delta)) + k * each * (math.exp(each) - 1)
    found = tossou2017.exp3_tau_budget_loss(t, epsilon, delta)
    assert found == pytest.approx(advanced, rel=1e-12)
    assert found < epsilon


# sajed2019 ---------------------------------------------------------------------------------------


def test_without_noise_algorithm_2_halts_at_its_first_query_with_room() -> None:
    for alpha, beta in ((0.92, 0.08), (0.5, 1e-5), (0.1, 1e-9)):
        for k in itertools.count(1):
            t = 2**k
            h = math.sqrt(2 / t * math.log(16 * k * k / beta))
            assert sajed2019_samples.needed_average(t, alpha, beta) == pytest.approx(
                h * (1 + 1 / alpha)
            )
            if h * (1 + 1 / alpha) <= 1:
                break
        assert sajed2019_samples.samples_without_noise(alpha, beta) == t


def test_random_points_refute_a_condition_that_is_too_weak_and_not_one_eighth() -> None:
    assert sajed2019_samples.theorem_3_3_failures(200_000, 0.125, 1) == 0
    assert sajed2019_samples.theorem_3_3_failures(200_000, 0.081, 1) > 0


def test_a_tree_adds_a_node_for_every_binary_one() -> None:
    ones = [bin(t).count("1") for t in range(256)]
    variance = 2 * (8 / 0.5) ** 2 * sum(ones) / 256
    assert sajed2019_samples.tree_variance(256, 0.5) == pytest.approx(variance)


# wang2024 ----------------------------------------------------------------------------------------


def test_the_inequality_of_theorem_13_holds_from_its_start_on_and_not_before() -> None:
    def holds(n: int, epsilon: float, delta: float) -> bool:
        k = n // 8 + 1
        a, b = 1 + k, n + k  # R = 0: a_i = 1, b_i = n + 1
        log = math.log(math.e * (a + b) / (2 * math.pi * a * b * delta**2))
        right = epsilon * a * b / ((a + b) * (a + b + b * epsilon))
        return math.sqrt(max(log, 0.0) / (a + b)) <= right

    for epsilon, delta in ((1.0, 0.01), (0.5, 1e-4)):
        first = int(wang2024_proofs.beta_proof_start(epsilon, delta))
        assert not holds(first - 1, epsilon, delta)
        assert all(holds(n, epsilon, delta) for n in range(first, first + 3000))


def test_starts_are_the_printed_ones_and_regret_of_them_is_their_pulls() -> None:
    gauss = min(1 / (4 * math.pi * 1e-4), math.log(math.e / (4 * math.pi * 1e-4)))
    assert wang2024_proofs.gauss_start_pulls(1.0, 0.01) == pytest.approx(gauss)
    beta = dp_ftpl_beta.start(dp_ftpl_beta.Params(1.0, E10))
    assert wang2024_proofs.beta_start_pulls(1.0, E10) == beta
    regret = wang2024_proofs.beta_start_regret((0.9, 0.5, 0.8), 1.0, E10)
    assert regret == pytest.approx(0.5 * beta)


def test_the_region_of_beta_is_reached_before_the_start_phase_ends_on_the_grid() -> None:
    share = wang2024_proofs.beta_largest_start()
    assert share < 1.0
    for epsilon, delta in wang2024_proofs.GRID[:: len(wang2024_proofs.GRID) // 7]:
        pulls = math.ceil(share * math.ceil(wang2024_proofs.beta_start_pulls(epsilon, delta)))
        k = pulls // 8 + 1  # R = 0 by the incomplete beta function
        a, b = 1 + k, pulls + k
        x = a * math.exp(-epsilon) / (a * math.exp(-epsilon) + b)
        assert betainc(a, b + 1, x) - math.exp(epsilon) * betainc(a + 1, b, x) <= delta * 1.0001


def test_the_private_terms_of_theorems_18_16_and_4_are_the_literal_logarithms() -> None:
    t, epsilon, delta = 10**9, 0.3, 0.02
    e = math.expm1(epsilon)
    elimination = math.log((t**2 * e + t**2 * delta) / (2 * e + t**2 * delta)) / epsilon
    new = math.log((t * e + 2 * t * delta) / (2 * e + 2 * t * delta)) / epsilon
    assert wang2024_proofs.elim_over_new(t, epsilon, delta) == pytest.approx(elimination / new)
    lower = 16 * wang2024.global_lower_bound(t, epsilon, delta, 1.0, 0.5)
    assert wang2024_proofs.elim_over_lower(t, epsilon, delta) == pytest.approx(elimination / lower)
