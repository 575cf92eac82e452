"""Reader of the curves of a panel."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dpbandits import theory
from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.config import bound_arguments
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers import templates
from dpbandits.config.readers.game import GameReader
from dpbandits.config.readers.layers import Layers
from dpbandits.config.readers.look import legend_of, read_look
from dpbandits.config.readers.source import CURVE_KEYS, OWN, SourceReader
from dpbandits.config.section import Section
from dpbandits.core import parameters, registry
from dpbandits.spec.figure import TRANSITION, Bound, Curve, Quantity

OF_RULES = [Quantity.SAMPLES.value, Quantity.FAILURES.value]
OF_AUDITS = [
    quantity.value
    for quantity in (Quantity.CLAIMED, Quantity.COMPOSED, Quantity.AUDITED, Quantity.ONE_CHOICE)
]
OF_PAIRS = [Quantity.EXTRA.value, Quantity.PRICE.value]
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

    layers: Layers
    each: Values | None
    sweep: Values | None
    own: set[str]  # parameters that at least one curve of the panel takes
    against: str | None = None  # curve that is the counterpart of all of the panel


class CurveReader:
    """Reader of the curves of a figure. Its methods raise UserError for bad keys and values."""

    def __init__(self, origins: Origins, figure: Section, games: GameReader, runs: int) -> None:
        self.origins = origins
        self.figure = figure
        self.games = games
        self.sources = SourceReader(origins, games)
        self.runs = runs  # of a curve that sets no number of its own

    def read(self, name: str, content: Any, around: Surroundings) -> list[Curve]:
        """Return the curve, or one for every value of the panel's `each`."""
        each = around.each
        if each is None:
            return [self._curve(name, content, around)]
        curves = []
        for value in each.values:
            changed = self.games.changed(each.key, value, around.layers, each.path, around.own)
            curve = self._curve(name, content, around._replace(layers=changed))
            suffix = f"({each.key.split('.')[-1]}={value:g})"
            label, legend = f"{curve.label} {suffix}", f"{curve.legend} {suffix}"
            curves.append(replace(curve, label=label, legend=legend))
        return curves

    def takes(self, name: str, content: Any, layers: Layers) -> Collection[str]:
        """Return the parameters of a curve; for a bound, those that the game does not supply."""
        curve, kind, member = self._member(name, content)
        if kind == "bound":
            accepted = bound_arguments.accepted(member)
            inside = layers.unrecorded().inside(curve.path, curve.content)
            return accepted.keys() - self.games.supplied(inside, accepted).keys()
        find = registry.algorithm if kind == "algorithm" else registry.stopping_rule
        return parameters.fields(find(member).Params)

    def _member(self, name: str, content: Any) -> tuple[Section, str, str]:
        # The content of a curve, its kind, and the member of that kind.
        curve = Section(self.origins, content, f"figure.curves.{name}")
        kind = self._kind(curve, name)
        return curve, kind, curve.choice(kind, MEMBERS[kind]())

    def _curve(self, name: str, content: Any, around: Surroundings) -> Curve:
        curve, kind, member = self._member(name, content)
        layers, sweep = around.layers.inside(curve.path, curve.content), around.sweep
        layers.reads.update(curve.path_of(key) for key in (*OWN, *OWN[kind]))
        shows = self._shows(kind, layers.unrecorded(), sweep)
        read, style, label = self._of_kind(kind, member, shows)
        if kind == "bound":
            sweep = self._sweep_of_bound(curve, layers, sweep)
            style = style if curve.get("at") is None else TRANSITION
        changed = self._over(sweep, layers, around.own)
        sources = tuple(read(curve, each) for each in changed)
        values = self._of_source(sources[0], layers, sweep)
        reading, label, legend = (
            templates.read(curve, key, values, default)
            for key, default in (("reading", ""), ("label", label), ("legend", ""))
        )
        if reading:
            label = f"{label} ({reading})"
        return Curve(
            name=name,
            label=label,
            legend=legend or legend_of(label, sources[0], self.figure),
            reading=reading,
            look=read_look(curve),
            annotation=curve.checked(bool, "annotation", default=False),
            style=style,
            shows=shows,
            over="t" if sweep is None else sweep.key.split(".")[-1],
            x=None if sweep is None else tuple(float(value) for value in sweep.values),
            sources=sources,
            runs=self._runs(curve),
            fit=sweep and sweep.fit,
            against=self._against(curve, around, sweep) if shows.value in OF_PAIRS else (),
        )

    def _over(self, sweep: Values | None, layers: Layers, own: Collection[str]) -> list[Layers]:
        # The layers of every swept value; without a sweep, the layers alone.
        if sweep is None:
            return [layers]
        return [
            self.games.changed(sweep.key, value, layers, sweep.path, own) for value in sweep.values
        ]

    def _against(
        self, curve: Section, around: Surroundings, sweep: Values | None
    ) -> tuple[Cell, ...]:
        # The cells of the counterpart, one for each source of a curve, whose game it plays.
        assert around.against is not None  # the reader of panels checks that it is set
        content = self.figure.section("curves").content[around.against]
        other, kind, _ = self._member(around.against, content)
        if kind != "algorithm":
            raise other.error(" must be an algorithm, as others are compared with it")
        game = {key: curve.content[key] for key in SHARED if key in curve.content}
        layers = around.layers.inside(other.path, other.content).inside(curve.path, game)
        return tuple(
            self.sources.cell(other, each) for each in self._over(sweep, layers, around.own)
        )

    def _sweep_of_bound(
        self, curve: Section, layers: Layers, sweep: Values | None
    ) -> Values | None:
        # The sweep of a bound's curve: over the values where its regimes meet, if it has `at`.
        bound_arguments.check_keys(curve, CURVE_KEYS, self.games.supplied(layers.unrecorded(), ()))
        meet = curve.get("at")
        if meet is None:
            if sweep is None and "horizon" not in bound_arguments.accepted(curve.get("bound")):
                name = curve.get("bound")
                raise curve.error(f": {name} does not depend on the horizon; it needs a sweep")
            return sweep
        if sweep is None or sweep.key not in ("epsilon", "delta"):
            raise curve.error(" is for a figure with a sweep over epsilon or delta", "at")
        game = self.games.supplied(layers, bound_arguments.accepted(meet))
        met = bound_arguments.transitions(curve, meet, game, layers.find, sweep.key)
        return sweep._replace(values=met)

    def _of_source(
        self, source: AnyCell | Bound, layers: Layers, sweep: Values | None
    ) -> dict[str, Any]:
        # The values that a label may name: those of the game and the parameters that are not swept.
        values = self.games.of_panel(layers, ())
        if isinstance(source, Bound):
            values |= source.arguments
        else:
            values |= parameters.plain(source.params)
        if sweep:
            first, _, inner = sweep.key.partition(".")
            swept = (*values,) if inner else (first,)
            values = {name: value for name, value in values.items() if name not in swept}
        return values

    def _runs(self, curve: Section) -> int:
        # Runs of the command line override the file's runs of a single curve.
        if self.origins.is_overridden("runs"):
            return self.runs
        return int(curve.checked(parameters.Count, "runs", default=self.runs))

    def _kind(self, curve: Section, name: str) -> str:
        # The kind of a curve: algorithm, rule or bound.
        kinds = [kind for kind in OWN if curve.get(kind) is not None]
        if len(kinds) > 1:
            raise curve.error(
                f" must have an algorithm, a rule or a bound, got {' and '.join(kinds)}"
            )
        if not kinds:
            # No hint for an algorithm's own file: there the line `algorithm: <name>` is missing.
            hints = {
                "command line": f" (`+algorithm@{curve.path}=<name>`)",
                self.origins.file: f" (under defaults: `- /algorithm@curves.{name}: <name>`)",
            }
            hint = hints.get(self.origins.of(curve.path), "")
            raise curve.error(f" must have an algorithm{hint}, a rule or a bound")
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

    def _shows(self, kind: str, layers: Layers, sweep: Values | None) -> Quantity:
        # The quantity that a curve plots. A rule has no curve over time, so it needs a sweep. A
        # bound plots its own value, except over log T.
        value, path = layers.find("shows")
        choice = self.origins.choice
        if kind != "rule":
            every = [quantity.value for quantity in Quantity]
            shows = Quantity(choice(value or Quantity.REGRET.value, every, path))
            if value in OVER_A_SWEEP and sweep is None:
                raise self.origins.error(f"{path}: {value} is drawn over a sweep", path)
            of_algorithms = kind == "algorithm" and value in (*OF_AUDITS, *OF_PAIRS)
            return shows if of_algorithms or shows is Quantity.PER_LOG else Quantity.REGRET
        if sweep is None:
            raise self.origins.error("a stopping rule is drawn over a sweep", layers.mappings[0][0])
        return Quantity(choice(value or Quantity.SAMPLES.value, OF_RULES, path))
