"""One list says who takes part under a notion of privacy, and with how many runs."""

import functools
import json
import os
import subprocess
import sys
from typing import Any

import make_explorer
import numpy as np
import pytest

from dpbandits.config import compose
from dpbandits.drawing import formulas
from dpbandits.experiments import kinds
from dpbandits.experiments.regret import Game, RegretExperiment
from dpbandits.kernel.errors import UserError
from dpbandits.tables import references
from dpbandits.tables.series import STATISTICS, Series, identity

pytestmark = pytest.mark.usefixtures("in_checkout")
Listed = dict[str, set[tuple[str, str]]]  # labels and parameters by notion
ROUNDS = 3000


def listed(figure: str) -> list[tuple[str, set[tuple[str, str]]]]:
    """Return the notion of every panel, without its delta, and who takes part at epsilon = 0.1."""
    found = []
    for panel in compose.load(figure, [])[0].panels:
        members = {(c.label, repr(c.sources[c.x.index(0.1)].params)) for c in panel.curves if c.x}
        found.append(
            (formulas.without_tex(panel.row or panel.title).partition(", δ =")[0], members)
        )
    return found


def of_explorer() -> Listed:
    players, notions = make_explorer.lists()
    return {
        notion.partition(", δ =")[0]: {
            (players[name].curve.label, repr(players[name].params[0.1, 10**6]))
            for name in names
            if name != make_explorer.ALSO
        }
        for notion, names in notions.items()
    }


def test_leaderboard_its_view_and_the_explorer_agree_on_who_takes_part_with_which_parameters() -> (
    None
):
    explorer = of_explorer()
    concentrated = explorer.pop("ρ-zCDP")  # which it alone has
    assert len(explorer) == 4
    shown = dict(listed("leaderboard-epsilon"))
    assert shown == explorer
    for notion, members in listed("leaderboard"):
        assert members == explorer[notion.removesuffix(", 1,000,000 rounds")]
    # Its algorithms of pure DP are those of the every-round notion, which get a share of epsilon.
    pure, halved = (
        {label.partition(" (")[0] for label, _ in members if marked in label}
        for members, marked in (
            (concentrated, "(pure DP)"),
            (explorer["(ε, δ)-DP in every round"], "(epsilon/2)"),
        )
    )
    assert pure == halved
    claiming = {label for label, _ in concentrated if "(pure DP)" not in label}
    assert claiming == {"AdaC-UCB", "AdaC-UCB (beta=3.1)", "DP-SE-Gauss"}


def test_an_algorithm_of_pure_dp_plays_at_the_epsilon_that_implies_rho() -> None:
    player = make_explorer.lists().players["pure-dp-se"]
    for rho in make_explorer.EPSILONS:
        assert 0.5 * player.params[rho, 10**6].epsilon ** 2 == pytest.approx(rho, rel=1e-15)


def test_a_curve_that_gets_a_share_plays_it_of_every_budget() -> None:
    (panel,) = (p for p in compose.load("leaderboard-epsilon", [])[0].panels if p.letter == "c")
    (half,) = (c for c in panel.curves if c.name == "half-dp-se")
    played = [source.params.epsilon for source in half.sources]
    assert half.x is not None
    assert played == pytest.approx([x / 2 for x in half.x])


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("figure.curves.half-dp-se.share=2", "share"),
        ("+figure.curves.dp-ucb.split=x", "dp-ucb"),
        ("+figure.curves.adac-ucb.share=0.5", "no epsilon to share"),
        ("figure.notions.local=[dp-set]", "dp-set"),
        ("figure.notions.local=3", "figure.notions must be"),
    ],
)
def test_a_mistake_in_the_list_is_one_line_with_its_key(override: str, part: str) -> None:
    with pytest.raises(UserError, match=part) as raised:
        compose.load("leaderboard", [override])
    assert "\n" not in str(raised.value)


def test_a_mistake_in_the_list_names_the_file_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    read = compose._read_figure

    def spoilt(config: Any, *rest: Any) -> Any:
        config.figure.curves["dp-ucb"].counter = "nonsense"
        return read(config, *rest)

    monkeypatch.setattr(compose, "_read_figure", spoilt)
    with pytest.raises(UserError, match=r"conf/ranked/by-notion\.yaml"):
        compose.load("leaderboard", [])


# Runs --------------------------------------------------------------------------------------------


def decisions() -> dict[str, int]:
    """Return how often every ranked algorithm pulls in one game, by name; without the compiler."""
    from dpbandits.kernel import bandit

    calls, inside = [0], [False]

    def counted(function: Any) -> Any:
        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            outer = not inside[0]
            calls[0] += outer
            inside[0] = True
            try:
                return function(*arguments)
            finally:
                inside[0] = not outer

        return call

    for name in ("pull", "pull_many", "pull_each"):
        setattr(bandit, name, counted(getattr(bandit, name)))  # before an algorithm imports it
    found = {}
    spec, _ = compose.load("leaderboard", [f"figure.horizon={ROUNDS}"], is_variant=True)
    for curve in dict.fromkeys(c for p in spec.panels[::5] for c in p.curves):
        source = curve.sources[-1]
        assert isinstance(source, RegretExperiment)
        game = Game(source)
        game.policy, calls[0] = game.definition, 0
        game.play(0)
        found[curve.name] = calls[0]
    return found


def test_those_that_decide_far_less_often_than_every_round_have_the_runs_of_batched_ones() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)
    spec = compose.load("leaderboard", [])[0]
    runs = {curve.name: curve.runs for panel in spec.panels for curve in panel.curves}
    assert counts.keys() == runs.keys()
    for name, count in counts.items():
        if not name.startswith("dp-ftpl"):  # whose start phase is longer than this game
            assert (count < ROUNDS / 5) == (runs[name] == 10_000), (name, count)
            assert count < ROUNDS / 5 or count > ROUNDS / 2, (name, count)


# The explorer's cells of the leaderboard ---------------------------------------------------------


def table(mean: float, runs: int) -> list[Series]:
    columns: dict[str, Any] = dict.fromkeys(STATISTICS, np.array([mean, mean]))
    columns |= {"std": np.full(2, 100.0), "low": np.full(2, 70.0), "high": np.full(2, 130.0)}
    x = np.array([0.1, 1.0])
    return [
        Series(**identity(panel.letter, curve), runs=runs, slope=None, x=x, **columns)
        for panel in make_explorer.leaderboard().panels
        for curve in panel.curves
    ]


def test_the_explorer_reads_the_cells_of_the_leaderboard_from_its_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(references, "read_series", lambda spec, profile: table(95.0, 400))
    make_explorer.ranked.cache_clear()
    cells = make_explorer.ranked()
    make_explorer.ranked.cache_clear()
    notions = make_explorer.lists().notions
    ranked = [names for notion, names in notions.items() if notion != "ρ-zCDP"]
    named = {name for names in ranked for name in names} - {make_explorer.ALSO}
    five = {"c1", "c2", "c3", "c4", "wang-1"}
    assert cells.keys() == {(i, name, e) for i in five for name in named for e in (0.1, 1.0)}
    known: list[float] = [95, 5, 70, 95, 130, 400, 1]  # 5 of 95 are more than 5 %
    assert all(cell == known for cell in cells.values())
    for name in ("dp-klucb", "dp-se"):
        for game in make_explorer.experiments("c1", name, 0.1, 1):
            rounds = [*game.checkpoints()]
            own: list[list[float] | None] = [[float(t)] * 7 for t in rounds]
            found = make_explorer.with_ranked(own, game, known)
            replaced = [t for t, a, b in zip(rounds, own, found, strict=True) if a != b]
            longer = name == "dp-se" and kinds.words(game).arguments["horizon"] != 10**6
            assert replaced == ([] if longer else [10**6])


if __name__ == "__main__":
    print(json.dumps(decisions()))
