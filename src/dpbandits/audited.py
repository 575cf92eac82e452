"""What audits found of every algorithm, for pages and captions: the reference of a figure.

Nothing is played here. An audit counts for all parameters that leave what is claimed and what is
released as it was.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dpbandits import config, project, references
from dpbandits.audit import designs
from dpbandits.audit.cell import AuditCell
from dpbandits.audit.subject import Subject
from dpbandits.spec import Shown

FIGURE = "privacy-audit"
EPSILON = 1.0  # that was given to the algorithms


class Audited(NamedTuple):
    """Lower bounds on epsilon, each with 99 % confidence."""

    label: str  # of the curve
    epsilon: float  # of all arms
    one_choice: float | None  # None where the promise is of all arms


def of(algorithm: str, params: Any) -> Audited | None:
    """What was found of an algorithm with such parameters at epsilon = 1; None: no audit."""
    for cell, found in audits().items():
        if cell.member == algorithm and _alike(cell, params):
            return found
    return None


def audits() -> Mapping[AuditCell, Audited]:
    """What was found of every curve at epsilon = 1, in the order of the figure."""
    return _of_project(project.folder())


def _alike(cell: AuditCell, params: Any) -> bool:
    changed = {
        name: getattr(cell.params, name) for name in ("epsilon", "delta") if name in params._fields
    }
    other = Subject.of(cell.member, params._replace(**changed))
    game = designs.ARMS, cell.rounds
    return (other.claim(*game), other.composed(*game)) == (
        cell.claim(),
        cell.subject.composed(*game),
    )


@cache
def _of_project(folder: Path) -> Mapping[AuditCell, Audited]:
    # A project has its own; the folder is what the cache tells them apart by.
    if FIGURE not in project.names("figure") or not references.exists(FIGURE, references.PAPER):
        return {}
    spec, _ = config.load(FIGURE, [])
    series = references.find(spec, references.PAPER)
    labels: dict[AuditCell, str] = {}
    bounds: dict[AuditCell, dict[Shown, float]] = {}
    for panel in spec.panels:
        for curve in panel.curves:
            found = series.get((panel.letter, curve.label))
            if found is None or curve.is_exact or EPSILON not in (curve.x or ()):
                continue
            at = found.x.tolist().index(EPSILON)
            cell = curve.sources[at]
            assert isinstance(cell, AuditCell)
            labels[cell] = curve.label
            bounds.setdefault(cell, {})[curve.shows] = float(found.centre[at])
    return {
        cell: Audited(labels[cell], told[Shown.AUDITED], told.get(Shown.ONE_CHOICE))
        for cell, told in bounds.items()
    }
