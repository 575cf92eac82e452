"""Tests of privacy in settings where the law of the outcome can be computed.

There are three methods. Moving the noise that is added to a changed reward undoes the change, so
the loss of every outcome is at most the sum of the moves over their scales. Short games are
enumerated completely. The first elimination of DP-SE has a law in closed form.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from first_leads import Leads, gauss_leads, new_leads
from scipy import integrate, special, stats

from dpbandits.algorithms import (
    _exp3,
    adap_klucb,
    adap_ucb,
    dp_exp3_lap,
    dp_ftpl_gauss,
    dp_ftpl_new,
    dp_imed,
    dp_klucb,
    dp_se,
    dp_ucb,
    dp_ucb_bound,
    dp_ucb_int,
    exp3,
    exp3_tau,
    private_ucb,
)
from dpbandits.algorithms._adaptive_episodes import FirstEpisode
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.core.bandit import new_bandit
from dpbandits.environments._gain_table import SwitchFeedback, gain_table
from dpbandits.privacy.accounting import delta_of_equals
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.stopping import dp_exponential_nas
from dpbandits.stopping._private import query_noise, threshold

# A game in plain Python --------------------------------------------------------------------------


class Draw(NamedTuple):
    """Scale of a requested noise, and the pulls of every arm at that moment."""

    scale: float
    pulls: tuple[int, ...]


class Scripted:
    """Generator that returns the given noises, in units of their scale, and the given uniforms."""

    def __init__(self, pulls: np.ndarray, noises: Iterable[float], uniforms: Iterable[float] = ()):
        self.draws: list[Draw] = []
        self._pulls = pulls
        self._noises = itertools.chain(noises, itertools.repeat(0.0))
        self._uniforms = itertools.chain(uniforms, itertools.repeat(0.5))

    def laplace(self, location: float, scale: float) -> float:
        assert location == 0.0
        self.draws.append(Draw(scale, tuple(int(n) for n in self._pulls)))
        return scale * next(self._noises)

    def random(self) -> float:
        return next(self._uniforms)


def played(
    module: ModuleType,
    params: Any,
    gains: np.ndarray,
    noises: Iterable[float] = (),
    uniforms: Iterable[float] = (),
) -> tuple[list[int], list[Draw]]:
    """Return the arm of every round and the noise that was requested."""
    rounds, arms = gains.shape
    bandit = new_bandit(
        gain_table(gains, SwitchFeedback.NONE),
        arms,
        rounds,
        np.array([rounds]),
        np.random.default_rng(0),
    )
    arms_played: list[int] = []

    class Ledger(np.ndarray):
        # Record which arm is pulled: the bandit's own ledger only counts.
        def __setitem__(self, arm: Any, count: Any) -> None:
            if count > self[arm]:
                arms_played.extend([int(arm)] * int(count - self[arm]))
            super().__setitem__(arm, count)

    bandit = bandit._replace(pulls=bandit.pulls.view(Ledger))
    rng = Scripted(bandit.pulls, noises, uniforms)
    module.play.py_func(params, bandit, rng)
    assert len(arms_played) == rounds
    return arms_played, rng.draws


# A moved noise undoes the change of a reward -----------------------------------------------------

Reading = tuple[int, int, int, float]  # arm, first and last reward, change by one reward
Reader = Callable[[Sequence[Draw], int], Iterator[Reading]]


def of_means(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the mean of an arm's rewards since its previous mean (AdaP-UCB, AdaP-KLUCB)."""
    before = (0,) * arms
    for draw in draws[:-1]:  # the horizon cuts off the last one; no choice depends on it
        (arm,) = (a for a in range(arms) if draw.pulls[a] != before[a])
        yield arm, before[arm] + 1, draw.pulls[arm], 1.0 / (draw.pulls[arm] - before[arm])
        before = draw.pulls


def of_sums(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the sum of an arm's rewards since its previous sum (DP-KLUCB, DP-IMED)."""
    for arm, first, last, _ in of_means(draws, arms):
        yield arm, first, last, 1.0


def of_epochs(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the means of all active arms since the last epoch (DP-SE, two arms)."""
    before = (0,) * arms
    for first, second in zip(draws[::2], draws[1::2], strict=True):
        assert first.pulls == second.pulls
        for arm in range(arms):
            n = first.pulls[arm] - before[arm]
            yield arm, before[arm] + 1, first.pulls[arm], 1.0 / max(n, 1)
        before = first.pulls


def of_binary(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the node that the last reward of an arm completes (Private-UCB)."""
    for arm, c in last_rewards(draws, arms):
        yield arm, c - (c & -c) + 1, c, 1.0


def of_hybrid(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the sum since the last power of two, or a tree node since then (DP-UCB-BOUND)."""
    for arm, c in last_rewards(draws, arms):
        yield arm, *hybrid_node(c), 1.0


def of_single(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield the sum of all rewards of an arm (DP-UCB-BOUND, one draw per sum)."""
    for arm, c in last_rewards(draws, arms):
        yield arm, 1, c, 1.0


def of_noisy_gains(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield every gain by itself (DP-EXP3-Lap)."""
    for arm, c in last_rewards(draws, arms):
        yield arm, c, c, 1.0


def last_rewards(draws: Sequence[Draw], arms: int) -> Iterator[tuple[int, int]]:
    before = (0,) * arms
    for draw in draws:
        (arm,) = (a for a in range(arms) if draw.pulls[a] != before[a])
        yield arm, draw.pulls[arm]
        before = draw.pulls


def hybrid_node(c: int) -> tuple[int, int]:
    if c & (c - 1) == 0:
        return c // 2 + 1, c
    r = c - 2 ** (c.bit_length() - 1)
    return c - (r & -r) + 1, c


def moves(
    module: ModuleType,
    params: Any,
    reader: Reader,
    arms: int,
    rounds: int,
    seed: int,
    loud: float = 1.0,  # any noise will do; under low noise the arms played depend on the rewards
    step: int = 1,
) -> list[float]:
    """Return the cost of undoing a change of every `step`-th reward, in scales of the moved noises.

    Neighbours as in Definition 2 of azize2022: the reward of one round differs. The same arms must
    be played. With all other noise fixed, the density of a Laplace noise falls by a factor of at
    most e^-1 per scale, so the largest of these costs bounds the loss of any outcome.
    """
    rng = np.random.default_rng(seed)
    stream = rng.integers(0, 2, rounds).astype(float)
    gains = np.repeat(stream[:, None], arms, axis=1)
    uniforms = rng.random(rounds)
    noises = loud * rng.laplace(size=2 * arms * rounds)
    before, draws = played(module, params, gains, noises, uniforms)
    readings = list(reader(draws, arms))
    found = []
    for t in range(0, rounds, step):
        arm = before[t]
        number = before[: t + 1].count(arm)
        other = gains.copy()
        other[t] = 1.0 - other[t]
        moved = noises.copy()
        cost = 0.0
        for k, (of, first, last, moves_by) in enumerate(readings):
            if of == arm and first <= number <= last:
                shift = (other[t, arm] - gains[t, arm]) * moves_by / draws[k].scale
                moved[k] -= shift
                cost += abs(shift)
        after, again = played(module, params, other, moved, uniforms)
        assert after == before
        assert again == draws
        found.append(cost)
    return found


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("module", [adap_ucb, adap_klucb], ids=["adap-ucb", "adap-klucb"])
def test_adaptive_episodes_spend_epsilon_and_no_more(module: ModuleType, epsilon: float) -> None:
    for seed in range(3):
        found = moves(module, module.Params(epsilon), of_means, 3, 100, seed)
        assert max(found) == pytest.approx(epsilon, rel=1e-12)
        assert set(np.round(found, 9)) <= {0.0, epsilon}  # at most one mean contains a reward


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("module", [dp_klucb, dp_imed], ids=["dp-klucb", "dp-imed"])
def test_cumulative_sums_of_batches_spend_epsilon_and_no_more(
    module: ModuleType, epsilon: float
) -> None:
    for seed, ratio in enumerate((1.1, 1.5, 2.0)):
        found = moves(module, module.Params(epsilon, ratio), of_sums, 3, 100, seed)
        assert max(found) == pytest.approx(epsilon, rel=1e-12)
        assert set(np.round(found, 9)) <= {0.0, epsilon}  # at most one sum contains a reward


def test_the_literal_first_episode_spends_half_on_the_first_reward() -> None:
    params = adap_ucb.Params(1.0, first_episode=FirstEpisode.HALF)
    found = moves(adap_ucb, params, of_means, 3, 60, seed=1)
    assert found[:3] == pytest.approx([0.5] * 3)
    assert max(found) == pytest.approx(1.0, rel=1e-12)


def test_dp_se_spends_epsilon_and_no_more() -> None:
    params = dp_se.Params(2.0, 2)  # short epochs, as for a horizon of 2
    first = math.ceil(dp_se.passes_of_epoch(params, 1, 2))
    found = moves(dp_se, params, of_epochs, 2, 2 * first + 3, seed=2, step=29)
    assert found[: 2 * first // 29] == pytest.approx([2.0] * (2 * first // 29), rel=1e-12)


@pytest.mark.parametrize(("split", "share"), [("ARMS", 1 / 3), ("NONE", 1.0)])
def test_private_ucb_spends_the_epsilon_of_one_counter(split: str, share: float) -> None:
    rounds, arms = 64, 3
    params = private_ucb.Params(
        1.5, rounds, split=private_ucb.Split[split], relaxation=private_ucb.Relaxation.OFF
    )
    found = moves(private_ucb, params, of_binary, arms, rounds, seed=3, loud=0.05)
    assert max(found) <= 1.5 * share * (1 + 1e-12)
    assert max(found) >= 0.7 * 1.5 * share  # the levels that this arm reached


@pytest.mark.parametrize(("counter", "times"), [("HYBRID_FULL", 2.0), ("HYBRID_SPLIT", 1.0)])
def test_a_hybrid_counter_spends_what_its_two_parts_have_together(
    counter: str, times: float
) -> None:
    # Lemma B.2 of tossou2016 claims epsilon for both.
    params = dp_ucb_bound.Params(50.0, Counter[counter])  # so that rewards decide, not the bound
    for seed in range(3):
        found = moves(dp_ucb_bound, params, of_hybrid, 2, 100, seed, loud=0.5)
        assert max(found) == pytest.approx(50.0 * times, rel=1e-12)


def test_a_counter_that_draws_once_a_sum_spends_more_with_every_pull() -> None:
    params = dp_ucb_bound.Params(1.0, Counter.SINGLE)
    short, long = (max(moves(dp_ucb_bound, params, of_single, 2, n, seed=5)) for n in (40, 120))
    assert 8 < short < long / 1.8
    releases = dp_ucb_bound.releases(params, 2, 120)
    assert long <= composed_epsilon(releases)


def test_in_dp_ucb_every_reward_is_an_item_of_its_round() -> None:
    def of_rounds(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
        # K draws per round, one for the counter of every arm; a reward is identified by its pull.
        pulls: list[list[int]] = [[] for _ in range(arms)]  # the round of each pull of an arm
        before = (0,) * arms
        for t, draw in enumerate(draws[::arms], start=1):
            (arm,) = (a for a in range(arms) if draw.pulls[a] != before[a])
            pulls[arm].append(t)
            before = draw.pulls
        for k in range(len(draws)):
            first, last = hybrid_node(k // arms + 1)
            inside = [n for n, t in enumerate(pulls[k % arms], 1) if first <= t <= last]
            yield k % arms, min(inside, default=1), max(inside, default=0), 1.0

    for counter, times in ((Counter.HYBRID_FULL, 2.0), (Counter.HYBRID_SPLIT, 1.0)):
        found = moves(dp_ucb, dp_ucb.Params(1.0, counter), of_rounds, 3, 64, seed=6)
        assert max(found) == pytest.approx(times, rel=1e-12)


def test_dp_ucb_int_spends_the_sum_of_the_budgets_of_all_means_that_read_a_reward() -> None:
    def of_counts(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
        seen: set[tuple[int, int]] = set()
        for draw in draws:  # first arm whose count is new and gives this scale
            arm, n = next(
                (a, n)
                for a, n in enumerate(draw.pulls)
                if (a, n) not in seen and math.isclose(draw.scale, n ** (1.1 / 2 - 1))
            )
            seen.add((arm, n))
            yield arm, 1, n, 1.0 / n

    params = dp_ucb_int.Params(1.0, delta=0.5, schedule=dp_ucb_int.Schedule.SERIES)
    arms, rounds = 2, 120
    found = moves(dp_ucb_int, params, of_counts, arms, rounds, seed=7, loud=0.1)
    composed = composed_epsilon(dp_ucb_int.releases(params, arms, rounds))
    assert 0.5 * composed < max(found) <= composed * (1 + 1e-12)


def test_dp_exp3_lap_spends_epsilon_on_every_gain() -> None:
    params = dp_exp3_lap.Params(0.8, 60)
    found = moves(dp_exp3_lap, params, of_noisy_gains, 3, 60, seed=8)
    assert found == pytest.approx([0.8] * 60, rel=1e-12)


def test_a_noise_that_is_not_moved_is_missed() -> None:
    with pytest.raises(AssertionError):
        moves(adap_ucb, adap_ucb.Params(5.0), of_nothing, 3, 60, seed=1)


def of_nothing(draws: Sequence[Draw], arms: int) -> Iterator[Reading]:
    """Yield nothing, as if no noise were added to any reward."""
    return iter(())


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
        arms, draws = played(dp_se, params, gains, [noise + common, common])
        assert [draw.scale for draw in draws[:2]] == [draws[0].scale] * 2
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
def test_the_first_elimination_of_dp_se_loses_nearly_epsilon_and_never_more(
    epsilon: float,
) -> None:
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
    rng = Scripted(np.zeros(1), [0.0])
    query_noise(params, 1.0, rng)
    (scale,) = (draw.scale for draw in rng.draws)
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

    def __call__(self, estimates: _exp3.Estimates, gamma: float, rng: Any) -> tuple[int, float]:
        arm, before = self.wanted.pop(0), 0.0
        for _ in range(arm):
            before += _exp3.draw_arm(estimates, gamma, Fixed(before + 1e-12))[1]
        chosen, p = _exp3.draw_arm(estimates, gamma, Fixed(before + 1e-12))
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
    x0, unit = dp_ftpl_new.numbers(law, total, n)
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
