"""The releases that a game makes are those that its algorithm declares, one by one.

Every private algorithm with noisy numbers plays short games in all its variants: at least three
epochs, episodes, phases, or nodes of every kind. Leaks that pass a test of the first epoch are
planted, and each is detected.
"""

import itertools
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import pytest
from cells import ALGORITHMS, BLIND
from planted_leaks import LEAKS, Leak, planted
from traced_games import CASES, NUMBERS, Case, cases_of, game_of, random_inputs, rewards
from traced_games import in_short_games as in_short_games

from dpbandits.contract.declared import Undeclared, by_arm, most_spent
from dpbandits.contract.traced import Game, Unreleased, of_choices
from dpbandits.kernel import registry

GAMES = 8
EVERY_REWARD = {"dp-exp3-lap", "dp-lambda-lap", "ldp-ucb-l"}  # released by itself
SAMPLED = {"dp-ftpl-beta", "dp-ftpl-gauss", "dp-ftpl-new"}  # see test_next_choice.py


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_recorded_release_is_declared_and_every_declared_one_is_made(case: Case) -> None:
    largest = 0.0
    for seed in range(GAMES):
        game = game_of(case, random_inputs(seed))
        assert sum(len(match.recorded) for match in case.matched(game)) == len([*by_arm(game)])
        composed = case.composed(len(game.table))
        most = most_spent(game)
        assert most <= composed * (1 + 1e-9)
        largest = max(largest, most / composed)
    if case.has_budget:
        assert largest > 0.6, "the games spend too little to show that the declaration is needed"


@pytest.mark.parametrize("algorithm", NUMBERS)
def test_the_games_reach_three_releases_of_every_kind(algorithm: str) -> None:
    sequences = set()
    for case in cases_of(algorithm):
        lengths: Counter[int] = Counter()
        of_one_arm = 0
        for seed in range(GAMES):
            game = game_of(case, random_inputs(seed))
            made = of_choices(game)
            lengths.update(len(rewards(release)) for release in made)
            arms = Counter(release.reads[0].arm for release in made)
            of_one_arm = max(of_one_arm, *arms.values())
            sequences.add(tuple(game.arms))
        assert of_one_arm >= 3
        if algorithm not in EVERY_REWARD:
            assert sum(made >= 3 for made in lengths.values()) >= 3, lengths
    assert len(sequences) > 2, "the same arms in all games: no release decided anything"


def test_epochs_end_with_eliminations_and_without() -> None:
    widths: dict[str, set[tuple[int, ...]]] = {"dp-se": set(), "gdp-elim-new": set()}
    for algorithm, of_algorithm in widths.items():
        case, *_ = cases_of(algorithm)
        for seed in range(60):
            game = game_of(case, random_inputs(seed))
            of_algorithm.add((*Counter(release.after for release in of_choices(game)).values(),))
    # Arms with a mean, epoch by epoch.
    assert {(3, 3, 3), (3, 2, 2, 2), (3, 2), (3,), (2, 2, 2, 2), (2,)} <= widths["dp-se"]
    assert {(3, 3, 3), (3, 3), (3,), (2, 2, 2), (2, 2), (2,)} <= widths["gdp-elim-new"]


@pytest.mark.parametrize("algorithm", NUMBERS)
def test_the_games_reach_every_line_of_a_policy_and_its_mechanisms(algorithm: str) -> None:
    reached: dict[CodeType, set[int]] = {}

    def of_function(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            reached[frame.f_code].add(frame.f_lineno)
        return of_function

    def of_call(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        is_of_policy = "/dpbandits/algorithms/" in file and not file.endswith("_linear.py")
        if is_of_policy or "/dpbandits/mechanisms/" in file:
            reached.setdefault(frame.f_code, set())
            return of_function
        return None

    cases = cases_of(algorithm)
    before = sys.gettrace()
    sys.settrace(of_call)
    try:
        for case, seed in itertools.product(cases, range(GAMES)):
            game_of(case, random_inputs(seed))
    finally:
        sys.settrace(before)
    missed = {
        f"{code.co_name}, line {line}"
        for code, lines in reached.items()
        for _, _, line in code.co_lines()
        if line is not None and line not in {*lines, code.co_firstlineno}
    }
    assert "play" in {code.co_name for code in reached}
    assert not missed, sorted(missed)


@pytest.mark.parametrize("algorithm", sorted({*ALGORITHMS} - {*NUMBERS} - BLIND - SAMPLED))
def test_a_policy_without_noise_depends_on_rewards_that_are_not_released(
    algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not private at all, or private by the draw of the arm: the power of the record.
    module: Any = registry.algorithm(algorithm)
    for name, value in vars(module).copy().items():  # compiled code accepts no record
        if name != "play" and hasattr(value, "py_func"):
            monkeypatch.setattr(module, name, value.py_func)
    with pytest.raises(Unreleased, match="without noise"):
        game_of(cases_of(algorithm)[0], random_inputs(0))


@pytest.mark.parametrize("leak", LEAKS, ids=str)
def test_a_planted_leak_is_detected(leak: Leak) -> None:
    def matches_all_games() -> None:
        for case, seed in itertools.product(cases_of(leak.algorithm), range(GAMES)):
            case.matched(game_of(case, random_inputs(seed)))

    with planted(leak), pytest.raises((Undeclared, Unreleased), match=leak.message):
        matches_all_games()


def test_the_sum_of_two_arms_is_not_one_release() -> None:
    (case, *_) = CASES
    inputs = random_inputs(0)
    game = Game(*inputs)
    both = game.reward(0) + game.reward(1)
    both + game.laplace(0.0, 1.0)
    game.reward(0)
    with pytest.raises(Undeclared, match="one release reads the arms"):
        case.matched(game)


def test_a_noise_covers_one_release() -> None:
    game = Game(*random_inputs(0))
    noise = game.laplace(0.0, 1.0)
    noise + game.reward(0)
    with pytest.raises(Unreleased, match="a second release"):
        noise + game.reward(0)


@pytest.mark.parametrize(
    "use", [float, int, bool, abs, hash, lambda x: x > 0, lambda x: x <= 0.5, lambda x: x == 1]
)
def test_a_reward_without_noise_decides_nothing(use: Any) -> None:
    game = Game(*random_inputs(0))
    with pytest.raises(Unreleased, match="depends on a sum of 1 rewards without noise"):
        use(game.reward(0) / 2 - 1)
