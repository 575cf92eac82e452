"""Privacy budgets as values: claimed by a paper, and composed from the declared releases."""

from dataclasses import dataclass
from typing import Any

from dpbandits.cells import budget
from dpbandits.cells.bandit_cell import Cell
from dpbandits.privacy.accounting import NoAccountant, tight_epsilon
from dpbandits.privacy.notions import AnyGuarantee, Guarantee, approximate
from dpbandits.privacy.releases import composed_epsilon


@dataclass(frozen=True)
class Budget:
    """Privacy budget of an algorithm over a whole game, for a change of one reward.

    Attributes:
        claimed: epsilon that the paper claims; for zCDP, the one that follows at this delta.
        composed: epsilon to which the declared releases compose as in the papers, by a sum or, at a
            delta, by the theorem of Dwork, Rothblum and Vadhan; `math.inf` if there is no bound.
        delta: delta of the claim; both epsilons hold at this delta.
        notion: definition of privacy that the claim is for, such as "global DP".
        source: paper and theorem of the claim.
        tight: smallest epsilon that follows from the releases at this delta; None if it was not
            computed, or if the extra `accounting` is not installed.
    """

    claimed: float
    composed: float
    delta: float
    notion: str
    source: str
    tight: float | None = None


def of_cell(cell: Cell) -> Budget | None:
    """Return the budget of a cell; None if its algorithm claims no privacy."""
    claim = cell.claim()
    composed = budget.budget(cell)
    if claim is None or composed is None:
        return None
    return _budget(approximate(claim), composed)


def of_releases(promise: AnyGuarantee, releases: list[Any]) -> Budget:
    """Return the budget for a claim and the releases of a game, with the tight composition."""
    claim = approximate(promise)
    try:
        tight = tight_epsilon(releases, claim.delta)
    except NoAccountant:
        tight = None
    return _budget(claim, composed_epsilon(releases, claim.delta), tight)


def _budget(claim: Guarantee, composed: float, tight: float | None = None) -> Budget:
    return Budget(claim.epsilon, composed, claim.delta, claim.notion.title, claim.where, tight)
