"""Requirements that every algorithm in the folder must meet."""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cells import (
    ALGORITHMS,
    BATCHED,
    BATCHED_START,
    BLIND,
    CALIBRATED_BY_A_BOUND,
    LAWS,
    OTHER_DRAWS,
    SPENT,
    cell_of,
    on,
    params_of,
    readings_of,
)
from played import final_outcomes

from dpbandits import contract
from dpbandits.audit.subject import Subject
from dpbandits.contract import conditions
from dpbandits.environments import bernoulli
from dpbandits.experiments.kinds import composed_budget
from dpbandits.experiments.regret import play_run
from dpbandits.kernel import registry
from dpbandits.privacy.notions import NOTIONS, approximate
from dpbandits.privacy.releases import composed_epsilon, composed_rho
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

# Means and epsilon of instances on which, at this horizon, a change of 0.01 is decisive and
# outcomes vary. Close calls are comparisons of two equal arms on the first, DP-SE's eliminations on
# the second, AdaP's choices on the third, and on the fourth whether GDP-Elim-New ends in its second
# phase.
CLOSE_CALLS = (((0.5, 0.5), 0.2), ((0.6, 0.46), 5.0), ((0.6, 0.5), 1.0), ((0.75, 0.5), 1.0))
HORIZON = 20_000
SHORT = 4000  # for an algorithm that pulls in batches at its start alone
RUNS = 600
MORE_RUNS = 2000  # for an algorithm whose outcome reveals little of its rewards


BELOW = "batched and single pulls follow the same distribution"  # tested on closer calls
LONG = {
    BELOW,
    "an audit finds no greater loss",
    "plain Python gives the same bits",
    "the policy sees only its rewards",
}


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, marks=[pytest.mark.long] if check.title in LONG else [])
        for check in contract.checks(*ALGORITHMS)
        if check.title != BELOW or str(check).startswith("adap-ucb: ")
    ],
    ids=str,
)
def test_an_algorithm_keeps_the_contract(check: contract.Check) -> None:
    check()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_block_size_and_workers_do_not_move_a_bit(algorithm: str, tmp_path: Path) -> None:
    means, epsilon = CLOSE_CALLS[1]
    cell = cell_of(algorithm, "bernoulli", means, HORIZON, epsilon)
    results = []
    for block, workers in ((1, 2), (7, 1), (3, 2)):
        store = Store(tmp_path / f"{block}-{workers}")
        assert not runner.compute(plan({cell: 10}, store, block), store, workers, "test")
        results.append(store.load(cell, 10))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("epsilon", [1e-100, 1e100])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_ends_of_the_range_of_budgets_play_and_compose(algorithm: str, epsilon: float) -> None:
    cell = cell_of(algorithm, "bernoulli", (0.5, 0.9), 300, epsilon)
    assert 0.0 <= play_run(cell, 0).curve[-1] <= 0.4 * 300
    spent = composed_budget(cell)
    assert spent is None or spent >= 0.0


@pytest.mark.parametrize(("algorithm", "law"), on(*LAWS))
def test_every_round_is_played_and_the_curve_is_the_regret_of_the_pulls(
    algorithm: str, law: str
) -> None:
    for means in ((0.3, 0.6, 0.5), (0.9, 0.9), (0.5,) * 7):
        cell = cell_of(algorithm, law, means, horizon=len(means) * 101 + 1)
        for per_round in (False, True):
            bandit = play_run(cell, 0, per_round)
            gaps = max(means) - np.array(means)
            assert bandit.pulls.sum() == cell.horizon
            assert bandit.curve[-1] == pytest.approx(gaps @ bandit.pulls, rel=1e-12)
            assert np.all(np.diff(bandit.curve) >= 0)


@pytest.mark.parametrize(("algorithm", "law"), on("beta"))
def test_a_law_without_a_closed_sum_gives_the_same_bits_in_both_modes(
    algorithm: str, law: str
) -> None:
    cell = cell_of(algorithm, law, horizon=4000)
    if algorithm in OTHER_DRAWS:
        pytest.skip("its scheme draws other numbers")
    for run in range(3):
        batched, per_round = play_run(cell, run), play_run(cell, run, per_round=True)
        np.testing.assert_array_equal(batched.curve, per_round.curve)
        np.testing.assert_array_equal(batched.pulls, per_round.pulls)


@cache
def outcomes(
    algorithm: str,
    means: tuple[float, ...],
    epsilon: float,
    seed: int,
    per_round: bool,
    runs: int = RUNS,
    **variants: Any,
) -> np.ndarray:
    """Return the final regret and the pulls of each arm, of shape (runs, 1 + arms)."""
    horizon = SHORT if algorithm in BATCHED_START else HORIZON
    params = params_of(algorithm, horizon, epsilon)._replace(**variants)
    coins = bernoulli.law(bernoulli.Params(means))
    return final_outcomes(algorithm, params, coins, len(means), horizon, seed, runs, per_round)


@pytest.mark.parametrize("algorithm", sorted({*ALGORITHMS} - {*BATCHED}))
def test_an_algorithm_without_batches_plays_alike_in_both_modes(algorithm: str) -> None:
    for means, epsilon in CLOSE_CALLS:
        batched, per_round = (
            outcomes(algorithm, means, epsilon, seed=1, per_round=mode, runs=10)
            for mode in (False, True)
        )
        np.testing.assert_array_equal(batched, per_round)


# They need games of their own: test_ties, test_oracles_azize2022, test_oracles_sajed2019.
RARE = {"ties", "first_episode", "elimination"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_reading_changes_a_run_on_the_same_streams(algorithm: str) -> None:
    default = params_of(algorithm, HORIZON)._asdict()
    for params in readings_of(algorithm, HORIZON, 1.0):
        variant = {k: v for k, v in params._asdict().items() if v != default[k]}
        if len(variant) == 1 and not {*variant} & RARE:
            usual, other = (
                [outcomes(algorithm, *game, 1, False, runs=30, **own) for game in CLOSE_CALLS]
                for own in ({}, variant)
            )
            assert not np.array_equal(usual, other), variant


@pytest.mark.long
@pytest.mark.parametrize("algorithm", BATCHED)
def test_batched_and_per_round_play_have_the_same_law(algorithm: str) -> None:
    conditions.equal_laws(samples(algorithm, RUNS))


@pytest.mark.long
@pytest.mark.parametrize("algorithm", sorted({*BATCHED} - BLIND))
def test_a_mean_shifted_by_a_hundredth_in_one_mode_is_caught(algorithm: str) -> None:
    with pytest.raises(contract.Broken):
        equal_in(algorithm, RUNS, MORE_RUNS, shift=0.01)


def equal_in(algorithm: str, *numbers: int, shift: float) -> None:
    for runs in numbers:
        conditions.equal_laws(samples(algorithm, runs, shift))


def samples(algorithm: str, runs: int, shift: float = 0.0) -> list[Any]:
    """Return means and outcomes in both modes; of round-by-round play with a shifted mean."""
    found = []
    for means, epsilon in CLOSE_CALLS:
        shifted = (*means[:-1], means[-1] + shift)
        # With all arguments by name, because the cache tells them apart.
        batched = outcomes(algorithm, means, epsilon, seed=1, per_round=False, runs=runs)
        single = outcomes(algorithm, shifted, epsilon, seed=2, per_round=True, runs=runs).copy()
        if shift:  # the regret would differ by the gap even for the same pulls
            single[:, 0] = batched[:, 0]
        found.append((means, batched, single))
    return found


PRIVATE = [name for name in ALGORITHMS if hasattr(registry.algorithm(name), "releases")]


@pytest.mark.parametrize("epsilon", [0.01, 1 / 3, 1.0, 25.0])
@pytest.mark.parametrize("algorithm", PRIVATE)
def test_the_declared_releases_compose_to_the_budget_that_was_given(
    algorithm: str, epsilon: float
) -> None:
    releases = registry.algorithm(algorithm).releases
    for horizon, arms in ((10**7, 9), (123_456_789, 5), (10**12, 2)):
        for params in readings_of(algorithm, horizon, epsilon):
            declared = list(releases(params, arms, horizon))
            composed = composed_epsilon(declared, getattr(params, "delta", 0.0))
            if hasattr(params, "rho"):
                assert composed == math.inf
                composed = composed_rho(declared)
            expected = SPENT[algorithm](params, arms) if algorithm in SPENT else epsilon
            if math.isnan(expected):
                assert composed > 1000 * epsilon
            elif algorithm in CALIBRATED_BY_A_BOUND and (math.isfinite(expected) or not declared):
                assert composed <= expected
            else:
                assert composed == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("algorithm", PRIVATE)
def test_every_reading_releases_statistics_of_all_arms_within_the_horizon(algorithm: str) -> None:
    for params in readings_of(algorithm, 100_000, 0.5):
        subject = Subject.of(algorithm, params)
        conditions.possible_releases(subject)
        assert {release.arm for release in subject.releases(3, 100_000)} == {0, 1, 2}
        guarantee = subject.guarantee(3, 100_000)
        assert guarantee.notion in NOTIONS
        assert guarantee.where
        assert guarantee.epsilon > 0
        assert 0 <= guarantee.delta < 1


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("algorithm", PRIVATE)
def test_a_promise_is_what_the_releases_compose_to_or_says_why_not(
    algorithm: str, epsilon: float
) -> None:
    arms, horizon = 5, 10**9
    for params in readings_of(algorithm, horizon, epsilon):
        module = registry.algorithm(algorithm)
        guarantee = approximate(module.guarantee(params, arms, horizon))
        composed = composed_epsilon(module.releases(params, arms, horizon), guarantee.delta)
        assert guarantee.differs or composed == pytest.approx(guarantee.epsilon, rel=1e-12)
