"""An audit as a cell, so that figures show what it finds, from the cache like all else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.core import registry
from dpbandits.privacy.notions import Claim
from dpbandits.privacy.releases import Release


@dataclass(frozen=True)
class AuditCell:
    """One subject; every run is an audit of its own, which searches anew."""

    subject: Subject
    plays: int  # games of a run
    seed: int  # root of every random stream

    columns = 2  # numbers of a run: the epsilon that all arms lose at least, and that of one choice

    @property
    def name(self) -> str:
        """One line for people: in progress, in failures."""
        given = ", ".join(f"{name}={value}" for name, value in self.subject.given)
        return f"audit of {self.member}({given}) with {self.plays} games"

    @property
    def member(self) -> str:
        """What is played, as the registry calls it."""
        return self.subject.algorithm

    @property
    def params(self) -> Any:
        """The algorithm's Params in the longest games."""
        return self.subject.params(self.rounds)

    @property
    def rounds(self) -> int:
        """The horizon of the longest games of two arms."""
        return designs.longest(self.subject.horizons)

    @property
    def roots(self) -> tuple[str, ...]:
        """The source files that name all others; the registry imports the first by name."""
        return f"algorithms/{registry.file_name(self.member)}", "audit/audits.py"

    def description(self) -> dict[str, Any]:
        """The cell as JSON values; equal cells, and only they, have equal descriptions."""
        return {
            "audit": self.member,
            "params": dict(self.subject.given),
            "plays": self.plays,
            "seed": self.seed,
        }

    def releases(self) -> Iterable[Release]:
        """What the algorithm declares to release in the longest games of two arms."""
        return self.subject.releases(designs.ARMS, self.rounds)

    def claim(self) -> Claim:
        """What is promised of these games."""
        return self.subject.claim(designs.ARMS, self.rounds)

    def composed(self) -> float:
        """The epsilon that these releases compose to, at the delta of the promise."""
        return self.subject.composed(designs.ARMS, self.rounds, self.claim().delta)
