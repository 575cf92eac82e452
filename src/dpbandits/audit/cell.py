"""Audit as a cell, so that figures draw its results and the cache keeps them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.core import registry
from dpbandits.privacy.notions import Guarantee
from dpbandits.privacy.releases import Release


@dataclass(frozen=True)
class AuditExperiment:
    """One subject of an audit; every run is an independent audit with its own search."""

    subject: Subject
    plays: int  # games per run
    seed: int  # root of every random stream

    columns = 2  # numbers per run: lower bounds on epsilon for all arms and for one choice
    libraries = ("numba", "numpy", "scipy")  # whose versions may change the numbers

    @property
    def name(self) -> str:
        """One-line description for progress and error messages."""
        settings = ", ".join(f"{name}={value}" for name, value in self.subject.settings)
        return f"audit of {self.member}({settings}) with {self.plays} games"

    @property
    def member(self) -> str:
        """Name of the algorithm in the registry."""
        return self.subject.algorithm

    @property
    def params(self) -> Any:
        """Params of the algorithm in the longest games."""
        return self.subject.params(self.rounds)

    @property
    def rounds(self) -> int:
        """Horizon of the longest games with two arms."""
        return designs.longest(self.subject.horizons)

    @property
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others; the registry imports the first by its name."""
        return registry.member("algorithm", self.member).source, "audit/audits.py"

    def description(self) -> dict[str, Any]:
        """Return the cell as JSON values; descriptions are equal if and only if the cells are."""
        return {
            "audit": self.member,
            "params": dict(self.subject.settings),
            "plays": self.plays,
            "seed": self.seed,
        }

    def releases(self) -> Iterable[Release]:
        """Return the releases that the algorithm declares for the longest games with two arms."""
        return self.subject.releases(designs.ARMS, self.rounds)

    def claim(self) -> Guarantee:
        """Return the paper's claim for these games; raises UserError if there is none."""
        return self.subject.claim(designs.ARMS, self.rounds)

    def composed(self) -> float:
        """Return the epsilon that these releases compose to at the claim's delta."""
        return self.subject.composed(designs.ARMS, self.rounds, self.claim().delta)
