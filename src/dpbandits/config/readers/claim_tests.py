"""Reader of the tests of a claim.

The kind of a test is a key, whose value is the curve: `{ ratio: adap-ucb, to: dp-ucb,
at_most: 0.1 }`. A limit is a number or a word of conf/thresholds.yaml.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import bound_arguments
from dpbandits.config.section import Section
from dpbandits.core.errors import shown
from dpbandits.spec import claim_tests as tests
from dpbandits.spec.claim_tests import OTHERS, At, Limits, Test
from dpbandits.spec.figure import Bound, Curve, Panel

LIMITS = ("at_least", "at_most")
KINDS: dict[str, type] = {
    "ratio": tests.Ratio,
    "bounded": tests.Bounded,
    "value": tests.Value,
    "extremes": tests.Extremes,
    "growth": tests.Growth,
    "slope": tests.Slope,
    "difference": tests.Difference,
    "contrast": tests.Contrast,
    "improvement": tests.Improvement,
    "bend": tests.Bend,
    "alike": tests.Alike,
    "published": tests.Published,
    "within_budget": tests.WithinBudget,
}
# Keys of a test for a field of its class, where they are not the field itself; the key of `of` is
# the kind.
KEYS = {"of": (), "limits": LIMITS, "function": ("by",), "arguments": ("with",)}
REQUIRED = ("to", "over", "to_over", "since", "by")  # in every kind that has such a key


class TestReader:
    """Reader of the tests of a figure, whose limits may be words of `thresholds`."""

    def __init__(self, panels: Sequence[Panel], thresholds: Mapping[str, float]) -> None:
        self.panels = {panel.letter: panel for panel in panels}
        self.names = list(dict.fromkeys(curve.name for p in panels for curve in p.curves))
        self.thresholds = thresholds

    def read(self, test: Section) -> Test:
        """Return a test. Raises UserError for an invalid one."""
        kinds = [kind for kind in KINDS if kind in test]
        if len(kinds) != 1:
            got = " and ".join(kinds) or ", ".join(map(str, test.content)) or "nothing"
            valid = ", ".join((*KINDS, "formula", "not_applicable"))
            raise test.error(f" must be one of {valid}, got {got}")
        (kind,) = kinds
        names = [field.name for field in fields(KINDS[kind])]
        keys = [key for name in names for key in KEYS.get(name, (name,))]
        test.keys(("figure", kind, *keys), [key for key in REQUIRED if key in keys])
        of = tuple(test.choices(kind, self.names, "curve"))
        to: tuple[str, ...] = ()
        if "to" in test:
            others = kind == "ratio" and test.get("to") == OTHERS
            to = (OTHERS,) if others else tuple(test.choices("to", self.names, "curve"))
        beside = {key: test.choice(key, self.names) for key in ("over", "to_over") if key in test}
        values: dict[str, Any] = {"of": of} | ({"to": to} if to else {}) | beside
        values |= self._panels_of_test(test, of, (*to, *beside.values()))
        if "limits" in names:
            limits = _limits(test, self.thresholds)
            if limits:
                values["limits"] = limits
            elif kind != "bounded":  # which has a default limit
                raise test.error(" must have at_least or at_most")
        values |= self._others(test)
        curves = [c for p in values["panels"] for c in self.panels[p].curves if c.name in of]
        if kind == "bounded":
            values |= self._function(test, curves)
        if kind == "published":
            for panel, curve in ((p, c) for p in values["panels"] for c in self.panels[p].curves):
                if curve.name in of and not curve.published:
                    raise test.error(f": panel {panel} has no published points of {curve.name}")
        if kind == "within_budget":
            for curve in curves:
                cell = curve.sources[0]
                if isinstance(cell, Bound) or cell.releases() is None:
                    raise test.error(f": {shown(curve.name)} declares no releases")
        made: Test = KINDS[kind](**values)
        return made

    def _others(self, test: Section) -> dict[str, Any]:
        # The values of the keys that mean the same in every kind of test.
        number, boolean = partial(test.checked, float), partial(test.checked, bool)
        readers: dict[str, Callable[[str], Any]] = {
            "at": lambda key: At(test.choice(key, [place.value for place in At])),
            "between": test.ends,
            "since": number,
            "until": number,
            "up_to_noise": boolean,
            "across_panels": boolean,
            "summed": boolean,
            "statistic": partial(test.choice, choices=tests.STATISTICS),
        }
        if "at" in test and not isinstance(test.get("at"), str):
            readers["at"] = number
        return {key: read(key) for key, read in readers.items() if key in test}

    def _panels_of_test(
        self, test: Section, of: Sequence[str], to: Sequence[str]
    ) -> dict[str, Any]:
        # The panels of the curves; or those of `of` and those of `to`, paired one by one.
        if test.get("to_panels") is None:
            return {"panels": self._panels(test, "panels", {*of, *to})}
        panels = self._panels(test, "panels", {*of})
        others = self._panels(test, "to_panels", {*to})
        if len(panels) != len(others):
            problem = f" must be as many as panels, {len(panels)}, got {len(others)}"
            raise test.error(problem, "to_panels")
        return {"panels": panels, "to_panels": others}

    def _panels(self, test: Section, key: str, curves: Collection[str]) -> tuple[str, ...]:
        # The panels that are named, or all that have the curves.
        needed = set(curves) - {OTHERS}
        missing = {
            letter: needed - {curve.name for curve in panel.curves}
            for letter, panel in self.panels.items()
        }
        if test.get(key) is None:
            if complete := tuple(letter for letter in self.panels if not missing[letter]):
                return complete
            raise test.error(f": no panel has {', '.join(sorted(needed))} together")
        letters = test.choices(key, self.panels, "panel")
        for letter in letters:
            if missing[letter]:
                problem = f": panel {letter} has no {', '.join(sorted(missing[letter]))}"
                raise test.error(problem, key)
        return tuple(letters)

    def _function(self, test: Section, curves: Sequence[Curve]) -> dict[str, Any]:
        # The function of theory/ and the arguments that the curves' cells do not supply.
        name = test.choice("by", theory.bounds())
        extra = test.section("with")
        accepted = bound_arguments.accepted(name)
        extra.keys(accepted)
        for curve, argument in _missing(test, curves, accepted):
            if argument not in extra:
                problem = f": {name} needs {argument}, which {curve} does not have"
                raise test.error(f"{problem}: set it under `with`")
        arguments = tuple((key, extra.checked(accepted[key], key)) for key in extra.content)
        return {"function": name, "arguments": arguments}


def read_formula(test: Section, thresholds: Mapping[str, float]) -> tests.Formula:
    """Return a test of formulas of theory/ alone. Raises UserError for an invalid one."""
    test.keys(("figure", "formula", "with", "to", "to_with", *LIMITS), ["formula"])
    limits = _limits(test, thresholds)
    if limits is None:
        raise test.error(" must have at_least or at_most")
    function, arguments = _called(test, "formula", "with")
    to, to_arguments = _called(test, "to", "to_with") if "to" in test else ("", ())
    return tests.Formula(function, arguments, limits, to, to_arguments)


def _called(test: Section, key: str, extra: str) -> tuple[str, tuple[tuple[str, Any], ...]]:
    # A function of theory/ with all of its arguments.
    name = test.choice(key, theory.functions())
    arguments, accepted = test.section(extra), bound_arguments.accepted(name)
    arguments.keys(accepted, accepted)
    return name, tuple((n, arguments.checked(accepted[n], n)) for n in arguments.content)


def _limits(test: Section, thresholds: Mapping[str, float]) -> Limits | None:
    limits: dict[str, Any] = {}
    for key in LIMITS:
        if key in test and isinstance(test.get(key), str):
            limits["word"] = test.choice(key, thresholds)
            limits[key] = thresholds[limits["word"]]
        elif key in test:
            limits[key] = test.checked(float, key)
    return Limits(**limits) if limits else None


def _missing(
    test: Section, curves: Sequence[Curve], accepted: Collection[str]
) -> Iterator[tuple[str, str]]:
    # The arguments that the cells of the curves do not supply, each with the curve.
    for curve in curves:
        cell = curve.sources[0]
        if not isinstance(cell, Cell):
            raise test.error(f": {shown(curve.name)} is no algorithm on a bandit")
        for argument in accepted:
            if argument not in bound_arguments.known(cell):
                yield curve.name, argument
