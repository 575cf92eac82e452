"""Reader of the claims in a figure's file: every name must exist, every number must be a number.

The kind of a test is a key, whose value is the curve: `{ ratio: adap-ucb, to: dp-ucb,
at_most: 0.1 }`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Any

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import bound_arguments
from dpbandits.config.origins import Origins
from dpbandits.config.section import Section
from dpbandits.core.errors import UserError, shown
from dpbandits.spec import claims
from dpbandits.spec.claims import OTHERS, At, Claim, Limits, Test
from dpbandits.spec.figure import Bound, Curve, Panel

CLAIM_KEYS = ("says", "ours", "where", "because", "test", "readings")
LIMITS = ("at_least", "at_most")
KINDS: dict[str, type] = {
    "ratio": claims.Ratio,
    "bounded": claims.Bounded,
    "value": claims.Value,
    "extremes": claims.Extremes,
    "growth": claims.Growth,
    "slope": claims.Slope,
    "gap": claims.Gap,
    "contrast": claims.Contrast,
    "alike": claims.Alike,
    "spent": claims.Spent,
}
# Keys of a test for a field of its class, where they are not the field itself; the key of `of` is
# the kind.
KEYS = {"of": (), "limits": LIMITS, "function": ("by",), "arguments": ("with",)}
REQUIRED = ("to", "since", "by")  # in every kind that has such a key


class ClaimsReader:
    """Reader of the claims of a figure whose panels have been read."""

    def __init__(self, origins: Origins, panels: Sequence[Panel]) -> None:
        self.origins = origins
        self.panels = {panel.letter: panel for panel in panels}
        self.names = list(dict.fromkeys(curve.name for p in panels for curve in p.curves))

    def read(self, content: Any) -> tuple[Claim, ...]:
        """Return every claim, in the order of the file. Raises UserError for an invalid one."""
        section = Section(self.origins, content, "figure.claims")
        return tuple(self._named(str(name), claim) for name, claim in section.content.items())

    def _named(self, name: str, content: Any) -> Claim:
        # Many claims have the same keys, so every message names the claim.
        path, figure = f"figure.claims.{name}", f"{self.origins.figure}: "
        try:
            return self._claim(name, Section(self.origins, content, path))
        except UserError as error:
            if path in str(error):
                raise
            raise UserError(f"{figure}{path}: {str(error).removeprefix(figure)}") from None

    def _claim(self, name: str, claim: Section) -> Claim:
        claim.keys(CLAIM_KEYS, ("says", "where"))
        if ("test" in claim) == ("readings" in claim):
            raise claim.error(" must have a test, or readings with a test each")
        if "test" in claim:
            readings = [("", self._tests(claim, "test"))]
        else:
            section = claim.section("readings")
            readings = [
                (str(reading), self._tests(section, reading)) for reading in section.content
            ]
        return Claim(
            name=name,
            says=claim.text("says"),
            ours=claim.checked(bool, "ours", default=False),
            where=claim.text("where"),
            because=claim.text("because"),
            readings=tuple(readings),
        )

    def _tests(self, section: Section, key: str) -> tuple[Test, ...]:
        content = section.get(key)
        if content == []:
            raise section.error(" is empty, it tests nothing", key)
        tests = content if isinstance(content, list) else [content]
        path = section.path_of(key)
        return tuple(self._test(Section(self.origins, test, path)) for test in tests)

    def _test(self, test: Section) -> Test:
        kinds = [kind for kind in KINDS if kind in test]
        if len(kinds) != 1:
            got = " and ".join(kinds) or ", ".join(map(str, test.content)) or "nothing"
            raise test.error(f" must be one of {', '.join(KINDS)}, got {got}")
        (kind,) = kinds
        names = [field.name for field in fields(KINDS[kind])]
        keys = [key for name in names for key in KEYS.get(name, (name,))]
        test.keys((kind, *keys), [key for key in REQUIRED if key in keys])
        of = tuple(test.choices(kind, self.names, "curve"))
        to: tuple[str, ...] = ()
        if "to" in test:
            others = kind == "ratio" and test.get("to") == OTHERS
            to = (OTHERS,) if others else tuple(test.choices("to", self.names, "curve"))
        values = {"of": of} | ({"to": to} if to else {}) | self._panels_of_test(test, of, to)
        if "limits" in names and (limits := self._limits(test, kind)):
            values["limits"] = limits
        values |= self._others(test)
        curves = [c for p in values["panels"] for c in self.panels[p].curves if c.name in of]
        if kind == "bounded":
            values |= self._function(test, curves)
        if kind == "spent":
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
            "statistic": partial(test.choice, choices=claims.STATISTICS),
        }
        if "at" in test and not isinstance(test.get("at"), str):
            readers["at"] = number
        return {key: read(key) for key, read in readers.items() if key in test}

    def _limits(self, test: Section, kind: str) -> Limits | None:
        limits = {key: test.checked(float, key) for key in LIMITS if key in test}
        if not limits and kind != "bounded":  # `bounded` has a default limit
            raise test.error(" must have at_least or at_most")
        return Limits(**limits) if limits else None

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
