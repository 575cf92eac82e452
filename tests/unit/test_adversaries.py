"""Constants and properties of the adversaries of tossou2017, and the table that a bandit plays.

tests/contract/test_oracles_tossou2017.py compares them with their descriptions.
"""

import math

import numpy as np
import pytest

from dpbandits.core.bandit import new_bandit, pull, pull_each, pull_many
from dpbandits.environments._gain_table import SwitchFeedback, gain_table
from dpbandits.environments.adversaries import Kind, Params, table

DRAWN = [Kind.STOCHASTIC, Kind.FULLY_OBLIVIOUS, Kind.OBLIVIOUS]


def generator(seed: int = 3) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def gains_of(params: Params, horizon: int, seed: int = 3) -> np.ndarray:
    return table(params, horizon, generator(seed)).gains


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
