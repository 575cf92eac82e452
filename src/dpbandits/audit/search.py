"""Audit: search for the tables and event of largest privacy loss, then measure on fresh games.

Half of the games search and half measure. The measurement uses one event on one pair of tables,
fixed before its games are played. Whatever the search selects, the bound is wrong with probability
at most 1 %. This is also how often the audit refutes a guarantee that is correct. If the guarantee
is for one round, one choice and all arms are measured separately, and the probability of such an
error is at most 2 %.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np

from dpbandits.audit import designs
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event, Loss, best_event
from dpbandits.audit.kernels import (
    Feature,
    alphabet,
    features,
    first_choice,
    tally,
    tally_with_answers,
)
from dpbandits.audit.subject import Limit, Subject, may_answer
from dpbandits.environments._entries import Entries
from dpbandits.kernel import linear, randomness, registry
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.compilation import kernel_around, specialised
from dpbandits.kernel.randomness import Role, stream
from dpbandits.privacy.notions import Guarantee

# Stages of the search: share of its games, and number of tables that survive of those with equally
# many arms and rounds. These are kept apart because the best tables with few games are not the best
# with many: long games reveal the tables by rare events.
STAGES = ((0.2, 2), (0.3, 1), (0.5, 1))
FEW = 400  # games that estimate a mean
BLOCK = 2**16  # games of a call of a kernel
_tallies: dict[tuple[Any, ...], Callable[..., Any]] = {}


@dataclass(frozen=True)
class AuditFinding:
    """Measured event on a pair of tables. All its bounds hold together with 99 % confidence."""

    guarantee: Guarantee  # for games of this length
    declared: Limit  # budget that the releases in such a game compose to
    one_choice: bool  # True for an event of one choice, after a given history
    tables: str  # description of the design
    feature: str  # feature that the event is part of
    cells: int  # number of the feature's cells in the event
    loss: Loss

    @property
    def epsilon(self) -> float:
        """Lower bound on the true epsilon at the claimed delta."""
        return self.loss.epsilon(self.guarantee.delta)

    @property
    def delta(self) -> float:
        """Lower bound on the true delta at the claimed epsilon."""
        return self.loss.delta(self.guarantee.epsilon)

    @property
    def refutes_guarantee(self) -> bool:
        """True if the algorithm as implemented cannot satisfy its paper's guarantee."""
        notion = self.guarantee.notion
        is_of_guarantee = notion.on_every_table and (self.one_choice or not notion.one_choice)
        return is_of_guarantee and self.epsilon > self.guarantee.epsilon

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

    def share(self, epsilon: float) -> float:
        """Return an epsilon as a share of the limit; itself if the limit is infinite or 0."""
        limit = self.limit.epsilon
        return epsilon / limit if 0.0 < limit < math.inf else epsilon

    def provable(self, games: int) -> float:
        """Return the share of the limit that `games` games with these frequencies would prove."""
        if not (self.event and self.counts):
            return 0.0
        more, fewer = self.event.counted(self.counts[1])
        more, fewer = more * games // self.games, -(-fewer * games // self.games)
        return self.share(Loss(more, fewer, games).epsilon(self.limit.delta))


@dataclass(eq=False)
class Auditor:
    """Audit of one subject; audits with different numbers use different random streams.

    `workers` is the number of threads; None uses all processors. With a `changed_reward`, only that
    reward of arm 1 is changed, in games of two arms that are long enough to read it. `many_arms`
    are MANY by default, and MANY_ACTIONS of linear algorithms.
    """

    subject: Subject
    seed: int
    workers: int | None = None
    number: int = 0
    many_arms: int | None = None
    changed_reward: int | None = None

    def audit(self, plays: int) -> list[AuditFinding]:
        """Return a finding for every limit, from `plays` games in total, half of them to search."""
        rounds = [*self.subject.horizons, *self._rounds_until_answers()]
        many, beside = designs.MANY, designs.BESIDE
        if registry.is_linear(self.subject.algorithm):
            many, beside = designs.MANY_ACTIONS, designs.BESIDE_LINEAR
        many = self.many_arms or many
        tables = designs.in_games_of(rounds, self.pulls_of_first, many, self.changed_reward, beside)
        number = len(self.subject.limits(*tables[0].table.shape))
        games = plays // number // 4  # on each table, to search and to measure
        return [self.measured(self._found(tables, which, games), games) for which in range(number)]

    def measured(self, candidate: Candidate, games: int) -> AuditFinding:
        """Return the finding of fresh games, for the event of the candidate."""
        design, event, one_choice = candidate.design, candidate.event, candidate.limit.one_choice
        feature, cells, loss = "nothing that differs", 0, Loss(more=0, fewer=0, games=games)
        if event is not None:
            counts = self.counts(design, games, f"measured, {one_choice}")
            feature, cells = event.feature.name, len(event.cells)
            # An event of one choice needs games with one history: all measured games must share
            # it, or nothing is proved.
            arms, rounds = design.table.shape
            first = first_choice(counts, arms, rounds, self.subject.answers)
            if not one_choice or first == [event.feature]:
                loss = Loss(*event.counted(counts), games)
        guarantee = self.subject.guarantee(*design.table.shape)
        declared = self.subject.declared(*design.table.shape)
        return AuditFinding(guarantee, declared, one_choice, design.name, feature, cells, loss)

    def _found(self, tables: list[Design], which: int, games: int) -> Candidate:
        left = [Candidate(d, self.subject.limits(*d.table.shape)[which]) for d in tables]
        for stage, (share, survivors) in enumerate(STAGES):
            number = max(1, int(share * games / len(left) / 2))
            kept: dict[tuple[int, int, float], list[Candidate]] = {}
            for candidate in left:
                design, limit = candidate.design, candidate.limit
                arms, rounds = design.table.shape
                part = f"search {stage}, {limit.one_choice}"
                first, second = (
                    self.counts(design, number, f"{part}, {half} half")
                    for half in ("first", "second")
                )
                if candidate.counts:
                    first += candidate.counts[0]
                    second += candidate.counts[1]
                together = first + second
                seen: Sequence[Feature] = features(arms, rounds, self.subject.answers)
                sequences = together[:, seen[-1].first :].sum(axis=0)
                if np.count_nonzero(sequences) == 1:
                    continue  # as in a start that no reward affects: more games reveal nothing
                if limit.one_choice:
                    seen = first_choice(together, arms, rounds, self.subject.answers)
                played = number + candidate.games
                best = best_event((first, second), played, seen, limit.delta)
                # A win against many rewards of 1 is rarer than one against rewards of 0: it reveals
                # more, but seems to reveal less until enough games have shown it.
                others = float(design.table[1, 0]) if arms > designs.ARMS else 0.0
                alike = kept.setdefault((arms, rounds, others), [])
                alike.append(Candidate(design, limit, (first, second), played, *best))
                alike.sort(key=lambda candidate: -candidate.share(candidate.proved))
                del alike[survivors:]  # at once: the counts of all tables would take much memory
            left = [candidate for alike in kept.values() for candidate in alike] or left[:1]
        return max(left, key=lambda candidate: candidate.provable(games))

    def counts(self, design: Design, games: int, part: str) -> np.ndarray:
        """Play `games` games on each table and return their counts, uint32 of shape (2, cells).

        `part` names the games: those of another part have streams of their own. A block of games is
        a call of a kernel with one generator, whose stream is named by the seed, the design and the
        block. The counts therefore do not depend on the number of threads, nor the memory on the
        number of games. Every character of these names enters a seed, so none may change.
        """
        arms, rounds = design.table.shape
        algorithm, params = self.subject.algorithm, self.subject.params(rounds)
        # Room for 10^10 games in four parts.
        total = np.zeros((2, features(arms, rounds, self.subject.answers)[-1].stop), np.uint32)
        tables = design.tables()
        played = f"audit of {spelt(algorithm, params)} on {design.name}"

        def block(which: int, first: int) -> tuple[int, np.ndarray]:
            name = f"{played}, {part}, audit {self.number}, table {which}"
            rng = stream(self.seed, Role.POLICY, first, name)
            number = min(BLOCK, games - first)
            # The counts of a few games are mostly zeros, which take longer to add than to play.
            sums = total[which] if games <= BLOCK else None
            return which, block_of_games(
                algorithm, params, design, tables[which], rng, number, sums
            )

        threads = -1 if self.workers is None else self.workers
        parallel = joblib.Parallel(threads, prefer="threads", return_as="generator_unordered")
        blocks = [(which, first) for first in range(0, games, BLOCK) for which in (0, 1)]
        for which, sums in parallel(joblib.delayed(block)(*numbers) for numbers in blocks):
            if games > BLOCK:
                total[which] += sums
        return total

    def pulls_of_first(self, design: Design) -> float:
        """Return the mean number of pulls of arm 1, from a few games on the first table.

        All rounds after a game that ends with the answer 1 count as pulls.
        """
        arms, rounds = design.table.shape
        seen, counts = self._few_games(design)
        _, first = alphabet(arms, rounds, self.subject.answers)  # feature after those of the rounds
        counted = (first, first + arms) if self.subject.answers else (first,)
        cells = [counts[seen[i].first : seen[i].stop] for i in counted]
        return sum(float(c @ np.arange(len(c)) / c.sum()) for c in cells)

    def _few_games(self, design: Design) -> tuple[Sequence[Feature], np.ndarray]:
        # The features of a design and their counts in a few games on its first table.
        arms, rounds = design.table.shape
        algorithm, params = self.subject.algorithm, self.subject.params(rounds)
        name = f"audit {self.number} of {spelt(algorithm, params)}, edge of {design.name}"
        rng = stream(self.seed, Role.POLICY, 0, name)
        counts = block_of_games(algorithm, params, design, design.table, rng, FEW)
        return features(arms, rounds, self.subject.answers), counts

    def _rounds_until_answers(self) -> list[int]:
        # Rounds after which most games on a clear instance have ended, if longer than all others.
        if not self.subject.answers:
            return []
        for rounds in (n for n in designs.UNTIL_ANSWERS if n > self.subject.horizons[-1]):
            design = designs.evenly_spread(1.0, rounds)
            seen, counts = self._few_games(design)
            last = counts[seen[rounds].first : seen[rounds].stop]
            if last[-1] < FEW / 2:  # the last symbol is that of no answer
                return [rounds]
        return []


def spelt(algorithm: str, params: NamedTuple) -> str:
    """Return an algorithm with its parameters, as stream names spell them."""
    fields = (f"{name}={value!r}" for name, value in randomness.fields(params).items())
    return f"{algorithm} Params({', '.join(fields)})"


def block_of_games(
    algorithm: str,
    params: NamedTuple,
    design: Design,
    table: np.ndarray,
    rng: np.random.Generator,
    games: int,
    counts: np.ndarray | None = None,
) -> np.ndarray:
    """Play `games` games on one table and return their counts, uint32 of shape (cells,).

    `table`, float64 of shape (arms, rounds), has rewards as shares of the range. The games are
    added to `counts`, if given.
    """
    arms, rounds = table.shape
    answers = may_answer(algorithm)
    if counts is None:
        counts = np.zeros(features(arms, rounds, answers)[-1].stop, np.uint32)
    unused = np.random.Generator(np.random.PCG64(0))  # a table draws no rewards
    _, length = alphabet(arms, rounds, answers)
    low, high = registry.assumed_range(algorithm)
    law = Entries(low + (high - low) * table, np.zeros(arms, np.int64), np.zeros(length, np.int64))
    bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), unused, within=(low, high))
    bandit = bandit._replace(features=linear.of_game(law, arms, registry.is_linear(algorithm)))
    arguments = params, bandit, rng, games, design.index, counts
    # Blocks whose parameters have equal types share machine code: numba need not look at all
    # arguments again.
    key = algorithm, *map(type, params)
    if key not in _tallies:
        body = tally_with_answers if answers else tally
        kernel = kernel_around(registry.algorithm(algorithm).play, body)
        _tallies[key] = specialised(kernel, *arguments)
    _tallies[key](*arguments)
    return counts
