"""Reader of the claims in a figure's file: every name must exist, every number must be a number.

The kind of a test is a key, whose value is the curve: `{ ratio: adap-ucb, to: dp-ucb,
at_most: 0.1 }`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import bound_arguments
from dpbandits.config.origins import Origins
from dpbandits.core.errors import UserError, shown
from dpbandits.spec import claims
from dpbandits.spec.claims import OTHERS, At, Claim, Limits, Test
from dpbandits.spec.figure import Bound, Panel

CLAIM_KEYS = ("says", "ours", "where", "because", "test", "readings")
LIMITS = ("at_least", "at_most")
# The kinds of test, each with its class and its keys beside the kind and `panels`.
KINDS: dict[str, tuple[type, tuple[str, ...]]] = {
    "ratio": (
        claims.Ratio,
        ("to", "to_panels", "at", "between", "statistic", "up_to_noise", *LIMITS),
    ),
    "bounded": (claims.Bounded, ("by", "with", "at", *LIMITS)),
    "value": (claims.Value, ("at", "between", "statistic", *LIMITS)),
    "extremes": (claims.Extremes, ("between", "across_panels", *LIMITS)),
    "growth": (claims.Growth, ("since", "until", *LIMITS)),
    "slope": (claims.Slope, ("between", *LIMITS)),
    "gap": (claims.Gap, ("to", "since")),
    "contrast": (claims.Contrast, ("to", *LIMITS)),
    "alike": (claims.Alike, ("at",)),
    "spent": (claims.Spent, ()),
}
REQUIRED = ("to", "since", "by")  # in every kind that has such a key


class ClaimsReader:
    """Reader of the claims of a figure whose panels have been read."""

    def __init__(self, origins: Origins, panels: Sequence[Panel]) -> None:
        self.origins = origins
        self.panels = {panel.letter: panel for panel in panels}
        self.names = list(dict.fromkeys(curve.name for p in panels for curve in p.curves))

    def read(self, content: Any) -> tuple[Claim, ...]:
        """Return every claim, in the order of the file. Raises UserError for an invalid one."""
        claims_of_figure = self.origins.mapping(content, "figure.claims")
        return tuple(self._named(str(name), claim) for name, claim in claims_of_figure.items())

    def _named(self, name: str, content: Any) -> Claim:
        # Many claims have the same keys, so every message names the claim.
        path, figure = f"figure.claims.{name}", f"{self.origins.figure}: "
        try:
            return self._claim(name, content)
        except UserError as error:
            if path in str(error):
                raise
            raise UserError(f"{figure}{path}: {str(error).removeprefix(figure)}") from None

    def _claim(self, name: str, content: Any) -> Claim:
        origins, path = self.origins, f"figure.claims.{name}"
        claim = origins.mapping(content, path)
        origins.keys(claim, CLAIM_KEYS, path, ("says", "where"))
        if ("test" in claim) == ("readings" in claim):
            raise origins.error(f"{path} must have a test, or readings with a test each", path)
        readings = {"": claim["test"]} if "test" in claim else claim["readings"]
        readings = origins.mapping(readings, f"{path}.readings")
        inside = {r: f"{path}.readings.{r}" if r else f"{path}.test" for r in readings}
        return Claim(
            name=name,
            says=origins.text(claim["says"], f"{path}.says"),
            ours=origins.checked(bool, claim.get("ours", False), f"{path}.ours"),
            where=origins.text(claim["where"], f"{path}.where"),
            because=origins.text(claim.get("because") or "", f"{path}.because"),
            readings=tuple((str(r), self._tests(readings[r], inside[r])) for r in readings),
        )

    def _tests(self, content: Any, path: str) -> tuple[Test, ...]:
        if not isinstance(content, list):
            return (self._test(content, path),)
        if not content:
            raise self.origins.error(f"{path} is empty, it tests nothing", path)
        return tuple(self._test(test, path) for test in content)

    def _test(self, content: Any, path: str) -> Test:
        origins, test = self.origins, self.origins.mapping(content, path)
        kinds = [kind for kind in KINDS if kind in test]
        if len(kinds) != 1:
            keys_of_test = " and ".join(kinds) or ", ".join(map(str, test)) or "nothing"
            raise origins.error(
                f"{path} must be one of {', '.join(KINDS)}, got {keys_of_test}", path
            )
        (kind,) = kinds
        made, keys = KINDS[kind]
        origins.keys(test, (kind, "panels", *keys), path, [key for key in REQUIRED if key in keys])
        of = self._curves(test[kind], f"{path}.{kind}")
        values: dict[str, Any] = {"of": of}
        if set(LIMITS) <= set(keys) and (limits := self._limits(test, kind, path)):
            values["limits"] = limits
        beside: tuple[str, ...] = ()
        if "to" in test:
            values["to"] = beside = self._curves(test["to"], f"{path}.to", others=kind == "ratio")
        if test.get("to_panels") is not None:
            values |= self._elsewhere(test, of, beside, path)
        else:
            values["panels"] = self._panels(test.get("panels"), (*of, *beside), path)
        for key, read in self._readers(path).items():
            if key in test:
                values[key] = read(test[key])
        if kind == "bounded":
            values |= self._function(test, values, path)
        if kind == "spent":
            self._must_be_private(values, path)
        return made(**values)

    def _readers(self, path: str) -> dict[str, Callable[[Any], Any]]:
        origins = self.origins
        return {
            "at": lambda value: self._at(value, f"{path}.at"),
            "between": lambda value: origins.ends(value, f"{path}.between"),
            "since": lambda value: origins.checked(float, value, f"{path}.since"),
            "until": lambda value: origins.checked(float, value, f"{path}.until"),
            "up_to_noise": lambda value: origins.checked(bool, value, f"{path}.up_to_noise"),
            "across_panels": lambda value: origins.checked(bool, value, f"{path}.across_panels"),
            "statistic": lambda value: origins.choice(
                value, claims.STATISTICS, f"{path}.statistic"
            ),
        }

    def _limits(self, test: Mapping[str, Any], kind: str, path: str) -> Limits | None:
        limits = {
            key: self.origins.checked(float, test[key], f"{path}.{key}")
            for key in LIMITS
            if key in test
        }
        if not limits and kind != "bounded":  # `bounded` has a default limit
            raise self.origins.error(f"{path} must have at_least or at_most", path)
        return Limits(**limits) if limits else None

    def _curves(self, value: Any, path: str, others: bool = False) -> tuple[str, ...]:
        # One curve or several, or all others.
        if others and value == OTHERS:
            return (OTHERS,)
        names = value if isinstance(value, list) else [value]
        if not names:
            raise self.origins.error(f"{path} is empty, it names no curve", path)
        return tuple(self.origins.choice(name, self.names, path) for name in names)

    def _elsewhere(
        self, test: Mapping[str, Any], of: Sequence[str], to: Sequence[str], path: str
    ) -> dict[str, Any]:
        # The panels of `of` and those of `to`, paired one by one.
        panels = self._panels(test.get("panels"), of, path)
        others = self._panels(test["to_panels"], to, path, "to_panels")
        if len(panels) != len(others):
            message = (
                f"{path}.to_panels must be as many as panels, {len(panels)}, got {len(others)}"
            )
            raise self.origins.error(message, f"{path}.to_panels")
        return {"panels": panels, "to_panels": others}

    def _panels(
        self, value: Any, curves: Sequence[str], path: str, key: str = "panels"
    ) -> tuple[str, ...]:
        # The panels that are named, or all that have the curves.
        origins, needed = self.origins, set(curves) - {OTHERS}
        missing = {
            letter: needed - {curve.name for curve in panel.curves}
            for letter, panel in self.panels.items()
        }
        if value is None:
            if complete := tuple(letter for letter in self.panels if not missing[letter]):
                return complete
            message = f"{path}: no panel has {', '.join(sorted(needed))} together"
            raise origins.error(message, path)
        path = f"{path}.{key}"
        letters = value if isinstance(value, list) else [value]
        letters = [origins.choice(letter, self.panels, path) for letter in letters]
        for letter in letters:
            if missing[letter]:
                message = f"{path}: panel {letter} has no {', '.join(sorted(missing[letter]))}"
                raise origins.error(message, path)
        if not letters:
            raise origins.error(f"{path} is empty, it names no panel", path)
        return tuple(letters)

    def _at(self, value: Any, path: str) -> At | float:
        words = [at.value for at in At]
        if isinstance(value, str):
            return At(self.origins.choice(value, words, path))
        number: float = self.origins.checked(float, value, path)
        return number

    def _function(
        self, test: Mapping[str, Any], values: Mapping[str, Any], path: str
    ) -> dict[str, Any]:
        # The function of theory/ and the arguments that the curves' cells do not supply.
        origins = self.origins
        name = origins.choice(test["by"], theory.bounds(), f"{path}.by")
        extra = origins.mapping(test.get("with"), f"{path}.with")
        accepted = bound_arguments.accepted(name)
        origins.keys(extra, accepted, f"{path}.with", ())
        for letter in values["panels"]:
            for curve in self.panels[letter].curves:
                if curve.name in values["of"]:
                    cell = curve.sources[0]
                    if not isinstance(cell, Cell):
                        message = f"{path}: {shown(curve.name)} is no algorithm on a bandit"
                        raise origins.error(message, path)
                    known = bound_arguments.known(cell)
                    for argument in accepted:
                        if argument not in known and argument not in extra:
                            message = (
                                f"{path}: {name} needs {argument}, which {curve.name} does not have"
                            )
                            raise origins.error(f"{message}: set it under `with`", path)
        checked = {
            key: origins.checked(accepted[key], extra[key], f"{path}.with.{key}") for key in extra
        }
        return {"function": name, "arguments": tuple(checked.items())}

    def _must_be_private(self, values: Mapping[str, Any], path: str) -> None:
        for letter in values["panels"]:
            for curve in self.panels[letter].curves:
                if curve.name in values["of"]:
                    cell = curve.sources[0]
                    if isinstance(cell, Bound) or cell.releases() is None:
                        message = f"{path}: {shown(curve.name)} declares no releases"
                        raise self.origins.error(message, path)
