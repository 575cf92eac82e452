"""Table of privacy claims beside the budgets that the releases compose to.

A guarantee refers to its own notion of privacy, with its own parameters: epsilon, epsilon and
delta, or rho (zCDP). To be comparable, rho is also stated as (epsilon, delta)-DP. Both
compositions, the papers' and the tight one, cover all releases over the whole horizon, for the
reward with the largest budget.
"""

import itertools
import math
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from dpbandits.experiments import kinds
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.kernel.parameters import Arms, Delta, Positive, Rounds, variant_name
from dpbandits.kernel.roots import PACKAGE
from dpbandits.privacy.accounting import NotComputed, tight_epsilon
from dpbandits.privacy.notions import DELTA, Guarantee, approximate
from dpbandits.privacy.releases import composed_epsilon

HORIZON, ARMS = 10**6, 5
CLOSE = 1e-9  # relative tolerance: budgets that differ only by rounding are equal


class Row(NamedTuple):
    """Row of the table: an algorithm in a group of variants with the same privacy."""

    name: str  # name in the registry
    label: str  # name in the papers
    variant: str  # such as `counter: hybrid-full`; "" if all variants have the same privacy
    params: Any  # Params of the first of these variants
    guarantee: Guarantee  # as printed
    stated: Guarantee  # the guarantee as (epsilon, delta)-DP
    composed: float  # epsilon at the same delta, composed as in the papers
    tight: float | None  # smallest epsilon at the same delta; None if it was not computed
    untight: str  # why it was not; "" if it was, or was not asked for
    spent: float  # budget that the releases compose to, in the unit of the guarantee's notion

    @property
    def why(self) -> str:
        """Reason why the releases compose to another epsilon than the guarantee's, or ""."""
        tight = self.composed if self.tight is None else self.tight
        alike = all(
            math.isclose(epsilon, self.stated.epsilon, rel_tol=CLOSE)
            for epsilon in (self.composed, tight)
        )
        return "" if alike else self.guarantee.differs


def rows(
    names: Iterable[str] = (),
    epsilon: float = 1.0,
    horizon: int = HORIZON,
    arms: int = ARMS,
    delta: float | None = None,
    rho: float = 1.0,
    tight: bool = True,
) -> list[Row]:
    """Return the rows of the named algorithms and rules, by default all private ones of dpbandits.

    `delta` applies to every algorithm that has one, and to guarantees of zCDP; None selects the
    algorithm's default, or 10^-6 if it has none. `rho` is the budget of zCDP, and `epsilon` that of
    all others. If a theorem sets the budget (EXP3_tau with tau chosen for the regret), the
    guarantee holds that budget whatever the arguments are. Without `tight`, the smallest epsilon,
    which may take a minute, is None. Raises UserError for an unknown or non-private name and for
    an invalid value.
    """
    values = dict[str, Any]()
    for name, annotation, value in (
        ("epsilon", Positive, epsilon),
        ("rho", Positive, rho),
        ("horizon", Rounds, horizon),
        ("arms", Arms, arms),
        ("delta", Delta, DELTA if delta is None else delta),
    ):
        try:
            values[name] = parameters.coerce(annotation, value)
        except ValueError as error:
            raise UserError(f"privacy: {name} must be {error}, got {shown(value)}") from None
    # A parameter in `kept` gets the value in `values` only if its class has no default.
    kept = set[str]() if delta is not None else {"delta"}
    members = registry.members("algorithm")
    ours = [name for name, member in members.items() if member.root is PACKAGE]
    ours.sort(key=lambda name: members[name].kind != registry.USUAL)
    table: list[Row] = []
    for name in dict.fromkeys(names) or ours:
        if name not in members:
            raise UserError(f"privacy: unknown algorithm '{name}'; {nearest(name, members)}")
        if hasattr(registry.algorithm(name), "guarantee"):
            table += _rows(name, values, kept, tight)
        elif names:
            raise UserError(f"privacy: '{name}' promises no privacy")
    return table


def _rows(name: str, values: dict[str, Any], kept: set[str], is_tight: bool) -> list[Row]:
    module, kind = registry.algorithm(name), kinds.of_member(name)
    kept = {*kept, *(kind.usual.keys() - values.keys())}
    values, where = {**kind.usual, **values}, kind.game(values)
    fields = parameters.fields(module.Params)
    given = fields.keys() & values.keys() - (kept & module.Params._field_defaults.keys())
    default = parameters.build(
        module.Params, {key: values[key] for key in given}, name, lambda key: "command line"
    )
    variants = {
        key: list(annotation)
        for key, annotation in fields.items()
        if isinstance(annotation, type) and issubclass(annotation, IntEnum)
    }
    alike: dict[Any, list[Any]] = {}  # Params by the guarantee and the numbers that they lead to
    for chosen in itertools.product(*variants.values()):
        params = default._replace(**dict(zip(variants, chosen, strict=True)))
        guarantee = module.guarantee(params, *where)
        stated = approximate(guarantee, values["delta"])
        releases = list(module.releases(params, *where))
        composed = composed_epsilon(releases, stated.delta)
        tight, untight = None, ""
        try:
            tight = tight_epsilon(releases, stated.delta) if is_tight else None
        except NotComputed as error:
            untight = str(error)
        composition = guarantee.notion.composition
        spent = composition(releases) if composition else composed
        alike.setdefault((guarantee, stated, composed, tight, untight, spent), []).append(params)
    table = []
    for budgets, members in alike.items():
        shared = []  # variants that set these members apart, such as `noise: per-release | frozen`
        for key, every in variants.items():
            here = list(dict.fromkeys(getattr(params, key) for params in members))
            if len(here) < len(every):
                shared.append(f"{key}: {' | '.join(map(variant_name, here))}")
        table.append(Row(name, module.LABEL, ", ".join(shared), members[0], *budgets))
    return table
