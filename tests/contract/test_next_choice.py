"""The law of every choice of DP-FTPL, given the choices before it, over four choices.

A choice is the arm of the largest sample theta. The test takes the place of the sampler: it records
the laws that the policy samples from, and returns samples that make the wanted arm the largest. The
law of the choice then follows by quadrature, for every sequence of arms and both tables.
"""

import itertools
import math
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from first_leads import Leads, beta_leads, gauss_leads, new_leads
from planted_leaks import Leak, planted

from dpbandits.algorithms import _ftpl, dp_ftpl_beta, dp_ftpl_gauss, dp_ftpl_new
from dpbandits.algorithms._argmax import Method
from dpbandits.algorithms._ftpl import numbers
from dpbandits.contract.traced import Game, plain_python, played

CHOICES = 4
PLAIN = Method.PLAIN


@pytest.fixture(autouse=True, scope="module")
def in_plain_python() -> Iterator[None]:
    with plain_python():
        yield


class Sampler(Game):
    """Game of two arms whose samples make the wanted arm of every round the largest."""

    def __init__(self, table: np.ndarray, wanted: tuple[int, ...]) -> None:
        super().__init__(table, (), (), traced=False)
        self._wanted = wanted
        self.laws: list[tuple[float, float]] = []

    def numbers(self, law: Any, total: float, n: float) -> tuple[float, float]:
        a, b = numbers(law, total, n)
        self.laws.append((float(a), float(b)))
        return self.laws[-1]

    def sample(self, law: Any, rng: Any, a: float, b: float) -> float:
        choice, arm = divmod(len(self.laws) - 1, 2)
        return 1e6 if self._wanted[choice] == arm else -1e6


def chances(
    module: ModuleType, params: Any, leads: Leads, table: np.ndarray, wanted: tuple[int, ...]
) -> list[float]:
    """Return the probability of the first arm at every choice, given the arms before it."""
    starts = table.shape[1] - len(wanted)
    game = Sampler(table, wanted)
    with patch.multiple(_ftpl, numbers=game.numbers, sample=game.sample):
        played(module, params, 2 * starts + len(wanted), game)
    assert game.arms == [0] * starts + [1] * starts + list(wanted)
    assert len(game.laws) == 2 * len(wanted), "not every choice samples every arm"
    pairs = zip(game.laws[::2], game.laws[1::2], strict=True)
    return [leads(_ftpl.law_of_theta(params), first, second) for first, second in pairs]


ALGORITHMS = [
    (dp_ftpl_gauss, dp_ftpl_gauss.Params(0.0, 0.05, PLAIN), 32, gauss_leads),
    (dp_ftpl_gauss, dp_ftpl_gauss.Params(1.0, 0.05, PLAIN), 5, gauss_leads),
    (dp_ftpl_beta, dp_ftpl_beta.Params(0.0, 0.2, PLAIN), 97, beta_leads),
    (dp_ftpl_new, dp_ftpl_new.Params(1.0, 0.0, 100, PLAIN), 1, new_leads),
    (dp_ftpl_new, dp_ftpl_new.Params(0.5, 0.01, 100, PLAIN), 1, new_leads),
]
NAMES = ["gauss, pure delta", "gauss", "beta", "new, pure", "new"]


def largest_excess(module: ModuleType, params: Any, starts: int, leads: Leads) -> float:
    """Return the largest p - e^epsilon q - delta of a choice, over neighbouring tables.

    The changed reward is the first one of an arm, its last one of the start, or the one that the
    first, second or third choice reads.
    """
    worst = -math.inf
    width = starts + CHOICES
    for ones, wanted in itertools.product((0.0, 1.0), itertools.product((0, 1), repeat=CHOICES)):
        table = np.stack([np.zeros(width), np.full(width, ones)])
        before = chances(module, params, leads, table, wanted)
        for arm, pull in itertools.product((0, 1), {0, starts - 1, starts, starts + 1}):
            if pull >= starts + wanted.count(arm):
                continue  # never read
            other = table.copy()
            other[arm, pull] = 1.0 - other[arm, pull]
            for p, q in zip(before, chances(module, params, leads, other, wanted), strict=True):
                for x, y in ((p, q), (q, p), (1.0 - p, 1.0 - q), (1.0 - q, 1.0 - p)):
                    worst = max(worst, x - math.exp(params.epsilon) * y - params.delta)
    return worst


@pytest.mark.parametrize(("module", "params", "starts", "leads"), ALGORITHMS, ids=NAMES)
def test_every_choice_keeps_the_promise_of_one_round(
    module: ModuleType, params: Any, starts: int, leads: Leads
) -> None:
    assert starts == math.ceil(max(1.0, getattr(module, "start", lambda _: 1.0)(params)))
    excess = largest_excess(module, params, starts, leads)
    assert excess <= 1e-6  # above the error of the quadrature


THETA = "sample(law, rng, a, b)"
COUNTED = "sums[chosen] += observed(params, pull(bandit, chosen), rng)"


@pytest.mark.parametrize(
    ("which", "name", "old", "new"),
    [
        *(
            (
                which,
                "no noise from a choice on",
                THETA,
                f"{THETA} if pulls.sum() < {n} else sums[arm]",
            )
            for which, n in ((1, 12), (2, 195), (3, 3))
        ),
        *(
            (which, "rewards count more", COUNTED, COUNTED.replace("+= ", f"+= {factor} * "))
            for which, factor in ((0, 2.0), (1, 4.0), (2, 10.0), (3, 2.0))
        ),
    ],
)
def test_a_planted_leak_is_detected(which: int, name: str, old: str, new: str) -> None:
    module, params, starts, leads = ALGORITHMS[which]
    algorithm = module.__name__.rpartition(".")[2]
    leak = Leak(name, algorithm, (_ftpl, module), "play", ((old, new),), "")
    with planted(leak):
        try:
            excess = largest_excess(module, params, starts, leads)
        except (AssertionError, IndexError):
            return  # a choice without a sample of every arm
    assert excess > 1e-3
