"""Audits as experiments, so that figures draw their results and the cache keeps them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.experiments import Experiment, Load, Quantity, in_words
from dpbandits.kernel import parameters, randomness


@dataclass(frozen=True)
class AuditExperiment(Experiment):
    """One subject of an audit; every run is an independent audit with its own search."""

    subject: Subject
    plays: int  # games per run
    seed: int
    # Horizon of the longest games with two arms.
    longest: int = field(init=False, repr=False, compare=False)

    columns = 2  # lower bounds on epsilon: for all arms, for one choice
    family = "algorithm"
    libraries = ("numba", "numpy", "scipy")
    unit = "audit"
    spends = False  # its figure draws the budgets
    exact = (Quantity.CLAIMED, Quantity.COMPOSED)
    files = ("experiments/audit.py", "audit/search.py")

    def __post_init__(self) -> None:
        """Find the horizon of the longest games; raises UserError if there is no claim for them."""
        algorithm, longest = self.subject.algorithm, designs.longest(self.subject.horizons)
        params, settings = self.subject.params(longest), dict(self.subject.settings)
        plain = parameters.plain(params)
        vars(self).update(
            name=f"audit of {algorithm}({in_words(settings)}) with {self.plays} games",
            member=algorithm,
            members=(("algorithm", algorithm),),
            params=params,
            longest=longest,
            phrase=f"{self.plays:,} games an audit",
            game={"games": self.plays},
            settings={k: v for k, v in plain.items() if k != "horizon"},
            arguments=params._asdict(),
        )

    def description(self) -> dict[str, Any]:
        described = randomness.fields(self.params, described=True)
        return {
            "audit": self.member,
            "params": {k: v for k, v in self.subject.settings if k in described},
            "plays": self.plays,
            "seed": self.seed,
        }

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return lower bounds on epsilon at the claim's delta, and the seconds that each run took.

        The bounds are float64 of shape (runs, 2). Column 0 is for all arms together, column 1 for
        one choice; it is 0 if the claim covers all arms. Each bound holds with 99 % confidence.
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

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        if shows is Quantity.CLAIMED:
            return np.array([self.declared("claim").epsilon])
        if shows is Quantity.COMPOSED:
            delta = self.declared("claim").delta
            return np.array([self.subject.composed(designs.ARMS, self.longest, delta)])
        column = int(shows is Quantity.ONE_CHOICE)
        return load(slice(column, column + 1))[:, 0]

    def declared(self, what: Literal["releases", "claim", "warning"]) -> Any:
        # Of the longest games; the claim is that which events can contradict.
        find = {"releases": self.subject.releases, "claim": self.subject.claim}.get(what)
        return find(designs.ARMS, self.longest) if find else None
