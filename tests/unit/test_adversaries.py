"""Adversaries of tossou2017 against their descriptions, and the table that a bandit plays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbandits.core.bandit import new_bandit, pull, pull_each, pull_many
from dpbandits.environments._gain_table import SwitchFeedback, gain_table
from dpbandits.environments.adversaries import Kind, ObliviousStart, Params, Walk, table

DRAWN = [Kind.STOCHASTIC, Kind.FULLY_OBLIVIOUS, Kind.OBLIVIOUS]


def generator(seed: int = 3) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def gains_of(params: Params, horizon: int, seed: int = 3) -> np.ndarray:
    return table(params, horizon, generator(seed)).gains


# Literal versions: a list of rounds, each with the gains of all arms ------------------------------


def literal_deterministic(params: Params, horizon: int, rng: Any) -> list[list[float]]:
    rows = []
    for t in range(1, horizon + 1):
        row = [0.38, float(t % 2 == 0), float(t % 3 == 0)] + [0.0] * params.arms
        rows.append(row[: params.arms])
    return rows


def literal_stochastic(params: Params, horizon: int, rng: Any) -> list[list[float]]:
    p = [0.55] + [0.5] * (params.arms - 1)
    return [[float(rng.random() < p[i]) for i in range(params.arms)] for _ in range(horizon)]


def drawn_row(arms: int, rng: Any) -> list[float]:
    row = []
    for i in range(arms):
        low, high = (0.5, 0.6) if i == 0 else (0.45, 0.55)
        p = rng.uniform(low, high)
        row.append(float(rng.random() < p))
    return row


def literal_fully_oblivious(params: Params, horizon: int, rng: Any) -> list[list[float]]:
    return [drawn_row(params.arms, rng) for _ in range(horizon)]


def literal_oblivious(params: Params, horizon: int, rng: Any) -> list[list[float]]:
    rows: list[list[float]] = []
    last = [0.0] * params.arms
    for t in range(1, horizon + 1):
        first = t == 1 and params.oblivious_start is ObliviousStart.DRAW
        if t in range(200, horizon + 1, 200) or first:
            last = drawn_row(params.arms, rng)
        rows.append(last)
    return rows


def literal_switching(params: Params, horizon: int, rng: Any) -> list[list[float]]:
    """Return Dekel et al. 2014, Figure 1: every W_t is the value of its parent plus a step."""
    arms = params.arms
    log_t = math.log2(horizon)
    chi = math.floor(rng.random() * arms)
    xi = {t: rng.normal(0.0, 1.0 / (9.0 * log_t)) for t in range(1, horizon + 1)}

    def parent(t: int) -> int:
        delta = max(i for i in range(t.bit_length()) if t % 2**i == 0)
        return t - 2**delta if params.walk is Walk.MULTISCALE else t - 1

    walk = {0: 0.0}
    for t in range(1, horizon + 1):
        walk[t] = walk[parent(t)] + xi[t]

    gap = arms ** (1 / 3) * horizon ** (-1 / 3) / (9.0 * log_t)
    rows = []
    for t in range(1, horizon + 1):
        losses = [walk[t] + 0.5 - gap * (i == chi) for i in range(arms)]
        rows.append([1.0 - min(max(loss, 0.0), 1.0) for loss in losses])
    return rows


LITERAL: dict[Kind, Callable[..., list[list[float]]]] = {
    Kind.DETERMINISTIC: literal_deterministic,
    Kind.STOCHASTIC: literal_stochastic,
    Kind.FULLY_OBLIVIOUS: literal_fully_oblivious,
    Kind.OBLIVIOUS: literal_oblivious,
    Kind.SWITCHING: literal_switching,
}


@pytest.mark.parametrize("arms", [2, 4, 7])
@pytest.mark.parametrize("kind", Kind)
def test_a_table_is_the_literal_one(kind: Kind, arms: int) -> None:
    readings = [
        Params(kind, arms, walk=walk, oblivious_start=start)
        for walk in Walk
        for start in ObliviousStart
    ]
    for seed, params in enumerate(readings):
        literal = np.array(LITERAL[kind](params, 1000, generator(seed)))
        ours = gains_of(params, 1000, seed)
        np.testing.assert_allclose(ours, literal, rtol=0, atol=1e-12)
        assert ours.min() >= 0.0
        assert ours.max() <= 1.0


@pytest.mark.parametrize("kind", [Kind.DETERMINISTIC, *DRAWN])
def test_a_longer_table_begins_as_a_shorter_one(kind: Kind) -> None:
    np.testing.assert_array_equal(gains_of(Params(kind), 3000)[:700], gains_of(Params(kind), 700))


def test_a_longer_walk_has_the_same_draws_on_another_scale() -> None:
    steps = []
    for horizon in (128, 4096):
        gains = gains_of(Params(Kind.SWITCHING), horizon)[:128]
        # From an arm that is not below the walk; its first 128 values are far from 0 and 1.
        worst = 0.5 - gains.min(axis=1)
        steps.append(worst * 9.0 * math.log2(horizon))
    np.testing.assert_allclose(steps[0], steps[1], atol=1e-9)


def test_the_walk_of_the_paper_has_the_constants_of_the_paper() -> None:
    gains = gains_of(Params(Kind.SWITCHING), 2**18)
    worst, best = gains.min(axis=1), gains.max(axis=1)
    assert (best - worst).max() == pytest.approx(1.531058e-4, rel=1e-6)
    # Odd rounds follow the even one before them by one step of the walk.
    steps = np.diff(worst)[1::2]
    assert steps.std() == pytest.approx(0.00617284, rel=0.01)


@pytest.mark.parametrize("kind", DRAWN)
def test_the_first_arm_is_better_by_a_twentieth(kind: Kind) -> None:
    held = 200 if kind is Kind.OBLIVIOUS else 1
    drawn = gains_of(Params(kind), 20_000 * held)[held - 1 :: held]
    error = 5 * 0.5 / math.sqrt(len(drawn))
    assert np.abs(drawn.mean(axis=0) - [0.55, 0.5, 0.5, 0.5]).max() < error


# The game on a table -----------------------------------------------------------------------------

GAINS = np.array([[0.9, 0.2], [0.5, 0.6], [0.1, 0.8], [1.0, 0.0], [0.3, 0.7]])


def earned_and_seen(feedback: SwitchFeedback, gain: float, switched: bool) -> tuple[float, float]:
    if not switched or feedback is SwitchFeedback.NONE:
        return gain, gain
    return {
        SwitchFeedback.OBSERVED: (0.0, 0.0),
        SwitchFeedback.HIDDEN: (0.0, gain),
        SwitchFeedback.UNIT: (gain - 1.0, gain),
    }[feedback]


@pytest.mark.parametrize("feedback", SwitchFeedback)
def test_a_switch_costs_what_the_reading_says(feedback: SwitchFeedback) -> None:
    for arms in ([0, 0, 0, 0, 0], [1, 1, 0, 0, 1], [0, 1, 0, 1, 0]):
        bandit = new_bandit(gain_table(GAINS, feedback), 2, 5, np.arange(1, 6), generator())
        earned, expected = 0.0, []
        for t, arm in enumerate(arms):
            switched = t > 0 and arm != arms[t - 1]
            realised, seen = earned_and_seen(feedback, GAINS[t, arm], switched)
            assert pull(bandit, arm) == seen
            earned += realised
            expected.append(max(GAINS[: t + 1].sum(axis=0)) - earned)
        np.testing.assert_allclose(bandit.curve, expected, atol=1e-12)


def test_a_batch_pays_for_its_first_round_alone() -> None:
    law = gain_table(GAINS, SwitchFeedback.OBSERVED)
    bandit = new_bandit(law, 2, 5, np.array([5]), generator())
    assert pull_many(bandit, 0, 2) == pytest.approx(0.9 + 0.5)
    assert pull_many(bandit, 1, 2) == pytest.approx(0.0 + 0.0)
    assert pull_each(bandit, np.array([1, 0]), 7).tolist() == [0.7, 0.0]
    assert law.earned[0] == pytest.approx(2.1)


def test_a_pull_beyond_the_last_round_reads_nothing_outside_the_table() -> None:
    law = gain_table(GAINS, SwitchFeedback.NONE)
    bandit = new_bandit(law, 2, 5, np.array([5]), generator())
    for _ in range(9):
        assert 0.0 <= pull(bandit, 1) <= 1.0
