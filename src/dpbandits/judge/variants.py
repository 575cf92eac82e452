"""Figures under the variants of a paper's choices: their curves as quantities of the language."""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits import theory
from dpbandits.config import compose
from dpbandits.experiments import kinds
from dpbandits.judge import claims_files, language
from dpbandits.judge.claims_files import In, Paper, as_list, panels_of
from dpbandits.judge.language import Compared, Quantity, Scope
from dpbandits.judge.resampled import Line, Planner, Resampler
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.tables.published import at_checkpoints

Combination = Mapping[str, str]  # choice: variant; choices that are not in it are as drawn
Curves = dict[str, list[Curve]]  # of a panel by name; with `each` several of one name
OTHERS = "others"  # every played curve that the text does not name and that has no `variant`


class HypothesesNotMet(UserError):
    """A theorem's own conditions exclude the parameters."""


class Place(NamedTuple):
    """Where a comparison is made."""

    figure: str
    panel: str  # empty for a comparison across panels
    text: str


@dataclass
class Figures:
    """Figures of a paper's claims, each composed once a set of overrides."""

    paper: Paper
    composed: dict[tuple[str, ...], FigureSpec] = field(default_factory=dict)

    def spec(self, figure: str, overrides: Sequence[str] = ()) -> FigureSpec:
        """Return a figure under overrides."""
        key = (figure, *overrides)
        if key not in self.composed:
            self.composed[key], _ = compose.load(figure, overrides, is_variant=True)
        return self.composed[key]

    def panels(
        self, figure: str, letters: Sequence[str], combination: Combination
    ) -> dict[str, Curves]:
        """Return the curves of panels of a figure under a combination, by letter and name."""
        panels: dict[str, Curves] = {}
        for panel in self.spec(figure, self._overrides(figure, "", combination)).panels:
            panels[panel.letter] = curves = {}
            for name in dict.fromkeys(curve.name for curve in panel.curves):
                spec = self.spec(figure, self._overrides(figure, name, combination))
                (same,) = (p for p in spec.panels if p.letter == panel.letter)
                curves[name.replace("-", "_")] = [c for c in same.curves if c.name == name]
        for letter in letters:
            if letter not in panels:
                raise UserError(f"{figure} has no panel {shown(letter)}; {nearest(letter, panels)}")
        return {letter: panels[letter] for letter in letters or panels}

    def touched(self, name: str) -> list[str]:
        """Return the choices that a claim touches: by its curves, words, figures or statistic."""
        claim = self.paper.claims()[name]
        roles = {curve.name for curve in self.needed(name, {})} | {*as_list(claim.guarantee)}
        tokens = {w for part in claim.parts() for w in re.findall(r"\w+", " ".join(part.holds))}
        return [
            key
            for key, choice in self.paper.choices.items()
            if not choice.open_in or {*as_list(choice.open_in)} & {*self.paper.figures(name)}
            if roles & {*as_list(choice.role)}
            or tokens & {*as_list(choice.word)}
            or {name, "all"} & {*as_list(choice.statistic)}
            or {*as_list(choice.figures)} & {*self.paper.figures(name)}
        ]

    def needed(self, name: str, combination: Combination) -> list[Curve]:
        """Return the played curves that a claim is about."""
        planned = Planner()
        with suppress(HypothesesNotMet):
            [*self.comparisons(name, combination, planned)]
        return [*planned.used]

    def comparisons(
        self, name: str, combination: Combination, resampler: Resampler | Planner
    ) -> Iterator[tuple[Place, Compared]]:
        """Yield every comparison of a claim. Raises UserError for a name that no panel has."""
        for part in self.paper.claims()[name].parts():
            for text in part.holds:
                with self._errors_located(name, text):
                    for place, scope in self._scopes(part.figures, text, combination, resampler):
                        for compared in language.compared(text, scope):
                            yield place, compared

    def value(self, name: str, resampler: Resampler | Planner) -> np.ndarray:
        """Return a number in the first panel that has its curves, the estimate and resamples."""
        number = self.paper.numbers[name]
        with self._errors_located(name, number.value):
            scopes = self._scopes(number.figures, number.value, number.variants, resampler)
            value = language.evaluate(language.parsed(number.value), next(scopes)[1])
            return language.end(value).values[:, -1]

    @contextmanager
    def _errors_located(self, name: str, text: str) -> Iterator[None]:
        # Every error becomes one line with file, claim and text.
        try:
            yield
        except HypothesesNotMet:
            raise
        except UserError as error:
            file = f"conf/claims/{self.paper.paper}.yaml"
            raise UserError(f"{file}: {name}: {text}: {error}") from None

    def _scopes(
        self,
        figures: In,
        text: str,
        combination: Combination,
        resampler: Resampler | Planner,
    ) -> Iterator[tuple[Place, Scope]]:
        # The values of names, wherever a text can be evaluated.
        symbols, statistic = claims_files.thresholds(), "mean"
        for name, choice in self.paper.choices.items():
            value = choice.variants[combination.get(name, next(iter(choice.variants)))]
            if choice.word:
                values = value if isinstance(value, dict) else {as_list(choice.word)[0]: value}
                symbols |= {w: language.FUNCTIONS.get(str(v), v) for w, v in values.items()}
            elif choice.statistic and name in combination:
                statistic = value
        nodes = [*ast.walk(language.parsed(text))]
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        operands = {node.id for node in nodes if isinstance(node, ast.Name) and node not in called}
        across = re.search(r"\b(panels|later|panel)\(", text)
        wanted, line = operands - {OTHERS, *symbols}, partial(Line.of, resampler, statistic)
        functions = FUNCTIONS | {word: value for word, value in symbols.items() if callable(value)}
        for figure, letters in panels_of(figures).items():
            panels = self.panels(figure, letters, combination)
            valid = {name for curves in panels.values() for name in curves}
            for name in sorted(wanted - valid):
                raise UserError(f"{figure} has no curve {shown(name)}; {nearest(name, valid)}")
            having = {letter: c for letter, c in panels.items() if wanted <= {*c}}
            for letter, curves in [*having.items()][: 1 if across else None]:
                repeats = max((len(curves[name]) for name in wanted), default=1)
                used = {*curves} if OTHERS in operands else wanted
                for i in range(max((len(curves[name]) for name in used), default=1)):
                    lines = {n: line(c[min(i, len(c) - 1)]) for n, c in curves.items()}
                    fresh = (n for n, c in curves.items() if i < max(repeats, len(c)))
                    others = [lines[n] for n in fresh if n not in operands]
                    others = [o for o in others if not (o.curve.is_exact or o.curve.variant)]
                    _check_distinct([lines[n] for n in wanted] + others * (OTHERS in operands))
                    names = {**symbols, **lines, OTHERS: others}
                    scope = Scope(names, functions | _across(panels, text))
                    yield Place(figure, "" if across else letter, text), scope

    def _overrides(self, figure: str, role: str, combination: Combination) -> tuple[str, ...]:
        # Those of the whole figure; with a role also those of its curve.
        overrides, curve = list[str](), f"figure.curves.{role}"
        members = {kind.key for kind in kinds.every() if kind.has_members}
        for name, variant in combination.items():
            choice = self.paper.choices[name]
            if choice.open_in and figure not in as_list(choice.open_in):
                continue
            values = choice.variants[variant] if choice.role or choice.figures else None
            for key, value in (values or {}).items():
                written = "null" if value is None else str(value).replace(" ", "")
                if figure in as_list(choice.figures):
                    overrides.append(f"{key}={written}")
                elif role in as_list(choice.role) and key in members:
                    overrides += [f"algorithm@{curve}={written}", f"++{curve}.legend=null"]
                elif role in as_list(choice.role):
                    overrides.append(f"++{curve}.{key}={written}")
        return tuple(overrides)


def _check_distinct(lines: Sequence[Line]) -> None:
    # Raise UserError for two curves that differ by seed, label or ties alone.
    names: dict[str, str] = {}
    for curve in (line.curve for line in lines if line.curve.played):
        games = [_distinctive(source.description()) for source in curve.sources]
        name = names.setdefault(json.dumps([games, curve.shows.name, curve.x]), curve.name)
        if name != curve.name:
            raise UserError(f"{name} and {curve.name} are one game, compared with itself")


def _distinctive(description: Any) -> Any:
    if isinstance(description, Mapping):
        kept = (key for key in description if key not in ("seed", "ties"))
        return {key: _distinctive(description[key]) for key in kept}
    return [*map(_distinctive, description)] if isinstance(description, list) else description


def _across(panels: Mapping[str, Curves], text: str) -> dict[str, Any]:
    # Functions over all panels; `panels(a) >= later(a)` compares each panel with the next.
    def ends(line: Line, letters: Sequence[str]) -> Quantity:
        name = line.curve.name.replace("-", "_")
        curves = [c for letter in letters for c in panels[letter].get(name, [])]
        values = [language.end(Line.of(line.resampler, line.statistic, c)).values for c in curves]
        return Quantity(np.hstack(values), np.arange(len(curves), dtype=float))

    letters = [*panels]
    return {
        "panels": partial(ends, letters=letters[:-1] if "later(" in text else letters),
        "later": partial(ends, letters=letters[1:]),
        "panel": lambda line, letter: ends(line, [letter]),
    }


def bound(line: Line, name: str, **more: Any) -> Quantity:
    """Return a function of theory/ at a curve's own parameters and points.

    A point where no regret can exceed the bound is not a number, as is one that the theorem's
    conditions exclude. Raises HypothesesNotMet if they exclude all points.
    """
    values, unmet = list[float](), list[str]()
    for column, x in zip(line.columns, line.x, strict=True):
        experiment = line.curve.sources[0 if line.curve.x is None else column]
        arguments = {**kinds.words(experiment).arguments, **more}
        if line.curve.x is None:
            arguments["horizon"] = int(x)
        accepted = theory.accepted(name)
        try:
            value = theory_value(name, **{k: arguments[k] for k in accepted if k in arguments})
        except UserError as error:
            unmet.append(str(error))
            value = np.inf
        most = kinds.of(experiment).most(experiment, arguments)
        values.append(value if value < (np.inf if most is None else most) else np.nan)
    if len(unmet) == len(values):
        raise HypothesesNotMet(unmet[0])
    return Quantity(np.array([values]), line.x, line.chosen)


@cache
def theory_value(name: str, **arguments: Any) -> float:
    """Return the value of a function of theory/, or of its first transition."""
    value = theory.function(name)(**arguments)
    return float(value[0] if isinstance(value, Sequence) else value)


def published(line: Line) -> Quantity:
    """Return the curve in the paper's own picture, at the points of ours that it has."""
    points = at_checkpoints(line.curve)
    return Quantity(np.array([[points.get(float(x), np.nan) for x in line.x]]), line.x, line.chosen)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **language.FUNCTIONS,
    "published": published,
    "bound": bound,
    "theory": theory_value,
    "p_value": lambda line: Quantity(
        line.resampler.statistic(line.curve, "p_value", line.columns), np.ones(1)
    ),
}
