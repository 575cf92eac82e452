"""Reader from a composed configuration to a FigureSpec: the innermost layer sets every value.

The layers of a curve are, from the inside: the value of a sweep, the curve, its panel, the figure.
"""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from dpbandits import theory
from dpbandits.audit import designs
from dpbandits.audit.subject import Plays, Subject
from dpbandits.config import conf_files, instances, schema
from dpbandits.config.conf_files import leaves
from dpbandits.config.schema import SHARED, Composed
from dpbandits.config.templates import Several, filled
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, shown
from dpbandits.experiments import Experiment, Quantity
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.files import project
from dpbandits.privacy.concentrated import rho_of_gaussian
from dpbandits.spec import figure as spec
from dpbandits.tables import published

MEMBERS = {
    "algorithm": registry.algorithm_names,
    "rule": registry.stopping_rule_names,
    "bound": theory.bounds,
}
RULES = (Quantity.SAMPLES, Quantity.FAILURES)
AUDITS = (Quantity.CLAIMED, Quantity.COMPOSED, Quantity.AUDITED, Quantity.ONE_CHOICE)
PAIRS = (Quantity.EXTRA, Quantity.PRICE)


class Layers(tuple[tuple[str, Mapping[str, Any]], ...]):
    """Mappings that set the values of a curve, each with its path, the innermost first."""

    def inside(self, path: str, mapping: Mapping[str, Any]) -> "Layers":
        """Return these layers with one more inside them."""
        return Layers(((path, mapping), *self))

    def find(self, key: str) -> tuple[Any, str]:
        """Return the innermost value of a key and its path; (None, "") if no layer has it."""
        found = ((m[key], f"{path}.{key}") for path, m in self if m.get(key) is not None)
        return next(found, (None, ""))


class Sweep(NamedTuple):
    """Values of a `sweep` (a point of every curve each) or an `each` (a curve each)."""

    key: str
    values: Sequence[Any]
    path: str
    fit: tuple[float, float] | None


@dataclass(frozen=True)
class Member:
    """Curve of the figure with its algorithm, stopping rule or bound."""

    path: str
    form: Mapping[str, Any]  # its checked keys
    content: Mapping[str, Any]
    kind: str
    name: str  # of the algorithm, rule or bound
    fields: Collection[str]  # parameters that the curve may set

    @property
    def module(self) -> Any:
        """Module of the algorithm or rule."""
        find = registry.algorithm if self.kind == "algorithm" else registry.stopping_rule
        return find(self.name)


@cache
def accepted(function: str) -> dict[str, Any]:
    """Return the arguments of a function of theory/ with their types."""
    hints = get_type_hints(theory.function(function), include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def known(cell: RegretExperiment) -> dict[str, Any]:
    """Return the arguments that a cell supplies to a function: bandit, parameters and horizon."""
    arms = registry.environment(cell.environment).arms(cell.instance)
    game = {"arms": arms, "horizon": cell.horizon}
    return {**cell.instance._asdict(), **cell.params._asdict(), **game}


class FigureReader:
    """Reader of one figure. Its methods raise UserError for the first wrong key or value."""

    def __init__(self, composed: Composed) -> None:
        self.composed, self.error = composed, composed.error
        self.seed: int = composed.checked(parameters.Seed, composed.plain["seed"], "seed")
        self.from_profile: set[str] = set()  # paths that the figure's section for the profile sets
        self.content = self._with_profile(dict(composed.plain["figure"]))
        self.form = composed.section(schema.FIGURE, self.content, "figure", schema.REQUIRED)
        self.members = {name: self._member(name) for name in self.form["curves"] or ()}
        runs = composed.plain["runs"]
        section = "figure.runs" in self.from_profile and not composed.is_overridden("runs")
        self.runs: int = self.form["runs"]
        if runs is not None and not section:
            self.runs = composed.checked(parameters.Count, runs, "runs")

    def read(self) -> spec.FigureSpec:
        """Return the figure."""
        form, panels, several = self.form, list[spec.Panel](), dict[str, list[Any]]()
        if not form["curves"]:
            raise self.error("figure.curves", "is empty, there is nothing to draw")
        drawn = set[Any]()
        for letter, content in (form["panels"] or {"a": {}}).items():
            panel = self.composed.section(schema.PANEL, content, f"figure.panels.{letter}")
            layers = Layers(((f"figure.panels.{letter}", content or {}), ("figure", self.content)))
            names = panel["curves"]
            drawn |= {*(form["curves"] if names is None else names), panel["against"]}
            panels.append(self._panel(str(letter), panel, layers))
            for key, value in self._named(layers).items():  # texts list values that differ in full
                if value not in several.setdefault(key, []):
                    several[key].append(value)
        for name in form["curves"]:
            if name not in drawn:
                raise self.error(f"figure.curves.{name}", "is among the curves of no panel")
        values = {key: Several(found) for key, found in several.items()}
        original = None
        if form["original"] is not None:  # `{ figure: 2, part: (a) }` or `{ table: 2 }`
            place = self.composed.section(schema.ORIGINAL, form["original"], "figure.original")
            if (place["figure"] is None) == (place["table"] is None):
                raise self.error("figure.original", "must name a figure or a table by its number")
            kind = "figure" if place["table"] is None else "table"
            original = spec.Original(kind, place[kind], place["part"] or "")
        return spec.FigureSpec(
            name=self.composed.figure,
            paper=form["paper"],
            title=self._text(form["title"], "figure.title", values),
            draw=form["draw"],
            runs=self.runs,
            centre=form["centre"],
            spread=form["spread"] or "none",
            slopes=form["slopes"] or False,
            panels=tuple(panels),
            note=form["note"] or "",
            about=self._text(form["about"] or "", "figure.about", values),
            original=original,
            seed=self.seed,
            profile=self.composed.plain["profile"]["name"],
            annotated=form["annotated"] or original is None,
        )

    def _with_profile(self, content: dict[str, Any]) -> dict[str, Any]:
        # The figure with its section for the profile, which is weaker than the command line.
        composed = self.composed

        def merge(below: dict[str, Any], over: Any, path: str) -> dict[str, Any]:
            if not isinstance(over, Mapping):
                raise self.error(path, f"must hold keys and values, got {shown(over)}")
            for key, value in over.items():
                paths = [f"{path}.{key}", *[f"figure.{key}"] * (key in SHARED)]
                if isinstance(below.get(key), Mapping):
                    below[key] = merge(dict(below[key]), value, paths[0])
                elif not any(map(composed.is_overridden, paths)):
                    below[key] = value
                    self.from_profile.add(paths[0])
            return below

        kinds = dict.fromkeys(project.names("profile"), schema.Keys)
        sections = composed.section(kinds, content.pop("profiles", None), "figure.profiles")
        return merge(content, sections.get(composed.plain["profile"]["name"]) or {}, "figure")

    def _text(self, template: str, path: str, values: Mapping[str, Any]) -> str:
        try:
            return filled(template, values)
        except ValueError:
            problem = f"{shown(template)} may name only {', '.join(values)} in braces"
            raise self.error(path, problem) from None

    # Panels

    def _panel(self, letter: str, form: Mapping[str, Any], layers: Layers) -> spec.Panel:
        path, choice = layers[0][0], self.composed.choice
        names = self.members if form["curves"] is None else form["curves"]
        members = [self.members[choice(n, self.members, f"{path}.curves")] for n in names]
        fields = {field for member in members for field in member.fields}
        shared, against = form["parameters"] or {}, form["against"]
        for key in shared:
            if key not in fields:
                where = f"{path}.parameters.{key}"
                raise self.composed.unknown("key", where, fields, where)
        layers = layers.inside(f"{path}.parameters", shared)
        values = self._named(layers, shared)
        sweep = self._sweep(form["sweep"], f"{path}.sweep")
        sweep = sweep or self._sweep(self.form["sweep"], "figure.sweep")
        each = self._sweep(form["each"], f"{path}.each")
        pairs = [quantity.value for quantity in PAIRS]
        if (form["shows"] in pairs) != (against is not None):
            problem = f"and `shows: {' or '.join(pairs)}` need each other"
            raise self.error(f"{path}.against", problem)
        if against is not None:
            choice(against, self.members, f"{path}.against")
        curves = []
        for name in names:
            for value, changed in self._over(each, layers, fields):
                curve = self._curve(name, changed, sweep, fields, against)
                suffix = f" ({each.key.split('.')[-1]}={value:g})" if each else ""
                label, legend = curve.label + suffix, curve.legend + suffix
                curves.append(replace(curve, label=label, legend=legend))
        if form["published"] is not None:
            curves = self._with_published(curves, form["published"], f"{path}.published")
        if each:
            values["each"] = Several(each.values)
        title, row, column = (
            self._text(form[key] or "", f"{path}.{key}", values)
            for key in ("title", "row", "column")
        )
        return spec.Panel(letter, title, tuple(curves), row, column)

    def _sweep(self, section: Any, path: str) -> Sweep | None:
        if section is None:
            return None
        form = self.composed.section(schema.VALUES, section, path, ("key", "values"))
        values = form["values"]
        if isinstance(values, Mapping):
            steps = self.composed.section(schema.STEPS, values, f"{path}.values", schema.STEPS)
            values = np.linspace(steps["first"], steps["last"], steps["number"]).tolist()
        self.composed.checked(parameters.Ascending, values, f"{path}.values")
        if form["fit"] is not None:
            self.composed.checked(parameters.Ascending, form["fit"], f"{path}.fit")
        return Sweep(form["key"], values, path, form["fit"])

    def _with_published(
        self, curves: Sequence[spec.Curve], number: int, path: str
    ) -> list[spec.Curve]:
        # The curves with the points read off a figure of the paper; a changed game has none.
        rows = published.rows(self.form["paper"], number)
        if not rows:
            raise self.error(path, f": no point of Fig. {number} is published")
        instance = partial(self._instance, path="figure.environment")
        found = [replace(c, published=published.points(rows, c, instance)) for c in curves]
        for curve in found:
            if curve.published and not published.has_law(curve):
                problem = f": the gains of {curve.label} are a table, but points need a law"
                raise self.error(path, problem)
        return found

    # Curves

    def _member(self, name: str) -> Member:
        path, content = f"figure.curves.{name}", self.form["curves"][name]
        choice = self.composed.choice
        if not isinstance(content, Mapping):
            raise self.error(path, f"must hold keys and values, got {shown(content)}")
        found = [kind for kind in MEMBERS if content.get(kind) is not None]
        if len(found) != 1:
            hint = f"`+algorithm@{path}=<name>`, in a file `- /algorithm@curves.{name}: <name>`"
            problem = f"must have one of algorithm ({hint}), rule and bound"
            raise self.error(path, f"{problem}, got {' and '.join(found) or 'none'}")
        kind = found[0]
        member = choice(content[kind], MEMBERS[kind](), f"{path}.{kind}")
        fields = accepted(member) if kind == "bound" else {}
        if kind == "bound" and content.get("at") is not None:
            fields = fields | accepted(choice(content["at"], theory.transitions(), f"{path}.at"))
        curve = Member(path, {}, content, kind, member, fields)
        if kind != "bound":
            curve = replace(curve, fields=parameters.fields(curve.module.Params))
        # Parameters are checked with the layers around them.
        kinds = dict.fromkeys(curve.fields, Any) | schema.CURVE | schema.SPECIAL[kind]
        return replace(curve, form=self.composed.section(kinds, content, path))

    def _curve(
        self,
        name: str,
        outer: Layers,
        sweep: Sweep | None,
        fields: Collection[str],
        against: str | None,
    ) -> spec.Curve:
        # One curve; `fields` are parameters of the panel's curves, `against` is the counterpart.
        curve = self.members[name]
        layers, form = outer.inside(curve.path, curve.content), curve.form
        shows = self._shows(curve, layers, sweep)
        if curve.kind == "bound":
            sweep = self._sweep_of_bound(curve, layers, sweep)
        sources = tuple(self._source(curve, x, shows) for _, x in self._over(sweep, layers, fields))
        source, values = sources[0], self._named(layers)
        values |= (
            source.arguments if isinstance(source, Formula) else parameters.plain(source.params)
        )
        if sweep is not None:
            first, _, inner = sweep.key.partition(".")
            values = {} if inner else {k: v for k, v in values.items() if k != first}
        usual = curve.name if curve.kind == "bound" else curve.module.LABEL
        texts = {key: form[key] or "" for key in ("reading", "label", "legend")}
        texts["label"] = texts["label"] or usual
        reading, label, legend = (
            self._text(text, f"{curve.path}.{key}", values) for key, text in texts.items()
        )
        label = f"{label} ({reading})" if reading else label
        counterparts: tuple[Experiment, ...] = ()
        if shows in PAIRS and against is not None:
            other = self.members[against]
            if other.kind != "algorithm":
                raise self.error(other.path, "must be an algorithm: others are compared with it")
            game = {key: curve.content[key] for key in SHARED if key in curve.content}
            shared = outer.inside(other.path, other.content).inside(curve.path, game)
            counterparts = tuple(self._cell(other, x) for _, x in self._over(sweep, shared, fields))
        style = (
            curve.name if curve.kind != "bound" else "bound" if not form["at"] else spec.TRANSITION
        )
        return spec.Curve(
            name=name,
            label=label,
            legend=legend or self._legend(label, source),
            reading=reading,
            look=spec.StyleOverride(form["colour"], form["marker"], form["line"]),
            annotation=form["annotation"] or False,
            style=style,
            shows=shows,
            over="t" if sweep is None else sweep.key.split(".")[-1],
            x=None if sweep is None else tuple(map(float, sweep.values)),
            sources=sources,
            runs=self.runs if self.composed.is_overridden("runs") else form["runs"] or self.runs,
            fit=sweep and sweep.fit,
            against=counterparts,
        )

    def _shows(self, curve: Member, layers: Layers, sweep: Sweep | None) -> Quantity:
        # A rule has no curve over time. A bound plots its own value, except over log T.
        value, path = layers.find("shows")
        rule = curve.kind == "rule"
        shows = Quantity(value or (Quantity.SAMPLES if rule else Quantity.REGRET))
        if sweep is None and (rule or shows in (Quantity.PER_LOG, *AUDITS)):
            raise self.error(path or curve.path, f": {shows.value} is drawn over a sweep")
        if curve.kind != "bound" and rule != (shows in RULES):
            raise self.error(path, f": {shows.value} is not for {curve.name}, of kind {curve.kind}")
        return shows if curve.kind != "bound" or shows is Quantity.PER_LOG else Quantity.REGRET

    def _sweep_of_bound(self, curve: Member, layers: Layers, sweep: Sweep | None) -> Sweep | None:
        # With `at`, the sweep over the values where the regimes of the bound meet.
        meet, path = curve.form["at"], f"{curve.path}.at"
        if meet is None:
            if sweep is None and "horizon" not in accepted(curve.name):
                problem = f": {curve.name} does not depend on the horizon; it needs a sweep"
                raise self.error(curve.path, problem)
            return sweep
        if sweep is None or sweep.key not in ("epsilon", "delta") or sweep.key in accepted(meet):
            raise self.error(path, f": {meet} needs a sweep over the budget that it solves for")
        points = theory.function(meet)(**self._arguments(curve, meet, layers))
        if not points:
            raise self.error(path, ": the bound has one regime only")
        return sweep._replace(values=points)

    def _legend(self, label: str, source: Experiment | Formula) -> str:
        # The label, with the input budget of a private algorithm if the figure asks for it.
        private = isinstance(source, RegretExperiment) and "epsilon" in source.params._fields
        if not (self.form["input_privacy"] and private and isinstance(source, RegretExperiment)):
            return label
        find = getattr(registry.algorithm(source.member), "input_epsilon", lambda p: p.epsilon)
        mantissa, _, power = f"{find(source.params):.3g}".partition("e")
        number = rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else mantissa
        return f"{label} ({number})"

    def _over(
        self, sweep: Sweep | None, layers: Layers, fields: Collection[str]
    ) -> list[tuple[Any, Layers]]:
        # The values of a sweep, each with the layers that it changes; without one, the layers.
        if sweep is None:
            return [(None, layers)]
        key, path, valid = sweep.key, sweep.path, {"horizon", "epsilon", "delta", *fields}
        first, _, inner = key.partition(".")
        environment, where = layers.find("environment")
        if environment is not None:
            environment, _ = self._environment(environment, where)
            numbers = (k for k, number in leaves(environment) if isinstance(number, int | float))
            # A bound gets its means and arms from the environment alone.
            supplied = registry.environment(environment["law"]).Params._fields
            valid -= {*supplied, "arms"}
            valid |= {f"environment.{number}" for number in numbers}
        if first == "stream" or layers.find("stream")[0] is not None:
            valid |= {f"stream.{field}" for field in Stream._fields}
        if key not in valid:
            raise self.composed.unknown(f"{path}.key", key, valid, f"{path}.key")
        changed = []
        for value in sweep.values:
            content = value
            if first == "environment":
                content = node = copy.deepcopy(dict(environment))
                *above, last = inner.split(".")
                for part in above:
                    node = node[part]
                node[last] = value
            elif first == "stream":
                content = {inner: value}
            changed.append((value, layers.inside(f"{path}.values", {first: content})))
        return changed

    # Games

    def _environment(self, value: Any, path: str) -> tuple[Mapping[str, Any], str]:
        # The description of an environment, and its origin.
        if isinstance(value, Mapping):
            return value, self.composed.origin(path)
        self.composed.choice(value, project.names("environment"), path)
        content = conf_files.read_member("environment", value)
        return content, project.member_file("environment", value)

    def _instance(self, value: Any, path: str) -> tuple[str, Any]:
        return instances.instance(*self._environment(value, path), self.composed.figure)

    def _needed(self, key: str, layers: Layers) -> tuple[Any, str]:
        value, path = layers.find(key)
        if value is None:
            raise self.error(f"figure.{key}", "is missing")
        return value, path

    def _bandit(self, layers: Layers) -> tuple[str, Any, int]:
        # The law, its parameters and the horizon. The profile scales the horizon unless the command
        # line, a sweep or the figure's section for the profile sets it.
        law, params = self._instance(*self._needed("environment", layers))
        value, path = self._needed("horizon", layers)
        horizon: int = self.composed.checked(parameters.Rounds, value, path)
        fixed = self.composed.is_overridden(path) or path in self.from_profile
        if not fixed and ".values." not in path:
            scaled = max(1, round(horizon * self.composed.plain["profile"]["horizon_scale"]))
            horizon = self.composed.checked(parameters.Rounds, scaled, "profile.horizon_scale")
        if horizon < (arms := registry.environment(law).arms(params)):
            problem = f"must be at least {arms}, the number of arms, got {horizon}"
            raise self.error(path, problem)
        return law, params, horizon

    def _stream(self, layers: Layers) -> Stream:
        # A layer may change part of the stream, so all layers are merged.
        self._needed("stream", layers)
        values, paths = dict[str, Any](), dict.fromkeys(Stream._fields, "figure.stream")
        for path, mapping in reversed(layers):
            for key, value in (mapping.get("stream") or {}).items():
                values[key], paths[key] = value, f"{path}.stream.{key}"
        origin = self.composed.origin
        stream = parameters.build(Stream, values, "stream", lambda field: origin(paths[field]))
        if abs(stream.mean) > stream.radius:
            problem = f"must be within {stream.radius:g} of 0, got {shown(stream.mean)}"
            raise self.error(paths["mean"], problem)
        return stream

    def _named(self, layers: Layers, more: Collection[str] = ()) -> dict[str, Any]:
        # The values that a text may name: those of the game, and more keys.
        found = {key: layers.find(key)[0] for key in (*SHARED, *more)}
        values = {key: value for key, value in found.items() if value is not None}
        if "environment" in values:
            law, params, values["horizon"] = self._bandit(layers)
            arms, name = registry.environment(law).arms(params), instances.name(law, params)
            values |= {**parameters.plain(params), "arms": arms, "instance": name}
        if "stream" in values:
            values["stream"] = self._stream(layers)._asdict()
        return values

    # Sources

    def _source(self, curve: Member, layers: Layers, shows: Quantity) -> Experiment | Formula:
        if curve.kind == "bound":
            return Formula(curve.name, tuple(self._arguments(curve, curve.name, layers).items()))
        if curve.kind == "rule":
            params = self._params(curve, layers, {})
            cell = StoppingExperiment(curve.name, params, self._stream(layers), self.seed)
            if cell.samples_at_most() > 2**53:
                raise self.error(curve.path, f": {cell.name} may take more than 2^53 samples")
            return cell
        if shows not in AUDITS:
            return self._cell(curve, layers)
        # Every game of an audit sets its own horizon.
        subject = Subject.of(curve.name, self._params(curve, layers, {"horizon": designs.LONG}))
        plays = self.composed.checked(Plays, *self._needed("plays", layers))
        audit = AuditExperiment(subject, plays, self.seed)
        try:
            audit.claim()
        except UserError as error:
            raise self.error(curve.path, f": {error}") from None
        return audit

    def _cell(self, curve: Member, layers: Layers) -> RegretExperiment:
        law, instance, horizon = self._bandit(layers)
        arms, arm = registry.environment(law).arms(instance), curve.form["pulls_of"]
        if arm is not None and arm > arms:
            problem = f"must be an arm from 1 to {arms}, got {arm}"
            raise self.error(f"{curve.path}.pulls_of", problem)
        regret, path = layers.find("regret")
        if regret is not None and (arm or hasattr(registry.environment(law), "table")):
            problem = "is for arms with means, of which no pulls are recorded instead"
            raise self.error(path, problem)
        return RegretExperiment(
            algorithm=curve.name,
            params=self._params(curve, layers, {"horizon": horizon}),
            environment=law,
            instance=instance,
            horizon=horizon,
            grid=Grid(self._needed("checkpoints", layers)[0]),
            seed=self.seed,
            pulls_of=None if arm is None else arm - 1,  # the papers count arms from 1
            regret=Regret(regret or "pseudo"),
        )

    def _params(self, curve: Member, layers: Layers, game: Mapping[str, Any]) -> Any:
        # The Params of an algorithm or a rule; `game` has the values that the game sets.
        values, paths, checked = dict[str, Any](), dict[str, str](), self.composed.checked
        for field in curve.fields:
            value, path = (game[field], "") if field in game else layers.find(field)
            if field == "rho" and value == "from-epsilon":
                # The largest rho whose Gaussian noise is (epsilon, delta)-DP.
                epsilon = checked(parameters.Positive, *self._needed("epsilon", layers))
                delta = checked(parameters.Fraction, *self._needed("delta", layers))
                value = rho_of_gaussian(epsilon, delta)
            if value is not None:
                values[field] = value
            paths[field] = path or f"{'figure' if field in SHARED else curve.path}.{field}"
        origin, params = self.composed.origin, curve.module.Params
        return parameters.build(params, values, curve.name, lambda field: origin(paths[field]))

    def _arguments(self, curve: Member, function: str, layers: Layers) -> dict[str, Any]:
        # The arguments of a function of theory/: those of the game, the others from the layers.
        game, arguments = dict[str, Any](), dict[str, Any]()
        if layers.find("environment")[0] is not None:
            law, params, horizon = self._bandit(layers)
            arms = registry.environment(law).arms(params)
            game |= {**params._asdict(), "arms": arms, "horizon": horizon}
        if layers.find("stream")[0] is not None:
            game |= self._stream(layers)._asdict()
        for name, kind in accepted(function).items():
            value, path = layers.find(name)
            if name not in game and value is None:
                raise self.error(curve.path, f"needs {name}")
            checked = game[name] if name in game else self.composed.checked(kind, value, path)
            arguments[name] = checked
        return arguments
