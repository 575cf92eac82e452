"""The noise that the algorithms draw equals the noise that they declare."""

import itertools
import math
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from dpbandits.algorithms import adap_klucb, adap_ucb, dp_se, dp_ucb_int, private_ucb
from dpbandits.algorithms._adaptive_episodes import FirstEpisode, Ties
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import kernel
from dpbandits.environments import bernoulli
from dpbandits.mechanisms.laplace import laplace, laplace_without_branches
from dpbandits.privacy.releases import Laplace, composed_epsilon

ADAPTIVE = {"adap-ucb": adap_ucb, "adap-klucb": adap_klucb}


class Draw(NamedTuple):
    """Call of rng.laplace, and the pulls of every arm at that moment."""

    location: float
    scale: float
    pulls: tuple[int, ...]


class Recorder:
    """Generator for a policy that records which noise is requested.

    Where `noises` are given, it returns those instead of its own, then zeros.
    """

    def __init__(self, bandit: Bandit, noises: Iterable[float] | None = None) -> None:
        self.draws: list[Draw] = []
        self._bandit = bandit
        self._rng = np.random.default_rng(11)
        self._noises: Iterator[float] | None = None
        if noises is not None:
            self._noises = itertools.chain(noises, itertools.repeat(0.0))

    def laplace(self, location: float, scale: float) -> float:
        pulls = tuple(int(n) for n in self._bandit.pulls)
        self.draws.append(Draw(float(location), float(scale), pulls))
        if self._noises is not None:
            return next(self._noises)
        return float(self._rng.laplace(location, scale))

    def random(self) -> float:
        return float(self._rng.random())


def a_bandit(means: tuple[float, ...], horizon: int, per_round: bool = False) -> Bandit:
    return new_bandit(
        bernoulli.law(bernoulli.Params(means)),
        len(means),
        horizon,
        np.array([horizon]),
        np.random.default_rng(12),
        per_round,
    )


def recorded(
    module: ModuleType, params: Any, bandit: Bandit, noises: Iterable[float] | None = None
) -> list[Draw]:
    """Play in plain Python, so that the generator can be a recorder."""
    recorder = Recorder(bandit, noises)
    play: Any = getattr(module.play, "py_func", module.play)
    play(params, bandit, recorder)
    assert bandit.clock[0] == bandit.horizon
    return recorder.draws


def of_arm(releases: Iterable[Laplace], arm: int) -> list[Laplace]:
    return [release for release in releases if release.arm == arm]


# AdaP-UCB and AdaP-KLUCB -----------------------------------------------------------------------


def drawn_releases(draws: list[Draw], arms: int) -> list[Laplace]:
    """Return the releases: each draw follows the pulls of one arm, whose rewards it covers."""
    before = (0,) * arms
    released = []
    for draw in draws:
        (arm,) = (a for a in range(arms) if draw.pulls[a] != before[a])
        first, last = before[arm] + 1, draw.pulls[arm]
        released.append(Laplace(arm, first, last, 1.0 / (last - first + 1), draw.scale))
        before = draw.pulls
    return released


@pytest.mark.parametrize("first_episode", FirstEpisode)
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("module", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_adaptive_episodes_draw_the_noise_that_they_declare(
    module: ModuleType, epsilon: float, ties: Ties, first_episode: FirstEpisode
) -> None:
    means, horizon = (0.5, 0.6, 0.4), 3000
    params = module.Params(epsilon, 3.1, ties, first_episode)
    draws = recorded(module, params, a_bandit(means, horizon))
    released = drawn_releases(draws, len(means))
    assert all(draw.location == 0.0 for draw in draws)
    # The horizon cut the last episode short: no choice depends on its mean.
    complete = released[:-1]
    assert len(complete) > 10
    declared = list(module.releases(params, len(means), horizon))
    for arm in range(len(means)):
        made = of_arm(complete, arm)
        expected = of_arm(declared, arm)[: len(made)]
        assert [(r.first, r.last) for r in made] == [(r.first, r.last) for r in expected]
        assert [r.scale for r in made] == pytest.approx([r.scale for r in expected], rel=1e-15)
        assert [r.sensitivity for r in made] == [r.sensitivity for r in expected]


@pytest.mark.parametrize("module", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_adaptive_episodes_draw_once_for_each_doubling_of_an_arm(module: ModuleType) -> None:
    bandit = a_bandit((0.5, 0.6, 0.4), 3000)
    draws = recorded(module, module.Params(1.0), bandit)
    # N pulls are 1 + 1 + 2 + 4 + ...: one more episode than doublings, the last one cut short.
    assert len(draws) == sum(1 + math.ceil(math.log2(n)) for n in bandit.pulls)


@pytest.mark.parametrize("module", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_the_noise_of_half_an_episode_is_that_of_half_a_reward(module: ModuleType) -> None:
    for first_episode, scale in ((FirstEpisode.ONE, 1 / 0.25), (FirstEpisode.HALF, 2 / 0.25)):
        params = module.Params(0.25, first_episode=first_episode)
        draws = recorded(module, params, a_bandit((0.5, 0.5), 16))
        assert [draw.scale for draw in draws[:3]] == [scale, scale, 1 / 0.25]


@pytest.mark.parametrize("lifted", range(4))
@pytest.mark.parametrize("module", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_the_noise_of_an_arm_lifts_its_own_index(module: ModuleType, lifted: int) -> None:
    # A small exploration term, so that AdaP-KLUCB's clip does not make all indices equal.
    params = module.Params(1000.0, alpha=0.001)
    noises = [0.0 if arm == lifted else -0.9 for arm in range(4)]
    bandit = a_bandit((1.0, 1.0, 1.0, 1.0), 5)
    recorded(module, params, bandit, noises)
    assert bandit.pulls.tolist() == [2 if arm == lifted else 1 for arm in range(4)]


@pytest.mark.parametrize("module", ADAPTIVE.values(), ids=ADAPTIVE.keys())
def test_the_noise_of_an_episode_lowers_the_index_of_the_arm_that_was_played(
    module: ModuleType,
) -> None:
    # The first of the tied arms is played; its noise then leaves the lead to the second, and so on.
    params = module.Params(1000.0, alpha=0.001)
    bandit = a_bandit((1.0, 1.0, 1.0, 1.0), 8)
    recorded(module, params, bandit, [0.0, 0.0, 0.0, 0.0, -0.9, -0.9, -0.9, -0.9])
    assert bandit.pulls.tolist() == [2, 2, 2, 2]


# DP-SE -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_dp_se_draws_the_noise_that_it_declares(epsilon: float) -> None:
    arms, horizon = 3, 200_000
    params = dp_se.Params(epsilon, horizon)
    bandit = a_bandit((0.5,) * arms, horizon)
    draws = recorded(dp_se, params, bandit)
    declared = list(dp_se.releases(params, arms, horizon))
    epochs = len(of_arm(declared, 0))
    assert epochs >= 2
    # One more draw per arm for the epoch that the horizon cuts short; no choice depends on its
    # means.
    assert len(draws) == arms * (epochs + 1)
    assert all(draw.location == 0.0 for draw in draws)
    for arm in range(arms):
        made = draws[arm : arms * epochs : arms]
        expected = of_arm(declared, arm)
        assert [draw.pulls[arm] for draw in made] == [r.last for r in expected]
        assert [r.first for r in expected] == [1, *(draw.pulls[arm] + 1 for draw in made[:-1])]
        assert [d.scale for d in made] == pytest.approx([r.scale for r in expected], rel=1e-15)
        assert all(r.sensitivity == 1.0 / (r.last - r.first + 1) for r in expected)


def test_dp_se_at_the_end_of_an_epoch_has_drawn_all_that_it_declares() -> None:
    arms, told = 3, 200_000
    params = dp_se.Params(1.0, told)
    passes = [math.ceil(dp_se.passes_of_epoch(params, epoch, arms)) for epoch in (1, 2)]
    horizon = arms * sum(passes)
    draws = recorded(dp_se, params, a_bandit((0.5,) * arms, horizon))
    declared = list(dp_se.releases(params, arms, horizon))
    assert len(draws) == len(declared) == 2 * arms
    assert sorted(draw.scale for draw in draws) == sorted(r.scale for r in declared)


@pytest.mark.parametrize("dropped", range(3))
def test_in_dp_se_the_noise_of_an_arm_drops_that_arm_alone(dropped: int) -> None:
    arms, horizon = 3, 100_000
    params = dp_se.Params(1.0, horizon)
    bandit = a_bandit((0.5,) * arms, horizon)
    noises = [-10.0 if arm == dropped else 0.0 for arm in range(arms)]
    draws = recorded(dp_se, params, bandit, noises)
    after_first = draws[0].pulls[dropped]
    assert bandit.pulls[dropped] == after_first
    assert all(bandit.pulls[arm] > after_first for arm in range(arms) if arm != dropped)


def test_dp_se_draws_for_the_active_arms_alone() -> None:
    horizon = 60_000
    params = dp_se.Params(1.0, horizon)
    draws = recorded(dp_se, params, a_bandit((0.5,) * 3, horizon), [0.0, -10.0])
    first = math.ceil(dp_se.passes_of_epoch(params, 1, 3))
    second = math.ceil(dp_se.passes_of_epoch(params, 2, 2))
    third = math.ceil(dp_se.passes_of_epoch(params, 3, 2))
    assert first * 3 + second * 2 < horizon < first * 3 + (second + third) * 2
    assert [draw.scale for draw in draws[:3]] == [1.0 / first] * 3
    assert [draw.scale for draw in draws[3:5]] == [1.0 / second] * 2
    assert len(draws) == 3 + 2 + 2


# Private-UCB -----------------------------------------------------------------------------------


@pytest.mark.parametrize("split", private_ucb.Split)
def test_private_ucb_draws_once_a_pull_the_noise_that_it_declares(
    split: private_ucb.Split,
) -> None:
    arms, horizon, epsilon = 3, 2000, 0.5
    params = private_ucb.Params(epsilon, horizon, split=split)
    bandit = a_bandit((0.5, 0.6, 0.4), horizon)._replace(per_round=True)
    draws = recorded(private_ucb, params, bandit)
    assert len(draws) == horizon
    declared = list(private_ucb.releases(params, arms, horizon))
    assert len(declared) == arms * 11  # levels of a counter of 2000 items
    assert max(d.scale for d in draws) == pytest.approx(declared[0].scale, rel=1e-15)
    assert len({d.scale for d in draws}) == len({r.scale for r in declared}) == 1
    share = {private_ucb.Split.ARMS: 1 / arms, private_ucb.Split.NONE: 1.0}[split]
    assert composed_epsilon(declared) == pytest.approx(share * epsilon, rel=1e-12)


@pytest.mark.parametrize("lifted", range(4))
def test_in_private_ucb_the_noise_of_an_arm_lifts_its_own_index(lifted: int) -> None:
    params = private_ucb.Params(1.0, 5, relaxation=private_ucb.Relaxation.OFF)
    bandit = a_bandit((1.0, 1.0, 1.0, 1.0), 5)
    recorded(private_ucb, params, bandit, [0.0 if arm == lifted else -0.9 for arm in range(4)])
    assert bandit.pulls.tolist() == [2 if arm == lifted else 1 for arm in range(4)]


# DP-UCB-INT ------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", dp_ucb_int.Schedule)
@pytest.mark.parametrize("noise", dp_ucb_int.Noise)
def test_dp_ucb_int_draws_the_noise_that_it_declares(
    noise: dp_ucb_int.Noise, schedule: dp_ucb_int.Schedule
) -> None:
    arms, horizon = 3, 20_000
    params = dp_ucb_int.Params(1.0, 0.01, 1.1, schedule, noise)
    every_round = noise is dp_ucb_int.Noise.EVERY_ROUND
    bandit = a_bandit((0.5, 0.52, 0.48), horizon)
    draws = recorded(dp_ucb_int, params, bandit)
    assert all(draw.location == 0.0 for draw in draws)
    declared = list(dp_ucb_int.releases(params, arms, horizon))
    assert {release.times for release in declared} == {math.inf if every_round else 1}
    # The scale identifies the arm of a draw: it is the scale for the arm's number of pulls.
    made: set[tuple[int, int]] = set()
    for draw in draws:
        n = round(draw.scale ** (1 / (params.v / 2 - 1)))
        assert draw.scale == pytest.approx(n ** (params.v / 2 - 1), rel=1e-14)
        owners = [arm for arm in range(arms) if draw.pulls[arm] == n]
        assert owners
        made.update((arm, n) for arm in owners)
    expected = {(r.arm, r.last) for r in declared if r.last <= bandit.pulls[r.arm]}
    # A release at the very end is not drawn.
    assert made <= expected
    assert len(expected - made) <= 1
    for release in declared:
        assert (release.first, release.sensitivity) == (1, 1.0 / release.last)
        assert release.scale == release.last ** (params.v / 2 - 1)
    if every_round:
        assert len(draws) > 20 * len(expected)
    else:
        first = draws[0].pulls[0]
        assert len(draws) == len(made)
        assert [draw.pulls for draw in draws[:arms]] == [(first,) * arms] * arms


@pytest.mark.parametrize("lifted", range(4))
@pytest.mark.parametrize("noise", dp_ucb_int.Noise)
def test_in_dp_ucb_int_the_noise_of_an_arm_lifts_its_own_index(
    noise: dp_ucb_int.Noise, lifted: int
) -> None:
    params = dp_ucb_int.Params(1.0, 0.01, noise=noise)
    bandit = a_bandit((1.0, 1.0, 1.0, 1.0), 4 * 29 + 1, per_round=True)
    noises = [0.0 if arm == lifted else -0.9 for arm in range(4)]
    draws = recorded(dp_ucb_int, params, bandit, noises)
    assert len(draws) == 4
    assert bandit.pulls.tolist() == [30 if arm == lifted else 29 for arm in range(4)]


# The mechanism ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1.0, 1.0), (0.01, 0.1), (2.0, 8.0)])
def test_the_laplace_mechanism_draws_laplace_noise(sensitivity: float, epsilon: float) -> None:
    n, scale = 100_000, sensitivity / epsilon
    rng = np.random.default_rng(13)
    noise = np.array([laplace(rng, sensitivity, epsilon) for _ in range(n)])
    # The fourth moment is 24 scale^4, so a square has variance (24 - 4) scale^4.
    standard_error = math.sqrt(20 / n) * scale**2
    assert abs(np.mean(noise**2) - 2 * scale**2) < 5 * standard_error
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-4


def test_kernels_draw_the_noise_of_python() -> None:
    @kernel
    def fill(rng, sensitivity, epsilon, noise):  # type: ignore[no-untyped-def]
        for i in range(noise.size):
            noise[i] = laplace(rng, sensitivity, epsilon)

    ours, numpys = np.random.default_rng(14), np.random.default_rng(14)
    noise = np.empty(100_000)
    fill(ours, 3.0, 0.7, noise)
    assert noise.tolist() == numpys.laplace(0.0, 3.0 / 0.7, noise.size).tolist()
    assert ours.random() == numpys.random()


class Dealt(np.random.Generator):
    """Generator that returns given uniform numbers."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.left = list(numbers)

    def random(self) -> float:  # type: ignore[override]
        return self.left.pop(0)


@pytest.mark.parametrize(
    ("dealt", "noise"),
    [
        ((0.25,), -2.0 * math.log(2.0)),
        ((0.75,), 2.0 * math.log(2.0)),
        ((0.5,), 0.0),
        ((2.0**-53,), -2.0 * 52.0 * math.log(2.0)),
        ((1.0 - 2.0**-53,), 2.0 * 53.0 * math.log(2.0)),  # as NumPy rounds 2 - u
        ((0.0, 0.0, 0.25), -2.0 * math.log(2.0)),
    ],
)
def test_noise_without_branches_at_the_ends_of_its_draw(
    dealt: tuple[float, ...], noise: float
) -> None:
    rng = Dealt(*dealt)
    assert laplace_without_branches(rng, 1.0, 0.5) == pytest.approx(noise, rel=1e-15)
    assert not rng.left
