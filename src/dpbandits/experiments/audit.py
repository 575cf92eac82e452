"""Audits as experiments, so that figures draw their results and the cache keeps them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import randomness, registry
from dpbandits.kernel.parameters import Constraint
from dpbandits.privacy.notions import Guarantee

if TYPE_CHECKING:  # imported late: figures without audits do not enter audit/
    from dpbandits.audit.subject import Subject

Plays = Annotated[int, Constraint(lambda n: 1000 <= n <= 10**10, "a number from 1000 to 10^10")]
CLAIMED, COMPOSED, AUDITED, ONE_CHOICE = "claimed", "composed", "audited", "audited-choice"


@dataclass(frozen=True)
class AuditExperiment(Experiment):
    """One subject of an audit; every run is an independent audit with its own search."""

    member: str  # name of the algorithm
    params: Any  # in the longest games
    subject: "Subject"
    plays: int  # games per run
    seed: int
    game: tuple[int, int]  # arms and rounds of the longest games with two arms

    columns = 2  # lower bounds on epsilon: for all arms, for one choice
    libraries = ("numba", "numpy", "scipy")

    @classmethod
    def of(cls, subject: "Subject", plays: int, seed: int) -> Self:
        """Return the audit of a subject. Raises UserError if nothing is claimed for its games."""
        from dpbandits.audit import designs

        longest = designs.longest(subject.horizons)
        game = designs.ARMS, longest
        return cls(subject.algorithm, subject.params(longest), subject, plays, seed, game)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for the longest games that events can contradict."""
        return self.subject.guarantee(*self.game)

    @property
    def roots(self) -> tuple[str, ...]:
        return (*super().roots, registry.member("algorithm", self.member).source, "audit/search.py")

    def description(self) -> dict[str, Any]:
        described = randomness.fields(self.params, described=True)
        return {
            "audit": self.member,
            "params": {k: v for k, v in self.subject.settings if k in described},
            "plays": self.plays,
            "seed": self.seed,
        }

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return lower bounds on epsilon at the guarantee's delta, and the seconds of each run.

        The bounds are float64 of shape (runs, 2). Column 0 is for all arms together, column 1 for
        one choice; it is 0 if the guarantee covers all arms. Each bound holds with 99 % confidence.
        """
        from dpbandits.audit.search import Auditor  # imported late: scipy.stats takes a second

        values, times = [], [time.perf_counter()]
        for run in runs:
            bounds = [0.0, 0.0]
            auditor = Auditor(self.subject, self.seed, workers=1, number=run)
            for finding in auditor.audit(self.plays):
                bounds[finding.one_choice] = finding.epsilon
            values.append(bounds)
            times.append(time.perf_counter())
        return np.array(values), np.diff(times)

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        if shows == CLAIMED:
            return np.array([self.guarantee.epsilon])
        if shows == COMPOSED:
            return np.array([self.subject.composed(*self.game, self.guarantee.delta)])
        column = int(shows == ONE_CHOICE)
        return load(slice(column, column + 1))[:, 0]
