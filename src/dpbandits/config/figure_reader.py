"""Reader from a composed configuration to a FigureSpec: the innermost layer sets every value.

The layers of a curve are, from the inside: the value of a sweep, the curve, its panel, the figure.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from dpbandits import theory
from dpbandits.audit import designs
from dpbandits.audit.subject import Plays, Subject
from dpbandits.config import conf_files, instances, schema
from dpbandits.config.instances import Several, Texts
from dpbandits.config.schema import SHARED, Composed
from dpbandits.experiments import Experiment, Quantity
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.experiments.stopping import StoppingExperiment, Stream
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.privacy.releases import rho_of_gaussian
from dpbandits.spec import figure as spec
from dpbandits.tables import published

MEMBERS: dict[str, tuple[Callable[[], Collection[str]], Callable[[str], Any]]] = {
    "algorithm": (registry.algorithm_names, registry.algorithm),
    "rule": (registry.stopping_rule_names, registry.stopping_rule),
    "bound": (theory.bounds, lambda name: None),
}
RULES = (Quantity.SAMPLES, Quantity.FAILURES)
AUDITS = (Quantity.CLAIMED, Quantity.COMPOSED, Quantity.AUDITED, Quantity.ONE_CHOICE)
PAIRS = (Quantity.EXTRA.value, Quantity.PRICE.value)


# Mappings that set the values of a curve, each with its path, the innermost first.
Layers = tuple[tuple[str, Mapping[str, Any]], ...]


class Sweep(NamedTuple):
    """Values of a `sweep` (a point of every curve each) or an `each` (a curve each)."""

    key: str
    values: Sequence[Any]
    path: str
    fit: tuple[float, float] | None
    fields: Collection[str]  # parameters of the panel's curves


class Member(NamedTuple):
    """Curve of the figure with its algorithm, stopping rule or bound."""

    path: str
    kind: str
    name: str  # of the algorithm, rule or bound
    module: Any  # of the algorithm or rule
    fields: Collection[str]  # parameters that the curve may set
    content: Mapping[str, Any]
    form: Mapping[str, Any]  # its checked keys


@cache
def accepted(function: str) -> dict[str, Any]:
    """Return the arguments of a function of theory/ with their types."""
    hints = get_type_hints(theory.function(function), include_extras=True)
    return {name: hint for name, hint in hints.items() if name != "return"}


def innermost(layers: Layers, key: str) -> tuple[Any, str]:
    """Return the innermost value of a key and its path; (None, "") if no layer has it."""
    found = ((m[key], f"{path}.{key}") for path, m in layers if m.get(key) is not None)
    return next(found, (None, ""))


class FigureReader:
    """Reader of one figure. Its methods raise UserError for the first wrong key or value."""

    def __init__(self, composed: Composed) -> None:
        self.composed, self.error = composed, composed.error
        self.seed: int = composed.checked(parameters.Seed, composed.plain["seed"], "seed")
        self.from_profile: set[str] = set()  # paths that the figure's section for the profile sets

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

        # The section for the profile changes the figure, and is weaker than the command line.
        content, profile = dict(composed.plain["figure"]), composed.plain["profile"]["name"]
        kinds = dict.fromkeys(project.names("profile"), schema.Keys)
        sections = composed.section(kinds, content.pop("profiles", None), "figure.profiles")
        self.content = merge(content, sections.get(profile) or {}, "figure")
        self.form = composed.section(schema.FIGURE, self.content, "figure", schema.REQUIRED)
        self.members = {name: self._member(name) for name in self.form["curves"] or ()}
        runs = composed.plain["runs"]
        section = "figure.runs" in self.from_profile and not composed.is_overridden("runs")
        self.runs: int = self.form["runs"]
        if runs is not None and not section:
            self.runs = composed.checked(parameters.Count, runs, "runs")

    def usual_runs(self) -> str:
        """Return the numbers of runs that the files and the profile set, smallest first."""
        profile = conf_files.read_member("profile", self.composed.plain["profile"]["name"])
        section = "figure.runs" in self.from_profile
        figure = self.form["runs"] if section else profile.get("runs", self.form["runs"])
        runs = {curve.form["runs"] or figure for curve in self.members.values()}
        return ",".join(map(str, sorted(runs)))

    def read(self, may_repeat_labels: bool) -> spec.FigureSpec:
        """Return the figure, whose labels within a panel differ unless they may be repeated."""
        form, panels, several = self.form, list[spec.Panel](), dict[str, list[Any]]()
        if not form["curves"]:
            raise self.error("figure.curves", "is empty, there is nothing to draw")
        drawn = set[Any]()
        for letter, content in (form["panels"] or {"a": {}}).items():
            path = f"figure.panels.{letter}"
            keys = self.composed.section(schema.PANEL, content, path)
            layers: Layers = ((path, content or {}), ("figure", self.content))
            panels.append(self._panel(str(letter), keys, layers))
            drawn |= {*(curve.name for curve in panels[-1].curves), keys["against"]}
            for key, value in self._named(layers).items():  # texts list values that differ in full
                if value not in several.setdefault(key, []):
                    several[key].append(value)
        for panel in () if may_repeat_labels else panels:
            named: dict[str, str] = {}
            for curve in panel.curves:
                path, label = f"figure.curves.{curve.name}.label", curve.label
                if label in named:
                    both = (
                        f"is {shown(label)} in panel {panel.letter}, as is that of {named[label]}"
                    )
                    hint = f"distinguish them by ++{path}='{label} (<parameter>)'"
                    raise self.error(path, f"{both}: {hint}")
                named[label] = curve.name
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
            original = spec.Original(kind, place[kind], place["part"])
        return spec.FigureSpec(
            name=self.composed.figure,
            **{key: form[key] for key in ("paper", "draw", "centre", "slopes", "note")},
            title=self._text(form["title"], "figure.title", values),
            runs=self.runs,
            spread=form["spread"] or "none",
            panels=tuple(panels),
            about=self._text(form["about"], "figure.about", values),
            original=original,
            seed=self.seed,
            profile=self.composed.plain["profile"]["name"],
            annotated=form["annotated"] or original is None,
            appearance=self._appearance(),
        )

    def _appearance(self) -> spec.Appearance:
        width = self.form["width"]
        is_number = isinstance(width, int | float) and not isinstance(width, bool)
        if width not in (None, "column", "page") and not (is_number and 1 <= width <= 50):
            problem = f"must be column, page or inches from 1 to 50, got {shown(width)}"
            raise self.error("figure.width", problem)
        return spec.Appearance(**{key: self.form[key] for key in spec.Appearance._fields})

    def _text(self, template: str, path: str, values: Mapping[str, Any]) -> str:
        try:
            return Texts().vformat(template, (), values)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            problem = f"{shown(template)} may name only {', '.join(values)} in braces"
            raise self.error(path, f"{problem}, with numbers below 100") from None

    def _panel(self, letter: str, form: Mapping[str, Any], layers: Layers) -> spec.Panel:
        path, choice = layers[0][0], partial(self.composed.checked, [*self.members])
        names = self.members if form["curves"] is None else form["curves"]
        members = [self.members[choice(n, f"{path}.curves")] for n in names]
        fields = {field for member in members for field in member.fields}
        shared = form["parameters"] or {}
        self.composed.section(dict.fromkeys(fields, Any), shared, f"{path}.parameters")
        layers = ((f"{path}.parameters", shared), *layers)
        values = self._named(layers, shared)
        sweep = self._sweep(form["sweep"], f"{path}.sweep", fields)
        sweep = sweep or self._sweep(self.form["sweep"], "figure.sweep", fields)
        each = self._sweep(form["each"], f"{path}.each", fields)
        if (form["shows"] in PAIRS) != bool(form["against"]):
            problem = f"and `shows: {' or '.join(PAIRS)}` need each other"
            raise self.error(f"{path}.against", problem)
        if form["against"]:
            choice(form["against"], f"{path}.against")
        curves = []
        for name in names:
            for value, changed in self._over(each, layers):
                curve = self._curve(name, changed, sweep)
                suffix = f" ({each.key.split('.')[-1]}={value:g})" if each else ""
                label, legend = curve.label + suffix, curve.legend + suffix
                curves.append(replace(curve, label=label, legend=legend))
        if (number := form["published"]) is not None:
            # The points read off a figure of the paper; a curve of a changed game has none.
            rows = self._published(number, f"{path}.published")
            game = partial(self._instance, path="figure.environment")
            curves = [replace(c, published=published.points(rows, c, game)) for c in curves]
            for curve in curves:
                if curve.published and curve.sources[0].gaps() is None:
                    problem = f": the gains of {curve.label} are a table, but points need a law"
                    raise self.error(f"{path}.published", problem)
        if each:
            values["each"] = Several(each.values)
        texts = {k: self._text(form[k], f"{path}.{k}", values) for k in ("title", "row", "column")}
        return spec.Panel(letter=letter, curves=tuple(curves), **texts)

    def _published(self, number: int | str, path: str) -> list[published.Row]:
        if not (rows := published.rows(self.form["paper"], number)):
            raise self.error(path, f": no point of Fig. {number} is published")
        known = {*registry.algorithm_names(), *self.members}
        for name in (row["curve"] for row in rows if not known & {*row["curve"].split()}):
            table = f"figures/published/{self.form['paper']}.csv"
            raise UserError(
                f"{table}: curve: no figure draws {shown(name)}; {nearest(name, known)}"
            )
        return rows

    def _grid(self, layers: Layers) -> Grid | tuple[int, ...]:
        name, path = self._needed("checkpoints", layers)
        if name != schema.PUBLISHED:
            return Grid(name)
        if (number := innermost(layers, "published")[0]) is None:
            raise self.error(path, "at published rounds need `published`, the paper's figure")
        return published.rounds(self._published(number, path))

    def _sweep(self, section: Any, path: str, fields: Collection[str]) -> Sweep | None:
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
        return Sweep(form["key"], values, path, form["fit"], fields)

    def _member(self, name: str) -> Member:
        path, content = f"figure.curves.{name}", self.form["curves"][name]
        choice = self.composed.checked
        if not isinstance(content, Mapping):
            raise self.error(path, f"must hold keys and values, got {shown(content)}")
        found = [kind for kind in MEMBERS if content.get(kind) is not None]
        if len(found) != 1:
            hint = f"`+algorithm@{path}=<name>`, in a file `- /algorithm@curves.{name}: <name>`"
            problem = f"must have one of algorithm ({hint}), rule and bound"
            raise self.error(path, f"{problem}, got {' and '.join(found) or 'none'}")
        kind = found[0]
        names, find = MEMBERS[kind]
        name = choice([*names()], content[kind], f"{path}.{kind}")
        module = find(name)
        fields = parameters.fields(module.Params) if module else accepted(name)
        if not module and content.get("at") is not None:
            fields = fields | accepted(choice([*theory.transitions()], content["at"], f"{path}.at"))
        # Parameters are checked with the layers around them.
        kinds = dict.fromkeys(fields, Any) | schema.CURVE | schema.SPECIAL[kind]
        form = self.composed.section(kinds, content, path)
        return Member(path, kind, name, module, fields, content, form)

    def _curve(self, name: str, outer: Layers, sweep: Sweep | None) -> spec.Curve:
        curve = self.members[name]
        layers, form = ((curve.path, curve.content), *outer), curve.form
        shows, sweep = self._plotted(curve, layers, sweep)
        sources = tuple(self._source(curve, x, shows) for _, x in self._over(sweep, layers))
        source, values = sources[0], self._named(layers)
        values |= source.settings
        if sweep is not None:
            first, _, inner = sweep.key.partition(".")
            values = {} if inner else {k: v for k, v in values.items() if k != first}
        label = form["label"] or (curve.module.LABEL if curve.module else curve.name)
        texts = {"label": label, "legend": form["legend"], "reading": form["reading"]}
        label, legend, reading = (
            self._text(text, f"{curve.path}.{key}", values) for key, text in texts.items()
        )
        label = f"{label} ({reading})" if reading else label
        if not legend:  # with the input budget of a private algorithm if the figure asks for it
            epsilon = None
            if self.form["input_privacy"] and source.bandit and "epsilon" in source.params._fields:
                find = getattr(curve.module, "input_epsilon", lambda params: params.epsilon)
                epsilon = float(find(source.params))
            mantissa, _, power = f"{epsilon or 0:.3g}".partition("e")
            number = rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else mantissa
            legend = label if epsilon is None else f"{label} ({number})"
        against: list[Experiment] = []
        if shows.value in PAIRS:
            other = self.members[innermost(outer, "against")[0]]
            if other.kind != "algorithm":
                raise self.error(other.path, "must be an algorithm: others are compared with it")
            game = {key: curve.content[key] for key in SHARED if key in curve.content}
            pairs = ((curve.path, game), (other.path, other.content), *outer)
            against = [self._source(other, x, Quantity.REGRET) for _, x in self._over(sweep, pairs)]
        bound = spec.TRANSITION if form.get("at") else "bound"
        return spec.Curve(
            name=name,
            label=label,
            legend=legend,
            reading=reading,
            look=spec.StyleOverride(form["colour"] or None, form["marker"], form["line"]),
            annotation=form["annotation"],
            style=bound if curve.kind == "bound" else curve.name,
            shows=shows,
            over="t" if sweep is None else sweep.key.split(".")[-1],
            x=None if sweep is None else tuple(map(float, sweep.values)),
            sources=sources,
            runs=self.runs if self.composed.is_overridden("runs") else form["runs"] or self.runs,
            fit=sweep and sweep.fit,
            against=tuple(against),
        )

    def _plotted(
        self, curve: Member, layers: Layers, sweep: Sweep | None
    ) -> tuple[Quantity, Sweep | None]:
        # The quantity, and over what. A rule has no curve over time. A bound plots its own value,
        # except over log T; with `at`, over the values where its regimes meet.
        value, path = innermost(layers, "shows")
        rule = curve.kind == "rule"
        shows = Quantity(value or (Quantity.SAMPLES if rule else Quantity.REGRET))
        if sweep is None and (rule or shows in (Quantity.PER_LOG, *AUDITS)):
            raise self.error(path or curve.path, f": {shows.value} is drawn over a sweep")
        if curve.kind != "bound":
            if rule != (shows in RULES):
                problem = f": {shows.value} is not for {curve.name}, of kind {curve.kind}"
                raise self.error(path, problem)
            return shows, sweep
        shows = shows if shows is Quantity.PER_LOG else Quantity.REGRET
        meet, path = curve.form["at"], f"{curve.path}.at"
        if not meet:
            if sweep is None and "horizon" not in accepted(curve.name):
                problem = f": {curve.name} does not depend on the horizon; it needs a sweep"
                raise self.error(curve.path, problem)
            return shows, sweep
        if sweep is None or sweep.key not in ("epsilon", "delta") or sweep.key in accepted(meet):
            raise self.error(path, f": {meet} needs a sweep over the budget that it solves for")
        points = theory.function(meet)(**self._arguments(curve, meet, layers))
        if not points:
            raise self.error(path, ": the bound has one regime only")
        return shows, sweep._replace(values=points)

    def _over(self, sweep: Sweep | None, layers: Layers) -> list[tuple[Any, Layers]]:
        # The values of a sweep, each with the layers that it changes; without one, the layers.
        if sweep is None:
            return [(None, layers)]
        key, valid = sweep.key, {"horizon", "epsilon", "delta", *sweep.fields}
        first = key.partition(".")[0]
        environment, where = innermost(layers, "environment")
        if environment is not None:
            environment, _ = self._environment(environment, where)
            # A bound gets its means and arms from the environment alone.
            valid -= {*registry.environment(environment["law"]).Params._fields, "arms"}
            numbers = [k for k, v in spec.leaves(environment) if isinstance(v, int | float)]
            valid |= {f"environment.{k}" for k in numbers}
        if first == "stream" or innermost(layers, "stream")[0] is not None:
            valid |= {f"stream.{field}" for field in Stream._fields}
        if key not in valid:
            raise self.composed.unknown(f"{sweep.path}.key", key, valid, f"{sweep.path}.key")
        found, (*above, last) = list[tuple[Any, Layers]](), key.split(".")
        for x in sweep.values:  # set at the dotted key
            values: dict[str, Any] = {
                first: deepcopy(environment) if first == "environment" else {}
            }
            inner = values
            for part in above:
                inner = inner[part]
            inner[last] = x
            found.append((x, ((f"{sweep.path}.values", values), *layers)))
        return found

    def _environment(self, value: Any, path: str) -> tuple[Mapping[str, Any], str]:
        # The description of an environment, and its origin.
        if isinstance(value, Mapping):
            origin, typed = self.composed.origin(path), f"{path}.means.file"
            anywhere = self.composed.is_overridden(typed)
            return instances.own_data(value, origin, self.composed.figure, anywhere), origin
        self.composed.checked(project.names("environment"), value, path)
        content = conf_files.read_member("environment", value)
        return content, project.member_file("environment", value)

    def _instance(self, value: Any, path: str) -> tuple[str, Any]:
        return instances.instance(*self._environment(value, path), self.composed.figure)

    def _needed(self, key: str, layers: Layers) -> tuple[Any, str]:
        value, path = innermost(layers, key)
        if value is None:
            raise self.error(f"figure.{key}", "is missing")
        return value, path

    def _bandit(self, layers: Layers) -> tuple[str, Any, int, int]:
        # The law, its parameters, its arms and the horizon. The profile scales the horizon unless
        # the command line, a sweep or the figure's section for the profile sets it.
        law, params = self._instance(*self._needed("environment", layers))
        value, path = self._needed("horizon", layers)
        horizon: int = self.composed.checked(parameters.Rounds, value, path)
        fixed = self.composed.is_overridden(path) or path in self.from_profile
        if not fixed and ".values." not in path:
            scaled = max(1, round(horizon * self.composed.plain["profile"]["horizon_scale"]))
            horizon = self.composed.checked(parameters.Rounds, scaled, "profile.horizon_scale")
        arms, memory = registry.environment(law).arms(params), getattr(params, "memory", 0)
        if horizon < max(arms, memory):
            of = "the number of arms" if horizon < arms else "the memory of the adversary"
            problem = f"must be at least {max(arms, memory)}, {of}, got {horizon}"
            raise self.error(path, problem)
        return law, params, arms, horizon

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
        found = ((key, innermost(layers, key)[0]) for key in (*SHARED, *more))
        values = {key: value for key, value in found if value is not None}
        if "environment" in values:
            law, params, values["arms"], values["horizon"] = self._bandit(layers)
            values |= {**parameters.plain(params), "instance": instances.name(law, params)}
        if "stream" in values:
            values["stream"] = self._stream(layers)._asdict()
        return values

    def _source(self, curve: Member, layers: Layers, shows: Quantity) -> Experiment:
        if curve.kind == "bound":
            return Formula(curve.name, tuple(self._arguments(curve, curve.name, layers).items()))
        if curve.kind == "rule":
            params = self._params(curve, layers, {})
            experiment = StoppingExperiment(curve.name, params, self._stream(layers), self.seed)
            if experiment.samples_at_most() > 2**53:
                raise self.error(curve.path, f": {experiment.name} may take more than 2^53 samples")
            return experiment
        if shows in AUDITS:
            # Every game of an audit sets its own horizon.
            subject = Subject.of(curve.name, self._params(curve, layers, {"horizon": designs.LONG}))
            plays = self.composed.checked(Plays, *self._needed("plays", layers))
            try:
                return AuditExperiment(subject, plays, self.seed)
            except UserError as error:  # it has no claim, or releases nothing
                raise self.error(curve.path, f": {error}") from None
        law, instance, arms, horizon = self._bandit(layers)
        arm, (regret, path) = curve.form["pulls_of"], innermost(layers, "regret")
        if arm is not None and arm > arms:
            problem = f"must be an arm from 1 to {arms}, got {arm}"
            raise self.error(f"{curve.path}.pulls_of", problem)
        if regret is not None and (arm or hasattr(registry.environment(law), "table")):
            problem = "is for arms with means, of which no pulls are recorded instead"
            raise self.error(path, problem)
        return RegretExperiment(
            member=curve.name,
            params=self._params(curve, layers, {"horizon": horizon}),
            environment=law,
            instance=instance,
            horizon=horizon,
            grid=self._grid(layers),
            seed=self.seed,
            pulls_of=None if arm is None else arm - 1,  # the papers count arms from 1
            regret=Regret(regret or "pseudo"),
        )

    def _params(self, curve: Member, layers: Layers, game: Mapping[str, Any]) -> Any:
        # The Params of an algorithm or a rule; `game` has the values that the game sets.
        layers, checked = (("figure", game), *layers), self.composed.checked
        # A missing one would be set by the curve, unless the whole figure may set it.
        paths = {f: f"{'figure' if f in SHARED else curve.path}.{f}" for f in curve.fields}
        paths |= {f: path for f in paths if (path := innermost(layers, f)[1])}
        found = {field: innermost(layers, field)[0] for field in curve.fields}
        if (share := curve.form.get("share")) is not None:
            if found.get("epsilon") is None:
                raise self.error(f"{curve.path}.share", f": {curve.name} gets no epsilon to share")
            found["epsilon"] = share * checked(
                parameters.Budget, found["epsilon"], paths["epsilon"]
            )
        if found.get("rho") == "from-epsilon":
            # The largest rho whose Gaussian noise is (epsilon, delta)-DP.
            epsilon = checked(parameters.Positive, *self._needed("epsilon", layers))
            delta = checked(parameters.Fraction, *self._needed("delta", layers))
            found["rho"] = rho_of_gaussian(epsilon, delta)
        values = {field: value for field, value in found.items() if value is not None}
        for field in curve.fields:
            if field not in {*values, *curve.module.Params._field_defaults}:
                raise self.error(paths[field], f"is missing: +{paths[field]}=<value> sets it")
        origin = self.composed.origin
        return parameters.build(curve.module.Params, values, curve.name, lambda f: origin(paths[f]))

    def _arguments(self, curve: Member, function: str, layers: Layers) -> dict[str, Any]:
        # The arguments of a function of theory/: those of the game, the others from the layers.
        arguments = dict[str, Any]()
        if innermost(layers, "environment")[0] is not None:
            _, params, arms, horizon = self._bandit(layers)
            arguments |= {**params._asdict(), "arms": arms, "horizon": horizon}
        if innermost(layers, "stream")[0] is not None:
            arguments |= self._stream(layers)._asdict()
        for name, kind in accepted(function).items():
            value, path = innermost(layers, name)
            if name not in arguments:
                if value is None:
                    raise self.error(curve.path, f"needs {name}")
                arguments[name] = self.composed.checked(kind, value, path)
        return {name: arguments[name] for name in accepted(function)}
