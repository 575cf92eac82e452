"""Audit results of every algorithm, for pages and captions, read from a figure's reference.

Nothing is played here. The result of an audit is valid for all parameters that give the same claim
and the same composed budget at the audit's epsilon and delta.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dpbandits.audit import designs
from dpbandits.audit.subject import Subject
from dpbandits.config import compose
from dpbandits.experiments import Quantity
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.files import project
from dpbandits.privacy.notions import BUDGETS, Guarantee, budget_of
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import references

FIGURE = "privacy-audit"
EPSILON = 1.0  # budget of the audits on the pages


class Audited(NamedTuple):
    """Lower bounds on epsilon, each with 99 % confidence."""

    label: str  # label of the curve
    budget_given: float  # epsilon, or rho, given to the algorithm in the audit
    delta: float  # delta of the audit, 0 if the algorithm has none
    epsilon: float  # lower bound from all arms together
    one_choice: float | None  # lower bound from one choice; None if the promise is about all arms


def of(algorithm: str, params: Any) -> Audited | None:
    """Return the audit of an algorithm with these parameters, or None if there is none.

    The audit is at their epsilon if there is one, else at epsilon = 1.
    """
    audited = audits().items()
    own = [r for cell, r in audited if cell.member == algorithm and _alike(cell, params)]
    same = [result for result in own if result.budget_given == given(params)]
    usual = [result for result in own if result.budget_given == EPSILON]
    return next(iter(same + usual), None)


def audits() -> Mapping[AuditExperiment, Audited]:
    """Return the result for every audited curve and budget, in the order of the figure."""
    return _audits(project.layers())


def given(params: Any) -> float:
    """Return the budget given to a private algorithm: epsilon, or rho for zCDP."""
    return float(getattr(params, budget_of(params._fields) or "epsilon"))


def _alike(cell: AuditExperiment, params: Any) -> bool:
    changed = {
        name: getattr(cell.params, name) for name in (*BUDGETS, "delta") if name in params._fields
    }
    asked = _promise(cell.member, params._replace(**changed), cell.rounds)
    return asked == _promise(cell.member, cell.params, cell.rounds)


@cache
def _promise(algorithm: str, params: Any, rounds: int) -> tuple[Guarantee, float]:
    # The claim for games of this many rounds, and what the declared releases in them compose to.
    subject, game = Subject.of(algorithm, params), (designs.ARMS, rounds)
    return subject.claim(*game), subject.composed(*game)


@cache
def _audits(layers: tuple[Path, ...]) -> Mapping[AuditExperiment, Audited]:
    # The layers are only part of the cache key: every project has results of its own.
    exist = FIGURE in project.names("figure") and references.record(FIGURE, references.PAPER)
    return _of_figure(compose.load(FIGURE, [])[0]) if exist else {}


def _of_figure(spec: FigureSpec) -> Mapping[AuditExperiment, Audited]:
    series = references.find(spec, references.PAPER)
    labels: dict[AuditExperiment, str] = {}
    bounds: dict[AuditExperiment, dict[Quantity, float]] = {}
    for panel in spec.panels:
        for curve in panel.curves:
            reference = series.get((panel.letter, curve.label))
            if reference is None or curve.is_exact:
                continue
            for i, cell in enumerate(curve.sources):
                assert isinstance(cell, AuditExperiment)
                labels[cell] = curve.label
                bounds.setdefault(cell, {})[curve.shows] = float(reference.centre[i])
    return {
        cell: Audited(
            labels[cell],
            given(cell.params),
            getattr(cell.params, "delta", 0.0),
            own[Quantity.AUDITED],
            own.get(Quantity.ONE_CHOICE),
        )
        for cell, own in bounds.items()
    }
