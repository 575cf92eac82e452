"""Moving the noise undoes a change of any reward, and costs no more than what is declared.

With the noise of every release moved by as much as a changed reward moves its statistic, the game
has the same arms. The density of a Laplace noise falls by a factor of at most e^-1 per scale, so
the moves in scales, added up, bound the loss of any outcome (azize2022, Definition 2: neighbours
differ in one reward). For Gaussian noise, half of the squared moves add up to rho. This covers at
least three epochs, episodes or releases of every kind, see test_recorded_releases.py, for all
private algorithms with noisy numbers and every reward of a game.
"""

from typing import NamedTuple

import numpy as np
import pytest
from planted_leaks import LEAKS, Leak, planted
from traced_games import (
    BY_ROUND,
    CASES,
    Case,
    Inputs,
    cases_of,
    game_of,
    random_inputs,
)
from traced_games import in_short_games as in_short_games

from dpbandits.contract.traced import Game, cost_of


class Undone(NamedTuple):
    """Game with one changed reward and moved noise: is it the same game, and the cost in budget."""

    is_same: bool
    cost: float


def undone(case: Case, inputs: Inputs, game: Game, arm: int, pull: int, changed: float) -> Undone:
    """Play with another value of one reward, and with noise that hides it."""
    table = inputs.table.copy()
    by = changed - table[arm, pull - 1]
    table[arm, pull - 1] = changed
    noises = inputs.noises.copy()
    cost = 0.0
    for release in game.releases:
        of, number = named(case, game, arm, pull)
        reading = (
            run for run in release.reads if run.arm == of and run.first <= number <= run.last
        )
        factor = sum(run.factor for run in reading)
        if factor:
            noises[release.noise.draw] -= by * factor / release.noise.scale
            if release.after < case.rounds:  # a choice follows
                cost += cost_of(release, by * factor)
    again = game_of(case, Inputs(table, noises, inputs.uniforms), traced=False)
    return Undone(again.arms == game.arms and again.draws == game.draws, cost)


def named(case: Case, game: Game, arm: int, pull: int) -> tuple[int, int]:
    """Return the name of a reward in the releases of a game."""
    if case.algorithm not in BY_ROUND:
        return arm, pull
    return arm, [t for t, of in enumerate(game.arms, start=1) if of == arm][pull - 1]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_moved_noise_undoes_a_change_of_any_reward(case: Case) -> None:
    case, largest = case.pure, 0.0
    for seed in (1, 2, 5, 7):
        inputs = random_inputs(seed)
        game = game_of(case, inputs)
        arms = len(inputs.table)
        most = case.composed(arms) * (1 + 1e-9)
        step = 3 if case.rounds > 48 else 1
        for arm in range(arms):
            pulls = min(game.arms.count(arm), inputs.table.shape[1])
            for pull in range(1 + seed % step, pulls + 1, step):
                changed = 1.0 - np.round(inputs.table[arm, pull - 1])
                same, cost = undone(case, inputs, game, arm, pull, changed)
                assert same, f"reward {pull} of arm {arm}"
                assert cost <= most
                largest = max(largest, cost)
    assert largest > 0.0


MISSING = [leak for leak in LEAKS if leak.name.startswith("no noise from")]


@pytest.mark.parametrize("leak", MISSING, ids=str)
def test_moved_noise_does_not_undo_a_change_that_leaks(leak: Leak) -> None:
    case = cases_of(leak.algorithm)[-1].pure
    with planted(leak):
        for seed in range(40):
            inputs = random_inputs(seed)
            game = game_of(case, inputs, strict=False)
            for arm in set(game.arms):
                for pull in range(1, 1 + min(game.arms.count(arm), 20)):
                    changed = 1.0 - np.round(inputs.table[arm, pull - 1])
                    if not undone(case, inputs, game, arm, pull, changed).is_same:
                        return
    pytest.fail("every change was undone")
