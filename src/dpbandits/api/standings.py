"""Standings of a comparison: who is behind whom in words, and as tables of a paper."""

import math
import re
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from dpbandits.checks.comparisons import ERRORS, ROUNDING, readable, with_error
from dpbandits.drawing.plotting import LITERAL
from dpbandits.drawing.styles import in_mathtext
from dpbandits.judge.verdicts import FEWEST
from dpbandits.tables import statistics
from dpbandits.tables.series import written

COLUMNS = "epsilon", "privacy", "algorithm", "regret", "regret ±", "behind", "behind ±"
BUDGETS = "claimed epsilon", "composed epsilon"
NONE = "--"  # a cell without a value


class Standing(NamedTuple):
    """Place of an algorithm among those that play the same game with the same budget, `epsilon`.

    `regret` is the mean at the horizon, with its standard `error`; nan for a single run. `privacy`
    is the definition of privacy and its delta, `not private`, or `not declared` if a budget is
    taken. Algorithms of one `privacy` are compared with the one of them that has the lowest mean:
    they are `behind` by the mean difference from it in the same run, nan for one without others;
    `is_clear` if it exceeds three of its standard errors, which are not 0. `claimed` and `composed`
    are the epsilons of the paper and of the releases.
    """

    epsilon: float | None
    label: str
    regret: float
    error: float
    behind: float
    behind_error: float
    is_clear: bool
    privacy: str
    claimed: float | None
    composed: float | None


def verdict(panel: Sequence[Standing], runs: int) -> str:
    """Return sentences on the standings of one panel: the lowest means, and if the runs decide.

    Algorithms of different definitions of privacy are not compared.
    """
    groups = {privacy: [*places] for privacy, places in groupby(panel, attrgetter("privacy"))}
    private = [privacy for privacy in groups if not privacy.startswith("not ")]
    ranked = {privacy for privacy, group in groups.items() if len(group) > 1}
    sentences = []
    for privacy, group in groups.items():
        if privacy in (ranked or private or groups):
            under = "Without privacy" if privacy == "not private" else f"Under {privacy}"
            sentence = _lowest(group)
            sentences.append(f"{under}: {sentence}" if len(groups) > 1 else sentence)
    if ranked and 1 < runs < FEWEST:
        sentences.append(f"From {runs} runs, standard errors are rough.")
    if len(private) > 1:
        sentences.append("Budgets of different definitions of privacy are not comparable.")
    return " ".join(sentences)


def _lowest(group: Sequence[Standing]) -> str:
    best, *rest = group
    if not rest:
        return f"{best.label} ends at a mean regret of {with_error(best.regret, best.error)}."
    if all(abs(p.behind) <= ROUNDING * best.regret and p.behind_error == 0 for p in rest):
        mean = with_error(best.regret, best.error)
        return f"The {len(group)} algorithms have the same regret in every run, {mean} on average."
    lowest = f"{best.label} has the lowest mean of the {len(group)} algorithms"
    if len({standing.claimed for standing in group}) > 1:
        lowest += " (at different budgets)"
    if math.isnan(best.error):
        return f"{lowest}, but nothing is decided: one run has no standard error."
    if near := ", ".join(standing.label for standing in rest if not standing.is_clear):
        return f"{lowest}, but it is undecided against {near}."
    return f"{lowest}, by more than {ERRORS} standard errors of the differences of runs."


class Uncertainty(NamedTuple):
    """What follows a plus-minus sign: a standard error, or half of a confidence interval."""

    runs: int
    level: float | None = None  # None: a standard error

    @property
    def name(self) -> str:
        """Its name in the head of a table."""
        return f"{100 * self.level:.6g} % confidence" if self.level else "standard error"

    def of(self, error: float) -> float:
        """Return it for a standard error; nan for a single run."""
        return error * (statistics.student(self.runs, self.level) if self.level else 1.0)


def rounded(value: float, error: float) -> tuple[str, str]:
    """Return a number and its error as texts, both to the second digit of the error.

    An error of 0 or nan is an empty text, as is a value of nan.
    """
    if not 0 < error < math.inf:
        return "" if math.isnan(value) else readable(value), ""
    digits = 1 - math.floor(math.log10(error))
    both = (f"{round(number, digits):,.{max(0, digits)}f}" for number in (value, error))
    return next(both), next(both)


def to_latex(standings: Sequence[Standing], uncertainty: Uncertainty, command: str) -> str:
    """Return a tabular with the rules of booktabs, with a block for every budget and privacy."""
    sign = rf"$\pm$ {uncertainty.name}".replace(" %", r"\,\%")
    heads = ["Algorithm", f"Regret ({sign})", "Behind the lowest"]
    heads += [f"$\\epsilon$ {kind}" for kind in ("claimed", "composed")]
    lines = [f"% {command}, {uncertainty.runs} runs; needs \\usepackage{{booktabs}}"]
    lines += [r"\begin{tabular}{lrrrr}", r"\toprule", " & ".join(heads) + r" \\"]
    for (epsilon, privacy), block in _blocks(standings):
        title = literal(privacy[:1].upper() + privacy[1:])
        if epsilon is not None and not privacy.startswith("not "):
            title += rf", $\epsilon = {epsilon:g}$"
        lines += [r"\midrule", rf"\multicolumn{{5}}{{l}}{{\emph{{{title}}}}} \\"]
        for standing in block:
            pairs = (standing.regret, standing.error), (standing.behind, standing.behind_error)
            numbers = [rounded(value, uncertainty.of(error)) for value, error in pairs]
            cells = [literal(in_mathtext(standing.label)), *map(_with_sign, numbers)]
            cells += [_budget(spent, r"$\infty$") or NONE for spent in _budgets(standing)]
            lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def to_csv(standings: Sequence[Standing], uncertainty: Uncertainty) -> bytes:
    """Return a row for every algorithm and epsilon; the head names what the signs stand for."""
    head = [column.replace("±", f"± ({uncertainty.name})") for column in COLUMNS]
    rows = []
    for standing in standings:
        pairs = (standing.regret, standing.error), (standing.behind, standing.behind_error)
        numbers = [text for v, e in pairs for text in rounded(v, uncertainty.of(e))]
        epsilon = "" if standing.epsilon is None else f"{standing.epsilon:g}"
        texts = epsilon, standing.privacy, standing.label, *(n.replace(",", "") for n in numbers)
        rows.append((*texts, *(_budget(spent, "inf") for spent in _budgets(standing))))
    return written((*head, *BUDGETS), rows)


def _blocks(
    standings: Sequence[Standing],
) -> list[tuple[tuple[float | None, str], list[Standing]]]:
    # By epsilon and privacy; what is not private is the same at every epsilon, and there once.
    first = standings[0].epsilon
    once = [s for s in standings if s.epsilon == first or s.privacy != "not private"]
    blocks = groupby(once, lambda standing: (standing.epsilon, standing.privacy))
    return [(key, [*block]) for key, block in blocks]


def _budgets(standing: Standing) -> tuple[float | None, float | None]:
    return standing.claimed, standing.composed


def _budget(spent: float | None, infinite: str) -> str:
    if spent is None:
        return ""
    return infinite if math.isinf(spent) else f"{spent:.4g}"


def _with_sign(number: tuple[str, str]) -> str:
    value, error = (text.replace(",", "{,}") for text in number)
    return f"${value} \\pm {error}$" if error else f"${value}$" if value else NONE


def literal(text: str) -> str:
    """Escape the characters outside of $...$ that are special to TeX; δ is that of a notion."""
    parts = re.split(r"(\$[^$]*\$)", text.replace("δ", r"$\delta$"))
    return "".join(p if p.startswith("$") else p.translate(LITERAL) for p in parts)
