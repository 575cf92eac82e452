"""Subject of an audit, and the limits that it must not exceed."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from dpbandits.audit import designs
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.core.parameters import Constraint
from dpbandits.privacy.notions import Guarantee, approximate
from dpbandits.privacy.releases import Release, composed_epsilon

Plays = Annotated[int, Constraint(lambda n: 1000 <= n <= 10**10, "a number from 1000 to 10^10")]
ChangedReward = Annotated[
    int, Constraint(lambda n: 1 <= n <= 10_000, "a whole number from 1 to 10,000")
]
ManyArms = Annotated[int, Constraint(lambda n: 3 <= n <= 1024, "a whole number from 3 to 1024")]


class Limit(NamedTuple):
    """Budget that must not be exceeded, by a single choice or by all arms together."""

    epsilon: float
    delta: float
    one_choice: bool


@dataclass(frozen=True)
class Subject:
    """Algorithm and its parameters without the horizon, which the tables determine."""

    algorithm: str
    settings: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, algorithm: str, params: Any) -> "Subject":
        """Return the subject with these Params; their horizon has no effect."""
        values = {k: v for k, v in parameters.plain(params).items() if v is not None}
        values.pop("horizon", None)
        return cls(algorithm, tuple(values.items()))

    @property
    def file(self) -> str:
        """Path of its file, for messages."""
        return registry.member("algorithm", self.algorithm).shown

    def params(self, rounds: int) -> Any:
        """Return its Params for games of this many rounds; raise UserError if they are invalid."""
        cls = registry.algorithm(self.algorithm).Params
        horizon = {"horizon": rounds} if "horizon" in parameters.fields(cls) else {}
        values = {**dict(self.settings), **horizon}
        return parameters.build(cls, values, self.algorithm, lambda _: "command line")

    def claim(self, arms: int, rounds: int) -> Guarantee:
        """Return the paper's claim for these games; raise UserError if there is none.

        A claim of zCDP is stated as (epsilon, delta)-DP, which events can contradict.
        """
        module = registry.algorithm(self.algorithm)
        if not hasattr(module, "claim"):
            raise UserError(
                f"{self.algorithm} promises no privacy, so that an audit has nothing to refute; an"
                " algorithm of your own declares its promise in a function `claim`"
            )
        guarantee: Guarantee = module.claim(self.params(rounds), arms, rounds)
        return approximate(guarantee)

    def composed(self, arms: int, rounds: int, delta: float = 0.0) -> float:
        """Return the epsilon that its declared releases within these rounds compose to."""
        return composed_epsilon(self.releases(arms, rounds), delta)

    def declared(self, arms: int, rounds: int) -> Limit:
        """Return the budget that its releases within these rounds compose to, for all arms.

        It is taken at delta = 0, except for zCDP, which bounds nothing there, and for a claim under
        revision. Such a claim is about a mean over rewards, which fixed tables cannot contradict,
        so the audit tests the declared releases instead, at the claim's delta.
        """
        claim = self.claim(arms, rounds)
        at_its_delta = claim.notion.needs_delta or not claim.notion.on_every_table
        delta = claim.delta if at_its_delta else 0.0
        return Limit(self.composed(arms, rounds, delta), delta, False)

    def limits(self, arms: int, rounds: int) -> list[Limit]:
        """Return the limits to audit: the claim's and, if it covers one round, that of all rounds.

        A claim for all rounds and the declared releases limit the same probabilities, so only the
        smaller limit is audited: a leak exceeds it first. For a claim under revision, only the
        declared releases are audited.
        """
        claim, declared = self.claim(arms, rounds), self.declared(arms, rounds)
        if claim.notion.one_choice:
            of_one_choice = Limit(claim.epsilon, claim.delta, True)
            if math.isinf(declared.epsilon):
                return [of_one_choice, declared._replace(delta=claim.delta)]
            return [of_one_choice, declared]
        if not claim.notion.on_every_table:
            return [declared]
        return [min(declared, Limit(claim.epsilon, claim.delta, False))]

    def releases(self, arms: int, rounds: int) -> Iterable[Release]:
        """Return the releases that it declares for this many rounds."""
        declared: Iterable[Release] = registry.algorithm(self.algorithm).releases(
            self.params(rounds), arms, rounds
        )
        return declared

    @cached_property
    def horizons(self) -> list[int]:
        """Horizons of its games, increasing; UserError if all games are too short to release."""
        self.claim(designs.ARMS, designs.LONG)  # raises without a claim, before `releases` is used

        def released(rounds: int) -> bool:
            return next(iter(self.releases(designs.ARMS, rounds)), None) is not None

        horizons = designs.horizons(released)
        if not horizons:
            raise UserError(
                f"{self.algorithm} releases nothing in games of {designs.LONG} rounds: an"
                " audit has nothing to measure"
            )
        return horizons
