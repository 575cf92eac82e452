"""The audit counts correctly, its bounds hold, and it detects a loss where there is one."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from complaints import called
from scipy.stats import binom, binomtest

from dpbandits.algorithms import adap_ucb, dp_ucb_int
from dpbandits.audit import designs, events, search
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event, Loss, best_event
from dpbandits.audit.kernels import WINDOW, Feature, count, features, first_choice
from dpbandits.audit.search import AuditFinding, Auditor, Candidate, block_of_games, spelt
from dpbandits.audit.subject import Limit, Subject
from dpbandits.environments._entries import Entries
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.randomness import Role, stream
from dpbandits.privacy.notions import NOTIONS, Guarantee, Notion, budget_of
from dpbandits.privacy.releases import Laplace

pytestmark = pytest.mark.usefixtures("in_checkout")


def subject_of(algorithm: str, **settings: float) -> Subject:
    """Return the subject of an audit."""
    return Subject(algorithm, tuple(settings.items()))


def spread(rounds: int) -> np.ndarray:
    """Return rewards of which two fifths are 1, evenly spread."""
    return np.diff(np.floor(0.4 * np.arange(rounds + 1) + 0.5))


def no_games(arms: int, rounds: int) -> np.ndarray:
    """Return counts of no games."""
    return np.zeros(features(arms, rounds)[-1].stop, np.uint32)


# Bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "games"), [(0, 10), (3, 10), (10, 10), (700, 10_000)])
def test_the_bounds_on_a_probability_are_those_of_clopper_and_pearson(
    count: int, games: int
) -> None:
    exact = binomtest(count, games).proportion_ci(1.0 - events.ERROR, "exact")
    low, high = events.bounds(count, count, games)
    assert float(low) == pytest.approx(exact.low, rel=1e-9)
    assert float(high) == pytest.approx(exact.high, rel=1e-9)


@pytest.mark.parametrize("games", [50, 200])
@pytest.mark.parametrize(("p", "q"), [(0.5, 0.2), (0.1, 0.05), (0.02, 0.02), (0.9, 0.3)])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_a_bound_exceeds_the_truth_in_one_audit_of_a_hundred_at_most(
    p: float, q: float, delta: float, games: int
) -> None:
    counts = np.arange(games + 1)
    chance = np.outer(binom.pmf(counts, games, p), binom.pmf(counts, games, q))
    low, high = events.bounds(counts[:, None], counts[None, :], games)
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilon = np.where(low > delta, np.log((low - delta) / high), 0.0)
    wrong = (epsilon > max(0.0, math.log((p - delta) / q))) | (
        low - math.exp(0.3) * high > max(0.0, p - math.exp(0.3) * q)
    )
    assert chance[wrong].sum() <= events.ERROR


def test_a_loss_is_made_of_these_bounds() -> None:
    loss, never = Loss(700, 90, 10_000), Loss(0, 0, 1000)
    p, q = map(float, events.bounds(700, 90, 10_000))
    assert loss.epsilon(0.0) == pytest.approx(math.log(p / q))
    assert loss.epsilon(0.01) == pytest.approx(math.log((p - 0.01) / q))
    assert loss.delta(1.0) == pytest.approx(p - math.e * q)
    assert loss.likely_epsilon == pytest.approx(math.log(70 / 9))
    assert (never.epsilon(0.0), never.delta(1.0), never.likely_epsilon) == (0.0, 0.0, 0.0)
    assert Loss(9, 0, 1000).likely_epsilon == math.inf
    assert Loss(60, 60, 100).epsilon(0.0) == Loss(5, 5, 1000).epsilon(0.1) == 0.0


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
    assert (event.feature.name, event.swapped) == ("this", swapped)
    assert math.log(2.5) - 0.2 < proved < math.log(2.5)
    assert set(event.cells) == {7, 50}
    more, fewer = event.counted(drawn[0])
    assert more > fewer


# Counts ------------------------------------------------------------------------------------------


def plain_features(played: list[int], arms: int, index: int) -> list[object]:
    """Return the features of a game as kernels.py defines them, without hashes."""
    rounds = len(played)
    ends = [t for t in range(1, rounds + 1) if 4 * t // rounds != 4 * (t - 1) // rounds]
    quarters = tuple(played[:t].count(0) for t in ends)
    places = [t for t, chosen in enumerate(played) if chosen == 0]
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
    assert found[-1].stop == len(counts)
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
    table[0] = spread(24)
    design = Design("a table", table, 3)

    def counts(epsilon: float) -> np.ndarray:
        params = adap_ucb.Params(epsilon)
        return block_of_games("adap-ucb", params, design, table, np.random.default_rng(5), 300)

    expected = counts(0.05)
    search._tallies.clear()
    counts(1)
    np.testing.assert_array_equal(counts(0.05), expected)


@pytest.mark.parametrize(("arms", "rounds", "index"), [(2, 24, 3), (3, 31, 1), (2, 24, 20)])
def test_the_counts_are_those_of_the_games_told_one_by_one(
    arms: int, rounds: int, index: int
) -> None:
    table = np.zeros((arms, rounds))
    table[0] = spread(rounds)
    design = Design("a table", table, index)
    params, games = adap_ucb.Params(1.0), 300
    counts = block_of_games("adap-ucb", params, design, table, np.random.default_rng(5), games)
    rng = np.random.default_rng(5)
    law = Entries(table, np.zeros(arms, np.int64), np.zeros(rounds, np.int64))
    own_features = []
    for _ in range(games):
        law.read[:] = 0
        bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), np.random.default_rng(0))
        adap_ucb.play(params, bandit, rng)
        own_features.append(plain_features(law.played.tolist(), arms, index))
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
    counts = no_games(arms, rounds)
    with np.errstate(over="ignore"):  # of the hashes
        for game in played:
            count(game, np.bincount(game, minlength=arms), index, counts)
    own_features = [plain_features(game.tolist(), arms, index) for game in played]
    assert_counts(counts, own_features, arms, rounds)


def test_threads_and_blocks_do_not_move_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BLOCK", 100)
    subject, design, part = subject_of("adap-ucb", epsilon=1.0), next(designs.constant(8)), "a part"
    alone = Auditor(subject, 3, 1).counts(design, 217, part)
    assert (alone == Auditor(subject, 3, 2).counts(design, 217, part)).all()
    assert (alone != Auditor(subject, 3, 2, number=1).counts(design, 217, part)).any()
    params = adap_ucb.Params(1.0)
    name = f"audit of {spelt('adap-ucb', params)} on {design.name}, a part, audit 0"
    for which, table in enumerate(design.tables()):
        streams = (stream(3, Role.POLICY, n, f"{name}, table {which}") for n in (0, 100, 200))
        blocks = (
            block_of_games("adap-ucb", params, design, table, rng, number)
            for rng, number in zip(streams, (100, 100, 17), strict=True)
        )
        np.testing.assert_array_equal(alone[which], sum(blocks))


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize(("own", "other"), [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)])
def test_the_first_choice_of_adap_ucb_has_the_law_of_two_laplace_variables(
    epsilon: float, own: float, other: float
) -> None:
    table = np.stack([np.full(3, own), np.full(3, other)])
    design = Design("three rounds", table, 1)
    games = 400_000
    counts = Auditor(subject_of("adap-ucb", epsilon=epsilon), 1, 1).counts(design, games, "first")
    for of_table, reward in zip(counts, (own, 1.0 - own), strict=True):
        ahead = epsilon * abs(reward - other)  # of a difference of two, in scales
        behind = 0.5 * math.exp(-ahead) * (1.0 + 0.5 * ahead)
        chance = 1.0 - behind if reward >= other else behind
        share = of_table[4] / games  # arm 1 in round 3
        assert abs(share - chance) < 5.0 * math.sqrt(chance * (1.0 - chance) / games)


# Designs -----------------------------------------------------------------------------------------


def test_tables_are_neighbours() -> None:
    found = designs.in_games_of([45, 64], lambda design: design.table[0].sum(), 5)
    assert {design.table.shape for design in found} >= {(2, 45), (2, 64), (2, 360), (5, 13)}
    assert len({design.name for design in found}) == len(found)
    for design in found:
        first, second = design.tables()
        assert np.argwhere(first != second).tolist() == [[0, design.index - 1]]
        assert {*np.unique(first), *np.unique(second)} <= {0.0, 1.0}


@pytest.mark.parametrize("needed", [1, 74, 2838])
def test_the_shortest_games_are_those_in_which_something_is_released(
    needed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def releases(_: Subject, arms: int, rounds: int) -> list[Laplace]:
        return [Laplace(arm, 1, 1, 1.0, 1.0) for arm in range(arms) if rounds >= needed]

    monkeypatch.setattr(Subject, "releases", releases)
    first, *more = subject_of("adap-ucb", epsilon=1.0).horizons
    assert needed < first <= max(needed * 1.25, needed + 7)
    assert more == [n for n in designs.SHORT if n > first]


def test_the_search_reaches_the_edge_of_a_decision() -> None:
    def steep(design: Design) -> float:
        return 1000.0 / (1.0 + math.exp(-200.0 * (design.table[0].mean() - 0.6)))

    found = list(designs.at_the_edge(2000, steep))
    reached = [steep(design) / 1000.0 for design in found]
    assert reached == pytest.approx(designs.EDGES, abs=0.06)


def test_the_first_choice_is_that_of_the_first_round_in_which_games_differ() -> None:
    arms, rounds = 2, 4
    counts = np.stack([no_games(arms, rounds)] * 2)
    counts[:, :8] = [[9, 0, 0, 9, 9, 0, 4, 5], [9, 0, 0, 9, 8, 1, 4, 5]]
    (feature,) = first_choice(counts, arms, rounds)
    assert feature == features(arms, rounds)[2]
    counts[:, :8] = [9, 0, 0, 9, 9, 0, 9, 0]
    assert first_choice(counts, arms, rounds) == []


# Audits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "settings", "changed_reward", "expected"),
    [
        ("adap-ucb", {}, None, [(0.75112917764829, 1552, 630, 1)]),
        ("adap-ucb", {}, 3, [(0.5074257774200774, 2442, 1333, 5)]),
        (
            "dp-ftpl-gauss",
            {"delta": 0.05},
            None,
            [(0.0, 0, 0, 0), (0.7799495541512207, 516, 125, 2)],
        ),
    ],
)
def test_an_audit_has_the_numbers_that_it_has_always_had(
    algorithm: str,
    settings: dict[str, float],
    changed_reward: int | None,
    expected: list[tuple[float, int, int, int]],
) -> None:
    subject = subject_of(algorithm, epsilon=1.0, **settings)
    found = Auditor(subject, 1, 1, number=2, changed_reward=changed_reward).audit(20_000)
    assert [(f.loss.more, f.loss.fewer, f.cells) for f in found] == [one[1:] for one in expected]
    assert [f.epsilon for f in found] == pytest.approx([one[0] for one in expected], rel=1e-12)


@pytest.mark.usefixtures("short_audits")
def test_half_of_the_noise_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    # Equivalent to claiming half of the epsilon that it spends.
    real = adap_ucb.guarantee
    monkeypatch.setattr(adap_ucb, "guarantee", lambda p, a, t: real(p, a, t)._replace(budget=0.5))
    (finding,) = Auditor(Subject("adap-ucb", (("epsilon", 1.0),)), 1, 2).audit(200_000)
    assert finding.refutes_guarantee
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
    assert not finding.refutes_guarantee
    assert finding.declared == (0.25, 0.0, False)


def test_a_promise_of_one_round_is_audited_by_itself_and_with_all_rounds() -> None:
    subject = subject_of("dp-ucb-int", epsilon=1, delta=0.01, v=1.5)
    one, all_ = subject.limits(2, 64)
    params = dp_ucb_int.Params(1.0, 0.01, 1.5)
    assert subject.params(64) == params
    assert one == (1.0, 0.01, True)
    assert all_ == (subject.composed(2, 64), 0.0, False)
    assert subject.guarantee(2, 64).notion is Notion.PER_ROUND


def test_a_promise_under_revision_is_held_against_what_is_declared_at_its_delta() -> None:
    # The promise concerns the mean over rewards: fixed tables do not contradict it, releases do.
    subject = subject_of("gdp-elim-new", epsilon=1, delta=0.01)
    (limit,) = subject.limits(2, 2422)
    assert limit == (subject.composed(2, 2422, 0.01), 0.01, False)
    assert limit.epsilon == pytest.approx(1.0)
    assert subject.composed(2, 2422) == math.inf


@pytest.mark.parametrize("earlier", [0, 1])
def test_a_choice_that_is_not_the_first_in_all_measured_games_proves_nothing(
    earlier: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    auditor = Auditor(subject_of("dp-ftpl-gauss", epsilon=2, delta=1e-5), 1, 1)
    design = next(designs.constant(8))
    feature = features(2, 8)[2]
    counts = np.stack([no_games(2, 8)] * 2)
    counts[:, [0, 2]] = 100
    counts[:, 4:6] = [[60, 40], [20, 80]]
    counts[1, 0:2] = 100 - earlier, earlier
    monkeypatch.setattr(auditor, "counts", lambda *_: counts)
    limit = auditor.subject.limits(2, 8)[0]
    event = Event(feature, np.array([feature.first]), False)
    found = auditor.measured(Candidate(design, limit, event=event), 100)
    assert found.loss == (Loss(0, 0, 100) if earlier else Loss(60, 20, 100))


@pytest.mark.parametrize("one_choice", [False, True])
@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.title)
def test_a_finding_refutes_a_claim_about_the_same_events_alone(
    notion: Notion, one_choice: bool
) -> None:
    loss = Loss(more=900, fewer=10, games=1000)
    guarantee = Guarantee(notion, 1.0, 0.25, "a paper")
    finding = AuditFinding(guarantee, Limit(9.0, 0.0, False), one_choice, "", "", 1, loss)
    assert finding.epsilon == loss.epsilon(0.25) > 1.0
    assert finding.delta == loss.delta(guarantee.epsilon)
    about_these = notion is not Notion.REVISED and (one_choice or notion is not Notion.PER_ROUND)
    assert finding.refutes_guarantee == about_these
    assert not finding.refutes_releases
    assert replace(finding, declared=Limit(2.0, 0.0, False)).refutes_releases


def test_the_smaller_of_claim_and_declaration_is_audited() -> None:
    subject = Subject("private-ucb", (("epsilon", 1.0), ("split", "arms")))
    declared, guarantee = subject.declared(2, 64), subject.guarantee(2, 64)
    assert 0.0 < declared.epsilon < guarantee.epsilon
    assert subject.limits(2, 64) == [declared]


# The command -------------------------------------------------------------------------------------


def test_the_command_prints_the_result() -> None:
    done = called("audit", "adap-ucb", "plays=20_000", "--epsilon", "2")
    assert (done.status, done.err) == (0, "")
    first, claimed, tables, declared, audited, event, games = done.out.splitlines()
    assert first == "adap-ucb alpha=3.1 ties=first first_episode=one epsilon=2"
    assert claimed == "  claimed: epsilon = 2, global DP, azize2022, Theorem 6"
    assert tables.startswith("  all arms, on tables of rewards ")
    assert declared == "    declared: epsilon = 2 by its releases in such a game"
    assert audited.startswith("    audited: epsilon >= ")
    assert " of 5,000 games" in event
    assert games.startswith("  20,000 games in ")


def test_every_private_algorithm_can_be_audited_and_no_other() -> None:
    for name in registry.algorithm_names():
        module = registry.algorithm(name)
        if hasattr(module, "guarantee"):
            needs = {"delta": 0.01} if "delta" in module.Params._fields else {}
            budget = str(budget_of(module.Params._fields))
            assert subject_of(name, **{budget: 1.0}, **needs).limits(2, 64)
        else:
            with pytest.raises(UserError, match="promises no privacy"):
                subject_of(name).guarantee(2, 64)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (("adap_ucb",), "unknown algorithm 'adap_ucb'; did you mean 'adap-ucb'"),
        (("dp-nas",), "names no algorithm, and rules and bounds play no arms"),
        (("ucb",), "ucb promises no privacy, so that an audit has nothing to refute"),
        (("adap-ucb", "--epsilon", "0"), "epsilon must be from 1e-100 to 1e100, got 0"),
        (("adap-ucb", "--plays", "10"), "plays must be a number from 1000 to 10^10, got"),
        (("adap-ucb", "--many-arms", "1e4"), "many_arms must be a whole number from 3 to 1024"),
        (
            ("adap-ucb", "--changed-reward", "0"),
            "changed_reward must be a whole number from 1 to 10,000, got 0",
        ),
        (("adap-ucb", "alpha=3", "alpha=4"), "alpha is set twice"),
        (("adap-ucb", "alpha"), "parameters are written as name=value, got 'alpha'"),
        (("adap-ucb", "beta=1"), "unknown parameter 'beta'"),
        (("dp-se", "horizon=9"), "horizon is that of the game"),
    ],
)
def test_a_mistake_is_reported_in_one_line(typed: tuple[str, ...], told: str) -> None:
    done = called("audit", *typed)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("dpbandits: ")
    assert told in done.err
    assert len(done.err.splitlines()) == 1
