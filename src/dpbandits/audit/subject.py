"""What is audited, and what it must keep."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from dpbandits.audit import designs
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.core.parameters import Constraint
from dpbandits.privacy.notions import Claim, Notion
from dpbandits.privacy.releases import Release, composed_epsilon

Plays = Annotated[int, Constraint(lambda n: 1000 <= n <= 10**10, "a number from 1000 to 10^10")]
ManyArms = Annotated[int, Constraint(lambda n: 3 <= n <= 1024, "a whole number from 3 to 1024")]


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

    @classmethod
    def of(cls, algorithm: str, params: Any) -> "Subject":
        """The subject of these Params, whatever horizon they tell."""
        told = {k: v for k, v in parameters.plain(params).items() if v is not None}
        told.pop("horizon", None)
        return cls(algorithm, tuple(told.items()))

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

    def composed(self, arms: int, rounds: int, delta: float = 0.0) -> float:
        """The epsilon that its declared releases within so many rounds compose to."""
        return composed_epsilon(self.releases(arms, rounds), delta)

    def declared(self, arms: int, rounds: int) -> Limit:
        """What its releases within so many rounds compose to, for all arms together.

        At delta = 0, but for a promise under revision: that is a mean over rewards, which fixed
        tables alone do not contradict, so what is declared is held against them at its delta.
        """
        claim = self.claim(arms, rounds)
        delta = claim.delta if claim.notion is Notion.REVISED else 0.0
        return Limit(self.composed(arms, rounds, delta), delta, False)

    def limits(self, arms: int, rounds: int) -> list[Limit]:
        """What is audited: the promise; and, if that is of one round, what all rounds tell.

        A promise of all rounds and the declared releases limit the same probabilities: the smaller
        of the two is what a leak exceeds first.
        """
        claim, declared = self.claim(arms, rounds), self.declared(arms, rounds)
        if claim.notion is Notion.PER_ROUND:
            one = Limit(claim.epsilon, claim.delta, True)
            if math.isinf(declared.epsilon):
                return [one, declared._replace(delta=claim.delta)]
            return [one, declared]
        if claim.notion is Notion.REVISED:
            return [declared]
        return [min(declared, Limit(claim.epsilon, claim.delta, False))]

    def releases(self, arms: int, rounds: int) -> Iterable[Release]:
        """What it declares to release within so many rounds."""
        declared: Iterable[Release] = registry.algorithm(self.algorithm).releases(
            self.params(rounds), arms, rounds
        )
        return declared

    @cached_property
    def horizons(self) -> list[int]:
        """The rounds of its games, increasing. UserError where all of them are too short."""
        self.claim(designs.ARMS, designs.LONG)  # what promises nothing declares nothing

        def released(rounds: int) -> bool:
            return next(iter(self.releases(designs.ARMS, rounds)), None) is not None

        found = designs.horizons(released)
        if not found:
            raise UserError(
                f"{self.algorithm} releases nothing in games of {designs.LONG} rounds: there is"
                " nothing to be told from them"
            )
        return found
