"""Equal releases give equal arms, whatever the rewards are.

Every game is played twice, with all rewards different. In the second game every release gets the
value that it had in the first. A policy that uses anything but its releases then plays other arms.
"""

import itertools

import pytest
from planted_leaks import LEAKS, Leak, planted
from traced import Game
from traced_games import (
    CASES,
    NUMBERS,
    Case,
    Inputs,
    cases_of,
    game_of,
    random_inputs,
)
from traced_games import in_short_games as in_short_games

GAMES = range(100, 124)  # of every case: more than a thousand in all


def pair(case: Case, seed: int, *, pinned: bool = True) -> tuple[Game, Game]:
    """Play two games with different rewards; with equal releases if `pinned`."""
    inputs = random_inputs(seed)
    first = game_of(case, inputs, strict=False)
    other = Inputs(1.0 - inputs.table, inputs.noises, inputs.uniforms)
    values = [release.value for release in first.releases] if pinned else []
    return first, game_of(case, other, strict=False, pinned=values)


def interferes(case: Case, seed: int) -> bool:
    """Return True if two games with equal releases differ in an arm or in the noise drawn."""
    first, second = pair(case, seed)
    return first.arms != second.arms or first.draws != second.draws


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equal_releases_and_different_rewards_give_equal_arms(case: Case) -> None:
    for seed in GAMES:
        assert not interferes(case, seed), f"game {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_they_do_in_thousands_of_games_each(case: Case) -> None:
    for seed in range(1000, 3000):
        assert not interferes(case, seed), f"game {seed}"


@pytest.mark.parametrize("algorithm", NUMBERS)
def test_without_equal_releases_the_rewards_decide(algorithm: str) -> None:
    # The power of the comparison: the rewards matter in these games.
    case = cases_of(algorithm)[0]
    games = [pair(case, seed, pinned=False) for seed in range(40)]
    assert sum(first.arms != second.arms for first, second in games) >= 4


@pytest.mark.parametrize("leak", LEAKS, ids=str)
def test_a_leak_interferes_unless_only_its_noise_is_too_small(leak: Leak) -> None:
    cases = cases_of(leak.algorithm)[:3]
    with planted(leak):
        interfered = any(
            interferes(case, seed) for seed, case in itertools.product(range(24), cases)
        )
    assert interfered != leak.keeps_arms
