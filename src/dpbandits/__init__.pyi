# The names of the Python interface for type checkers; dpbandits.api.MODULES lists them too.

from dpbandits.api.budgets import Budget
from dpbandits.api.comparisons import Comparison, compare
from dpbandits.api.errors import UserError
from dpbandits.api.figures import FigureResult, figure
from dpbandits.api.plays import PlayResult, play
from dpbandits.api.privacy import AuditResult, budget, lower_bound, run_audit
from dpbandits.api.standings import Standing

__version__: str
__all__ = [
    "AuditResult",
    "Budget",
    "Comparison",
    "FigureResult",
    "PlayResult",
    "Standing",
    "UserError",
    "__version__",
    "budget",
    "compare",
    "figure",
    "lower_bound",
    "play",
    "run_audit",
]
