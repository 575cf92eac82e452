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
from typing import Any, NamedTuple

from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.parameters import Arms, Delta, Positive, Rounds, reading_name
from dpbandits.privacy.accounting import NoAccountant, tight_epsilon
from dpbandits.privacy.notions import (
    DELTA,
    AnyGuarantee,
    ConcentratedGuarantee,
    Guarantee,
    approximate,
)
from dpbandits.privacy.releases import composed_epsilon, composed_rho

HORIZON, ARMS = 10**6, 5
RADIUS, ALPHA, BETA = 1.0, 0.5, 0.05  # for stopping rules, as in the figure stopping-rules
CLOSE = 1e-9  # relative tolerance: budgets that differ only by rounding are equal


class Row(NamedTuple):
    """Row of the table: an algorithm in a group of readings with the same privacy."""

    name: str  # name in the registry
    label: str  # name in the papers
    reading: str  # such as `counter: hybrid-full`; "" if all readings have the same privacy
    params: Any  # Params of the first of these readings
    claim: AnyGuarantee  # as printed
    stated: Guarantee  # the claim as (epsilon, delta)-DP
    composed: float  # epsilon at the same delta, composed as in the papers
    tight: float | None  # smallest epsilon at the same delta; None without the accountant
    rho: float | None = None  # to which the releases compose; None if the claim is not of zCDP

    @property
    def why(self) -> str:
        """Reason why the releases compose to another epsilon than the claim's, or ""."""
        tight = self.composed if self.tight is None else self.tight
        alike = all(
            math.isclose(epsilon, self.stated.epsilon, rel_tol=CLOSE)
            for epsilon in (self.composed, tight)
        )
        return "" if alike else self.claim.differs


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
    arguments: dict[str, Any] = {
        "epsilon": _checked("epsilon", Positive, epsilon),
        "rho": _checked("rho", Positive, rho),
        "horizon": _checked("horizon", Rounds, horizon),
        "delta": DELTA if delta is None else _checked("delta", Delta, delta),
        "alpha": ALPHA,
        "beta": BETA,
    }
    arms = _checked("arms", Arms, arms)
    kept = {"alpha", "beta"} if delta is not None else {"alpha", "beta", "delta"}
    return [row for name in _known(names) for row in _rows_of(name, arguments, kept, arms)]


def private_names() -> list[str]:
    """Return the names of all algorithms and stopping rules with a claim, algorithms first."""
    return [
        name
        for names, module in (
            (registry.algorithm_names(), registry.algorithm),
            (registry.stopping_rule_names(), registry.stopping_rule),
        )
        for name in names
        if hasattr(module(name), "claim")
    ]


def _known(names: Iterable[str]) -> list[str]:
    private = private_names()
    chosen = list(names) or private
    others = {*registry.algorithm_names(), *registry.stopping_rule_names()} - set(private)
    for name in chosen:
        if name in others:
            raise UserError(f"privacy: '{name}' promises no privacy")
        if name not in private:
            raise UserError(f"privacy: unknown algorithm '{name}'; {nearest(name, private)}")
    return list(dict.fromkeys(chosen))


def _checked(name: str, annotation: Any, value: Any) -> Any:
    try:
        return parameters.coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"privacy: {name} must be {error}, got {shown(value)}") from None


def _rows_of(name: str, arguments: dict[str, Any], kept: set[str], arms: int) -> list[Row]:
    is_rule = name in registry.stopping_rule_names()
    module = registry.stopping_rule(name) if is_rule else registry.algorithm(name)
    where = (RADIUS,) if is_rule else (arms, arguments["horizon"])
    alike: dict[tuple[AnyGuarantee, Guarantee, float, float | None, float | None], list[Any]] = {}
    for params in _readings(module.Params, arguments, kept, name):
        claim = module.claim(params, *where)
        stated = approximate(claim, arguments["delta"])
        releases = list(module.releases(params, *where))
        composed = composed_epsilon(releases, stated.delta)
        try:
            tight = tight_epsilon(releases, stated.delta)
        except NoAccountant:
            tight = None
        rho = composed_rho(releases) if isinstance(claim, ConcentratedGuarantee) else None
        alike.setdefault((claim, stated, composed, tight, rho), []).append(params)
    every = [params for members in alike.values() for params in members]
    return [
        Row(name, module.LABEL, _distinguishing_readings(members, every), members[0], *key)
        for key, members in alike.items()
    ]


def _readings(cls: Any, arguments: dict[str, Any], kept: set[str], name: str) -> list[Any]:
    # Return the parameters in every combination of their readings, the default first. A parameter
    # in `kept` gets the value in `arguments` only if its class has no default.
    known = parameters.fields(cls)
    defaults = kept & set(cls._field_defaults)
    values = {
        key: value for key, value in arguments.items() if key in known and key not in defaults
    }
    default = parameters.build(cls, values, name, lambda key: "command line")
    readings = {
        key: list(annotation)
        for key, annotation in known.items()
        if isinstance(annotation, type) and issubclass(annotation, IntEnum)
    }
    return [
        default._replace(**dict(zip(readings, members, strict=True)))
        for members in itertools.product(*readings.values())
    ]


def _distinguishing_readings(members: Sequence[Any], every: Sequence[Any]) -> str:
    # Name the readings that distinguish `members` from the rest of `every`, such as
    # `schedule: series, noise: per-release | frozen`.
    parts = []
    for key in members[0]._fields:
        here = list(dict.fromkeys(getattr(params, key) for params in members))
        if set(here) != {getattr(params, key) for params in every}:
            parts.append(f"{key}: {' | '.join(reading_name(value) for value in here)}")
    return ", ".join(parts)
