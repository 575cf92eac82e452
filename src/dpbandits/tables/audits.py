"""Audited budgets: a small table of what the reference of the audits' figure says.

figures/reference/audits/privacy-audit.csv has a row for every audited algorithm, variant and
budget. `dpbandits reference privacy-audit` writes it with the reference. Captions of
private figures read it alone: they neither compose the figure of the audits nor enter audit/.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from dpbandits.experiments import kinds
from dpbandits.experiments.audit import ONE_CHOICE, AuditExperiment
from dpbandits.files import project
from dpbandits.files.atomic import AUDITS_SCHEMA
from dpbandits.kernel import registry
from dpbandits.privacy.notions import BUDGETS, approximate, budget_of
from dpbandits.privacy.releases import composed_epsilon
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references
from dpbandits.tables.series import Series, written

FIGURE = "privacy-audit"
FILE = f"figures/reference/audits/{FIGURE}.csv"
EPSILON = 1.0  # budget of the audits on the pages


class Audited(NamedTuple):
    """Audit of an algorithm: what is promised in its longest games, and the bounds from all games.

    Both bounds are lower bounds on epsilon at the guarantee's delta, each with 99 % confidence.
    """

    algorithm: str
    label: str  # of the curve
    given: Mapping[str, float]  # budget and, if there is one, delta in the algorithm's Params
    arms: int
    rounds: int
    notion: str  # title of the guarantee's notion
    claimed: float  # budget that the paper claims, in the unit of the notion
    delta: float  # of the guarantee
    composed: float  # epsilon that the declared releases compose to
    epsilon: float  # lower bound from all arms together
    one_choice: float | None  # lower bound from one choice; None if the guarantee is about all arms

    @property
    def budget_given(self) -> float:
        """Epsilon, or rho, given to the algorithm."""
        return self.given[budget_of(self.given) or "epsilon"]

    def is_valid_for(self, params: Any) -> bool:
        """Return True if the paper guarantees the same with these Params in these games.

        They do if, with the budget and the delta of the audit, they give the same guarantee and the
        same composed budget.
        """
        game = {"horizon": self.rounds} if "horizon" in params._fields else {}
        asked, module = params._replace(**self.given, **game), registry.algorithm(self.algorithm)
        guarantee = approximate(module.guarantee(asked, self.arms, self.rounds))
        composed = composed_epsilon(module.releases(asked, self.arms, self.rounds), guarantee.delta)
        return (
            (guarantee.notion.title, guarantee.delta) == (self.notion, self.delta)
            and math.isclose(guarantee.budget, self.claimed)
            and math.isclose(composed, self.composed)
        )


def audited(algorithm: str, params: Any) -> Audited | None:
    """Return the audit of an algorithm with these Params, or None if there is none.

    The audit is at their budget if there is one, else at epsilon = 1.
    """
    valid = [
        row for row in read_audits() if row.algorithm == algorithm and row.is_valid_for(params)
    ]
    budgets = budget(params), EPSILON
    return next((row for b in budgets for row in valid if row.budget_given == b), None)


def budget(params: Any) -> float:
    """Return the budget given to a private algorithm: epsilon, or rho for zCDP."""
    return float(getattr(params, budget_of(params._fields) or "epsilon"))


def read_audits() -> list[Audited]:
    """Return all audits in the order of the figure; none without a table.

    Raises UserError if the table was changed or cannot be read.
    """
    file = project.home("figure", FIGURE) / FILE
    remedy = f"`dpbandits reference {FIGURE}` writes it"
    rows, _ = references.committed(file, remedy) or ([], {})
    return [
        Audited(
            algorithm=row["algorithm"],
            label=row["label"],
            given=json.loads(row["given"]),
            arms=int(row["arms"]),
            rounds=int(row["rounds"]),
            notion=row["notion"],
            claimed=float(row["claimed"]),
            delta=float(row["delta"]),
            composed=float(row["composed"]),
            epsilon=float(row["epsilon"]),
            one_choice=float(row["one_choice"]) if row["one_choice"] else None,
        )
        for row in rows
    ]


def write(spec: FigureSpec, series: Sequence[Series]) -> None:
    """Write the table of the audits' figure, from the curves of its reference."""
    record = {"schema": AUDITS_SCHEMA, "figure": FIGURE}
    references.commit(project.home("figure", FIGURE) / FILE, table(spec, series), record)


def table(spec: FigureSpec, series: Sequence[Series]) -> bytes:
    """Return the table of the audits' figure, from the curves of its reference."""
    bounds: dict[AuditExperiment, dict[str, float]] = {}
    labels: dict[AuditExperiment, str] = {}
    curves = (curve for panel in spec.panels for curve in panel.curves)
    for curve, of in zip(curves, series, strict=True):
        if not curve.is_exact:
            column = "one_choice" if curve.shows.name == ONE_CHOICE else "epsilon"
            for source, bound in zip(curve.sources, of.centre.tolist(), strict=True):
                experiment = cast(AuditExperiment, source)
                bounds.setdefault(experiment, {})[column] = bound
                labels[experiment] = curve.label
    rows = []
    for experiment, lower in bounds.items():
        params, guarantee = experiment.params, experiment.guarantee
        given = {k: getattr(params, k) for k in (*BUDGETS, "delta") if k in params._fields}
        rows.append(
            (
                *(experiment.member, labels[experiment], json.dumps(given), *experiment.game),
                *(
                    guarantee.notion.title,
                    guarantee.budget,
                    guarantee.delta,
                    kinds.composed_budget(experiment),
                ),
                *(lower["epsilon"], lower.get("one_choice", "")),
            )
        )
    return written(Audited._fields, rows)
