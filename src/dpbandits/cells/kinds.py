"""Kinds of cells: a policy on a bandit, a stopping rule on a stream, an audit of a policy.

The store and the planning code treat all kinds alike.
"""

from dpbandits.audit.cell import AuditCell
from dpbandits.cells.bandit_cell import Cell, StoppingCell

AnyCell = Cell | StoppingCell | AuditCell
