"""DP-FTPL-New in vectors, with many arms and with few, against single samples."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from many_runs import final_outcomes

from dpbandits.algorithms import _masks, dp_ftpl_new
from dpbandits.algorithms._largest_sample import Method
from dpbandits.contract.playing import p_value
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.vectors import seed_lanes
from dpbandits.environments import bernoulli
from dpbandits.mechanisms.perturbation import perturbation, reach

NEW = dp_ftpl_new.Params
HORIZON = 6000
MEANS = tuple(0.3 + 0.6 * arm / 29 for arm in range(30))
FEW = MEANS[::5]
BUDGETS = {  # delta/E above 1 and below, each part 0, much noise and little
    "epsilon": (1.0, 0.0),
    "both": (0.5, 0.01),
    "small epsilon": (0.01, 0.05),
    "delta": (0.0, 0.05),
    "large epsilon": (20.0, 0.0),
}
INNER = (500, 3000)
RUNS = 600
# 90 comparisons: a false alarm has probability 0.009 in all. With 600 runs each, a shift of the
# mean by a third of the standard deviation has a p-value near 1e-8.
LIMIT = 1e-4


def rng(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def law_of(budget: tuple[float, float]) -> Any:
    noise = perturbation(*budget)
    return dp_ftpl_new.Samples(noise, np.log(HORIZON), reach(noise, 1.0 / HORIZON))


def played(
    budget: str, means: tuple[float, ...], horizon: int, rounds: Any, run: int = 0
) -> Bandit:
    law = bernoulli.law(bernoulli.Params(means))
    bandit = new_bandit(law, len(means), horizon, np.asarray(rounds, np.int64), rng(2 * run))
    dp_ftpl_new.play(NEW(*BUDGETS[budget], HORIZON), bandit, rng(2 * run + 1))
    return bandit


@pytest.mark.long
@pytest.mark.parametrize("means", [MEANS, FEW], ids=["many", "few"])
@pytest.mark.parametrize("budget", BUDGETS)
def test_both_have_the_law_of_samples_of_all_arms(budget: str, means: tuple[float, ...]) -> None:
    coins = bernoulli.law(bernoulli.Params(means))
    fast, slow = (
        final_outcomes(
            "dp-ftpl-new",
            NEW(*BUDGETS[budget], HORIZON, method),
            coins,
            len(means),
            HORIZON,
            seed,
            RUNS,
            inner=INNER,
        )
        for seed, method in ((1, Method.EXACT), (2, Method.PLAIN))
    )
    # Regret at both inner rounds and at the end, and pulls of six arms, the best one among them.
    of_arms = range(3, 9) if means == FEW else range(7, 33, 5)
    for column in (0, 1, 2, *of_arms):
        assert p_value(fast[:, column], slow[:, column]) > LIMIT, column


@pytest.mark.parametrize("means", [MEANS, FEW], ids=["many", "few"])
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_end_of_the_game_changes_no_round_before(budget: str, means: tuple[float, ...]) -> None:
    rounds = np.arange(1, HORIZON + 1)
    long = played(budget, means, HORIZON, rounds).curve
    for shorter in (HORIZON - 1, HORIZON // 2):
        short = played(budget, means, shorter, rounds[:shorter]).curve
        np.testing.assert_array_equal(short, long[:shorter])


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_arms_above_a_level_have_the_largest_value(budget: str) -> None:
    # With the same uniforms: the mask leaves out no arm that the values of all arms would choose.
    law, generator = law_of(BUDGETS[budget]), rng(3)
    pulls = generator.integers(1, 500, 30).astype(float)
    sums = np.floor(pulls * generator.random(30))
    a, b = (np.array(x) for x in zip(*map(law_numbers(law), sums, pulls), strict=True))
    level = _masks.chosen_level(law, a, b, max(a))
    chances = np.zeros(32)
    chances[:30] = [_masks.chance_exceeding(law, a[i], b[i], level) for i in range(30)]
    none = 0
    for _ in range(3000):
        uniforms = generator.integers(0, 2**52, 32) * 2.0**-52
        chosen = _masks.largest_above(law, a, b, uniforms, 0, chances, 32)
        none += chosen < 0
        assert chosen in (-1, _masks.largest_of_all(law, a, b, uniforms, 0))
    # The level is exceeded by no arm in about one round of thirty.
    assert 3000 / 90 < none < 3000 / 10


def law_numbers(law: Any) -> Any:
    return lambda total, n: dp_ftpl_new.new_numbers(law, total, n)


def test_every_kind_of_round_occurs(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counter[str]()
    for name in ("largest_above", "largest_of_all", "chosen_level", "play_leads", "fill_uniforms"):
        body = getattr(_masks, name)

        def counted(*arguments: Any, name: str = name, body: Any = body) -> Any:
            counts[name] += 1
            return body(*arguments)

        monkeypatch.setattr(_masks, name, counted)
    law = bernoulli.law(bernoulli.Params(MEANS))
    bandit = new_bandit(law, len(MEANS), HORIZON, np.array([HORIZON]), rng(1))
    play: Any = dp_ftpl_new.play
    getattr(play, "py_func", play)(NEW(1.0, 0.0, HORIZON), bandit, rng(2))
    assert counts["largest_above"] == HORIZON - len(MEANS)
    assert counts["fill_uniforms"] == -(-counts["largest_above"] // (1024 // 32))  # each once
    assert min(counts["chosen_level"], counts["play_leads"]) > 0
    assert 0 < counts["largest_of_all"] < HORIZON // 4


def test_a_round_of_few_arms_pulls_the_largest_of_new_samples() -> None:
    law, generator, arms = law_of(BUDGETS["small epsilon"]), rng(3), len(FEW)
    coins = bernoulli.law(bernoulli.Params(FEW))
    bandit = new_bandit(coins, arms, HORIZON, np.array([HORIZON]), rng(4))
    pulls = generator.integers(1, 500, arms).astype(float)
    sums = np.floor(pulls * generator.random(arms))
    a, b = (np.array(x) for x in zip(*map(law_numbers(law), sums, pulls), strict=True))
    ahead = np.array([dp_ftpl_new.new_parts_by_pulls(law, n + 1.0) for n in pulls]).T.copy()
    lanes, noise, first = np.empty((4, 8), np.uint64), np.empty(64), 64
    seed_lanes(generator, lanes)
    play_all: Any = _masks.play_all
    chosen = Counter[int]()
    for t in range(1000):
        before = pulls.copy(), a.copy(), b.copy(), first
        arrays = sums, pulls, a, b, ahead, lanes, noise
        first = play_all(law, bandit, generator, *arrays, first, t + 1)
        assert first == (before[3] + arms if before[3] + arms <= 64 else arms)  # none twice
        (arm,) = np.flatnonzero(pulls != before[0])
        assert arm == np.argmax(before[1] + before[2] * noise[first - arms : first])
        assert (a[arm], b[arm]) == law_numbers(law)(sums[arm], pulls[arm])
        chosen[int(arm)] += 1
    assert bandit.clock[0] == 1000
    assert len(chosen) > 2
