"""Table of privacy claims beside the budgets that the releases compose to.

A claim refers to its own notion of privacy, with its own parameters: epsilon, epsilon and delta, or
rho (zCDP). To be comparable, rho is also stated as (epsilon, delta)-DP. Both compositions, the
papers' and the tight one, cover all releases over the whole horizon, for the reward with the
largest budget.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from enum import IntEnum
from types import ModuleType
from typing import Any, NamedTuple

from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.parameters import Arms, Delta, Positive, Rounds, reading_name
from dpbandits.privacy.accounting import NoAccountant, tight_epsilon
from dpbandits.privacy.notions import DELTA, Guarantee, approximate
from dpbandits.privacy.releases import composed_epsilon

HORIZON, ARMS = 10**6, 5
RADIUS, ALPHA, BETA = 1.0, 0.5, 0.05  # for stopping rules, as in the figure stopping-rules
CLOSE = 1e-9  # relative tolerance: budgets that differ only by rounding are equal


class Row(NamedTuple):
    """Row of the table: an algorithm in a group of readings with the same privacy."""

    name: str  # name in the registry
    label: str  # name in the papers
    reading: str  # such as `counter: hybrid-full`; "" if all readings have the same privacy
    params: Any  # Params of the first of these readings
    claim: Guarantee  # as printed
    stated: Guarantee  # the claim as (epsilon, delta)-DP
    composed: float  # epsilon at the same delta, composed as in the papers
    tight: float | None  # smallest epsilon at the same delta; None without the accountant
    spent: float  # budget that the releases compose to, in the unit of the claim's notion

    @property
    def why(self) -> str:
        """Reason why the releases compose to another epsilon than the claim's, or ""."""
        tight = self.composed if self.tight is None else self.tight
        alike = all(
            math.isclose(epsilon, self.stated.epsilon, rel_tol=CLOSE)
            for epsilon in (self.composed, tight)
        )
        return "" if alike else self.claim.differs


def private_names() -> list[str]:
    """Return the names of all algorithms and stopping rules with a claim, algorithms first."""
    algorithms, rules = registry.algorithm_names(), registry.stopping_rule_names()
    return [name for name in (*algorithms, *rules) if hasattr(_module(name), "claim")]


def rows(
    names: Iterable[str] = (),
    epsilon: float = 1.0,
    horizon: int = HORIZON,
    arms: int = ARMS,
    delta: float | None = None,
    rho: float = 1.0,
) -> list[Row]:
    """Return the rows of the named algorithms and stopping rules, by default of all private ones.

    `delta` applies to every algorithm that has one, and to claims of zCDP; None selects the
    algorithm's default, or 10^-6 if it has none. `rho` is the budget of zCDP, and `epsilon` that of
    all others. If a theorem sets the budget (EXP3_tau with tau chosen for the regret), the
    claim holds that budget whatever the arguments are. Raises UserError for an unknown or
    non-private name and for an invalid value.
    """

    def checked(name: str, annotation: Any, value: Any) -> Any:
        try:
            return parameters.coerce(annotation, value)
        except ValueError as error:
            raise UserError(f"privacy: {name} must be {error}, got {shown(value)}") from None

    arguments: dict[str, Any] = {
        "epsilon": checked("epsilon", Positive, epsilon),
        "rho": checked("rho", Positive, rho),
        "horizon": checked("horizon", Rounds, horizon),
        "delta": DELTA if delta is None else checked("delta", Delta, delta),
        "alpha": ALPHA,
        "beta": BETA,
    }
    arms = checked("arms", Arms, arms)
    # A parameter in `kept` gets the value in `arguments` only if its class has no default.
    kept = {"alpha", "beta"} if delta is not None else {"alpha", "beta", "delta"}
    private = private_names()
    chosen = list(dict.fromkeys(names)) or private
    for name in chosen:
        if name not in private:
            if name in {*registry.algorithm_names(), *registry.stopping_rule_names()}:
                raise UserError(f"privacy: '{name}' promises no privacy")
            raise UserError(f"privacy: unknown algorithm '{name}'; {nearest(name, private)}")
    return [row for name in chosen for row in _rows_of(name, arguments, kept, arms)]


def readings(default: Any) -> list[Any]:
    """Return Params in every combination of their readings, those of `default` first."""
    every = {
        key: list(annotation)
        for key, annotation in parameters.fields(type(default)).items()
        if isinstance(annotation, type) and issubclass(annotation, IntEnum)
    }
    return [
        default._replace(**dict(zip(every, members, strict=True)))
        for members in itertools.product(*every.values())
    ]


def _module(name: str) -> ModuleType:
    is_rule = name in registry.stopping_rule_names()
    return registry.stopping_rule(name) if is_rule else registry.algorithm(name)


def _rows_of(name: str, arguments: dict[str, Any], kept: set[str], arms: int) -> list[Row]:
    module = _module(name)
    is_rule = name in registry.stopping_rule_names()
    where = (RADIUS,) if is_rule else (arms, arguments["horizon"])
    known = parameters.fields(module.Params)
    defaults = kept & set(module.Params._field_defaults)
    values = {k: value for k, value in arguments.items() if k in known and k not in defaults}
    default = parameters.build(module.Params, values, name, lambda key: "command line")
    alike: dict[tuple[Guarantee, Guarantee, float, float | None, float], list[Any]] = {}
    every = readings(default)
    for params in every:
        claim = module.claim(params, *where)
        stated = approximate(claim, arguments["delta"])
        releases = list(module.releases(params, *where))
        composed = composed_epsilon(releases, stated.delta)
        try:
            tight = tight_epsilon(releases, stated.delta)
        except NoAccountant:
            tight = None
        composition = claim.notion.composition
        spent = composition(releases) if composition else composed
        alike.setdefault((claim, stated, composed, tight, spent), []).append(params)
    return [
        Row(name, module.LABEL, _distinguishing_readings(members, every), members[0], *key)
        for key, members in alike.items()
    ]


def _distinguishing_readings(members: Sequence[Any], every: Sequence[Any]) -> str:
    # Such as `schedule: series, noise: per-release | frozen`.
    parts = []
    for key in members[0]._fields:
        here = list(dict.fromkeys(getattr(params, key) for params in members))
        if set(here) != {getattr(params, key) for params in every}:
            parts.append(f"{key}: {' | '.join(reading_name(value) for value in here)}")
    return ", ".join(parts)
