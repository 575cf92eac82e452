"""Table and verdict of a comparison: regret at the horizon, with ranks and errors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpbandits.api import budgets
from dpbandits.api.budgets import Budget
from dpbandits.cells.bandit_cell import Cell
from dpbandits.checks.comparisons import ERRORS, Compared, Verdict, plain, quotient, with_error
from dpbandits.checks.ranks import LOWER, ranks
from dpbandits.curves.series import Series
from dpbandits.spec.figure import FigureSpec, Panel


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
        best: lowest rank that the errors leave possible: algorithms clearly below come before it,
            by more than three standard errors of the difference of independent means.
        worst: highest rank that the errors leave possible.
        factor: mean divided by the lowest mean; nan if that is 0.
        budget: claimed and composed privacy budget; None for an algorithm that is not private.
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


def epsilon_of(panel: Panel) -> float | None:
    """Return the budget of a panel's private algorithms; None if there are none."""
    for curve in panel.curves:
        for source in curve.sources:
            if isinstance(source, Cell) and hasattr(source.params, "epsilon"):
                return float(source.params.epsilon)
    return None


def of_panel(panel: Panel, series: Sequence[Series]) -> list[Standing]:
    """Return the standings of a panel, the lowest regret first; formulas have none."""
    played = [each for each in series if each.panel == panel.letter and each.runs]
    own = {
        curve.label: budgets.of_cell(cell)
        for curve in panel.curves
        for cell in curve.sources
        if isinstance(cell, Cell)
    }
    lowest = min(float(each.mean[-1]) for each in played)
    single = any(each.runs < 2 for each in played)
    standings = []
    for each, rank in zip(played, ranks(played, -1), strict=True):
        mean = float(each.mean[-1])
        alike = each.min[-1] == each.max[-1]  # then rounding alone makes a deviation
        standings.append(
            Standing(
                epsilon=epsilon_of(panel),
                label=each.label,
                regret=mean,
                error=math.nan if each.runs < 2 else 0.0 if alike else each.error(-1),
                std=0.0 if alike else float(each.std[-1]),
                runs=each.runs,
                rank=float(rank.place),
                best=1.0 if single else float(rank.best),
                worst=float(len(played)) if single else float(rank.worst),
                factor=mean / lowest if lowest > 0 else math.nan,
                budget=own[each.label],
            )
        )
    return sorted(standings, key=lambda standing: standing.regret)


def verdict(standings: Sequence[Standing]) -> str:
    """Return one or two sentences: the lowest regret, by how much, and if the runs decide it.

    If some algorithms are private, the verdict is about these. Means are compared as those of
    independent runs.
    """
    private = [standing for standing in standings if standing.budget is not None]
    others = [standing for standing in standings if standing.budget is None]
    judged = private or others
    baseline = ""
    if private and others:
        named = ", ".join(f"{each.label} {_mean(each)}" for each in others)
        baseline = f" Without privacy: {named}."
    best, *rest = judged
    kind = "private algorithms" if private and others else "algorithms"
    if not rest:
        return f"{best.label} ends at {_mean(best)}.{baseline}"
    if best.runs < 2:
        return (
            f"{best.label} has the lowest regret, but nothing is decided: one run has no standard"
            f" error.{baseline}"
        )
    compared = {each.label: _compared(best, each) for each in rest}
    rivals = [label for label, each in compared.items() if each.verdict(False) is not Verdict.HOLDS]
    second = rest[0]
    ratio = _ratio(best, second, compared[second.label])
    if not rivals:
        return (
            f"{best.label} has the lowest regret of the {len(judged)} {kind}, {ratio}"
            f" {second.label}, the second: decided, {_distance(compared[second.label])}.{baseline}"
        )
    more = _more_runs([compared[label] for label in rivals], best.runs)
    return (
        f"{best.label} has the lowest mean of the {len(judged)} {kind}, {ratio} {second.label}, but"
        f" it is undecided against {', '.join(rivals)}: less than {ERRORS} standard errors"
        f" apart{more}.{baseline}"
    )


def _mean(standing: Standing) -> str:
    return with_error(standing.regret, 0.0 if math.isnan(standing.error) else standing.error)


def _compared(best: Standing, other: Standing) -> Compared:
    means, errors = (best.regret, other.regret), (best.error, other.error)
    return quotient(LOWER, means, errors, "")


def _ratio(best: Standing, second: Standing, compared: Compared) -> str:
    # `0.62 (0.02) times that of`
    if compared.measure is None or not best.regret:
        return f"{_mean(best)} against {_mean(second)} of"
    return f"{with_error(compared.measure.value, compared.measure.error)} times that of"


def _distance(compared: Compared) -> str:
    if math.isinf(compared.in_errors):
        return "without any spread over the runs"
    return f"{plain(compared.in_errors)} standard errors apart"


def _more_runs(rivals: Sequence[Compared], runs: int) -> str:
    # The number of runs at which the present differences would count.
    factors = [each.measure.runs_factor if each.measure else math.inf for each in rivals]
    if math.isinf(max(factors)):
        return ""
    return f"; at these means about {math.ceil(max(factors) * runs):,} runs would decide"


def of_figure(spec: FigureSpec, series: Sequence[Series]) -> list[list[Standing]]:
    """Return the standings of every panel."""
    return [of_panel(panel, series) for panel in spec.panels]
