"""Exact schemes: blocks against the walk written out, and the same law as round by round."""

import itertools
import sys
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cells import ALGORITHMS, cell_of, readings_of
from hypothesis import given, settings
from hypothesis import strategies as st
from many_runs import final_outcomes

from dpbandits.algorithms import (
    dp_ftpl_new,
    dp_ucb,
    dp_ucb_bound,
    dp_ucb_int,
    imed,
    klucb,
    ldp_ucb_b,
    ldp_ucb_l,
    private_ucb,
    ucb,
)
from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.algorithms._hybrid_counters import Counter
from dpbandits.algorithms._local import Start
from dpbandits.cells.bandit_cell import Regret
from dpbandits.cells.play_bandit import play_run
from dpbandits.contract.playing import p_value
from dpbandits.core import registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.environments import bernoulli
from dpbandits.environments._entries import entries
from dpbandits.mechanisms import leader_runs
from dpbandits.mechanisms.binary import binary_counters
from dpbandits.mechanisms.counter import insert
from dpbandits.mechanisms.exact import exact_sums
from dpbandits.mechanisms.hybrid import hybrid_counters
from dpbandits.mechanisms.local_sums import local_sums
from dpbandits.mechanisms.randomised_response import chance_of_one

# Policies with a scheme of their own for Bernoulli arms.
SCHEMES = ["dp-ucb", "dp-ucb-bound", "imed", "klucb", "ldp-ucb-b", "ldp-ucb-l"]
SCHEMES += ["private-ucb", "ucb"]
LEADING = [
    n
    for n in ALGORITHMS
    if hasattr(sys.modules[registry.algorithm(n).play.__module__], "runs_ahead")
]
FIXED = settings(max_examples=150, derandomize=True, database=None, deadline=None)


def generator(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([*seed]))


def test_index_policies_in_which_only_the_pulled_arm_changes_run() -> None:
    leading = ["dp-ucb-bound", "imed", "klucb", "ldp-ucb-b", "ldp-ucb-l", "private-ucb", "ucb"]
    assert leading == LEADING


# One block, written out ---------------------------------------------------------------------------


def leaf_at(position: int, level: int) -> int:
    """Return the place, among the items of a block, of the one at a position in time.

    The halves of a block of n parts are its parts i < n/2 and n/2 <= i, so a block's first bit in
    time is the last bit of the place.
    """
    return int(f"{position:0{level}b}"[::-1], 2)


def nodes_of(level: int, noises: np.ndarray) -> dict[tuple[int, int], float]:
    """Return the noise of every inner node that ends inside a block, by its span of positions."""
    found, first = {}, 0
    for below in range(level):  # nodes over 2^below items; every other one is completed later
        width = 1 << level - below - 1
        for i in range(width):
            start = leaf_at(i, level - below - 1) << below + 1 if level > below + 1 else 0
            found[start, start + (1 << below)] = noises[first + i]
        first += width
    return found


def literal_block(
    items: np.ndarray, noises: np.ndarray, level: int, scale: float, line: float, slack: float
) -> tuple[int, float, float]:
    """Return how many pulls keep above the line, their sum, and the noise of their nodes."""
    nodes = nodes_of(level, noises)
    total = 0.0
    for pulls in range(1, 1 << level):
        total += items[leaf_at(pulls - 1, level)]
        noise, start = 0.0, 0
        for bit in reversed(range(level)):  # the nodes at the set bits of `pulls` cover the items
            if pulls >> bit & 1:
                noise += nodes[start, start + (1 << bit)] * scale
                start += 1 << bit
        if total + noise - line * pulls <= slack:
            return pulls, total, noise
    return 1 << level, items.sum(), noises[(1 << level) - 1] * scale


def ready(counters: Any, items: int, seed: int) -> float:
    """Put items into counter 1 and return its released sum."""
    rng = generator(seed)
    return [insert(counters, rng, 1, float(rng.random() < 0.5)) for _ in range(items)][-1]


COUNTERS = {
    "binary": lambda: binary_counters(2, 5000, 0.7),
    "hybrid": lambda: hybrid_counters(2, 5000, 0.7, 0.4),
    "exact": lambda: exact_sums(2),
}


@pytest.mark.parametrize("kind", COUNTERS)
def test_a_block_is_the_walk_written_out(kind: str) -> None:
    outcomes = set()
    for level, seed in itertools.product((3, 4, 6, 8), range(60)):
        # Aligned, and in a hybrid counter with room in its tree.
        start = (4 << level) + (1 << level) * (1 + seed % 3)
        counters = COUNTERS[kind]()
        released = ready(counters, start, seed)
        again = deepcopy(counters)
        law = bernoulli.law(bernoulli.Params((0.3, 0.6)))
        rng = generator(seed, 1)
        bandit = new_bandit(law, 2, 10**6, np.array([start + 5]), rng)
        draws, own = leader_runs.new_draws(), generator(seed, 2)
        leader_runs._draw(
            draws, rng, own, 8, True
        )  # the block begins somewhere in the drawn numbers
        line, slack = 0.55 + 0.1 * rng.random(), -rng.exponential(4.0 * 2 ** (level / 2))
        before = [*draws.used]
        pulls, after = leader_runs._pull_block(
            bandit, counters, draws, own, 1, level, line, slack, released
        )
        uniforms = draws.uniforms[before[0] : before[0] + (1 << level)]
        noises = draws.noises[before[1] : before[1] + (1 << level)]
        scale = leader_runs.tree_scale(counters, 1)
        noises = noises if kind != "exact" else 0.0 * draws.noises
        expected, total, _ = literal_block(
            (uniforms < 0.6) * 1.0, noises, level, scale, line, slack
        )
        assert pulls == expected
        assert bandit.pulls.tolist() == [0, pulls]
        outcomes.add((level, pulls == 1 << level))
        assert counters.items[1] == start + pulls
        if kind == "hybrid":
            assert counters.running[1] == pytest.approx(again.running[1] + total, rel=1e-12)
        check_released(again, counters, total, noises, level, pulls, after, scale)
    assert outcomes == set(itertools.product((3, 4, 6, 8), (True, False)))


def check_released(
    before: Any,
    counters: Any,
    total: float,
    noises: np.ndarray,
    level: int,
    pulls: int,
    released: float,
    scale: float,
) -> None:
    """Compare the released sum with that of the nodes at the set bits of the number of items."""
    if not hasattr(counters, "nodes"):
        assert released == counters.sums[1] == before.sums[1] + total
        return
    if pulls == 1 << level:
        # The block completes a node on its level or above; its noise is the block's last number.
        noise = noises[pulls - 1] * scale
        assert released == leader_runs.insert_block(before, 1, level, total, noise)
        return
    nodes, start, expected = nodes_of(level, noises), 0, None
    items = [0.0] * pulls
    items[0] = total  # any items of this sum: nodes add them
    for bit in reversed(range(level)):
        if pulls >> bit & 1:
            part = sum(items[start : start + (1 << bit)])
            noise = nodes[start, start + (1 << bit)] * scale
            expected = leader_runs.insert_block(before, 1, bit, part, noise)
            start += 1 << bit
    assert released == pytest.approx(expected, abs=1e-9)


@FIXED
@given(st.integers(0, 5000), st.integers(1, 600))
def test_a_block_is_aligned_and_fits(items: int, room: int) -> None:
    level = leader_runs._block_level(items, room)
    assert items % (1 << level) == 0
    assert 1 << level <= max(room, 1)
    assert level <= leader_runs.HIGHEST
    bigger = level + 1
    assert level == leader_runs.HIGHEST or items % (1 << bigger) or 1 << bigger > room


def test_a_tree_has_room_up_to_its_last_item() -> None:
    binary, hybrid = binary_counters(1, 1000, 1.0), hybrid_counters(1, 1000, 1.0, 1.0)
    rng = generator(1)
    for item in range(1, 1000):
        for counters in (binary, hybrid):
            insert(counters, rng, 0, 1.0)
        assert leader_runs.tree_room(binary, 0) == 1023 - item
        power = 1 << item.bit_length() - 1
        assert leader_runs.tree_room(hybrid, 0) == 2 * power - 1 - item
        assert leader_runs.tree_items(hybrid, 0) == item - power


class Numbered:
    """Stand-in for a generator: the noise of an item follows from the number of its draw."""

    def __init__(self) -> None:
        self.draws, self.scales = 0, list[float]()

    def laplace(self, location: float, scale: float) -> float:
        self.draws += 1
        self.scales.append(scale)
        return location + scale * float(generator(self.draws).laplace())


@pytest.mark.parametrize("kind", ["binary", "hybrid"])
@pytest.mark.parametrize("level", [3, 5])
def test_a_block_leaves_the_counter_as_its_items_do(kind: str, level: int) -> None:
    size = 1 << level
    for start in (256 + size, 256 + 2 * size, 256 + 6 * size):
        rng, single = Numbered(), COUNTERS[kind]()
        released = [
            insert(single, rng, 1, float(item % 3 == 0)) for item in range(start + 3 * size)
        ]
        other, block = Numbered(), COUNTERS[kind]()
        for item in range(start):
            insert(block, other, 1, float(item % 3 == 0))
        other.draws += size - 1
        scale = leader_runs.tree_scale(block, 1)
        noise = other.laplace(0.0, scale)
        total = sum(float(item % 3 == 0) for item in range(start, start + size))
        after = [leader_runs.insert_block(block, 1, level, total, noise)]
        after += [
            insert(block, other, 1, float(item % 3 == 0))
            for item in range(start + size, start + 3 * size)
        ]
        np.testing.assert_allclose(after, released[start + size - 1 :], rtol=1e-9)
        assert scale == rng.scales[start + size - 1]


# Items that are made private on their own ---------------------------------------------------------

PRIVATE_ITEMS = [ldp_ucb_b.Params(0.7), ldp_ucb_l.Params(0.7)]


@pytest.mark.parametrize("params", PRIVATE_ITEMS, ids=["bits", "noise"])
def test_every_item_of_a_block_has_a_private_version_and_a_number_of_its_own(params: Any) -> None:
    counters, rng = local_sums(params, 2), generator(3)
    used = list[float]()
    for turn in range(300):
        size = 8 << turn % 6
        items = (generator(turn, 1).random(size) < 0.5) * 1.0
        read = items.copy()
        leader_runs.read_block(counters, rng, read, size)
        last = counters.used[0]
        numbers = counters.drawn[last - size : last]
        used += numbers.tolist()
        if isinstance(params, ldp_ucb_b.Params):
            chances = [chance_of_one(item, 0.7) for item in items]
            np.testing.assert_array_equal(read, numbers < chances)
        else:
            np.testing.assert_allclose(read, items + numbers / 0.7, rtol=1e-15)
    assert len(set(used)) == len(used) > 4 * leader_runs.BUFFER


# Whole games --------------------------------------------------------------------------------------

C2 = (0.75, 0.625, 0.5, 0.375, 0.25)
BOUND, PRIVATE = dp_ucb_bound.Params, private_ucb.Params
CSS, OFF = private_ucb.Relaxation.CSS, private_ucb.Relaxation.OFF
GAMES: dict[str, tuple[str, Any, tuple[float, ...], int]] = {
    "UCB, C2": ("ucb", ucb.Params(), C2, 10_000),
    "UCB, close": ("ucb", ucb.Params(), (0.75, 0.7, 0.6), 20_000),
    "UCB, equal": ("ucb", ucb.Params(), (0.5, 0.5), 5_000),
    "IMED, C2": ("imed", imed.Params(), C2, 10_000),
    "IMED, close": ("imed", imed.Params(), (0.75, 0.7, 0.6), 10_000),
    "IMED, ties": ("imed", imed.Params(ties=Ties.RANDOM), (1.0, 0.9, 0.0), 5_000),
    "KL-UCB, C2": ("klucb", klucb.Params(), C2, 10_000),
    "KL-UCB, close": ("klucb", klucb.Params(), (0.75, 0.7, 0.6), 10_000),
    "KL-UCB, limits": ("klucb", klucb.Params(), (1.0, 0.98, 0.0), 5_000),
    "Private-UCB": ("private-ucb", PRIVATE(1.0, 10_000), C2, 10_000),
    "Private-UCB, css": ("private-ucb", PRIVATE(1.0, 9_000, relaxation=CSS), C2, 9_000),
    "Private-UCB, off": ("private-ucb", PRIVATE(0.1, 5_000, relaxation=OFF), (0.5, 0.4), 5_000),
    "Private-UCB, round": (
        "private-ucb",
        PRIVATE(1.0, 5_000, decay=private_ucb.Decay.ROUND, split=private_ucb.Split.NONE),
        (0.9, 0.6),
        5_000,
    ),
    "Bound": ("dp-ucb-bound", BOUND(20.0), C2, 8_000),
    "Bound, no powers": (
        "dp-ucb-bound",
        BOUND(1.0, power_of_two=dp_ucb_bound.PowerOfTwo.OFF),
        (0.9, 0.6),
        5_000,
    ),
    "DP-UCB": ("dp-ucb", dp_ucb.Params(1.0), C2, 3_000),
    "DP-UCB, two arms": ("dp-ucb", dp_ucb.Params(1.0), (0.9, 0.6), 1_000),
    "DP-UCB, split": (
        "dp-ucb",
        dp_ucb.Params(5.0, counter=Counter.HYBRID_SPLIT),
        tuple(0.3 + 0.01 * arm for arm in range(40)),
        1_000,
    ),
    "Int, every round": (
        "dp-ucb-int",
        dp_ucb_int.Params(20.0, noise=dp_ucb_int.Noise.EVERY_ROUND),
        (0.9, 0.6, 0.5),
        3_000,
    ),
    "Int, every round, 40 arms": (
        "dp-ucb-int",
        dp_ucb_int.Params(
            5.0, schedule=dp_ucb_int.Schedule.CONSTANT, noise=dp_ucb_int.Noise.EVERY_ROUND
        ),
        tuple(0.3 + 0.01 * arm for arm in range(40)),
        2_000,
    ),
    "Bound, single": (
        "dp-ucb-bound",
        BOUND(5.0, counter=Counter.SINGLE),
        (0.9, 0.6),
        5_000,
    ),
    "Bits": ("ldp-ucb-b", ldp_ucb_b.Params(1.0), C2, 8_000),
    "Bits, sharp": ("ldp-ucb-b", ldp_ucb_b.Params(5.0), (0.9, 0.6), 5_000),
    "Bits, phantom": ("ldp-ucb-b", ldp_ucb_b.Params(2.0, Start.PHANTOM), (0.9, 0.6, 0.3), 5_000),
    "Local noise": ("ldp-ucb-l", ldp_ucb_l.Params(2.0), C2, 8_000),
    "Local noise, low": ("ldp-ucb-l", ldp_ucb_l.Params(50.0), (0.9, 0.1), 10_000),
    "Local noise, phantom": (
        "ldp-ucb-l",
        ldp_ucb_l.Params(10.0, Start.PHANTOM),
        (0.9, 0.6, 0.3),
        5_000,
    ),
}


@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
@pytest.mark.parametrize("algorithm", LEADING)
def test_a_leader_is_kept_just_as_long_as_it_leads(algorithm: str, epsilon: float) -> None:
    # Rewards that are no coins are pulled one by one, from the same streams in both modes. With
    # little noise and few arms, a line or a bonus that is a little off would change the pulls.
    for params in readings_of(algorithm, 3000, epsilon):
        cell = replace(cell_of(algorithm, "beta", (0.6, 0.55, 0.5), 3000, epsilon), params=params)
        for run in range(2):
            kept, chosen = play_run(cell, run), play_run(cell, run, per_round=True)
            np.testing.assert_array_equal(kept.curve, chosen.curve)


@pytest.mark.parametrize("means", [(0.75, 0.6, 0.25), (0.5, 0.5), (1.0, 0.98), (0.9, 0.0)], ids=str)
def test_klucb_keeps_its_leader_just_as_long_on_coins(means: tuple[float, ...]) -> None:
    # Coins are drawn one by one if received rewards are recorded.
    cell = replace(cell_of("klucb", "bernoulli", means, 5000, 1.0), regret=Regret.REALISED)
    for run in range(5):
        kept, chosen = play_run(cell, run), play_run(cell, run, per_round=True)
        np.testing.assert_array_equal(kept.curve, chosen.curve)
        np.testing.assert_array_equal(kept.pulls, chosen.pulls)


def test_imed_plays_runs_of_the_arm_of_largest_mean_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    leaders: list[int] = []  # whose runs are planned
    planned: list[bool] = []  # for every decision
    bound, pull = imed.largest_mean_to_catch_up, leader_runs.pull_while_leading

    def recorded_bound(mean: Any, pulls: Any, leader: int, last: int) -> Any:
        assert mean[leader] == mean.max()
        leaders.append(leader)
        return bound(mean, pulls, leader, last)

    def recorded_pull(
        bandit: Any, counters: Any, draws: Any, rng: Any, arm: int, *more: Any
    ) -> Any:
        planned.append(bool(leaders))
        if leaders:
            assert arm == leaders.pop()
        return pull(bandit, counters, draws, rng, arm, *more)

    monkeypatch.setattr(imed, "largest_mean_to_catch_up", recorded_bound)
    monkeypatch.setattr(imed, "pull_while_leading", recorded_pull)
    law = bernoulli.law(bernoulli.Params((0.75, 0.7, 0.6)))
    bandit = new_bandit(law, 3, 2000, np.array([2000]), generator(1))
    getattr(imed.play, "py_func", imed.play)(imed.Params(), bandit, generator(2))
    assert planned.count(True) > 10
    assert planned.count(False) > 10


RUNS = 2000
# 232 comparisons: a false alarm has probability 0.023 in all. With 2,000 runs each, a shift of the
# mean by a fifth of the standard deviation has a p-value near 1e-7.
LIMIT = 1e-4


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_runs_of_the_leader_have_the_law_of_single_rounds(game: str) -> None:
    algorithm, params, means, horizon = GAMES[game]
    coins = bernoulli.law(bernoulli.Params(means))
    fast, slow = (
        final_outcomes(algorithm, params, coins, len(means), horizon, seed, RUNS, per_round)
        for seed, per_round in ((1, False), (2, True))
    )
    for column in range(fast.shape[1]):
        assert p_value(fast[:, column], slow[:, column]) > LIMIT


@pytest.mark.long
@pytest.mark.parametrize("algorithm", SCHEMES)
def test_the_regret_on_the_way_has_the_same_law(algorithm: str) -> None:
    rounds = np.array([30, 200, 1500, 4000])
    curves = []
    for per_round in (False, True):
        cell = cell_of(algorithm, "bernoulli", (0.7, 0.6, 0.5), 5000, epsilon=2.0, seed=per_round)
        kept = np.isin(cell.checkpoints(), [cell.checkpoints()[-1]]) | np.isin(
            cell.checkpoints(), cell.checkpoints()[np.searchsorted(cell.checkpoints(), rounds)]
        )
        curves.append(np.array([play_run(cell, run, per_round).curve[kept] for run in range(400)]))
    for column in range(curves[0].shape[1]):
        assert p_value(curves[0][:, column], curves[1][:, column]) > LIMIT


@pytest.mark.parametrize("algorithm", SCHEMES)
def test_a_checkpoint_inside_a_block_has_the_exact_counts(algorithm: str) -> None:
    # Checkpoints after every round and none: the same pulls, and the curve counts every one.
    cell = cell_of(algorithm, "bernoulli", (0.8, 0.5), 3000, epsilon=10.0)
    module = registry.algorithm(algorithm)

    def play(checkpoints: np.ndarray) -> Bandit:
        law = bernoulli.law(bernoulli.Params((0.8, 0.5)))
        bandit = new_bandit(law, 2, 3000, checkpoints, generator(4))
        module.play(cell.params, bandit, generator(5))
        return bandit

    every, none = play(np.arange(1, 3001)), play(np.empty(0, np.int64))
    np.testing.assert_array_equal(every.pulls, none.pulls)
    steps = np.diff(every.curve, prepend=0.0)
    assert set(np.round(steps, 9)) == {0.0, 0.3}
    assert every.curve[-1] == pytest.approx(0.3 * every.pulls[1], rel=1e-12)


@pytest.mark.parametrize("algorithm", SCHEMES)
def test_where_nothing_is_random_blocks_pull_as_single_rounds_do(algorithm: str) -> None:
    # Every reward of an arm is the same, and noise is 10^-9 times as large: equal choices.
    cell = cell_of(algorithm, "bernoulli", (1.0, 0.0), 700, epsilon=1e9)
    curves = []
    for per_round in (False, True):
        law = bernoulli.law(bernoulli.Params((1.0, 0.0)))
        bandit = new_bandit(law, 2, 700, np.arange(1, 701), generator(1), per_round)
        registry.algorithm(algorithm).play(cell.params, bandit, generator(2))
        curves.append(bandit.curve)
    blocks, single = curves
    np.testing.assert_array_equal(blocks, single)
    assert 1 <= blocks[-1] <= 100


def test_most_rounds_of_a_long_lead_are_played_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    # In plain Python: how many rounds are single, and how blocks end.
    real, blocks = leader_runs._pull_block, []

    def counted(*arguments: Any) -> Any:
        pulls, released = real(*arguments)
        blocks.append((pulls, 1 << arguments[5]))
        return pulls, released

    monkeypatch.setattr(leader_runs, "_pull_block", counted)
    law = bernoulli.law(bernoulli.Params((0.8, 0.5)))
    bandit = new_bandit(law, 2, 6000, np.array([6000]), generator(1))
    play: Any = private_ucb.play
    getattr(play, "py_func", play)(PRIVATE(10.0, 6000), bandit, generator(2))
    assert sum(pulls for pulls, _ in blocks) > 2500
    assert {pulls == size for pulls, size in blocks} == {True, False}


# Audits ------------------------------------------------------------------------------------------

FIXED_REWARDS = {
    "DP-UCB": ("dp-ucb", dp_ucb.Params(2.0), 2),
    "DP-UCB, split, many arms": ("dp-ucb", dp_ucb.Params(8.0, Counter.HYBRID_SPLIT), 40),
    "DP-UCB, single": ("dp-ucb", dp_ucb.Params(4.0, Counter.SINGLE), 3),
    "DP-FTPL-New": ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.001, 200), 2),
    "DP-FTPL-New, many arms": ("dp-ftpl-new", dp_ftpl_new.Params(1.0, 0.01, 200), 40),
}


def games_on_a_table(name: str, seed: int, per_round: bool, games: int = 2_000) -> np.ndarray:
    """Return the pulls of three arms and the arms of three rounds, a row for every game."""
    algorithm, params, arms = FIXED_REWARDS[name]
    rounds = 200
    table = generator(7).random((arms, rounds)) < np.linspace(0.7, 0.3, arms)[:, None]
    rng, unused = generator(seed), generator(0)
    play = None
    rows = []
    for _ in range(games):
        law = entries(table.astype(float))
        bandit = new_bandit(law, arms, rounds, np.array([rounds]), unused, per_round)
        play = play or specialised(registry.algorithm(algorithm).play, params, bandit, rng)
        play(params, bandit, rng)
        assert bandit.pulls.sum() == rounds
        rows.append([*bandit.pulls[[0, arms // 2, -1]], *law.played[[arms, 100, -1]]])
    return np.array(rows)


@pytest.mark.long
@pytest.mark.parametrize("name", FIXED_REWARDS)
def test_noise_drawn_ahead_in_an_audit_has_the_law_of_single_draws(name: str) -> None:
    # 30 comparisons; a shift of a mean by a sixth of the standard deviation has p near 1e-7.
    ahead, single = games_on_a_table(name, 1, False), games_on_a_table(name, 2, True)
    alike = games_on_a_table(name, 1, True, games=100)
    assert (ahead[:100] != alike).any(), "the same draws: nothing is compared"
    for column in range(ahead.shape[1]):
        assert p_value(ahead[:, column], single[:, column]) > 1e-4
