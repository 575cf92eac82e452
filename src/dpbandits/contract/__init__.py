"""Contract of algorithms and reward distributions: checks of CI, a user's tests and `verify`."""

from dpbandits.contract.conditions import Broken, NotApplicable, NotTested
from dpbandits.contract.suite import CHECKS, Check, checklist, checks, findings, load

__all__ = [
    "CHECKS",
    "Broken",
    "Check",
    "NotApplicable",
    "NotTested",
    "checklist",
    "checks",
    "findings",
    "load",
]
