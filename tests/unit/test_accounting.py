"""The least epsilon: closed forms, enumeration, and the accountant against both."""

import importlib
import itertools
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

import dpbandits as dp
from dpbandits.algorithms import adap_ucb, dp_ucb_int, exp3_tau
from dpbandits.cli import privacy_commands
from dpbandits.privacy import accounting
from dpbandits.privacy.accounting import (
    LEAST_DELTA,
    NotComputed,
    delta_of_equals,
    epsilon_of_equals,
    tight_epsilon,
)
from dpbandits.privacy.releases import (
    ApproximateDP,
    Laplace,
    Release,
    SparseVector,
    composed_epsilon,
)

FIXED = settings(max_examples=40, derandomize=True, database=None, deadline=None)


def laplace(epsilon: float, times: float = 1, first: int = 1, last: int = 5) -> Laplace:
    return Laplace(0, first, last, sensitivity=epsilon, scale=1.0, times=times)


def coin(epsilon: float, delta: float = 0.0, times: float = 1) -> ApproximateDP:
    return ApproximateDP(0, 1, 5, epsilon, delta, times)


def enumerated(coins: list[tuple[float, float]], at: float) -> float:
    """Return delta of coins at an epsilon, by enumeration of all outcomes of worst pairs."""
    total = 0.0
    for outcome in itertools.product(range(4), repeat=len(coins)):
        p = q = 1.0
        for (epsilon, delta), value in zip(coins, outcome, strict=True):
            likely, unlikely = 1.0 / (1.0 + math.exp(-epsilon)), 1.0 / (1.0 + math.exp(epsilon))
            p *= (delta, (1 - delta) * likely, (1 - delta) * unlikely, 0.0)[value]
            q *= (0.0, (1 - delta) * unlikely, (1 - delta) * likely, delta)[value]
        total += max(0.0, p - math.exp(at) * q)
    return total


# Equal releases ----------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_the_delta_of_equal_releases_is_that_of_all_outcomes_of_their_coins(
    epsilon: float, delta: float, times: int
) -> None:
    for share in (-0.5, 0.0, 0.1, 0.33, 0.6, 0.999, 1.2):
        at = share * times * epsilon
        expected = enumerated([(epsilon, delta)] * times, at)
        assert delta_of_equals(epsilon, delta, times, at) == pytest.approx(expected, abs=1e-13)


@FIXED
@given(st.floats(1e-4, 3.0), st.integers(1, 10**7), st.floats(-30, -0.01))
def test_the_epsilon_of_equal_releases_is_the_one_of_its_delta(
    epsilon: float, times: int, log_delta: float
) -> None:
    allowed = math.exp(log_delta)
    found = epsilon_of_equals(epsilon, 0.0, times, allowed)
    assert 0.0 <= found <= times * epsilon
    assert delta_of_equals(epsilon, 0.0, times, found) <= allowed
    if found > 1e-9 * times * epsilon:
        less = found - 1e-9 * times * epsilon
        assert delta_of_equals(epsilon, 0.0, times, less) >= allowed * (1 - 1e-6)


def test_a_sparse_vector_counts_as_a_coin_of_its_epsilon() -> None:
    answer = SparseVector(0, 1, 5, 1.0, 6.0, 6.0, times=30)
    expected = epsilon_of_equals(0.5, 0.0, 30, 1e-6)
    assert tight_epsilon([answer], 1e-6) == pytest.approx(expected, rel=1e-10)


def test_the_choices_of_exp3_tau_lose_less_than_by_the_theorem_of_the_paper() -> None:
    horizon, delta = 2**18, float(2**18) ** -2
    for rounding, composed, tight in ((0, 82.9, 59.5), (1, 93.6, 66.3)):
        params = exp3_tau.Params(horizon, 1.0, delta, tau_rounding=exp3_tau.TauRounding(rounding))
        releases = list(exp3_tau.releases(params, 4, horizon))
        assert composed_epsilon(releases, delta) == pytest.approx(composed, abs=0.06)
        assert tight_epsilon(releases, delta) == pytest.approx(tight, abs=0.06)


# Cases without an accountant --------------------------------------------------------------------


def test_without_a_delta_the_least_is_the_sum() -> None:
    assert tight_epsilon([laplace(0.5), laplace(0.25, times=3), coin(0.125)]) == 1.375
    assert tight_epsilon([]) == 0.0
    params = adap_ucb.Params(0.7)
    assert tight_epsilon(adap_ucb.releases(params, 3, 10**6)) == pytest.approx(0.7, rel=1e-12)


def test_what_never_ends_or_tells_everything_has_no_budget() -> None:
    for endless in (laplace(0.1, math.inf), coin(0.1, 0.0, math.inf), coin(0.0, 0.01, math.inf)):
        assert tight_epsilon([laplace(0.5), endless], 0.5) == math.inf
        assert tight_epsilon([laplace(0.5), endless]) == math.inf
    assert tight_epsilon([coin(0.0, 0.0, math.inf)]) == 0.0
    assert tight_epsilon([coin(0.5, 0.01)]) == math.inf
    assert tight_epsilon([coin(0.5, 0.01), coin(0.25, 0.02)], 0.029) == math.inf


def test_where_the_accountant_is_missing_that_is_said_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    accounting._from_worst_pairs.cache_clear()
    with pytest.raises(
        NotComputed, match=r"^not computed without .* pip install 'dpbandits\[accounting\]'"
    ):
        tight_epsilon([laplace(0.5), laplace(0.25)], 0.1)
    assert tight_epsilon([coin(0.5, 0.0, 10)], 0.1) < composed_epsilon([coin(0.5, 0.0, 10)], 0.1)


def test_a_delta_too_small_for_the_accountant_has_no_tight_epsilon_under_any_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = 0.99 * LEAST_DELTA
    with pytest.raises(NotComputed, match="not computed: below 1e-12"):
        tight_epsilon([laplace(0.1, 1000)], small)
    assert tight_epsilon([coin(0.1, 0.0, 1000)], small) < 100.0  # a closed form
    assert dp.budget("dp-ucb-int", epsilon=1, horizon=1000, delta=small).tight is None
    game: dict[str, Any] = {"epsilon": 1, "rho": 1, "horizon": 1000, "arms": 2, "delta": small}
    privacy_commands.show(["dp-ucb-int"], **game)
    out = " ".join(capsys.readouterr().out.split())
    assert "?" in out
    assert "not computed: below 1e-12" in out


# The accountant ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pld() -> Any:
    return pytest.importorskip(
        "dp_accounting.pld.privacy_loss_distribution",
        reason="dp-accounting is not installed: pip install -r requirements-accounting.lock",
    )


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
@pytest.mark.usefixtures("pld")
def test_one_laplace_release_has_its_closed_form(epsilon: float, delta: float) -> None:
    # delta(x) = 1 - e^((x - epsilon)/2).
    expected = max(0.0, epsilon + 2.0 * math.log1p(-delta))
    assert tight_epsilon([laplace(epsilon)], delta) == pytest.approx(expected, rel=3e-4, abs=1e-9)


def two_laplace(first: float, second: float, at: float) -> float:
    """Return delta of two Laplace releases, by quadrature over the loss of the first one.

    Its loss is epsilon - 2 y with density e^-y/2 for 0 < y < epsilon, epsilon with probability 1/2
    and -epsilon with e^-epsilon/2; the second release gets the rest of `at`.
    """

    def of_one(x: float) -> float:
        if x >= second:
            return 0.0
        return -math.expm1(x) if x <= -second else -math.expm1((x - second) / 2.0)

    kinks = sorted(
        {
            0.0,
            first,
            *(y for loss in (at - second, at + second) if 0 < (y := (first - loss) / 2.0) < first),
        }
    )
    between = sum(
        integrate.quad(
            lambda y: 0.5 * math.exp(-y) * of_one(at - first + 2.0 * y), a, b, epsabs=1e-14
        )[0]
        for a, b in itertools.pairwise(kinks)
    )
    ends = 0.5 * of_one(at - first) + 0.5 * math.exp(-first) * of_one(at + first)
    return float(between + ends)


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (1.0, 0.2), (0.03, 2.0)])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
@pytest.mark.usefixtures("pld")
def test_two_laplace_releases_are_what_quadrature_gives(
    first: float, second: float, delta: float
) -> None:
    found = tight_epsilon([laplace(first), laplace(second)], delta)
    assert two_laplace(first, second, found) <= delta * (1 + 1e-9)  # never below the true epsilon
    assert two_laplace(first, second, found * (1 - 1e-3)) > delta  # and hardly above it


@pytest.mark.parametrize(
    "coins",
    [
        [(0.5, 0.0), (0.25, 0.0)],
        [(0.5, 0.001), (0.3, 0.0), (0.3, 0.0), (1.1, 0.002)],
        [(0.02, 0.0), (0.03, 0.0001), (0.5, 0.0), (0.01, 0.0)],
    ],
    ids=str,
)
@pytest.mark.usefixtures("pld")
def test_unlike_coins_are_what_all_their_outcomes_give(coins: list[tuple[float, float]]) -> None:
    delta = 0.01
    found = tight_epsilon([coin(*each) for each in coins], delta)
    assert enumerated(coins, found) <= delta * (1 + 1e-9)
    assert enumerated(coins, found * 0.99) > delta


@pytest.mark.usefixtures("pld")
def test_dp_ucb_int_spends_less_than_half_of_its_promise() -> None:
    params = dp_ucb_int.Params(1.0)
    for horizon, spent in ((10**5, 0.4467), (10**6, 0.4834)):
        releases = dp_ucb_int.releases(params, 2, horizon)
        assert tight_epsilon(releases, params.delta) == pytest.approx(spent, abs=1e-4)


@pytest.mark.usefixtures("pld")
def test_below_what_the_accountant_can_tell_nothing_is_called_tight() -> None:
    small: list[Release] = [laplace(e) for e in (0.01, 0.02) for _ in range(500)]
    with pytest.raises(NotComputed, match="not computed: below 1e-12"):
        tight_epsilon(small, 1e-13)
    assert tight_epsilon(small, 2e-12) < composed_epsilon(small, 2e-12)


some_releases = st.lists(
    st.one_of(
        st.builds(laplace, st.floats(0.001, 2.0), st.integers(1, 50), st.just(1), st.just(3)),
        st.builds(coin, st.floats(0.0, 2.0), st.sampled_from([0.0, 1e-9, 1e-3]), st.integers(1, 9)),
    ),
    max_size=5,
)


@FIXED
@given(some_releases, st.sampled_from([0.0, 1e-9, 1e-4, 0.1]))
@pytest.mark.usefixtures("pld")
def test_the_least_is_never_more_than_by_the_theorems_of_the_papers(
    releases: list[Release], delta: float
) -> None:
    assert tight_epsilon(releases, delta) <= composed_epsilon(releases, delta)
