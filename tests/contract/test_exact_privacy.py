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
from first_leads import Leads, gauss_leads, new_leads
from scipy import integrate, special, stats

from dpbandits.algorithms import dp_ftpl_gauss, dp_ftpl_new, dp_se, exp3, exp3_tau
from dpbandits.algorithms.exp3 import Estimates, draw_arm
from dpbandits.environments.adversaries import GainTable, SwitchFeedback
from dpbandits.kernel.bandit import new_bandit
from dpbandits.privacy.accounting import delta_of_equals
from dpbandits.stopping import dp_exponential_nas
from dpbandits.stopping._samples import SampleStream, threshold

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
    arms_played: list[int] = []

    class Ledger(np.ndarray):
        # Record which arm is pulled: the bandit's own ledger only counts.
        def __setitem__(self, arm: Any, count: Any) -> None:
            if count > self[arm]:
                arms_played.extend([int(arm)] * int(count - self[arm]))
            super().__setitem__(arm, count)

    rng = Scripted(noises)
    module.play.py_func(params, bandit._replace(pulls=bandit.pulls.view(Ledger)), rng)
    assert len(arms_played) == rounds
    return arms_played, rng.scales


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


def log_halts(params: Any, sums: Sequence[float]) -> np.ndarray:
    """Return log P[halt at query k] of DP-exponential-NAS, and of no halt; by quadrature over B."""
    rng, halt = Scripted(), dp_exponential_nas.play
    samples = SampleStream(1.0, 1.0, np.random.default_rng(0))
    getattr(halt, "py_func", halt)(params, samples, rng)
    *lifting, _ = rng.scales  # of B and all A; the last noise is the estimate's
    (scale,) = set(lifting)
    b = np.linspace(-60.0, 60.0, 24_001)
    law = stats.laplace.logpdf(b) + math.log(b[1] - b[0])
    found, lasting = [], np.zeros(b.size)
    for k, total in enumerate(sums, start=1):
        room = (abs(total) - threshold(params, 1.0, 2**k, k)) / scale - b  # largest A to halt
        found.append(special.logsumexp(law + lasting + stats.laplace.logcdf(room)))
        lasting = lasting + stats.laplace.logsf(room)
    found.append(special.logsumexp(law + lasting))
    return np.array(found)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_when_dp_exponential_nas_halts_loses_half_of_epsilon_at_most(epsilon: float) -> None:
    params = dp_exponential_nas.Params(epsilon, 0.5, 0.05)
    worst = 0.0
    for queries in (1, 4, 9):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            samples = rng.choice([-1.0, 1.0], 2**queries, p=[0.5, 0.5] if seed % 2 else [0.1, 0.9])
            other = samples.copy()
            other[0] = -other[0]  # one sample changes all sums by 2R
            one, two = (
                log_halts(params, [of[: 2**k].sum() for k in range(1, queries + 1)])
                for of in (samples, other)
            )
            assert special.logsumexp(one) == pytest.approx(0.0, abs=1e-4)
            worst = max(worst, float(np.abs(one - two).max()))
    assert 0.3 * epsilon / 2 < worst <= epsilon / 2


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
        self.ahead: list[float] = []  # log-ratio of the weights: last arm over first

    def __call__(self, estimates: Estimates, gamma: float, rng: Any) -> tuple[int, float]:
        arm, before = self.wanted.pop(0), 0.0
        for _ in range(arm):
            before += draw_arm(estimates, gamma, Fixed(before + 1e-12))[1]
        chosen, p = draw_arm(estimates, gamma, Fixed(before + 1e-12))
        assert chosen == arm
        self.log_p.append(math.log(p))
        weights = estimates.weights
        self.ahead.append(math.log(weights[-1] / weights[0]))
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


@pytest.mark.parametrize("which", ["exp3", "exp3-tau"])
def test_a_gain_moves_the_weights_of_exp3_by_one_over_tau_and_no_choice_by_more(
    which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One long adverse sequence: the first arm gains until the second one is hardly ever drawn, then
    # the second one is drawn. Its first gain is changed, and the difference of the weights never
    # grows.
    settled, choices = 500, 540
    module: ModuleType
    params: Any
    if which == "exp3":
        module, params, tau = exp3, exp3.Params(800), 1
    else:
        tau = 2
        module = exp3_tau
        params = exp3_tau.Params(1600, 1700.0, 0.5, exp3_tau.Calibration.BUDGET)
        assert exp3_tau.batch_length(params, 2) == tau
    gains = np.ones((tau * choices, 2))
    other = gains.copy()
    other[tau * settled] = 0.0
    played_by = []
    for table in (gains, other):
        forced = Forced([0] * settled + [1] * (choices - settled))
        monkeypatch.setattr(module, "draw_arm", forced)
        played(module, params, table)
        played_by.append(forced)
    one, two = played_by
    moved = np.abs(np.array(one.ahead) - np.array(two.ahead))
    loss = np.abs(np.array(one.log_p) - np.array(two.log_p))
    assert not moved[: settled + 1].any()
    assert 0.95 / tau < moved[settled + 1] == moved.max() <= 1.0 / tau
    assert np.all(loss <= moved + 1e-12)
    assert loss.max() > 0.2 / tau


# DP-FTPL: every sequence of arms -----------------------------------------------------------------


def sampled_law(params: Any) -> Any:
    """Return the law that an algorithm samples theta from."""
    return params if isinstance(params, dp_ftpl_gauss.Params) else dp_ftpl_new.sample_law(params)


def numbers(law: Any, total: float, n: float) -> tuple[float, float]:
    """Return the two parameters of theta of an arm with n rewards of sum `total`."""
    if isinstance(law, dp_ftpl_gauss.Params):
        return total / n, math.sqrt(2.0 / n)
    x0, unit = dp_ftpl_new.new_numbers(law, total, n)
    return float(x0), float(unit)


def sequences(
    leads: Leads, params: Any, stream: Sequence[int], starts: int
) -> tuple[np.ndarray, list[float]]:
    """Return log p of all sequences of arms after `starts` pulls of each, and p of all choices."""
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
    sampled = sampled_law(params)
    rounds = len(stream) - 2 * starts
    sums = (sum(stream[:starts]), sum(stream[starts : 2 * starts]))
    law, choices = [], []
    for arms in itertools.product((0, 1), repeat=rounds):
        r, n, log_p = list(sums), [starts, starts], 0.0
        for t, arm in enumerate(arms):
            state = tuple(r), tuple(n)
            if state not in known:
                first, second = (
                    numbers(sampled, float(a), float(b)) for a, b in zip(r, n, strict=True)
                )
                known[state] = leads(sampled, first, second)
            p = known[state] if arm == 0 else 1.0 - known[state]
            choices.append(p)
            log_p += math.log(max(p, 1e-300))
            r[arm] += stream[2 * starts + t]
            n[arm] += 1
        law.append(log_p)
    return np.array(law), choices


@pytest.mark.parametrize(
    ("leads", "params", "starts"),
    [
        (gauss_leads, dp_ftpl_gauss.Params(0.0, 0.05), 32),
        (new_leads, dp_ftpl_new.Params(1.0, 0.0, 100), 1),
        (new_leads, dp_ftpl_new.Params(0.5, 0.01, 100), 1),
    ],
    ids=["gauss", "new, pure", "new"],
)
def test_dp_ftpl_keeps_its_promise_in_every_round_and_not_for_the_sequence(
    leads: Leads, params: Any, starts: int
) -> None:
    rounds = 9
    if leads is gauss_leads:
        assert starts == math.ceil(dp_ftpl_gauss.start(params))
    epsilon, delta = params.epsilon, params.delta
    worst = 0.0
    streams = [0] * (2 * starts + rounds), [0] * starts + [1] * (starts + rounds)
    for stream, changed in itertools.product(streams, (0, starts)):  # first reward of either arm
        neighbour = [*stream[:changed], 1 - stream[changed], *stream[changed + 1 :]]
        first, of_first = sequences(leads, params, stream, starts)
        second, of_second = sequences(leads, params, neighbour, starts)
        for p, q in zip(of_first, of_second, strict=True):
            # Definition 1, given the past: both arms, both directions. The quadrature error is
            # below 1e-6.
            for a, b in ((p, q), (q, p), (1.0 - p, 1.0 - q), (1.0 - q, 1.0 - p)):
                assert a <= math.exp(epsilon) * b + delta + 1e-6
        for one, two in ((first, second), (second, first)):
            worst = max(worst, hockey_stick(one, two, epsilon) - delta)
            for at in (epsilon, 2 * epsilon, 4 * epsilon):
                coins = delta_of_equals(epsilon, delta, rounds, at)
                assert hockey_stick(one, two, at) <= coins + 1e-5
    assert worst > 0.01, "the sequence would be as private as a round"
