"""Subject of an audit, and the limits that it must not exceed."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from dpbandits.audit import designs
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import Constraint
from dpbandits.privacy.notions import Guarantee, approximate
from dpbandits.privacy.releases import Release, composed_epsilon

ChangedReward = Annotated[
    int, Constraint(lambda n: 1 <= n <= 10_000, "a whole number from 1 to 10,000")
]
ManyArms = Annotated[int, Constraint(lambda n: 3 <= n <= 1024, "a whole number from 3 to 1024")]


class Limit(NamedTuple):
    """Budget that must not be exceeded, by a single choice or by all arms together."""

    epsilon: float
    delta: float
    one_choice: bool


def may_answer(algorithm: str) -> bool:
    """Return True if games of an algorithm may end with an answer; those of regret never do."""
    return registry.member("algorithm", algorithm).kind != registry.USUAL


@dataclass(frozen=True)
class Subject:
    """Algorithm and its parameters without the horizon, which the tables determine."""

    algorithm: str
    settings: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, algorithm: str, params: Any) -> "Subject":
        """Return the subject with these Params; their horizon has no effect."""
        values = {k: v for k, v in parameters.as_json(params).items() if v is not None}
        values.pop("horizon", None)
        return cls(algorithm, tuple(values.items()))

    @property
    def answers(self) -> bool:
        """True if its games may end with an answer."""
        return may_answer(self.algorithm)

    def params(self, rounds: int) -> Any:
        """Return its Params for games of this many rounds; raise UserError if they are invalid."""
        cls, values = registry.algorithm(self.algorithm).Params, dict(self.settings)
        if "horizon" in parameters.fields(cls):
            values["horizon"] = rounds
        return parameters.build(cls, values, self.algorithm, lambda _: "command line")

    def guarantee(self, arms: int, rounds: int) -> Guarantee:
        """Return the paper's guarantee for these games; raise UserError if there is none.

        A guarantee of zCDP is stated as (epsilon, delta)-DP, which events can contradict.
        """
        module = registry.algorithm(self.algorithm)
        if not hasattr(module, "guarantee"):
            raise UserError(
                f"{self.algorithm} promises no privacy, so that an audit has nothing to refute; an"
                " algorithm of your own declares one in a function `guarantee`"
            )
        return approximate(module.guarantee(self.params(rounds), arms, rounds))

    def composed(self, arms: int, rounds: int, delta: float = 0.0) -> float:
        """Return the epsilon that its declared releases within these rounds compose to."""
        return composed_epsilon(self.releases(arms, rounds), delta)

    def declared(self, arms: int, rounds: int) -> Limit:
        """Return the budget that its releases within these rounds compose to, for all arms.

        It is taken at delta = 0, except for zCDP, which bounds nothing there, and for a guarantee
        under revision. The latter is about a mean over rewards, which fixed tables cannot
        contradict, so the audit tests the declared releases instead, at the guarantee's delta.
        """
        guarantee, delta = self.guarantee(arms, rounds), 0.0
        if guarantee.notion.needs_delta or not guarantee.notion.on_every_table:
            delta = guarantee.delta
        return Limit(self.composed(arms, rounds, delta), delta, False)

    def limits(self, arms: int, rounds: int) -> list[Limit]:
        """Return the limits to audit: that of the guarantee, and of all rounds if it covers one.

        A guarantee for all rounds and the declared releases limit the same probabilities, so only
        the smaller limit is audited: a leak exceeds it first. For a guarantee under revision, only
        the declared releases are audited.
        """
        guarantee, declared = self.guarantee(arms, rounds), self.declared(arms, rounds)
        if guarantee.notion.one_choice:
            if math.isinf(declared.epsilon):
                declared = declared._replace(delta=guarantee.delta)
            return [Limit(guarantee.epsilon, guarantee.delta, True), declared]
        if not guarantee.notion.on_every_table:
            return [declared]
        return [min(declared, Limit(guarantee.epsilon, guarantee.delta, False))]

    def releases(self, arms: int, rounds: int) -> Iterable[Release]:
        """Return the releases that it declares for this many rounds."""
        module: Any = registry.algorithm(self.algorithm)
        return module.releases(self.params(rounds), arms, rounds)

    @cached_property
    def horizons(self) -> list[int]:
        """Horizons of its games, increasing.

        The first one is a quarter, and at least 7 rounds, longer than the shortest game with a
        release of both arms, or of one if there is none of both; than twice that one if the
        algorithm is linear: it declares its releases for one dimension, and two arms have two. 64
        and 256 follow if they are longer. Raises UserError if 4096 rounds are too short for a
        release.
        """
        self.guarantee(designs.ARMS, designs.LONG)  # raises if there is none
        for arms in (designs.ARMS, 1):
            shortest = bisect_left(
                range(designs.LONG + 1),
                arms,
                lo=1,
                key=lambda rounds: len({r.arm for r in self.releases(designs.ARMS, rounds)}),
            )
            if shortest <= designs.LONG:
                break
        else:
            raise UserError(
                f"{self.algorithm} releases nothing in games of {designs.LONG} rounds: an"
                " audit has nothing to measure"
            )
        shortest *= designs.ARMS if registry.is_linear(self.algorithm) else 1
        first = shortest + max(designs.SHORT[0] - 1, shortest // 4)
        return [first, *(rounds for rounds in designs.SHORT if rounds > first)]
