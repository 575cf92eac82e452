"""Independence of the oracles, and the streams that they share with the package."""

import ast
from pathlib import Path

import numpy as np
import pytest
from streams import Draws, Game, bernoulli_rewards, policy_stream, regret_curve, reward_stream

FILES = sorted((Path(__file__).parents[1] / "oracles").glob("*.py"))


def imported(source: str) -> set[str]:
    """Return the top-level packages that a source imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_oracle_imports_no_line_of_the_package(file: Path) -> None:
    outside = {"collections", "dataclasses", "decimal", "fractions", "itertools", "math", "typing"}
    allowed = outside | {"numpy", "scipy"} | {file.stem for file in FILES}
    assert imported(file.read_text()) <= allowed


def test_the_record_of_a_game_is_what_was_played() -> None:
    game = Game(2, 3, bernoulli_rewards((0.7, 0.4), reward_stream(5)))
    paid = [game.pull(arm) for arm in (1, 0, 1)]
    uniform = reward_stream(5).random(3)
    assert paid == game.rewards == (uniform < [0.4, 0.7, 0.4]).tolist()
    assert game.played == [1, 0, 1]
    assert game.over
    np.testing.assert_allclose(regret_curve(game.played, (0.7, 0.4)), [0.3, 0.3, 0.6])


def test_every_draw_is_recorded_with_its_arguments() -> None:
    draws = Draws(policy_stream(5))
    values = [draws.laplace(0.0, 2.0), draws.random(), draws.normal(1.0, 3.0)]
    assert [draw.value for draw in draws.log] == values
    assert [draw[:2] for draw in draws.log] == [
        ("laplace", (0.0, 2.0)),
        ("random", ()),
        ("normal", (1.0, 3.0)),
    ]
