"""Checks of reward distributions: their numbers, and what they refuse, on few draws."""

import math
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

from dpbandits.contract import distributions
from dpbandits.contract.conditions import FALSE_ALARMS, Broken
from dpbandits.contract.distributions import Distribution
from dpbandits.environments import bernoulli
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import draw, draw_sum, has_closed_sum

MEANS = (0.9, 0.2, 0.5)


class Params(NamedTuple):
    """What it says of its means."""

    means: tuple[float, ...] = (0.95, 0.2, 0.5)


class Silent(NamedTuple):
    """It says nothing of its means."""


class Coins(NamedTuple):
    """Coins whose sums of thirty rewards of the last arm are wrong."""

    coins: np.ndarray
    gaps: np.ndarray


Coins.__module__ = "__main__"  # as in a notebook
draw.register(Coins)(lambda law, rng, arm, t: 1.0 if rng.random() < law.coins[arm] else 0.0)
has_closed_sum.register(Coins)(lambda law: True)
draw_sum.register(Coins)(
    lambda law, rng, arm, n: rng.binomial(n, law.coins[arm]) * (0.8 if arm * n == 60 else 1.0)
)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the checks draw little."""
    monkeypatch.setattr(distributions, "DRAWS", 144_000)
    monkeypatch.setattr(distributions, "SUMS", 200)
    distributions.rewards.cache_clear()
    yield
    distributions.rewards.cache_clear()


def test_the_numbers_of_a_sound_distribution_are_those_of_its_rewards() -> None:
    subject = Distribution("bernoulli", bernoulli.Params(MEANS))
    _, sample = distributions.rewards(subject)
    assert sample.shape == (8, 3, 6000)
    assert distributions.in_range(subject) == "144,000 rewards between 0 and 1"
    log = math.log(4 * 24 / FALSE_ALARMS)
    radius = np.sqrt(2 * sample.var(2, ddof=1) * log / 6000) + 7 * log / (3 * 5999)
    middle = sample.mean(2) + np.array([0.0, 0.7, 0.4])  # of the largest mean, by every arm
    least, most = (middle - radius).max(), (middle + radius).min()
    assert least < 0.9 < most
    expected = f"the largest mean is in [{least:.4g}, {most:.4g}] by 24 samples of 6,000"
    assert distributions.gaps_of_means(subject) == expected
    assert distributions.sums_of_rewards(subject).startswith("9 two-sample tests of 200 sums, ")


def test_wrong_means_and_a_wrong_sum_are_refused_with_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, coins = ModuleType("coins"), np.array(MEANS)
    law = Coins(coins, coins.max() - coins)
    vars(module).update(Params=Params, arms=lambda params: 3, law=lambda params: law)
    monkeypatch.setitem(registry.NOT_STORED, "coins", module)
    silent = distributions.gaps_of_means(Distribution("coins", Silent()))
    assert silent.startswith("the largest mean is in [0.8")
    subject = Distribution("coins", Params())
    with pytest.raises(Broken, match=r"is at least 0\.8.*, at most 0\.9.* and 0\.95 by `means`"):
        distributions.gaps_of_means(subject)
    with pytest.raises(Broken, match=r"\(30 rewards of arm 3\); the limit is"):
        distributions.sums_of_rewards(subject)
