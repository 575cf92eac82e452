"""The audit: find the tables and the event that tell most, then measure them on fresh games.

Half of the games find, half measure. What is measured is one event on one pair of tables, fixed
before its games are played: whatever the search came up with, and however much of it is chance,
the bound errs with probability 1 % at most. Where an algorithm keeps its promise, that is how often
the audit says that it does not.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import joblib
import numpy as np

from dpbandits import parameters, registry
from dpbandits.audit import designs
from dpbandits.audit.events import Event, Loss, best_event
from dpbandits.audit.features import Feature, features, first_choice
from dpbandits.audit.games import Design, counts_of_games
from dpbandits.errors import UserError
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import composed_epsilon

ROUNDS = ((0.3, 8), (0.3, 2), (0.4, 1))  # of the search: their share of its games, and who is left
FEW = 400  # games that tell a mean


class Limit(NamedTuple):
    """What must not be exceeded, and by what: of a single choice, or of all arms together."""

    epsilon: float
    delta: float
    one_choice: bool


@dataclass(frozen=True)
class Subject:
    """An algorithm with its parameters, but for the horizon, which the tables decide."""

    algorithm: str
    given: tuple[tuple[str, Any], ...]

    def params(self, rounds: int) -> Any:
        """Its Params for games of so many rounds. UserError where they are not valid."""
        cls = registry.algorithm(self.algorithm).Params
        told = {"horizon": rounds} if "horizon" in parameters.fields(cls) else {}
        values = {**dict(self.given), **told}
        return parameters.build(cls, values, self.algorithm, lambda _: "command line")

    def claim(self, arms: int, rounds: int) -> Claim:
        """What is promised of these games. UserError where nothing is."""
        module = registry.algorithm(self.algorithm)
        if not hasattr(module, "claim"):
            raise UserError(
                f"{self.algorithm} promises no privacy, there is nothing to refute; an algorithm of"
                " your own says what it promises in a function `claim`"
            )
        found: Claim = module.claim(self.params(rounds), arms, rounds)
        return found

    def composed(self, arms: int, rounds: int) -> float:
        """The pure epsilon that its declared releases within so many rounds compose to."""
        module = registry.algorithm(self.algorithm)
        return composed_epsilon(module.releases(self.params(rounds), arms, rounds))

    def limits(self, arms: int, rounds: int) -> list[Limit]:
        """What is audited: the promise; and, if that is of one round, what all rounds tell.

        A promise of all rounds and the declared releases limit the same probabilities: the smaller
        of the two is what a leak exceeds first.
        """
        claim, composed = self.claim(arms, rounds), self.composed(arms, rounds)
        if claim.notion is Notion.PER_ROUND:
            delta = claim.delta if math.isinf(composed) else 0.0
            one, all_ = Limit(claim.epsilon, claim.delta, True), Limit(composed, delta, False)
            return [one, all_]
        return [min(Limit(composed, 0.0, False), Limit(claim.epsilon, claim.delta, False))]

    def releases_in(self, arms: int, rounds: int) -> bool:
        """Whether it releases anything within so many rounds."""
        module = registry.algorithm(self.algorithm)
        return next(iter(module.releases(self.params(rounds), arms, rounds)), None) is not None


@dataclass(frozen=True)
class Finding:
    """An event on a pair of tables, measured. Its bounds hold with 99 % confidence, all at once."""

    claim: Claim  # for games of this length
    composed: float  # the pure epsilon of what is declared to be released in such a game
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
        is_of_claim = self.one_choice or self.claim.notion is not Notion.PER_ROUND
        return is_of_claim and self.epsilon > self.claim.epsilon

    @property
    def refutes_releases(self) -> bool:
        """Whether it tells more than it declares to release."""
        return self.pure_epsilon > self.composed


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
    def beyond(self) -> float:
        """By how much it exceeds the limit, or how near it comes; without a limit, how much."""
        limit = 0.0 if math.isinf(self.limit.epsilon) else self.limit.epsilon
        return self.proved - limit if self.event else -math.inf


class Auditor:
    """Plays one subject."""

    def __init__(self, subject: Subject, seed: int, workers: int | None) -> None:
        self.subject, self.seed = subject, seed
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
        if event is None:
            told, loss = ("nothing that differs", 0), Loss(more=0, fewer=0, games=games)
        else:
            counts = self._counts(design, games, f"measured, {found.limit.one_choice}")
            told = event.feature.words, len(event.cells)
            loss = Loss(*event.counted(counts), games)
        return Finding(
            self.subject.claim(design.arms, design.rounds),
            self.subject.composed(design.arms, design.rounds),
            found.limit.one_choice,
            design.words,
            *told,
            loss,
        )

    def _found(self, tables: Iterable[Design], which: int, games: int) -> Candidate:
        left = [Candidate(d, self.subject.limits(d.arms, d.rounds)[which]) for d in tables]
        for number, (share, survivors) in enumerate(ROUNDS):
            each = max(1, int(share * games / len(left) / 2))
            kept: list[Candidate] = []
            for candidate in left:
                kept.append(self._played(candidate, each, f"search {number}"))
                kept.sort(key=lambda one: -one.beyond)
                del kept[survivors:]  # the counts of all would not be few
            left = kept
        return left[0]

    def _played(self, candidate: Candidate, games: int, name: str) -> Candidate:
        design, limit = candidate.design, candidate.limit
        told = f"{name}, {limit.one_choice}"
        first = self._counts(design, games, f"{told}, first half")
        second = self._counts(design, games, f"{told}, second half")
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

    def _counts(self, design: Design, games: int, name: str) -> np.ndarray:
        params = self.subject.params(design.rounds)
        return counts_of_games(
            self.subject.algorithm, params, design, games, self.seed, name, self.parallel
        )

    def _designs(self) -> list[Design]:
        rounds = designs.horizons(lambda rounds: self.subject.releases_in(2, rounds))
        if not rounds:
            raise UserError(
                f"{self.subject.algorithm} releases nothing in games of {designs.LONG} rounds:"
                " there is nothing to be told from them"
            )
        found = list(designs.at_the_edge(rounds[-1], self._pulls_of_first))
        if rounds[-1] <= max(designs.SHORT):
            found += [design for n in rounds for design in designs.constant(n)]
            found += designs.many_arms()
        return found

    def _pulls_of_first(self, design: Design) -> float:
        counts = self._counts(design, FEW, "edge")[0]
        own = features(design.arms, design.rounds)[design.rounds]
        cells = counts[own.first : own.stop]
        return float(cells @ np.arange(len(cells)) / cells.sum())
