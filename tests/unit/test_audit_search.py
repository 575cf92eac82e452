"""Search of an audit: blocks of games, halves and stages, with few games or stand-ins for them."""

import itertools
import math
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.audit import designs, games, stream_names
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event, Loss, _side_by_side
from dpbandits.audit.kernels import BUCKETS, all_one, features, number_of_cells
from dpbandits.audit.search import ROUNDS, AuditFinding, Auditor, Candidate
from dpbandits.audit.stream_names import Part
from dpbandits.audit.subject import ChangedReward, Limit, Subject
from dpbandits.core.randomness import Role, stream
from dpbandits.privacy.notions import NOTIONS, Guarantee, Notion

SUBJECT = Subject("adap-ucb", (("epsilon", 1.0),))
PURE = Limit(1.0, 0.0, False)


def design_of(rounds: int = 8) -> Design:
    table = np.stack([designs.spread(0.5, rounds), designs.spread(0.25, rounds)])
    return designs.flipped("a name", "a table", table, 2)


def test_the_counts_of_games_are_those_of_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(games, "BLOCK", 7)
    design, part, params = design_of(), Part(0, False), adap_ucb.Params(1.0)
    expected = []
    for which, table in enumerate(design.tables()):
        name = stream_names.games("adap-ucb", params, design.id, part, which)
        expected.append(
            sum(
                games.block_of_games(
                    "adap-ucb", params, design, table, stream(3, Role.POLICY, first, name), number
                )
                for first, number in ((0, 7), (7, 7), (14, 2))
            )
        )
    counts = games.counts_of_games("adap-ucb", params, design, 16, 3, part)
    np.testing.assert_array_equal(counts, expected)
    assert (counts[:, : 8 * 2].reshape(2, 8, 2).sum(axis=2) == 16).all()
    assert (counts[0] != counts[1]).any()
    few = games.counts_of_games("adap-ucb", params, design, 5, 3, part)  # less than a block
    assert (few[:, : 8 * 2].reshape(2, 8, 2).sum(axis=2) == 5).all()


def test_features_that_are_compared_together_have_equally_many_cells() -> None:
    of_game = features(2, 8)
    groups = [*_side_by_side(of_game)]
    assert [feature for group in groups for feature in group] == [*of_game]
    for group in groups:
        assert len({feature.stop - feature.first for feature in group}) == 1
        assert all(a.stop == b.first for a, b in itertools.pairwise(group))
    assert [len(group) for group in groups] == [8, 2, 1, 1, 1]  # rounds, arms, three hashed ones


def test_equal_frequencies_prove_nothing() -> None:
    assert Loss(60, 60, 100).epsilon(0.0) == 0.0
    assert Loss(0, 0, 100).epsilon(0.5) == 0.0
    assert Loss(90, 10, 100).epsilon(0.0) > 1.0


# Stages ------------------------------------------------------------------------------------------


def counts_of(first: tuple[int, int], last: tuple[int, int]) -> np.ndarray:
    """Return counts of four games on each table; `first` are pulls of arm 1 in round 1, and so on.

    All games pull arm 1 in the rounds between.
    """
    counts = np.zeros((2, number_of_cells(2, 8)), np.uint32)
    for which in (0, 1):
        for t in range(8):
            of_first = first[which] if t == 0 else last[which] if t == 7 else 4
            counts[which, 2 * t : 2 * t + 2] = of_first, 4 - of_first
        counts[which, -4:] = 1  # four sequences
    return counts


def test_later_stages_add_their_games_to_those_of_earlier_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[int, Part]] = []

    def counts(_: Auditor, design: Design, games: int, part: Part) -> np.ndarray:
        asked.append((games, part))
        return counts_of((4, 4), (4, len(asked)))

    monkeypatch.setattr(Auditor, "_counts", counts)
    auditor = Auditor(SUBJECT, 1, 1, number=5)
    once = auditor._played(Candidate(design_of(), PURE), 4, 0)
    twice = auditor._played(once, 6, 1)
    assert asked == [(4, Part(5, False, 0, 0)), (4, Part(5, False, 0, 1))] + [
        (6, Part(5, False, 1, half)) for half in (0, 1)
    ]
    assert (once.games, twice.games) == (4, 10)
    assert twice.counts
    for half, others in enumerate(((1, 3), (2, 4))):
        total = sum(counts_of((4, 4), (4, number)) for number in others)
        np.testing.assert_array_equal(twice.counts[half], total)


@pytest.mark.parametrize("half", [0, 1])
def test_a_choice_is_the_first_that_differs_in_any_half(
    half: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def counts(_: Auditor, design: Design, games: int, part: Part) -> np.ndarray:
        return counts_of((4, 2) if part.half == half else (4, 4), (1, 3))

    def best(counts: Any, games: int, features: Any, delta: float) -> tuple[float, None]:
        seen.extend(features)
        return 0.0, None

    monkeypatch.setattr(Auditor, "_counts", counts)
    monkeypatch.setattr("dpbandits.audit.search.best_event", best)
    Auditor(SUBJECT, 1, 1)._played(Candidate(design_of(), Limit(1.0, 0.0, True)), 4, 0)
    assert [feature.words for feature in seen] == ["the arm of round 1"]


def test_the_best_tables_of_every_family_survive_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [*designs.constant(16)]
    shares = {design.id: number for number, design in enumerate(tables, start=1)}
    played: list[tuple[str, int, int]] = []

    def play(_: Auditor, candidate: Candidate, games: int, stage: int) -> Candidate:
        played.append((candidate.design.id, games, stage))
        return replace(candidate, proved=float(shares[candidate.design.id]), games=games)

    monkeypatch.setattr(Auditor, "_played", play)
    monkeypatch.setattr(Candidate, "promise", lambda self, games: self.proved / games)
    chosen = Auditor(SUBJECT, 1, 1)._found(tables, 0, 10_000)
    assert chosen.design is tables[-1]
    families: dict[Any, list[Design]] = {}
    for design in tables:
        families.setdefault(design.family, []).append(design)
    left = tables
    for stage, (share, survivors) in enumerate(ROUNDS):
        of_stage = [(name, games) for name, games, number in played if number == stage]
        assert {name for name, _ in of_stage} == {design.id for design in left}
        assert {games for _, games in of_stage} == {int(share * 10_000 / len(left) / 2)}
        left = [design for family in families.values() for design in family[-survivors:]]


def test_a_limit_is_searched_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [PURE, Limit(2.0, 0.0, False)]
    monkeypatch.setattr(Subject, "limits", lambda *_: limits)
    monkeypatch.setattr(Auditor, "_played", lambda _, candidate, *__: candidate)
    tables = [*designs.constant(16)]
    for which, limit in enumerate(limits):
        assert Auditor(SUBJECT, 1, 1)._found(tables, which, 1000).limit is limit


def test_tables_without_any_difference_leave_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Auditor, "_played", lambda _, candidate, *__: candidate)
    monkeypatch.setattr(Candidate, "is_one_game", True)
    tables = [*designs.constant(16)]
    assert Auditor(SUBJECT, 1, 1)._found(tables, 0, 1000).design is tables[0]


# Designs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "indices"), [(2, [1]), (8, [1, 2]), (15, [1, 2, 3]), (64, [1, 2, 3, 4, 16])]
)
def test_a_flipped_reward_is_the_first_or_in_the_first_quarter(
    rounds: int, indices: list[int]
) -> None:
    found = [*designs.constant(rounds)]
    assert [design.index for design in found] == 4 * indices
    starts = [design.table[:, -1].tolist() for design in found[:: len(indices)]]
    assert starts == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def test_the_means_at_the_edge_are_halved_down_from_the_whole_interval() -> None:
    found = [*designs.at_the_edge(1000, lambda design: float(design.table[0].mean()) ** 2)]
    shares = [design.table[0].mean() for design in found]
    assert shares == pytest.approx([math.sqrt(edge) for edge in designs.EDGES], abs=1e-3)
    steps = [2**designs.STEPS * float(design.words.split()[3]) for design in found]
    assert steps == pytest.approx([round(step) for step in steps], abs=0.05)


# Findings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("one_choice", [False, True])
@pytest.mark.parametrize("notion", NOTIONS, ids=lambda notion: notion.title)
def test_a_finding_refutes_a_claim_about_the_same_events_alone(
    notion: Notion, one_choice: bool
) -> None:
    loss = Loss(more=900, fewer=10, games=1000)
    claim = Guarantee(notion, 1.0, 0.25, "a paper")
    finding = AuditFinding(claim, Limit(9.0, 0.0, False), one_choice, "", "", 1, loss)
    assert finding.epsilon == loss.epsilon(0.25) > 1.0
    assert finding.pure_epsilon == loss.epsilon(0.0) > finding.epsilon
    assert finding.delta == loss.delta(claim.epsilon)
    about_these = notion is not Notion.REVISED and (one_choice or notion is not Notion.PER_ROUND)
    assert finding.refutes_claim == about_these
    assert not finding.refutes_releases
    assert replace(finding, declared=Limit(2.0, 0.0, False)).refutes_releases


def test_an_event_is_measured_in_games_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Design, int, Part]] = []

    def counts(_: Auditor, design: Design, games: int, part: Part) -> np.ndarray:
        asked.append((design, games, part))
        return counts_of((4, 1), (4, 4))

    monkeypatch.setattr(Auditor, "_counts", counts)
    design = design_of()
    first = Event(features(2, 8)[0], np.array([0]), swapped=False)
    finding = Auditor(SUBJECT, 1, 1, number=5)._measured(Candidate(design, PURE, event=first), 4)
    assert asked == [(design, 4, Part(5, False))]
    assert finding.loss == Loss(4, 1, 4)
    assert (finding.feature, finding.cells, finding.tables) == (
        first.feature.words,
        1,
        design.words,
    )


def test_the_smaller_of_claim_and_declaration_is_audited() -> None:
    subject = Subject("private-ucb", (("epsilon", 1.0), ("split", "arms")))
    declared, claim = subject.declared(2, 64), subject.claim(2, 64)
    assert 0.0 < declared.epsilon < claim.epsilon
    assert subject.limits(2, 64) == [declared]


@pytest.mark.parametrize(("reward", "is_valid"), [(0, False), (1, True), (10_000, True)])
def test_a_changed_reward_is_one_of_ten_thousand(reward: int, is_valid: bool) -> None:
    _, constraint = get_args(ChangedReward)
    assert constraint.holds(reward) == is_valid


# Cells -------------------------------------------------------------------------------------------


def test_the_features_divide_the_cells() -> None:
    found = features(3, 7)
    sizes = [3] * 7 + [8] * 3 + [BUCKETS] * 3
    assert [feature.stop - feature.first for feature in found] == sizes
    assert [feature.first for feature in found] == [0, *np.cumsum(sizes)[:-1]]
    assert found[-1].stop == number_of_cells(3, 7)


@pytest.mark.parametrize(
    ("first", "second", "is_one"),
    [([5], [5], True), ([5], [], True), ([5], [6], False), ([5, 6], [5], False), ([], [], False)],
)
def test_games_are_one_if_there_is_one_sequence_of_arms_on_both_tables(
    first: list[int], second: list[int], is_one: bool
) -> None:
    counts = np.zeros((2, number_of_cells(2, 8)), np.uint32)
    counts[:, -2 * BUCKETS : -2 * BUCKETS + 9] = 1  # of another feature
    for table, cells in zip(counts, (first, second), strict=True):
        table[[cell - BUCKETS for cell in cells]] = 2
    assert all_one(counts) == is_one
