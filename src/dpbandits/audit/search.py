"""The audit: find the tables and the event that tell most, then measure them on fresh games.

Half of the games find, half measure. What is measured is one event on one pair of tables, fixed
before its games are played: whatever the search came up with, and however much of it is chance,
what is measured errs with probability 1 % at most. Where an algorithm keeps its promise, that is
how often the audit says that it does not; where the promise is of one round, one choice and all
arms are measured each by itself, and it is 2 % at most.
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
from dpbandits.audit.stream_names import Part
from dpbandits.audit.subject import Limit, Subject
from dpbandits.audit_kernels.features import Feature, all_one, features, first_choice
from dpbandits.core.randomness import Role, stream
from dpbandits.privacy.notions import Claim, Notion

# Of the search: their share of its games, and how many tables are left of every family. What proves
# most with few games is not what proves most with many: long games tell by rare events.
ROUNDS = ((0.2, 2), (0.3, 1), (0.5, 1))
FEW = 400  # games that tell a mean


@dataclass(frozen=True)
class Finding:
    """An event on a pair of tables, measured. Its bounds hold with 99 % confidence, all at once."""

    claim: Claim  # for games of this length
    declared: Limit  # what its releases in such a game compose to
    one_choice: bool  # whether it is an event of one choice, on a history that is given
    tables: str
    feature: str  # of which the event is a part
    cells: int  # how many of its values the event holds
    loss: Loss

    @property
    def epsilon(self) -> float:
        """The true epsilon is no smaller than this, at the claimed delta."""
        return self.loss.epsilon(self.claim.delta)

    @property
    def pure_epsilon(self) -> float:
        """The true epsilon is no smaller than this, at delta = 0."""
        return self.loss.epsilon(0.0)

    @property
    def delta(self) -> float:
        """The true delta is no smaller than this, at the claimed epsilon."""
        return self.loss.delta(self.claim.epsilon)

    @property
    def refutes_claim(self) -> bool:
        """Whether the algorithm, as it is played, cannot be what its paper promises."""
        if self.claim.notion is Notion.REVISED:
            return False  # a promise of the mean over rewards, not of these
        is_of_claim = self.one_choice or self.claim.notion is not Notion.PER_ROUND
        return is_of_claim and self.epsilon > self.claim.epsilon

    @property
    def refutes_releases(self) -> bool:
        """Whether it tells more than it declares to release."""
        return self.loss.epsilon(self.declared.delta) > self.declared.epsilon


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pair of tables, its games so far, and the event that tells most by them."""

    design: Design
    limit: Limit
    counts: tuple[np.ndarray, np.ndarray] | None = None  # of either half of its games
    games: int = 0  # in a half, on either table
    proved: float = 0.0  # if what the search saw were new
    event: Event | None = None

    @property
    def share(self) -> float:
        """What is proved, of the limit."""
        return self._of_limit(self.proved)

    @property
    def is_one_game(self) -> bool:
        """Whether all games so far were one and the same, as in a start that no reward moves."""
        return self.counts is not None and all_one(self.counts[0] + self.counts[1])

    def promise(self, games: int) -> float:
        """What the same shares of so many games would prove, of the limit."""
        if not (self.event and self.counts):
            return 0.0
        more, fewer = self.event.counted(self.counts[1])
        more, fewer = more * games // self.games, -(-fewer * games // self.games)
        return self._of_limit(Loss(more, fewer, games).epsilon(self.limit.delta))

    def _of_limit(self, epsilon: float) -> float:
        # Where there is none, or nothing is allowed, by itself.
        limit = self.limit.epsilon
        return epsilon / limit if 0.0 < limit < math.inf else epsilon


class Auditor:
    """Plays one subject; audits of other numbers play other games."""

    def __init__(
        self,
        subject: Subject,
        seed: int,
        workers: int | None = None,
        number: int = 0,
        many_arms: int = designs.MANY,
    ) -> None:
        self.subject, self.seed, self.number, self.many_arms = subject, seed, number, many_arms
        self.parallel = joblib.Parallel(
            -1 if workers is None else workers, prefer="threads", return_as="generator_unordered"
        )

    def audit(self, plays: int) -> list[Finding]:
        """A finding for every limit, from so many plays in all, half of them to find."""
        tables = self._designs()
        number = len(self.subject.limits(tables[0].arms, tables[0].rounds))
        games = plays // number // 4  # on either table, to find and to measure
        return [self._measured(self._found(tables, which, games), games) for which in range(number)]

    def _measured(self, found: Candidate, games: int) -> Finding:
        design, event = found.design, found.event
        told, loss = ("nothing that differs", 0), Loss(more=0, fewer=0, games=games)
        if event is not None:
            counts = self._counts(design, games, Part(self.number, found.limit.one_choice))
            told = event.feature.words, len(event.cells)
            # A choice is told by games of one history: all that are measured have it, or nothing
            # is proved.
            of_choice = first_choice(counts, design.arms, design.rounds)
            if not found.limit.one_choice or of_choice == [event.feature]:
                loss = Loss(*event.counted(counts), games)
        return Finding(
            self.subject.claim(design.arms, design.rounds),
            self.subject.declared(design.arms, design.rounds),
            found.limit.one_choice,
            design.words,
            *told,
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
                    continue  # more of it tell nothing either
                alike = kept.setdefault(candidate.design.family, [])
                alike.append(played)
                alike.sort(key=lambda one: -one.share)
                del alike[survivors:]  # the counts of all would not be few
            left = [candidate for alike in kept.values() for candidate in alike] or left[:1]
        return max(left, key=lambda one: one.promise(games))

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
        found = list(designs.at_the_edge(rounds[-1], self._pulls_of_first))
        if designs.is_short(rounds):
            found += [design for n in rounds for design in designs.constant(n)]
            found += designs.waiting(rounds[0])
            found += designs.many_arms(self.many_arms)
        return found

    def _pulls_of_first(self, design: Design) -> float:
        algorithm, params = self.subject.algorithm, self.subject.params(design.rounds)
        name = stream_names.bisection(algorithm, params, design.id, self.number)
        rng = stream(self.seed, Role.POLICY, 0, name)
        counts = block_of_games(algorithm, params, design, design.table, rng, FEW)
        own = features(design.arms, design.rounds)[design.rounds]
        cells = counts[own.first : own.stop]
        return float(cells @ np.arange(len(cells)) / cells.sum())
