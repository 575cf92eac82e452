"""Reader of the panels and curves of a figure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.config import bound_arguments, templates
from dpbandits.config.origins import Origins
from dpbandits.config.readers.source import CURVE_KEYS, OWN, SHARED, Layer, SourceReader
from dpbandits.core import parameters, registry
from dpbandits.core.errors import shown
from dpbandits.spec.figure import TRANSITION, Bound, Curve, Panel, Quantity, StyleOverride

TEXTS = ("title", "row", "column")  # texts of a panel, with names of values in braces
PANEL_KEYS = (*TEXTS, "curves", "parameters", "each", "sweep", "shows", "checkpoints", *SHARED)
OF_RULES = [Quantity.SAMPLES.value, Quantity.FAILURES.value]
OF_AUDITS = [
    shown.value
    for shown in (Quantity.CLAIMED, Quantity.COMPOSED, Quantity.AUDITED, Quantity.ONE_CHOICE)
]
MARKERS = ("o", "s", "^", "v", "<", ">", "D", "d", "p", "P", "*", "h", "x", "+", "|", "")
LINES = ("-", "--", "-.", ":", "")
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
OVER_A_SWEEP = [Quantity.PER_LOG.value, *OF_AUDITS]
MEMBERS = {
    "algorithm": registry.algorithm_names,
    "rule": registry.stopping_rule_names,
    "bound": theory.bounds,
}


class Values(NamedTuple):
    """Values of a `sweep`, or of an `each` (one curve per value)."""

    key: str
    values: Sequence[Any]
    path: str  # path of the sweep or each in the configuration
    fit: tuple[float, float] | None  # range of values in which slopes are fitted


class Surroundings(NamedTuple):
    """Values that the curves of a panel share."""

    layers: list[Layer]
    each: Values | None
    sweep: Values | None
    own: set[str]  # parameters that at least one curve of the panel takes


class PanelReader:
    """Reader of the panels of a figure. Its methods raise UserError for bad keys and values."""

    def __init__(
        self, origins: Origins, figure: Mapping[str, Any], given: set[str], runs: int
    ) -> None:
        self.at = origins
        self.runs = runs  # of a curve that sets no number of its own
        self.figure = figure
        self.sources = SourceReader(origins, figure, given)

    def read(self, letter: str, content: Any, curves: Mapping[str, Any]) -> Panel:
        """Return one panel with these curves, checked."""
        at, path = self.at, f"figure.panels.{letter}"
        panel = at.mapping(content, path)
        at.keys(panel, PANEL_KEYS, path, ())
        layers: list[Layer] = [(path, panel), ("figure", self.figure)]
        own = {taken for name in curves for taken in self._taken(name, curves[name], layers)}
        given = at.mapping(panel.get("parameters"), f"{path}.parameters")
        at.keys(given, sorted(own), f"{path}.parameters", ())
        layers = [(f"{path}.parameters", given), *layers]
        sweep = self._values(panel.get("sweep"), f"{path}.sweep")
        sweep = sweep or self._values(self.figure.get("sweep"), "figure.sweep")
        each = self._values(panel.get("each"), f"{path}.each")
        around = Surroundings(layers, each, sweep, own)
        read = [curve for name in curves for curve in self._for_each(name, curves[name], around)]
        for members, values in (("stopping rules", OF_RULES), ("algorithms", OF_AUDITS)):
            if panel.get("shows") in values and all(c.shows is Quantity.REGRET for c in read):
                message = f"{path}.shows is for {members}, of which the panel has none"
                raise at.error(message, f"{path}.shows")
        named = self.sources.of_panel(layers, given)
        if each:
            named["each"] = templates.Several(each.values)
        title, row, column = (
            self.filled(panel.get(key) or "", named, f"{path}.{key}") for key in TEXTS
        )
        return Panel(letter, title, tuple(read), row, column)

    def filled(self, template: Any, values: Mapping[str, Any], path: str) -> str:
        """Return a title or label with its values. Raises UserError if it names another value."""
        text = self.at.text(template, path)
        try:
            return templates.filled(text, values)
        except ValueError:
            message = f"{path} {shown(text)} may name only {', '.join(values)} in braces"
            raise self.at.error(message, path) from None

    def of_figure(self, key: str, panels: Mapping[str, Any]) -> str:
        """Return a text of the figure; a value that differs between panels is listed in full."""
        at = self.at
        several = []
        for letter, content in panels.items():
            path = f"figure.panels.{letter}"
            layers = [(path, at.mapping(content, path)), ("figure", self.figure)]
            several.append(self.sources.of_panel(layers, {}))
        merged: dict[str, list[Any]] = {}
        for of_panel in several:
            for name, value in of_panel.items():
                if value not in merged.setdefault(name, []):
                    merged[name].append(value)
        named = {name: templates.Several(values) for name, values in merged.items()}
        return self.filled(self.figure.get(key) or "", named, f"figure.{key}")

    def _values(self, content: Any, path: str) -> Values | None:
        # The content of a `sweep` or an `each`, checked.
        if content is None:
            return None
        at, mapping = self.at, self.at.mapping(content, path)
        at.keys(mapping, ("key", "values", "fit"), path, ("key", "values"))
        key, values = at.text(mapping["key"], f"{path}.key"), mapping["values"]
        if isinstance(values, Mapping):
            values = self._in_equal_steps(values, f"{path}.values")
        try:
            parameters.coerce(parameters.Ascending, values)
        except ValueError as error:
            message = f"{path}.values must be {error}, got {shown(values)}"
            raise at.error(message, f"{path}.values") from None
        fit = mapping.get("fit")
        ends = None if fit is None else at.ends(fit, f"{path}.fit")
        return Values(key, values, path, ends)

    def _in_equal_steps(self, content: Mapping[str, Any], path: str) -> list[float]:
        # `values: {first: 0, last: 1, number: 101}`
        at, kinds = self.at, {"first": float, "last": float, "number": parameters.Count}
        at.keys(content, kinds, path, kinds)
        first, last, number = (at.checked(k, content[n], f"{path}.{n}") for n, k in kinds.items())
        return [float(value) for value in np.linspace(first, last, number)]

    # Curves

    def _for_each(self, name: str, content: Any, around: Surroundings) -> list[Curve]:
        # The curve, or one for every value of the panel's `each`.
        each = around.each
        if each is None:
            return [self._curve(name, content, around)]
        found = []
        for value in each.values:
            changed = self.sources.changed(each.key, value, around.layers, each.path, around.own)
            curve = self._curve(name, content, around._replace(layers=changed))
            told = f"({each.key.split('.')[-1]}={value:g})"
            label, legend = f"{curve.label} {told}", f"{curve.legend} {told}"
            found.append(replace(curve, label=label, legend=legend))
        return found

    def _member(self, name: str, content: Any) -> tuple[dict[str, Any], str, str]:
        # The content of a curve, its kind, and the member of that kind.
        path = f"figure.curves.{name}"
        curve = self.at.mapping(content, path)
        kind = self._kind(path, curve)
        return curve, kind, self.at.choice(curve[kind], MEMBERS[kind](), f"{path}.{kind}")

    def _taken(self, name: str, content: Any, layers: list[Layer]) -> Iterable[str]:
        # The parameters that a curve takes; for a bound, without those that the game supplies.
        curve, kind, member = self._member(name, content)
        if kind == "bound":
            game = self.sources.game([(f"figure.curves.{name}", curve), *layers])
            return bound_arguments.accepted(member).keys() - game.keys()
        find = registry.algorithm if kind == "algorithm" else registry.stopping_rule
        return parameters.fields(find(member).Params)

    def _curve(self, name: str, content: Any, around: Surroundings) -> Curve:
        at, path = self.at, f"figure.curves.{name}"
        curve, kind, member = self._member(name, content)
        layers, sweep = [(path, curve), *around.layers], around.sweep
        shows = self._shows(kind, layers, sweep)
        read, style, label = self._of_kind(kind, member, shows)
        if kind == "bound":
            game, find = self.sources.game(layers), partial(self.sources.find, layers=layers)
            bound_arguments.check_keys(at, path, curve, CURVE_KEYS, game)
            if (meet := curve.get("at")) is not None:
                style = TRANSITION
                if sweep is None or sweep.key not in ("epsilon", "delta"):
                    message = f"{path}.at is for a figure with a sweep over epsilon or delta"
                    raise at.error(message, f"{path}.at")
                met = bound_arguments.transitions(at, meet, path, game, find, sweep.key)
                sweep = sweep._replace(values=met)
        changed = [layers]
        if sweep is not None:
            change = partial(self.sources.changed, sweep.key, layers=layers, where=sweep.path)
            changed = [change(value, own=around.own) for value in sweep.values]
        sources = tuple(read(path, curve, each) for each in changed)
        values = self._of_source(sources[0], layers, sweep)
        reading, label, legend = (
            self.filled(curve.get(key) or default, values, f"{path}.{key}")
            for key, default in (("reading", ""), ("label", label), ("legend", ""))
        )
        if reading:
            label = f"{label} ({reading})"
        return Curve(
            name=name,
            label=label,
            legend=legend or self._legend(label, sources[0]),
            reading=reading,
            look=self._look(curve, path),
            style=style,
            shows=shows,
            over="t" if sweep is None else sweep.key.split(".")[-1],
            x=None if sweep is None else tuple(float(value) for value in sweep.values),
            sources=sources,
            runs=self._runs(curve, path),
            fit=sweep and sweep.fit,
        )

    def _of_source(
        self, source: AnyCell | Bound, layers: list[Layer], sweep: Values | None
    ) -> dict[str, Any]:
        # The values that a label may name: those of the game and the parameters that are not swept.
        values = self.sources.of_panel(layers, {})
        if isinstance(source, Bound):
            values |= source.arguments
        else:
            values |= parameters.plain(source.params)
        if sweep:
            first, _, inner = sweep.key.partition(".")
            swept = (*values,) if inner else (first,)
            values = {name: value for name, value in values.items() if name not in swept}
        return values

    def _look(self, curve: Mapping[str, Any], path: str) -> StyleOverride:
        at = self.at
        told = {key: curve.get(key) for key in ("colour", "marker", "line")}
        for key, value in told.items():
            if value is not None:
                at.text(value, f"{path}.{key}")
        if told["colour"] is not None and not COLOUR.fullmatch(told["colour"]):
            message = f"{path}.colour must be like '#0072B2', got {shown(told['colour'])}"
            raise at.error(message, f"{path}.colour")
        for key, valid in (("marker", MARKERS), ("line", LINES)):
            if told[key] is not None:
                at.choice(told[key], valid, f"{path}.{key}")
        return StyleOverride(**told)

    def _runs(self, curve: Mapping[str, Any], path: str) -> int:
        # Typed runs override the file's runs of a single curve.
        if curve.get("runs") is None or self.at.was_typed("runs"):
            return self.runs
        return int(self.at.checked(parameters.Count, curve["runs"], f"{path}.runs"))

    def _kind(self, path: str, curve: Mapping[str, Any]) -> str:
        # The kind of a curve: algorithm, rule or bound.
        at = self.at
        kinds = [kind for kind in OWN if curve.get(kind) is not None]
        if len(kinds) > 1:
            told = " and ".join(kinds)
            raise at.error(f"{path} must have an algorithm, a rule or a bound, got {told}", path)
        if not kinds:
            # No hint for an algorithm's own file: there the line `algorithm: <name>` is missing.
            name = path.rpartition(".")[2]
            hints = {
                "command line": f" (`+algorithm@{path}=<name>`)",
                at.file: f" (under defaults: `- /algorithm@curves.{name}: <name>`)",
            }
            hint = hints.get(at.of(path), "")
            message = f"{path} must have an algorithm{hint}, a rule or a bound"
            raise at.error(message, path)
        return kinds[0]

    def _of_kind(
        self, kind: str, member: str, shows: Quantity
    ) -> tuple[Callable[..., AnyCell | Bound], str, str]:
        # The function that reads its sources, its style and its label.
        if kind == "algorithm":
            audit = shows.value in OF_AUDITS
            read = self.sources.audit_cell if audit else self.sources.cell
            return read, member, registry.algorithm(member).LABEL
        if kind == "rule":
            return self.sources.stopping_cell, member, registry.stopping_rule(member).LABEL
        return self.sources.bound, "bound", member

    def _shows(self, kind: str, layers: list[Layer], sweep: Values | None) -> Quantity:
        # The quantity that a curve plots. A rule has no curve over time, so it needs a sweep. A
        # bound plots its own value, except over log T.
        value, path = self.sources.find("shows", layers)
        if kind != "rule":
            shows = Quantity(
                self.at.choice(value or Quantity.REGRET.value, [s.value for s in Quantity], path)
            )
            if value in OVER_A_SWEEP and sweep is None:
                raise self.at.error(f"{path}: {value} is drawn over a sweep", path)
            audit = kind == "algorithm" and value in OF_AUDITS
            return shows if audit or shows is Quantity.PER_LOG else Quantity.REGRET
        if sweep is None:
            raise self.at.error("a stopping rule is drawn over a sweep", layers[0][0])
        return Quantity(self.at.choice(value or Quantity.SAMPLES.value, OF_RULES, path))

    def _legend(self, label: str, source: AnyCell | Bound) -> str:
        # The label, with the input budget of a private algorithm if the figure asks for it.
        path = "figure.input_privacy"
        wanted = self.at.checked(bool, self.figure.get("input_privacy", False), path)
        if not wanted or not isinstance(source, Cell) or "epsilon" not in source.params._fields:
            return label
        module = registry.algorithm(source.algorithm)
        given = getattr(module, "input_epsilon", lambda params: params.epsilon)
        return f"{label} ({_in_formulas(given(source.params))})"


def _in_formulas(value: float) -> str:
    # Three digits; very small and large values with a power of ten: 0.00396, 4.63 10^-5.
    mantissa, _, power = f"{value:.3g}".partition("e")
    return rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else mantissa
