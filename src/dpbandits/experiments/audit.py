"""Audits as experiments, so that figures draw their results and the cache keeps them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.core import registry
from dpbandits.experiments import Experiment, Load, Naming, Quantity, in_words
from dpbandits.privacy.notions import Guarantee
from dpbandits.privacy.releases import Release


@dataclass(frozen=True)
class AuditExperiment(Experiment):
    """One subject of an audit; every run is an independent audit with its own search."""

    subject: Subject
    plays: int  # games per run
    seed: int

    columns = 2  # lower bounds on epsilon: for all arms, for one choice
    family = "algorithm"
    libraries = ("numba", "numpy", "scipy")
    unit = "audit"
    spends = False  # its figure draws the budgets

    @property
    def name(self) -> str:
        settings = in_words(dict(self.subject.settings))
        return f"audit of {self.member}({settings}) with {self.plays} games"

    @property
    def member(self) -> str:  # type: ignore[override]
        return self.subject.algorithm

    @property
    def params(self) -> Any:
        return self.subject.params(self.longest)

    @property
    def longest(self) -> int:
        """Horizon of the longest games with two arms."""
        return designs.longest(self.subject.horizons)

    @property
    def roots(self) -> tuple[str, ...]:
        algorithm = registry.member("algorithm", self.member).source
        return algorithm, "experiments/audit.py", "audit/search.py"

    def description(self) -> dict[str, Any]:
        return {
            "audit": self.member,
            "params": dict(self.subject.settings),
            "plays": self.plays,
            "seed": self.seed,
        }

    def play(self, runs: range) -> tuple[np.ndarray, np.ndarray]:
        """Return lower bounds on epsilon at the claim's delta, and the seconds that each run took.

        The bounds are float64 of shape (runs, 2). Column 0 is for all arms together, column 1 for
        one choice; it is 0 if the claim covers all arms. Each bound holds with 99 % confidence.
        """
        from dpbandits.audit.search import Auditor  # imported late: scipy.stats takes a second

        values = np.zeros((len(runs), self.columns))
        seconds = np.empty(len(runs))
        for row, run in enumerate(runs):
            start = time.perf_counter()
            auditor = Auditor(self.subject, self.seed, workers=1, number=run)
            for finding in auditor.audit(self.plays):
                values[row, int(finding.one_choice)] = finding.epsilon
            seconds[row] = time.perf_counter() - start
        return values, seconds

    def is_exact(self, shows: Quantity) -> bool:
        return shows in (Quantity.CLAIMED, Quantity.COMPOSED)

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        if shows is Quantity.CLAIMED:
            return np.array([self.claim().epsilon])
        if shows is Quantity.COMPOSED:
            return np.array([self.composed()])
        column = int(shows is Quantity.ONE_CHOICE)
        return load(slice(column, column + 1))[:, 0]

    def game(self) -> dict[str, Any]:
        return {"games": self.plays}

    def setting(self, naming: Naming) -> str:
        return f"{self.plays:,} games an audit"

    def releases(self) -> Iterable[Release]:
        return self.subject.releases(designs.ARMS, self.longest)

    def claim(self) -> Guarantee:
        """Return the paper's claim for these games; raises UserError if there is none."""
        return self.subject.claim(designs.ARMS, self.longest)

    def composed(self) -> float:
        """Return the epsilon that these releases compose to at the claim's delta."""
        return self.subject.composed(designs.ARMS, self.longest, self.claim().delta)
