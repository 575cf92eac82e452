"""The audit counts correctly, its bounds hold, and it detects a loss where there is one."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import joblib
import numpy as np
import pytest
from commands import DPBANDITS, Process
from in_process import called
from scipy.stats import binom, binomtest

from dpbandits.algorithms import adap_ucb, dp_ftpl_gauss, dp_ucb_int
from dpbandits.algorithms._adaptive_episodes import Ties
from dpbandits.audit import designs, events, stream_names
from dpbandits.audit import games as audit_games
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event, Loss, best_event
from dpbandits.audit.games import BLOCK, block_of_games, counts_of_games
from dpbandits.audit.kernels import (
    WINDOW,
    Feature,
    count,
    features,
    first_choice,
    number_of_cells,
)
from dpbandits.audit.search import AuditFinding, Auditor, Candidate
from dpbandits.audit.stream_names import Part
from dpbandits.audit.subject import Limit, Subject
from dpbandits.core import registry
from dpbandits.core.bandit import new_bandit, pull, pull_many
from dpbandits.core.errors import UserError
from dpbandits.environments._entries import entries
from dpbandits.privacy.notions import Notion, budget_of

pytestmark = pytest.mark.usefixtures("in_checkout")


# Bounds ------------------------------------------------------------------------------------------


def subject_of(algorithm: str, **settings: float) -> Subject:
    """Return the subject of an audit."""
    return Subject(algorithm, tuple(settings.items()))


@pytest.mark.parametrize(("count", "games"), [(0, 10), (3, 10), (10, 10), (700, 10_000)])
def test_the_bounds_on_a_probability_are_those_of_clopper_and_pearson(
    count: int, games: int
) -> None:
    exact = binomtest(count, games).proportion_ci(1.0 - events.ERROR, "exact")
    assert float(events.lower(count, games)) == pytest.approx(exact.low, rel=1e-9)
    assert float(events.upper(count, games)) == pytest.approx(exact.high, rel=1e-9)


@pytest.mark.parametrize("games", [50, 200])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.2), (0.1, 0.05), (0.02, 0.02), (0.9, 0.3)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_bound_exceeds_the_truth_in_one_audit_of_a_hundred_at_most(
    p: float, q: float, delta: float, games: int
) -> None:
    counts = np.arange(games + 1)
    chance = np.outer(binom.pmf(counts, games, p), binom.pmf(counts, games, q))
    low, high = events.lower(counts, games)[:, None], events.upper(counts, games)[None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilon = np.where(low > delta, np.log((low - delta) / high), 0.0)
    wrong = (epsilon > max(0.0, math.log((p - delta) / q))) | (
        low - math.exp(0.3) * high > max(0.0, p - math.exp(0.3) * q)
    )
    assert chance[wrong].sum() <= events.ERROR


def test_a_loss_is_made_of_these_bounds() -> None:
    loss = Loss(700, 90, 10_000)
    p, q = float(events.lower(700, 10_000)), float(events.upper(90, 10_000))
    assert loss.epsilon(0.0) == pytest.approx(math.log(p / q))
    assert loss.epsilon(0.01) == pytest.approx(math.log((p - 0.01) / q))
    assert loss.delta(1.0) == pytest.approx(p - math.e * q)
    assert loss.likely_epsilon(0.01) == pytest.approx(math.log((0.07 - 0.01) / 0.009))


def test_an_event_that_never_happens_proves_nothing() -> None:
    assert (Loss(0, 0, 1000).epsilon(0.0), Loss(0, 0, 1000).delta(1.0)) == (0.0, 0.0)
    assert Loss(5, 5, 1000).epsilon(0.1) == 0.0
    assert Loss(0, 0, 1000).likely_epsilon(0.0) == 0.0
    assert Loss(9, 0, 1000).likely_epsilon(0.0) == math.inf


def test_identical_games_prove_little() -> None:
    rng = np.random.default_rng(1)
    cells, games = 5000, 100_000
    alike = [rng.multinomial(games, np.full(cells, 1 / cells), 2) for _ in range(2)]
    proved, _ = best_event((alike[0], alike[1]), games, [Feature("", 0, cells)], 0.0)
    assert proved < 0.05


@pytest.mark.parametrize("swapped", [False, True])
def test_differing_cells_are_selected_whichever_table_makes_them_likelier(swapped: bool) -> None:
    rng = np.random.default_rng(2)
    first = np.full(100, 0.01)
    second = first.copy()
    second[[7, 50]] = 0.004
    second[3] += 0.012
    laws = (second, first) if swapped else (first, second)
    games = 200_000
    drawn = [np.stack([rng.multinomial(games, law) for law in laws]) for _ in range(2)]
    wanted = [Feature("not this", 60, 100), Feature("this", 0, 60)]
    proved, event = best_event((drawn[0], drawn[1]), games, wanted, 0.0)
    assert event is not None
    assert (event.feature.words, event.swapped) == ("this", swapped)
    assert math.log(2.5) - 0.2 < proved < math.log(2.5)
    assert set(event.cells) == {7, 50}
    more, fewer = event.counted(drawn[0])
    assert more > fewer


# Counts ------------------------------------------------------------------------------------------


def plain_features(played: list[int], arms: int, arm: int, index: int) -> list[object]:
    """Return the features of a game as features.py defines them, without hashes."""
    rounds = len(played)
    ends = [t for t in range(1, rounds + 1) if 4 * t // rounds != 4 * (t - 1) // rounds]
    quarters = tuple(played[:t].count(arm) for t in ends)
    places = [t for t, chosen in enumerate(played) if chosen == arm]
    at = places[index - 1] + 1 if len(places) >= index else rounds
    return [
        *played,
        *(played.count(a) for a in range(arms)),
        quarters,
        tuple(played[at : at + WINDOW]),
        tuple(played),
    ]


def assert_counts(counts: np.ndarray, games: list[list[object]], arms: int, rounds: int) -> None:
    """Compare the counts with the features of the games, counted one by one."""
    found = features(arms, rounds)
    assert len(found) == len(games[0])
    assert found[-1].stop == number_of_cells(arms, rounds) == len(counts)
    for number, feature in enumerate(found):
        own = counts[feature.first : feature.stop]
        seen = Counter(game[number] for game in games)
        assert own.sum() == len(games)
        if number < rounds + arms:
            assert {int(cell): own[cell] for cell in own.nonzero()[0]} == seen
        else:  # hashed: the same groups of games
            assert sorted(own[own > 0]) == sorted(seen.values())


def test_parameters_of_other_types_are_not_played_by_the_same_machine_code() -> None:
    # As an integer, an epsilon of 0.05 would be 0.
    table = np.zeros((2, 24))
    table[0] = designs.spread(0.4, 24)
    design = designs.flipped("a name", "a table", table, 3)

    def counts(epsilon: float) -> np.ndarray:
        params = adap_ucb.Params(epsilon)
        return block_of_games("adap-ucb", params, design, table, np.random.default_rng(5), 300)

    expected = counts(0.05)
    audit_games._tallies.clear()
    counts(1)
    np.testing.assert_array_equal(counts(0.05), expected)


@pytest.mark.parametrize(("arms", "rounds", "index"), [(2, 24, 3), (3, 31, 1), (2, 24, 20)])
def test_the_counts_are_those_of_the_games_told_one_by_one(
    arms: int, rounds: int, index: int
) -> None:
    table = np.zeros((arms, rounds))
    table[0] = designs.spread(0.4, rounds)
    design = designs.flipped("a name", "a table", table, index)
    params, games = adap_ucb.Params(1.0), 300
    counts = block_of_games("adap-ucb", params, design, table, np.random.default_rng(5), games)
    rng, law = np.random.default_rng(5), entries(table)
    own_features = []
    for _ in range(games):
        law.read[:] = 0
        bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), np.random.default_rng(0))
        adap_ucb.play(params, bandit, rng)
        own_features.append(plain_features(law.played.tolist(), arms, 0, index))
    assert_counts(counts, own_features, arms, rounds)


def test_the_counts_are_those_of_sequences_with_equal_parts() -> None:
    # 27 games: beginnings that end with the changed entry, the second of arm 0, the arms of the
    # window after it, and ends.
    arms, index = 2, 2
    begins = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]])
    rng = np.random.default_rng(1)
    windows, ends = (rng.integers(0, arms, (3, length)) for length in (WINDOW, 4))
    played = [np.concatenate(parts) for parts in product(begins, windows, ends)]
    rounds = len(played[0])
    counts = np.zeros(number_of_cells(arms, rounds), np.uint32)
    with np.errstate(over="ignore"):  # of the hashes
        for game in played:
            count(game, np.bincount(game, minlength=arms), 0, index, counts)
    own_features = [plain_features(game.tolist(), arms, 0, index) for game in played]
    assert_counts(counts, own_features, arms, rounds)


def test_a_pull_reads_the_next_entry_of_its_arm() -> None:
    table = np.arange(10.0).reshape(2, 5) / 16
    law = entries(table)
    bandit = new_bandit(law, 2, 5, np.empty(0, np.int64), np.random.default_rng(0))
    seen = [pull(bandit, 1), pull_many(bandit, 0, 2), pull(bandit, 1), pull(bandit, 1)]
    assert seen == [table[1, 0], table[0, 0] + table[0, 1], table[1, 1], table[1, 2]]
    assert law.played.tolist() == [1, 0, 0, 1, 1]


def test_threads_and_blocks_do_not_move_a_count() -> None:
    design = next(designs.constant(8))
    games = 2 * BLOCK + 17
    parallel = joblib.Parallel(2, prefer="threads", return_as="generator_unordered")
    arguments = "adap-ucb", adap_ucb.Params(1.0), design, games, 3, Part(0, False)
    alone = counts_of_games(*arguments)
    assert (alone == counts_of_games(*arguments, parallel)).all()
    assert alone[:, :2].sum() == 2 * games
    other = counts_of_games(*arguments[:-1], Part(1, False))
    assert (alone != other).any()


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize(("own", "other"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
def test_the_first_choice_of_adap_ucb_has_the_law_of_two_laplace_variables(
    epsilon: float, own: float, other: float
) -> None:
    table = np.stack([np.full(3, own), np.full(3, other)])
    design = designs.flipped("three rounds", "three rounds", table, 1)
    games = 400_000
    part = Part(0, False)
    counts = counts_of_games("adap-ucb", adap_ucb.Params(epsilon), design, games, 1, part)
    for of_table, reward in zip(counts, (own, 1.0 - own), strict=True):
        ahead = epsilon * abs(reward - other)  # of a difference of two, in scales
        behind = 0.5 * math.exp(-ahead) * (1.0 + 0.5 * ahead)
        chance = 1.0 - behind if reward >= other else behind
        share = of_table[4] / games  # arm 1 in round 3
        assert abs(share - chance) < 5.0 * math.sqrt(chance * (1.0 - chance) / games)


# Names of streams --------------------------------------------------------------------------------


class Kinds(NamedTuple):
    number: float
    whole: int
    flag: bool
    reading: Ties
    numbers: tuple[float, ...]


def test_parameters_of_every_kind_name_a_stream_and_no_repr_has_a_part_in_it() -> None:
    params = Kinds(float(np.float64(0.1)), 10**6, True, Ties.RANDOM, (0.5, 1e-9))
    name = stream_names.bisection("adap-ucb", params, "a design", 2)
    assert name == (
        "audit 2 of adap-ucb Params(number=0.1, whole=1000000, flag=True,"
        " reading=<Ties.RANDOM: 1>, numbers=(0.5, 1e-09)), edge of a design"
    )
    assert (
        stream_names.bisection("adap-ucb", params._replace(number=np.float64(0.1)), "a design", 2)
        == name
    )


def test_what_is_no_parameter_names_no_stream() -> None:
    class Text(NamedTuple):
        text: str

    with pytest.raises(TypeError, match="a str cannot name a stream: 'x'"):
        stream_names.bisection("adap-ucb", Text("x"), "a design", 2)


def test_games_that_share_no_draw_differ_in_name() -> None:
    parts = [
        Part(audit, one_choice, stage, half)
        for audit in (0, 1)
        for one_choice in (False, True)
        for stage, half in ((None, 0), (0, 0), (0, 1), (1, 0), (1, 1))
    ]
    names = {
        stream_names.games("adap-ucb", adap_ucb.Params(1.0), design, part, table)
        for part in parts
        for design in ("one", "other")
        for table in (0, 1)
    }
    assert len(names) == 4 * len(parts)


# Designs -----------------------------------------------------------------------------------------


def test_tables_are_neighbours() -> None:
    found = [*designs.constant(64), *designs.waiting(45), *designs.many_arms(5)]
    assert len({design.id for design in found}) == len(found)
    assert len({design.words for design in found}) == len(found)
    for design in found:
        first, second = design.tables()
        assert np.argwhere(first != second).tolist() == [[design.arm, design.index - 1]]
        assert {*np.unique(first), *np.unique(second)} <= {0.0, 1.0}


def test_rewards_are_spread_evenly() -> None:
    for share in (0.0, 0.3, 0.5, 1.0):
        sums = designs.spread(share, 100).cumsum()
        assert abs(sums - share * np.arange(1, 101)).max() <= 0.5


@pytest.mark.parametrize("needed", [1, 74, 2838])
def test_the_shortest_games_are_those_in_which_something_is_released(needed: int) -> None:
    first, *more = designs.horizons(lambda rounds: rounds >= needed)
    assert needed < first <= max(needed * 1.25, needed + 7)
    assert more == [n for n in designs.SHORT if n > first]


def test_where_nothing_is_released_there_is_nothing_to_play() -> None:
    assert designs.horizons(lambda rounds: False) == []


def test_the_search_reaches_the_edge_of_a_decision() -> None:
    def steep(design: Design) -> float:
        return 1000.0 / (1.0 + math.exp(-200.0 * (design.table[0].mean() - 0.6)))

    found = list(designs.at_the_edge(2000, steep))
    reached = [steep(design) / 1000.0 for design in found]
    assert reached == pytest.approx(designs.EDGES, abs=0.06)


def test_the_first_choice_is_that_of_the_first_round_in_which_games_differ() -> None:
    arms, rounds = 2, 4
    counts = np.zeros((2, number_of_cells(arms, rounds)), np.uint32)
    counts[:, :8] = [[9, 0, 0, 9, 9, 0, 4, 5], [9, 0, 0, 9, 8, 1, 4, 5]]
    (feature,) = first_choice(counts, arms, rounds)
    assert feature == features(arms, rounds)[2]
    counts[:, :8] = [9, 0, 0, 9, 9, 0, 9, 0]
    assert first_choice(counts, arms, rounds) == []


@pytest.mark.parametrize(
    ("index", "rounds"), [(1, [8, 64, 256]), (16, [64, 256]), (64, [256]), (65, [520]), (99, [792])]
)
def test_games_of_a_later_reward_are_long_enough_to_read_it(index: int, rounds: list[int]) -> None:
    assert designs.later(index, [8, 64, 256]) == rounds


def test_an_audit_of_a_later_reward_changes_that_reward_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Auditor, "_pulls_of_first", lambda _, design: design.table[0].sum())
    subject = Subject("adap-ucb", (("epsilon", 1.0),))
    found = Auditor(subject, 1, 1, changed_reward=33)._designs()
    assert {design.index for design in found} == {33}
    assert {design.rounds for design in found} == {256}
    assert len({design.id for design in found}) == len(found) == 4 + len(designs.EDGES)
    assert all(np.argwhere(np.not_equal(*one.tables())).tolist() == [[0, 32]] for one in found)


def test_games_in_which_an_arm_waits_are_longer_than_the_shortest() -> None:
    found = list(designs.waiting(45))
    assert {design.rounds for design in found} == {90, 180, 360}
    for design in found:
        assert design.table[0, 0] != design.table[1, 0]


# The search --------------------------------------------------------------------------------------


def candidate(more: int, fewer: int, games: int, limit: float) -> Candidate:
    event = Event(Feature("all", 0, 2), np.array([1]), swapped=False)
    half = np.array([[games - more, more], [games - fewer, fewer]])
    design = next(designs.constant(8))
    of_design = Limit(limit, 0.0, one_choice=False)
    return Candidate(design, of_design, (half, half), games, proved=0.3, event=event)


def test_what_a_rare_event_promises_is_what_as_many_games_as_measure_would_prove() -> None:
    rare, frequent = candidate(42, 26, 10_000, 0.3), candidate(5000, 4000, 10_000, 0.25)
    assert rare.promise(10_000) == pytest.approx(Loss(42, 26, 10_000).epsilon(0.0) / 0.3)
    assert frequent.promise(10_000) > rare.promise(10_000)
    assert rare.promise(1_000_000) == pytest.approx(Loss(4200, 2600, 1_000_000).epsilon(0.0) / 0.3)
    assert frequent.promise(1_000_000) < rare.promise(1_000_000)


@pytest.mark.parametrize("limit", [0.0, math.inf])
def test_without_a_limit_what_is_proved_counts_by_itself(limit: float) -> None:
    assert candidate(42, 26, 10_000, limit).share == 0.3
    assert candidate(42, 26, 10_000, 0.6).share == pytest.approx(0.5)


@pytest.fixture
def kept(short_audits: None, monkeypatch: pytest.MonkeyPatch) -> list[set[tuple[int, int, float]]]:
    """Record the families of tables that are played, in every round of a search."""
    kept: list[set[tuple[int, int, float]]] = []
    real = Auditor._played

    def noted(self: Auditor, one: Candidate, games: int, stage: int) -> Candidate:
        kept.extend(set() for _ in range(stage + 1 - len(kept)))
        kept[stage].add(one.design.family)
        return real(self, one, games, stage)

    monkeypatch.setattr(Auditor, "_played", noted)
    return kept


@pytest.mark.long
def test_the_search_keeps_tables_of_every_family(kept: list[set[tuple[int, int, float]]]) -> None:
    Auditor(Subject("adap-ucb", (("epsilon", 1.0),)), 1, 2, many_arms=9).audit(20_000)
    assert len(kept) == 3
    assert kept[0] == kept[1] == kept[2]
    assert len({rounds for arms, rounds, _ in kept[0] if arms == 2}) > 3
    assert {one for one in kept[0] if one[0] > 2} == {(9, 17, 0.0), (9, 17, 1.0)}


@pytest.mark.long
def test_tables_on_which_nothing_is_released_are_not_played_again(
    kept: list[set[tuple[int, int, float]]],
) -> None:
    subject = subject_of("dp-ftpl-gauss", epsilon=2, delta=1e-5)  # six pulls of every arm
    Auditor(subject, 1, 2).audit(20_000)
    start = {(64, 72, 0.0), (64, 72, 1.0)}
    assert kept[0] > start
    assert kept[1] == kept[2] == kept[0] - start


@pytest.mark.long
def test_without_any_release_no_loss_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = subject_of("dp-ftpl-gauss", epsilon=2, delta=1e-5)
    monkeypatch.setattr(dp_ftpl_gauss, "releases", lambda *a: iter(()))
    monkeypatch.setattr(Subject, "horizons", [8])
    monkeypatch.setattr(designs, "TIMES", ())  # all are as short as the start
    found = Auditor(subject, 1, 2).audit(4000)
    assert {one.feature for one in found} == {"nothing that differs"}
    assert {one.epsilon for one in found} == {0.0}


# Audits ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.usefixtures("short_audits")
@pytest.mark.parametrize("algorithm", ["adap-ucb", "dp-ucb-bound", "dp-exp3-lap"])
def test_an_algorithm_that_keeps_its_promise_is_not_accused(algorithm: str) -> None:
    for finding in Auditor(Subject(algorithm, (("epsilon", 1.0),)), 1, 2).audit(40_000):
        assert not finding.refutes_claim
        assert not finding.refutes_releases
        assert finding.loss.games >= 5000


@pytest.mark.usefixtures("short_audits")
def test_half_of_the_noise_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    # Equivalent to claiming half of the epsilon that it spends.
    real = adap_ucb.claim
    monkeypatch.setattr(adap_ucb, "claim", lambda p, a, t: real(p, a, t)._replace(budget=0.5))
    (finding,) = Auditor(Subject("adap-ucb", (("epsilon", 1.0),)), 1, 2).audit(200_000)
    assert finding.refutes_claim
    assert not finding.refutes_releases
    assert 0.5 < finding.epsilon < 1.0


@pytest.mark.usefixtures("short_audits")
def test_an_undeclared_release_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    real = adap_ucb.releases
    monkeypatch.setattr(
        adap_ucb, "releases", lambda *a: (one._replace(scale=4.0 * one.scale) for one in real(*a))
    )
    (finding,) = Auditor(Subject("adap-ucb", (("epsilon", 1.0),)), 1, 2).audit(200_000)
    assert finding.refutes_releases
    assert not finding.refutes_claim
    assert finding.declared == (0.25, 0.0, False)


@pytest.mark.long
@pytest.mark.usefixtures("short_audits")
def test_the_same_seed_gives_the_same_audit() -> None:
    subject = Subject("adap-ucb", (("epsilon", 1.0),))
    once, again, other = (
        Auditor(subject, seed, workers).audit(20_000) for seed, workers in ((1, 1), (1, 2), (2, 2))
    )
    assert once == again
    assert once != other


def test_a_promise_of_one_round_is_audited_by_itself_and_with_all_rounds() -> None:
    subject = subject_of("dp-ucb-int", epsilon=1, delta=0.01, v=1.5)
    one, all_ = subject.limits(2, 64)
    params = dp_ucb_int.Params(1.0, 0.01, 1.5)
    assert subject.params(64) == params
    assert one == (1.0, 0.01, True)
    assert all_ == (subject.composed(2, 64), 0.0, False)
    assert subject.claim(2, 64).notion is Notion.PER_ROUND


def test_a_promise_under_revision_is_held_against_what_is_declared_at_its_delta() -> None:
    # The promise concerns the mean over rewards: fixed tables do not contradict it, releases do.
    subject = subject_of("gdp-elim-new", epsilon=1, delta=0.01)
    (limit,) = subject.limits(2, 2422)
    assert limit == (subject.composed(2, 2422, 0.01), 0.01, False)
    assert limit.epsilon == pytest.approx(1.0)
    assert subject.composed(2, 2422) == math.inf
    head = (subject.declared(2, 2422), False, "tables", "feature", 1)
    found = AuditFinding(subject.claim(2, 2422), *head, Loss(3000, 1000, 10_000))
    assert found.epsilon < 1.0
    assert not found.refutes_releases
    found = replace(found, loss=Loss(6000, 1000, 10_000))
    assert found.epsilon > 1.0
    assert found.refutes_releases
    assert not found.refutes_claim


@pytest.mark.parametrize("earlier", [0, 1])
def test_a_choice_that_is_not_the_first_in_all_measured_games_proves_nothing(
    earlier: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditor = Auditor(subject_of("dp-ftpl-gauss", epsilon=2, delta=1e-5), 1, 1)
    design = next(designs.constant(8))
    feature = features(2, 8)[2]
    counts = np.zeros((2, number_of_cells(2, 8)), np.uint32)
    counts[:, [0, 2]] = 100
    counts[:, 4:6] = [[60, 40], [20, 80]]
    counts[1, 0:2] = 100 - earlier, earlier
    monkeypatch.setattr(auditor, "_counts", lambda *_: counts)
    limit = auditor.subject.limits(2, 8)[0]
    event = Event(feature, np.array([feature.first]), False)
    found = auditor._measured(Candidate(design, limit, event=event), 100)
    assert found.loss == (Loss(0, 0, 100) if earlier else Loss(60, 20, 100))


# The command -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (("adap_ucb",), "unknown algorithm 'adap_ucb'; did you mean 'adap-ucb'"),
        (("dp-nas",), "'dp-nas' is a stopping rule, which plays no arms"),
        (("ucb",), "ucb promises no privacy, so that an audit has nothing to refute"),
        (("ucb", "--epsilon", "2"), "ucb promises no privacy"),
        (("adap-ucb", "--epsilon", "0"), "epsilon must be positive and finite, got 0"),
        (("adap-ucb", "--epsilon", "much"), "epsilon must be positive and finite, got 'much'"),
        (("adap-ucb", "--plays", "10"), "plays must be a number from 1000 to 10^10, got"),
        (("adap-ucb", "--plays", "many"), "plays must be a number from 1000 to 10^10, got"),
        (
            ("adap-ucb", "--many-arms", "2"),
            "many_arms must be a whole number from 3 to 1024, got",
        ),
        (("adap-ucb", "--many-arms", "1e4"), "many_arms must be a whole number from 3 to 1024"),
        (
            ("adap-ucb", "--changed-reward", "0"),
            "changed_reward must be a whole number from 1 to 10,000, got 0",
        ),
        (("adap-ucb", "--seed", "-1"), "seed must be a whole number from 0"),
        (("adap-ucb", "--workers", "0"), "workers must be a whole number from 1 to 1024"),
        (("adap-ucb", "epsilon=2"), "the privacy budget is set by --epsilon"),
        (("adap-ucb", "alpha=3", "alpha=4"), "alpha is set twice"),
        (("adap-ucb", "alpha"), "parameters are written as name=value, got 'alpha'"),
        (("adap-ucb", "beta=1"), "has no parameter 'beta'"),
        (("dp-se", "horizon=9"), "horizon is that of the game"),
        (("dp-ftpl-gauss",), "delta is missing"),
        (("dp-ucb", "counter=tripel"), "counter must be"),
    ],
)
def test_a_mistake_is_reported_in_one_line(typed: tuple[str, ...], told: str) -> None:
    done = called("audit", *typed)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("dpbandits: ")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_a_mistake_ends_a_process_in_the_same_way() -> None:
    typed = "audit", "adap-ucb", "--plays", "10"
    assert Process(*DPBANDITS, *typed).done() == called(*typed)


def test_the_command_prints_the_result() -> None:
    done = called("audit", "adap-ucb", "--plays", "20_000", "--epsilon", "2")
    assert (done.status, done.err) == (0, "")
    first, claimed, tables, declared, audited, event, games = done.out.splitlines()
    assert {"adap-ucb", "epsilon=2"} < {*first.split()}
    assert claimed == "  claimed: epsilon = 2, global DP, azize2022, Theorem 6"
    assert tables.startswith("  all arms, on tables of rewards ")
    assert declared == "    declared: epsilon = 2 by its releases in such a game"
    assert audited.startswith("    audited: epsilon >= ")
    assert " of 5,000 games" in event
    assert games.startswith("  20,000 games in ")


def test_every_private_algorithm_can_be_audited_and_no_other() -> None:
    for name in registry.algorithm_names():
        module = registry.algorithm(name)
        if hasattr(module, "claim"):
            needs = {"delta": 0.01} if "delta" in module.Params._fields else {}
            budget = str(budget_of(module.Params._fields))
            assert subject_of(name, **{budget: 1.0}, **needs).limits(2, 64)
        else:
            with pytest.raises(UserError, match="promises no privacy"):
                subject_of(name).claim(2, 64)
