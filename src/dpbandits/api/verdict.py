"""Verdict of a comparison in words: the lowest regret, by how much, and if the runs decide it."""

import math
from collections.abc import Sequence

from dpbandits.api import unseen
from dpbandits.api.standings import Standing, compared, is_clearly_lower
from dpbandits.checks.comparisons import ERRORS, Order, plain, runs_to_decide, with_error
from dpbandits.factory.captions import NOT_DECLARED


def verdict(standings: Sequence[Standing]) -> str:
    """Return one or two sentences: the lowest regret, by how much, and if the runs decide it.

    If some algorithms are private, the verdict is about these. Means are compared as those of
    independent runs. Where the runs of an algorithm have few distinct outcomes, a verdict must
    survive one that none of them has shown (api/unseen.py).
    """
    private = [standing for standing in standings if standing.budget is not None]
    judged = private or standings
    mixed = 0 < len(private) < len(standings)
    others = _others(standings) if mixed else ""
    best, *rest = judged
    if not rest:
        return f"{best.label} ends at {_mean(best)}.{others}"
    if best.runs < 2:
        return (
            f"{best.label} has the lowest regret, but nothing is decided: one run has no standard"
            f" error.{others}"
        )
    kind = "private algorithms" if mixed else "algorithms"
    second = rest[0]
    ratio = _ratio(best, second)
    rivals = [each for each in rest if not is_clearly_lower(best, each)]
    if not rivals:
        return (
            f"{best.label} has the lowest regret of the {len(judged)} {kind}, {ratio}"
            f" {second.label}, the second: decided, {_distance(compared(best, second))}.{others}"
        )
    return (
        f"{best.label} has the lowest mean of the {len(judged)} {kind}, {ratio} {second.label}, but"
        f" it is undecided against {_labels(rivals)}: {_reasons(best, rivals)}.{others}"
    )


def _others(standings: Sequence[Standing]) -> str:
    # Sentences about the algorithms that have no budget.
    groups = {
        "Without privacy": [s for s in standings if s.budget is None and not s.undeclared],
        NOT_DECLARED.capitalize(): [s for s in standings if s.budget is None and s.undeclared],
    }
    named = {
        title: ", ".join(f"{each.label} {_mean(each)}" for each in group)
        for title, group in groups.items()
    }
    return "".join(f" {title}: {text}." for title, text in named.items() if text)


def _reasons(best: Standing, rivals: Sequence[Standing]) -> str:
    # Rivals are within the errors, or an outcome that no run has shown could turn the order.
    near = [each for each in rivals if not compared(best, each).is_clear]
    few = [each for each in (best, *rivals) if each.shows_few]
    reasons = []
    if near:
        whom = "" if len(near) == len(rivals) else f" from {_labels(near)}"
        more = "" if few else _more_runs([compared(best, each) for each in near], best.runs)
        reasons.append(f"less than {ERRORS} standard errors apart{whom}{more}")
    if len(near) < len(rivals):
        shown = [best] if best.shows_few else few
        reasons += [_unseen(each, each is best) for each in shown]
    return "; ".join(reasons)


def _unseen(each: Standing, is_best: bool) -> str:
    # `all 50 runs of DP-SE end alike: an outcome of less than 6 % may not have been seen ...`
    few = "alike" if each.outcomes == 1 else f"in {each.outcomes} values"
    cost = f"could cost up to {plain(each.largest)}" if is_best else "could cost nothing"
    return (
        f"all {each.runs:,} runs of {each.label} end {few}: an outcome of less than"
        f" {100 * unseen.probability(each.runs):.2g} % may not have been seen and {cost}"
    )


def _labels(several: Sequence[Standing]) -> str:
    return ", ".join(each.label for each in several)


def _mean(standing: Standing) -> str:
    return with_error(standing.regret, 0.0 if math.isnan(standing.error) else standing.error)


def _ratio(best: Standing, second: Standing) -> str:
    # `0.62 (0.02) times that of`
    if not best.regret or not second.regret:
        return f"{_mean(best)} against {_mean(second)} of"
    ratio = best.regret / second.regret
    error = math.hypot(best.error, ratio * second.error) / abs(second.regret)
    return f"{with_error(ratio, error)} times that of"


def _distance(decided: Order) -> str:
    if math.isinf(decided.in_errors):
        return "without any spread over the runs"
    return f"{plain(decided.in_errors)} standard errors apart"


def _more_runs(near: Sequence[Order], runs: int) -> str:
    # The number of runs at which the present differences would count.
    needed = runs_to_decide([each.runs_factor for each in near], runs)
    if math.isinf(needed):
        return ""
    return f"; at these means about {needed:,} runs would decide"
