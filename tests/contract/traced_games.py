"""Private algorithms whose releases are noisy numbers, with games that are short and reach all.

Epochs and phases take thousands of rounds, whatever the parameters. Stand-ins shorten them; every
epoch reads fresh rewards, so their lengths do not matter for privacy. A new algorithm in the folder
takes part without a line here.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from cells import ALGORITHMS, readings_of

from dpbandits.algorithms import dp_se, exp3, gdp_elim_new
from dpbandits.algorithms.dp_ucb_bound import Counter
from dpbandits.contract.declared import Match, Undeclared, matched, not_made
from dpbandits.contract.traced import Game, Recorded, plain_python, played
from dpbandits.kernel import registry
from dpbandits.privacy.releases import Release, composed_epsilon, composed_rho

# No noise is added to a number: the draw of the arm, the largest sample, or a bit is the release.
CHOICES = {"dp-ftpl-beta", "dp-ftpl-gauss", "dp-ftpl-new", "exp3-tau", "ldp-ucb-b"}
NUMBERS = [
    algorithm
    for algorithm in ALGORITHMS
    if hasattr(registry.algorithm(algorithm), "releases") and algorithm not in CHOICES
]
BY_ROUND = {"dp-ucb"}  # its counters get an item per round, so the declaration counts rounds
# Declared for games in which no arm is eliminated or leads, and for counters without empty nodes.
INCOMPLETE = {"dp-se", "dp-se-gauss", "dp-ucb", "gdp-elim-new"}
EPSILON = {
    "dp-ucb-int": 10.0,  # releases after 2, 5, 8, ... pulls
    **{"dp-se": 4.0, "dp-se-gauss": 16.0},  # means that differ by 0.9 decide
    "adac-gope": 0.001,  # noise that can decide
    **{"dp-ts": 200.0, "lazy-dp-ts": 20.0},  # means plus their bonus leave 1 within 48 rounds
}
ROUNDS = {
    **{"dp-se": 144, "dp-se-gauss": 144},  # two epochs of three arms and a third of two
    **{"gope": 60_000, "adac-gope": 60_000},  # three phases; rewards beyond the tables are -1
}
MOST_ROUNDS = 144
ELIMINATING = {"dp-se", "dp-se-gauss"}


class Case(NamedTuple):
    """Algorithm in one variant, with the horizon of its games."""

    algorithm: str
    params: Any
    rounds: int

    @property
    def module(self) -> Any:
        """Module of the algorithm."""
        return registry.algorithm(self.algorithm)

    def __str__(self) -> str:
        variants = [v.name.lower() for v in self.params if hasattr(v, "name")]
        return ", ".join([self.algorithm, *variants])

    def declared(self, arms: int) -> list[Release]:
        """Return the declared releases of these games."""
        rounds = self.rounds
        if self.algorithm in ELIMINATING:
            # Declared as if no arm were eliminated; with fewer arms, more epochs fit into a game.
            rounds *= arms
        return list(self.module.releases(self.params, arms, rounds))

    def matched(self, game: Game) -> list[Match]:
        """Return the releases of a game, assigned to the declared ones; or raise Undeclared."""
        # One draw per sum, or phases: statistics of several scales are declared as one release.
        is_single = getattr(self.params, "counter", None) is Counter.SINGLE
        rescaled = is_single or self.algorithm == "adac-gope"
        complete = self.algorithm not in INCOMPLETE and not getattr(self.params, "feed", 0)
        matches = matched(game, self.declared(len(game.table)), rescaled=rescaled)
        if complete and (missing := not_made(game, matches)):
            raise Undeclared(f"declared but not released: {missing[0]}")
        return matches

    @property
    def has_budget(self) -> bool:
        """True if the number of releases is bounded."""
        return self.composed(2) < math.inf

    def composed(self, arms: int) -> float:
        """Return the budget that these releases compose to; infinite if they need a delta.

        It is an epsilon, or a rho if the budget of the algorithm is one.
        """
        compose = composed_rho if hasattr(self.params, "rho") else composed_epsilon
        return compose(self.declared(arms))

    @property
    def pure(self) -> "Case":
        """The same case with delta = 0, where delta is part of the noise."""
        if self.algorithm == "gdp-elim-new":
            return self._replace(params=self.params._replace(delta=0.0))
        return self


def cases_of(algorithm: str) -> list[Case]:
    """Return the cases of an algorithm in every combination of its variants."""
    rounds = ROUNDS.get(algorithm, 48)
    every = readings_of(algorithm, rounds, EPSILON.get(algorithm, 1.0))
    if algorithm in ELIMINATING:
        every = [params._replace(horizon=1) for params in every]  # the smallest thresholds
    return [Case(algorithm, params, rounds) for params in every]


CASES = [case for algorithm in NUMBERS for case in cases_of(algorithm)]


@pytest.fixture(autouse=True, scope="module")
def in_short_games() -> Iterator[None]:
    """Play all games of a module that imports this fixture in plain Python, and shorten them.

    Epochs have 10, 14, 18, ... passes and phases 2, 4, 8, ... passes. The weights of EXP3 are
    rescaled when they exceed e instead of e^30.
    """

    def passes_of_epoch(params: Any, epoch: int, arms: int) -> float:
        return 4.0 * epoch + 5.5

    def passes_of_phase(params: Any, law: Any, gap: float) -> float:
        return 1.0 / gap - 0.25

    with (
        plain_python(),
        patch.object(dp_se, "passes_of_epoch", passes_of_epoch),
        patch.object(exp3, "STEP", 1.0),
        patch.object(gdp_elim_new, "passes_of_phase", passes_of_phase),
    ):
        yield


class Inputs(NamedTuple):
    """Rewards, noises in units of their scale, and uniform numbers of one game."""

    table: np.ndarray  # float64, shape (arms, rounds)
    noises: np.ndarray
    uniforms: np.ndarray


def random_inputs(seed: int) -> Inputs:
    """Return a random game; its noise is loud, low or, in every eighth game, zero."""
    rng = np.random.default_rng([21, seed])
    arms = int(rng.integers(2, 4))
    means = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0], (arms, 1))
    table = (rng.random((arms, MOST_ROUNDS)) < means) * 1.0
    if seed % 3 == 2:
        table = rng.random((arms, MOST_ROUNDS))
    loud = 0.0 if seed % 8 == 7 else 10.0 ** rng.uniform(-2.0, 2.0)
    noises = loud * rng.laplace(size=arms * MOST_ROUNDS + arms)
    return Inputs(table, noises, rng.random(4 * MOST_ROUNDS))


def game_of(case: Case, inputs: Inputs, per_round: bool = False, **options: Any) -> Game:
    """Play a game of a case, within `in_short_games`; runs of the leader are played if they may."""
    game = Game(*inputs, by_round=case.algorithm in BY_ROUND, **options)
    return played(case.module, case.params, case.rounds, game, per_round)


def rewards(release: Recorded) -> dict[tuple[int, int], float]:
    """Return the coefficient of every reward that a release reads, by arm and number."""
    return {
        (arm, number): factor
        for arm, first, last, factor in release.reads
        for number in range(first, last + 1)
    }
