# The names of the Python interface for type checkers, as in __init__.py.

from dpbandits.api.arguments import UserError
from dpbandits.api.figure_results import FigureResult, figure
from dpbandits.api.identifications import IdentifyResult, Share, identify
from dpbandits.api.plays import Comparison, PlayResult, compare, play
from dpbandits.api.privacy_results import AuditResult, Budget, budget, lower_bound, run_audit
from dpbandits.api.standings import Standing

__version__: str
__all__ = [
    "AuditResult",
    "Budget",
    "Comparison",
    "FigureResult",
    "IdentifyResult",
    "PlayResult",
    "Share",
    "Standing",
    "UserError",
    "__version__",
    "budget",
    "compare",
    "figure",
    "identify",
    "lower_bound",
    "play",
    "run_audit",
]
