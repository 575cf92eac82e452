"""Standings of a comparison: regret at the horizon, with ranks and errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpbandits.api import budgets, unseen
from dpbandits.api.budgets import Budget
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.largest_regret import largest_regret
from dpbandits.checks.comparisons import Mean, Order, order
from dpbandits.checks.ranks import ranks
from dpbandits.curves.series import Series, values
from dpbandits.factory.captions import is_undeclared
from dpbandits.spec.figure import FigureSpec, Panel
from dpbandits.store.blocks import Store


@dataclass(frozen=True)
class Standing:
    """Place of an algorithm among those that play the same game with the same budget.

    Attributes:
        epsilon: privacy budget of the panel; None if none is given.
        label: name of the algorithm, as in legends.
        regret: mean regret at the horizon.
        error: standard error of this mean; nan for a single run.
        std: sample standard deviation over the runs.
        runs: number of runs.
        rank: 1 for the lowest mean; equal means share the middle of their ranks.
        best: lowest rank that remains possible: algorithms clearly below come before it, by more
            than three standard errors of the difference of independent means, also if an outcome
            that no run has shown moved the means to `low` and `high`.
        worst: highest rank that remains possible.
        factor: mean divided by the lowest mean; nan if that is 0.
        budget: claimed and composed privacy budget; None for an algorithm that is not private, or
            does not declare its privacy.
        undeclared: True if it takes an epsilon but declares no releases or claims nothing.
        horizon: T, number of rounds.
        outcomes: number of distinct regrets at the horizon.
        largest: regret of a run that always pulls the worst arm.
        low: smallest mean that an unseen outcome leaves possible; the mean itself if more than a
            tenth of the runs are distinct.
        high: largest such mean.
    """

    epsilon: float | None
    label: str
    regret: float
    error: float
    std: float
    runs: int
    rank: float
    best: float
    worst: float
    factor: float
    budget: Budget | None
    undeclared: bool
    horizon: int
    outcomes: int
    largest: float
    low: float
    high: float

    @property
    def shows_few(self) -> bool:
        """True if the runs have so few distinct outcomes that rare ones may not be among them."""
        return unseen.are_few(self.outcomes, self.runs)


def epsilon_of(panel: Panel) -> float | None:
    """Return the budget of a panel's private algorithms; None if there are none."""
    for curve in panel.curves:
        for source in curve.sources:
            if isinstance(source, Cell) and hasattr(source.params, "epsilon"):
                return float(source.params.epsilon)
    return None


def of_figure(spec: FigureSpec, series: Sequence[Series], store: Store) -> list[list[Standing]]:
    """Return the standings of every panel. The store has the runs."""
    return [of_panel(panel, series, store) for panel in spec.panels]


def of_panel(panel: Panel, series: Sequence[Series], store: Store) -> list[Standing]:
    """Return the standings of a panel, the lowest regret first; formulas have none."""
    played = [each for each in series if each.panel == panel.letter and each.runs]
    curves = {curve.label: curve for curve in panel.curves}
    lowest = min(float(each.mean[-1]) for each in played)
    standings = []
    for each, rank in zip(played, ranks(played, -1), strict=True):
        (cell,) = curves[each.label].sources
        assert isinstance(cell, Cell)
        mean = float(each.mean[-1])
        alike = each.min[-1] == each.max[-1]  # then rounding alone makes a deviation
        outcomes = unseen.outcomes(values(curves[each.label], store, slice(-1, None))[:, 0])
        largest = largest_regret(cell, cell.horizon)
        low, high = unseen.possible_means(mean, outcomes, each.runs, largest)
        standings.append(
            Standing(
                epsilon=epsilon_of(panel),
                label=each.label,
                regret=mean,
                error=math.nan if each.runs < 2 else 0.0 if alike else each.error(-1),
                std=0.0 if alike else float(each.std[-1]),
                runs=each.runs,
                rank=float(rank.place),
                best=1.0,
                worst=float(len(played)),
                factor=mean / lowest if lowest > 0 else math.nan,
                budget=budgets.of_cell(cell),
                undeclared=is_undeclared(cell),
                horizon=cell.horizon,
                outcomes=outcomes,
                largest=largest,
                low=low,
                high=high,
            )
        )
    ranked = standings if any(each.runs < 2 for each in played) else _ranked(standings)
    return sorted(ranked, key=lambda standing: standing.regret)


def _ranked(standings: Sequence[Standing]) -> list[Standing]:
    # With the ranks that remain possible.
    def before(each: Standing) -> int:
        return sum(is_clearly_lower(other, each) for other in standings)

    def behind(each: Standing) -> int:
        return sum(is_clearly_lower(each, other) for other in standings)

    return [
        replace(each, best=1.0 + before(each), worst=float(len(standings) - behind(each)))
        for each in standings
    ]


def compared(one: Standing, other: Standing) -> Order:
    """Compare the mean of `one` with that of `other`, with room if it is the lower one."""
    return order(Mean(one.regret, one.error), Mean(other.regret, other.error))


def is_clearly_lower(one: Standing, other: Standing) -> bool:
    """Return True if the errors and unseen outcomes leave no doubt that `one` has less regret."""
    return order(Mean(one.high, one.error), Mean(other.low, other.error)).is_clear
