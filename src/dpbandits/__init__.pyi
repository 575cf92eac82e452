# The names of the Python interface for type checkers; dpbandits.api.MODULES lists them too.

from dpbandits.api.figures import FigureResult, figure
from dpbandits.api.games import UserError
from dpbandits.api.plays import Comparison, PlayResult, Standing, compare, play
from dpbandits.api.privacy import AuditResult, Budget, budget, lower_bound, run_audit

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
