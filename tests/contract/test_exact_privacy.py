"""Tests of privacy in settings where the law of the outcome can be computed.

Short games are enumerated completely; the first elimination of DP-SE has a law in closed form. The
budgets of all algorithms with noisy numbers are in test_undone_changes.py.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from played import Ledger
from scipy import integrate, stats

from dpbandits.algorithms import dp_se, exp3, exp3_tau
from dpbandits.algorithms.exp3 import Estimates, draw_arm
from dpbandits.environments.adversaries import GainTable, SwitchFeedback
from dpbandits.kernel.bandit import new_bandit
from dpbandits.privacy.accounting import delta_of_equals

# A game in plain Python --------------------------------------------------------------------------


class Scripted:
    """Generator that returns the given noises, in units of their scale, and records the scales."""

    def __init__(self, noises: Iterable[float] = ()) -> None:
        self.scales: list[float] = []
        self._noises = itertools.chain(noises, itertools.repeat(0.0))

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.scales.append(scale)
        return scale * next(self._noises)


def played(
    module: ModuleType, params: Any, gains: np.ndarray, noises: Iterable[float] = ()
) -> tuple[list[int], list[float]]:
    """Return the arm of every round and the scales of the noise that was requested."""
    rounds, arms = gains.shape
    best = np.append(0.0, gains.cumsum(axis=0).max(axis=1))
    law = GainTable(gains, best, SwitchFeedback.NONE, np.zeros(1), np.array([-1, 0]))
    bandit = new_bandit(law, arms, rounds, np.array([rounds]), np.random.default_rng(0))
    ledger, rng = bandit.pulls.view(Ledger), Scripted(noises)
    ledger.listed = []
    getattr(module.play, "py_func", module.play)(params, bandit._replace(pulls=ledger), rng)
    assert len(ledger.listed) == rounds
    return ledger.listed, rng.scales


# The first elimination of DP-SE ------------------------------------------------------------------


def log_above(x: float) -> float:
    """Return log P[N - N' > x] for two Laplace noises of scale 1: (2 + x) e^-x/4 for x >= 0."""
    if x >= 0.0:
        return math.log((2.0 + x) / 4.0) - x
    return math.log1p(-(2.0 - x) / 4.0 * math.exp(x))


def log_between(low: float, high: float) -> float:
    """Return log P[low < N - N' < high] without loss of digits where both bounds are below 0."""
    if high < 0.0:
        low, high = -high, -low
    if low < 0.0:
        return math.log1p(-math.exp(log_above(high)) - math.exp(log_above(-low)))
    return log_above(low) + math.log1p(-math.exp(log_above(high) - log_above(low)))


def test_the_difference_of_two_laplace_noises_has_this_law() -> None:
    for x in (-3.0, -0.1, 0.0, 0.5, 4.0):
        points = sorted({-60.0, 0.0, x, 60.0})
        mass = sum(
            integrate.quad(lambda y, x=x: stats.laplace.pdf(y) * stats.laplace.sf(x + y), a, b)[0]
            for a, b in itertools.pairwise(points)
        )
        assert math.exp(log_above(x)) == pytest.approx(mass, rel=1e-8)
        between = math.exp(log_above(x)) - math.exp(log_above(x + 1.5))
        assert math.exp(log_between(x, x + 1.5)) == pytest.approx(between, rel=1e-12)


def thresholds(params: dp_se.Params, gains: np.ndarray) -> tuple[float, float]:
    """Return the differences of noise, arm 1 minus arm 2, in scales, that drop arm 2 and arm 1."""
    first = len(gains) // 2 - 1

    def dropped(noise: float, common: float = 0.0) -> int:
        arms, scales = played(dp_se, params, gains, [noise + common, common])
        assert scales[0] == scales[1]
        pulls = [arms.count(0), arms.count(1)]
        return 0 if pulls == [first + 1] * 2 else 1 + pulls.index(first)

    def edge(inside: Callable[[float], bool], low: float, high: float) -> float:
        while high - low > 1e-6:
            middle = (low + high) / 2.0
            low, high = (middle, high) if not inside(middle) else (low, middle)
        return (low + high) / 2.0

    far = 4.0 * first * params.epsilon
    above = edge(lambda x: dropped(x) == 2, -far, far)
    below = edge(lambda x: dropped(x) != 1, -far, far)
    for common in (-3.0, 3.0):  # only the difference of the two noises matters
        assert dropped(above + 1e-5, common) == 2
        assert dropped(above - 1e-5, common) == dropped(below + 1e-5, common) == 0
        assert dropped(below - 1e-5, common) == 1
    return above, below


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_first_elimination_of_dp_se_loses_nearly_epsilon_and_never_more(epsilon: float) -> None:
    params = dp_se.Params(epsilon, 2)
    passes = math.ceil(dp_se.passes_of_epoch(params, 1, 2))
    losses = []
    for share in (0.0, 0.7, 1.0):
        laws = []
        for ones in (round(share * (passes - 1)), round(share * (passes - 1)) + 1):
            gains = np.zeros((2 * passes + 2, 2))
            gains[: 2 * ones : 2, 0] = 1.0  # the rounds of arm 1
            above, below = thresholds(params, gains)
            laws.append((log_above(above), log_above(-below), log_between(below, above)))
        losses += [abs(p - q) for p, q in zip(*laws, strict=True)]
    assert max(losses) <= epsilon + 1e-5
    assert max(losses) >= 0.97 * epsilon


# Halting time of a stopping rule ------------------------------------------------------------------


# EXP3 and EXP3_tau: every sequence of arms -------------------------------------------------------


class Fixed:
    def __init__(self, u: float) -> None:
        self.u = u

    def random(self) -> float:
        return self.u


class Forced:
    """Replacement of `draw_arm` that returns the wanted arms and records their probabilities."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self.wanted, self.log_p = list(wanted), list[float]()

    def __call__(self, estimates: Estimates, gamma: float, rng: Any) -> tuple[int, float]:
        arm, before = self.wanted.pop(0), 0.0
        for _ in range(arm):
            before += draw_arm(estimates, gamma, Fixed(before + 1e-12))[1]
        chosen, p = draw_arm(estimates, gamma, Fixed(before + 1e-12))
        assert chosen == arm
        self.log_p.append(math.log(p))
        return chosen, p


def log_laws(
    module: ModuleType, params: Any, gains: np.ndarray, choices: int, monkeypatch: Any
) -> np.ndarray:
    """Return the log-probability of every sequence of choices, as the module plays it."""
    arms = gains.shape[1]
    found = []
    for wanted in itertools.product(range(arms), repeat=choices):
        forced = Forced(wanted)
        monkeypatch.setattr(module, "draw_arm", forced)
        played(module, params, gains)
        assert forced.wanted == []
        found.append(sum(forced.log_p))
    return np.array(found)


def hockey_stick(first: np.ndarray, second: np.ndarray, at: float) -> float:
    return float(np.maximum(0.0, np.exp(first) - np.exp(at + second)).sum())


@pytest.mark.parametrize(("which", "tau", "choices"), [("exp3", 1, 8), ("exp3-tau", 2, 8)])
def test_the_whole_sequence_of_exp3_loses_no_more_than_coins_of_one_over_tau(
    which: str, tau: int, choices: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(9)
    rounds = tau * (choices - 1) + 1  # the last choice covers the rest of a batch
    module: ModuleType
    params: Any
    if which == "exp3":
        module, params = exp3, exp3.Params(60)  # a gamma as for a longer game
    else:
        module = exp3_tau
        params = exp3_tau.Params(rounds, 30.0, 1e-3, exp3_tau.Calibration.BUDGET)
        assert exp3_tau.batch_length(params, 2) == tau
        (declared, _) = exp3_tau.releases(params, 2, rounds)
        assert (declared.epsilon, declared.times) == (1.0 / tau, choices - 1)
    worst = 0.0
    for number in range(4):
        gains = np.ones((rounds, 2)) if number == 0 else rng.integers(0, 2, (rounds, 2)) * 1.0
        other = gains.copy()
        gains[number % 2], other[number % 2] = 1.0, 0.0  # Definition 2.2: the gains of one round
        first, second = (
            log_laws(module, params, table, choices, monkeypatch) for table in (gains, other)
        )
        for law in (first, second):
            assert np.exp(law).sum() == pytest.approx(1.0, abs=1e-9)
        for one, two in ((first, second), (second, first)):
            worst = max(worst, (one - two).max())
            for at in (0.0, 0.1, 0.3, 1.0, 2.0, 3.0):
                coins = delta_of_equals(1.0 / tau, 0.0, choices - 1, at)
                assert hockey_stick(one, two, at) <= coins + 1e-12
    assert 0.05 * (choices - 1) / tau < worst <= (choices - 1) / tau


# DP-FTPL: every sequence of arms -----------------------------------------------------------------
