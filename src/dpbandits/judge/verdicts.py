"""Verdicts on claims: for every combination of the variants of the choices that a claim touches."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import msgspec
import numpy as np

from dpbandits.experiments.kinds import composed_budget, given_budget
from dpbandits.judge import claims_files
from dpbandits.judge.claims_files import ERRATA, Claim, Paper, as_list, panels_of
from dpbandits.judge.language import FAR, Compared
from dpbandits.judge.resampled import RESAMPLES, Resampler
from dpbandits.judge.variants import Combination, Figures, HypothesesNotMet, Place
from dpbandits.kernel.errors import UserError

FEWEST = 20  # runs; with fewer nothing is decided
LEVEL = 0.05  # error of all stages together: half of it at the first one, then a quarter, ...
BEYOND_FLOOR = 2  # times 1/p runs, without which no sentence fails by a p-value below p
ROUNDING = 1e-9  # a standard error of a logarithm that is rounding
Key = tuple[tuple[str, str], ...]  # a combination as a hashable value


class Verdict(Enum):
    """Verdict on a claim, under one combination or over all of them."""

    REPRODUCED = "reproduced"
    NOT = "not reproduced"
    EXPLAINED = "explained"  # not reproduced as printed, but by what a published curve fits
    DEPENDS = "depends on an unstated choice"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable"
    VACUOUS = "vacuous here"
    NOT_MET = "hypotheses not met"
    NO_BOUND = "no bound known"


STATUSES = {  # theorems never reproduce
    Verdict.REPRODUCED: "no counterexample in our runs",
    Verdict.NOT: "contradicted",
}


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict on a claim under one combination, with its decisive comparison."""

    verdict: Verdict
    figure: str = ""
    panel: str = ""  # empty for a comparison across panels
    text: str = ""
    x: float = math.nan
    left: float = math.nan
    right: float = math.nan
    estimate: float = math.nan  # log of left over right (negated for >=), or the difference
    low: float = math.nan  # its interval, at least 95 %, simultaneous over all comparisons
    high: float = math.nan
    is_log: bool = True
    equal: bool = False  # the sides agree within the word `equal`
    typical: float = math.nan  # median of the estimates of all comparisons
    comparisons: int = 0
    runs: int = 0  # the fewest of a curve; 0: formulas alone
    chance: float = math.nan  # that the paper's own experiment shows the claim


class Explanation(NamedTuple):
    """Variants against the text, which published curves fit, under which a sentence holds."""

    variants: Mapping[str, str]  # by choice
    holds: int  # combinations with them, otherwise of the text, that make the sentence true
    of: int


@dataclass
class Judged:
    """Claim with its result under every combination; the first is the one that figures draw.

    The combinations of variants of the text decide; those with variants that published curves fit
    against the text can only explain why a sentence fails.
    """

    paper: Paper
    name: str
    results: dict[Key, Result] = field(default_factory=dict)
    shown: dict[Key, np.ndarray] = field(default_factory=dict)  # resamples that show the claim

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.paper.claims()[self.name]

    @property
    def id(self) -> str:
        """Name of the claim among those of all papers."""
        return f"{self.paper.paper}/{self.name}"

    @property
    def drawn(self) -> Result:
        """The result under the combination that the figures draw."""
        return next(iter(self.results.values()), Result(verdict=Verdict.NOT_TESTABLE))

    @property
    def verdict(self) -> Verdict:
        """The verdict over all combinations of the text: it depends if one holds, another fails."""
        verdicts = {r.verdict for r in self.of_the_text.values()} or {Verdict.NOT_TESTABLE}
        verdicts = verdicts - {Verdict.VACUOUS, Verdict.NOT_MET} or verdicts
        if {Verdict.REPRODUCED, Verdict.NOT} <= verdicts:
            return Verdict.DEPENDS
        if verdicts == {Verdict.NOT} and self.explanation:
            return Verdict.EXPLAINED
        return verdicts.pop() if len(verdicts) == 1 else Verdict.INCONCLUSIVE

    @property
    def of_the_text(self) -> dict[Key, Result]:
        """The results under combinations of variants of the text alone."""
        return {k: r for k, r in self.results.items() if not self.paper.against(dict(k))}

    @property
    def explanation(self) -> "Explanation | None":
        """The fewest variants against the text under which a sentence holds; None without any.

        Choices that published curves do not decide stay open: `holds` of `of` combinations.
        """
        if self.name not in self.paper.sentences:
            return None
        groups: dict[Key, list[bool]] = {}
        for key, result in self.results.items():
            if variants := tuple(self.paper.against(dict(key)).items()):
                groups.setdefault(variants, []).append(result.verdict is Verdict.REPRODUCED)
        explanations = [Explanation(dict(v), sum(holds), len(holds)) for v, holds in groups.items()]
        explanations = [explanation for explanation in explanations if explanation.holds]
        best = sorted(explanations, key=lambda e: (len(e.variants), -e.holds / e.of))
        return best[0] if best else None

    @property
    def fitting(self) -> list[tuple[str, str]]:
        """The variants, each alone and with its choice, under which the claim holds.

        The first one is `as drawn`, of no choice, if it holds under what the figures draw.
        """
        as_drawn, variants = dict(next(iter(self.results), ())), list[tuple[str, str]]()
        for key, result in self.results.items():
            changed = [(choice, variant) for choice, variant in key if as_drawn[choice] != variant]
            if len(changed) < 2 and result.verdict is Verdict.REPRODUCED:
                variants += changed or [("", "as drawn")]
        return variants

    @property
    def status(self) -> str:
        """The words for the verdict; those of a statement follow its errata.

        Own statements on published curves have no verdict but the variants that fit.
        """
        if self.paper.is_about_published(self.name):
            if fitting := [variant for _, variant in self.fitting]:
                return f"fits {'; '.join(fitting)}"
            fails = all(result.verdict is Verdict.NOT for result in self.results.values())
            return "fits no variant" if fails else "not decided"
        if self.name not in self.paper.statements:
            return self.verdict.value
        for erratum in self.paper.errata:
            if self.name in as_list(erratum.statement) and ERRATA[erratum.status]:
                return ERRATA[erratum.status]
        verdict = self.verdict
        if verdict is Verdict.INCONCLUSIVE and self.drawn.verdict is Verdict.REPRODUCED:
            verdict = Verdict.REPRODUCED  # no combination has a counterexample
        return self.claim.status or STATUSES.get(verdict, verdict.value)

    def turned_by(self) -> list[str]:
        """Return the choices, each of which alone changes the verdict somewhere."""
        choices: dict[str, None] = {}
        for (first, a), (second, b) in itertools.combinations(self.results.items(), 2):
            differing = [name for name, variant in first if (name, variant) not in second]
            if len(differing) == 1 and a.verdict is not b.verdict:
                choices[differing[0]] = None
        return [*choices]

    def key(self, combination: Combination) -> Key:
        """Return the claim's own part of a combination; what is drawn if that is not judged."""
        as_drawn = next(iter(self.results))
        asked = tuple((name, combination.get(name, variant)) for name, variant in as_drawn)
        return asked if asked in self.results else as_drawn


def combinations(paper: Paper, choices: Iterable[str]) -> list[Combination]:
    """Return all combinations of the variants of some choices; the first one is drawn."""
    names = [*choices]
    variants = [list(paper.choices[name].variants) for name in names]
    return [dict(zip(names, picked, strict=True)) for picked in itertools.product(*variants)]


class _Compared(NamedTuple):
    # All comparisons of a claim under one combination, in logarithms or differences.
    points: list[tuple[Place, Compared, int]]  # one of a comparison's points each
    estimate: np.ndarray  # (points,)
    error: np.ndarray  # (points,) standard errors
    runs: int  # the fewest of a curve


def _is_at_floor(place: Place, compared: Compared, i: int, runs: int) -> bool:
    # So few runs have no p-value that is clearly below the larger side.
    largest = max(compared.left[i], compared.right[i])
    return "p_value" in place.text and bool(runs * largest < BEYOND_FLOOR)


@dataclass
class Judge:
    """Judge of claims, from resamples of all runs and of as many runs as the paper has."""

    figures: Figures
    ours: Resampler
    theirs: Resampler
    stage: int = 0
    equal: float = field(default_factory=lambda: math.log(claims_files.thresholds()["equal"]))

    def judge(self, judged: Judged, several: Iterable[Combination]) -> Judged:
        """Add the verdicts on a claim under some combinations, and return it.

        What was decided at an earlier stage stays. Intervals are simultaneous over all comparisons
        of the combinations of the text, and over those of the others.
        """
        results: dict[Key, Result] = {}
        if judged.claim.guarantee:
            results = {tuple(c.items()): self._guarantee(judged, c) for c in several}
        else:
            groups: dict[bool, list[Combination]] = {}
            for combination in several:
                is_against = bool(judged.paper.against(combination))
                groups.setdefault(is_against, []).append(combination)
            for group in groups.values():
                results |= self._decided(judged, group)
        for key, result in results.items():
            before = judged.results.get(key)
            if before is None or before.verdict is Verdict.INCONCLUSIVE:
                shown = self._shown(judged, dict(key), result)
                chance = float(shown.mean()) if shown.size else math.nan
                judged.results[key] = msgspec.structs.replace(result, chance=chance)
                judged.shown[key] = shown
        return judged

    def _shown(self, judged: Judged, combination: Combination, result: Result) -> np.ndarray:
        # The resamples of the paper's own number of runs that show the claim.
        if not (judged.paper.runs and result.runs):
            return np.zeros(0, bool)
        shown = np.ones(RESAMPLES, bool)
        for _, comparison in self.figures.comparisons(judged.name, combination, self.theirs):
            holds = np.all(comparison.distances <= self.equal, axis=1)
            shown &= holds[-RESAMPLES:]  # a comparison without runs has one row
        return shown

    def _decided(self, judged: Judged, several: Sequence[Combination]) -> dict[Key, Result]:
        # The results under several combinations: one maximum over all their comparisons in each
        # resample makes their intervals simultaneous.
        results: dict[Key, Result] = {}
        compared, farthest = dict[Key, _Compared](), np.zeros(RESAMPLES)
        for combination in several:
            key, self.ours.used = tuple(combination.items()), {}
            try:
                comparisons = [*self.figures.comparisons(judged.name, combination, self.ours)]
            except HypothesesNotMet:
                results[key] = Result(verdict=Verdict.NOT_MET)
                continue
            points = [(place, c, i) for place, c in comparisons for i in range(len(c.x))]
            if not points:
                nothing = Verdict.VACUOUS if comparisons else Verdict.NOT_TESTABLE
                results[key] = Result(verdict=nothing)
                continue
            distances = np.hstack(
                [np.broadcast_to(c.distances, (1 + RESAMPLES, len(c.x))) for _, c in comparisons]
            )
            estimate, error = distances[0], distances[1:].std(0)
            error[error < ROUNDING] = 0.0
            away = np.abs(distances[1:] - estimate) / np.where(error > 0, error, np.inf)
            farthest = np.maximum(farthest, away.max(1))
            runs = min(self.ours.used.values(), default=0)
            compared[key] = _Compared(points, estimate, error, runs)
        width = float(np.quantile(farthest, 1 - LEVEL / 2 ** (self.stage + 1)))
        for combination in several:
            if (key := tuple(combination.items())) in compared:
                results[key] = self._result(compared[key], width)
        return {key: results[key] for key in (tuple(c.items()) for c in several)}

    def _result(self, comparisons: "_Compared", width: float) -> Result:
        points, estimate, error, runs = comparisons
        low, high = estimate - width * error, estimate + width * error
        fails = (low > self.equal) & [not _is_at_floor(*point, runs) for point in points]
        verdict = Verdict.INCONCLUSIVE
        if not 0 < runs < FEWEST:
            if (high <= self.equal).all():
                verdict = Verdict.REPRODUCED
            elif fails.any():
                verdict = Verdict.NOT
        refutes = verdict is Verdict.NOT
        near = np.abs(estimate) < FAR  # a comparison of two numbers says more than an infinite one
        shown = fails & near if (fails & near).any() else fails
        worst = int((np.where(shown, low, -np.inf) if refutes else high).argmax())
        place, compared, i = points[worst]
        return Result(
            verdict=verdict,
            **place._asdict(),
            x=float(compared.x[i]),
            left=float(compared.left[i]),
            right=float(compared.right[i]),
            estimate=float(estimate[worst]),
            low=float(low[worst]),
            high=float(high[worst]),
            is_log=compared.is_log,
            equal=bool(abs(estimate[worst]) <= self.equal),
            typical=float(np.median(estimate)),
            comparisons=len(points),
            runs=runs,
        )

    def _guarantee(self, judged: Judged, combination: Combination) -> Result:
        # The largest composed budget relative to the given one; it refutes nothing if it exceeds.
        budgets = [
            (composed_budget(experiment), given_budget(experiment), Place(figure, letter, role))
            for figure, letters in panels_of(judged.claim.figures).items()
            for letter, curves in self.figures.panels(figure, letters, combination).items()
            for role in as_list(judged.claim.guarantee)
            for curve in curves.get(role.replace("-", "_"), [])
            for experiment in replace(curve, against=()).played
        ]
        for role in {*as_list(judged.claim.guarantee)} - {place.text for _, _, place in budgets}:
            file = f"conf/claims/{judged.paper.paper}.yaml"
            raise UserError(f"{file}: {judged.name}: no figure has the curve {role!r}")
        ratios = [(spent / asked, spent, asked, place) for spent, asked, place in budgets if spent]
        if not ratios:
            return Result(verdict=Verdict.NOT_TESTABLE)
        ratio, left, right, place = max(ratios)
        verdict = Verdict.REPRODUCED if ratio <= 1 + ROUNDING else Verdict.NO_BOUND
        estimate, where = math.log(ratio), place._asdict()
        return Result(verdict=verdict, **where, left=left, right=right, estimate=estimate)
