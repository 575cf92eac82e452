"""Audit: search for the tables and event of largest privacy loss, then measure on fresh games.

Half of the games search and half measure. The measurement uses one event on one pair of tables,
fixed before its games are played. Whatever the search selects, the bound is wrong with probability
at most 1 %. This is also how often the audit refutes a claim that is correct. If the claim is for
one round, one choice and all arms are measured separately, and the probability of such an error is
at most 2 %.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import joblib
import numpy as np

from dpbandits.audit import designs, stream_names
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event, Loss, best_event
from dpbandits.audit.games import block_of_games, counts_of_games
from dpbandits.audit.kernels import Feature, all_one, features, first_choice
from dpbandits.audit.stream_names import Part
from dpbandits.audit.subject import Limit, Subject
from dpbandits.core.randomness import Role, stream
from dpbandits.privacy.notions import Guarantee

# Stages of the search: share of its games, and number of tables per family that survive. Families
# are kept apart because the best tables with few games are not the best with many: long games
# reveal the tables by rare events.
ROUNDS = ((0.2, 2), (0.3, 1), (0.5, 1))
FEW = 400  # games that estimate a mean


@dataclass(frozen=True)
class AuditFinding:
    """Measured event on a pair of tables. All its bounds hold together with 99 % confidence."""

    claim: Guarantee  # for games of this length
    declared: Limit  # budget that the releases in such a game compose to
    one_choice: bool  # True for an event of one choice, after a given history
    tables: str  # description of the design
    feature: str  # feature that the event is part of
    cells: int  # number of the feature's cells in the event
    loss: Loss

    @property
    def epsilon(self) -> float:
        """Lower bound on the true epsilon at the claimed delta."""
        return self.loss.epsilon(self.claim.delta)

    @property
    def pure_epsilon(self) -> float:
        """Lower bound on the true epsilon at delta = 0."""
        return self.loss.epsilon(0.0)

    @property
    def delta(self) -> float:
        """Lower bound on the true delta at the claimed epsilon."""
        return self.loss.delta(self.claim.epsilon)

    @property
    def refutes_claim(self) -> bool:
        """True if the algorithm as implemented cannot satisfy its paper's claim."""
        notion = self.claim.notion
        is_of_claim = notion.on_every_table and (self.one_choice or not notion.one_choice)
        return is_of_claim and self.epsilon > self.claim.epsilon

    @property
    def refutes_releases(self) -> bool:
        """True if the algorithm loses more privacy than its declared releases allow."""
        return self.loss.epsilon(self.declared.delta) > self.declared.epsilon


@dataclass(frozen=True, eq=False)
class Candidate:
    """Pair of tables, its games so far, and the event with the largest loss in them."""

    design: Design
    limit: Limit
    counts: tuple[np.ndarray, np.ndarray] | None = None  # of both halves: uint32, (2, cells)
    games: int = 0  # in each half, on each table
    proved: float = 0.0  # epsilon that would be proved if the search's games were fresh
    event: Event | None = None

    @property
    def share(self) -> float:
        """Epsilon proved so far, as a share of the limit."""
        return self._of_limit(self.proved)

    @property
    def is_one_game(self) -> bool:
        """True if all games so far were identical, as in a start that no reward affects."""
        return self.counts is not None and all_one(*self.counts)

    def promise(self, games: int) -> float:
        """Return the share of the limit that `games` games with these frequencies would prove."""
        if not (self.event and self.counts):
            return 0.0
        more, fewer = self.event.counted(self.counts[1])
        more, fewer = more * games // self.games, -(-fewer * games // self.games)
        return self._of_limit(Loss(more, fewer, games).epsilon(self.limit.delta))

    def _of_limit(self, epsilon: float) -> float:
        # If the limit is infinite or 0, the epsilon itself.
        limit = self.limit.epsilon
        return epsilon / limit if 0.0 < limit < math.inf else epsilon


class Auditor:
    """Audit of one subject; audits with different numbers use different random streams.

    `workers` is the number of threads; None uses all processors. With a `changed_reward`, only that
    reward of arm 1 is changed, in games of two arms that are long enough to read it.
    """

    def __init__(
        self,
        subject: Subject,
        seed: int,
        workers: int | None = None,
        number: int = 0,
        many_arms: int = designs.MANY,
        changed_reward: int | None = None,
    ) -> None:
        self.changed_reward = changed_reward
        self.subject, self.seed, self.number, self.many_arms = subject, seed, number, many_arms
        self.parallel = joblib.Parallel(
            -1 if workers is None else workers, prefer="threads", return_as="generator_unordered"
        )

    def audit(self, plays: int) -> list[AuditFinding]:
        """Return a finding for every limit, from `plays` games in total, half of them to search."""
        tables = self._designs()
        number = len(self.subject.limits(tables[0].arms, tables[0].rounds))
        games = plays // number // 4  # on each table, to search and to measure
        return [self._measured(self._found(tables, which, games), games) for which in range(number)]

    def _measured(self, candidate: Candidate, games: int) -> AuditFinding:
        design, event = candidate.design, candidate.event
        measured, loss = ("nothing that differs", 0), Loss(more=0, fewer=0, games=games)
        if event is not None:
            counts = self._counts(design, games, Part(self.number, candidate.limit.one_choice))
            measured = event.feature.words, len(event.cells)
            # An event of one choice needs games with one history: all measured games must share
            # it, or nothing is proved.
            of_choice = first_choice(counts, design.arms, design.rounds)
            if not candidate.limit.one_choice or of_choice == [event.feature]:
                loss = Loss(*event.counted(counts), games)
        return AuditFinding(
            self.subject.claim(design.arms, design.rounds),
            self.subject.declared(design.arms, design.rounds),
            candidate.limit.one_choice,
            design.words,
            *measured,
            loss,
        )

    def _found(self, tables: Iterable[Design], which: int, games: int) -> Candidate:
        left = [Candidate(d, self.subject.limits(d.arms, d.rounds)[which]) for d in tables]
        for stage, (share, survivors) in enumerate(ROUNDS):
            each = max(1, int(share * games / len(left) / 2))
            kept: dict[tuple[int, int, float], list[Candidate]] = {}
            for candidate in left:
                played = self._played(candidate, each, stage)
                if played.is_one_game:
                    continue  # more such games reveal nothing either
                alike = kept.setdefault(candidate.design.family, [])
                alike.append(played)
                alike.sort(key=lambda candidate: -candidate.share)
                del alike[survivors:]  # at once: the counts of all tables would take much memory
            left = [candidate for alike in kept.values() for candidate in alike] or left[:1]
        return max(left, key=lambda candidate: candidate.promise(games))

    def _played(self, candidate: Candidate, games: int, stage: int) -> Candidate:
        design, limit = candidate.design, candidate.limit
        first, second = (
            self._counts(design, games, Part(self.number, limit.one_choice, stage, half))
            for half in (0, 1)
        )
        if candidate.counts:
            first += candidate.counts[0]
            second += candidate.counts[1]
        counts = first, second
        games += candidate.games
        seen: Iterable[Feature] = features(design.arms, design.rounds)
        if limit.one_choice:
            seen = first_choice(first + second, design.arms, design.rounds)
        proved, event = best_event(counts, games, seen, limit.delta)
        return replace(candidate, counts=counts, games=games, proved=proved, event=event)

    def _counts(self, design: Design, games: int, part: Part) -> np.ndarray:
        params = self.subject.params(design.rounds)
        return counts_of_games(
            self.subject.algorithm, params, design, games, self.seed, part, self.parallel
        )

    def _designs(self) -> list[Design]:
        rounds = self.subject.horizons
        if (index := self.changed_reward) is not None:
            rounds = designs.later(index, rounds)
            chosen = list(designs.at_the_edge(rounds[-1], self._pulls_of_first, index))
            return chosen + [design for n in rounds for design in designs.constant(n, (index,))]
        chosen = list(designs.at_the_edge(rounds[-1], self._pulls_of_first))
        if designs.is_short(rounds):
            chosen += [design for n in rounds for design in designs.constant(n)]
            chosen += designs.waiting(rounds[0])
            chosen += designs.many_arms(self.many_arms)
        return chosen

    def _pulls_of_first(self, design: Design) -> float:
        algorithm, params = self.subject.algorithm, self.subject.params(design.rounds)
        name = stream_names.bisection(algorithm, params, design.id, self.number)
        rng = stream(self.seed, Role.POLICY, 0, name)
        counts = block_of_games(algorithm, params, design, design.table, rng, FEW)
        own = features(design.arms, design.rounds)[design.rounds]
        cells = counts[own.first : own.stop]
        return float(cells @ np.arange(len(cells)) / cells.sum())
