"""Reader from a composed configuration to a FigureSpec: the innermost layer sets every value.

The layers of a curve are, from the inside: the value of a sweep, the curve, its panel, the figure.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.config import conf_files, instances, schema
from dpbandits.config.given import Figure, Layers, Member, Values
from dpbandits.config.instances import Several, Texts
from dpbandits.config.schema import SHARED, Composed, keys_of
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.experiments.kinds import Kind, Quantity
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import Located, UserError, shown
from dpbandits.spec import figure as spec
from dpbandits.tables import published, statistics


class Sweep(NamedTuple):
    """Values of a `sweep` (a point of every curve each) or an `each` (a curve each)."""

    key: str
    values: Sequence[Any]
    path: str
    fit: tuple[float, float] | None
    fields: Collection[str]  # parameters of the panel's curves


class FigureReader:
    """Reader of one figure. Its methods raise UserError for the first wrong key or value."""

    def __init__(self, composed: Composed) -> None:
        self.composed, self.error = composed, composed.error
        seed: int = composed.checked(parameters.Seed, composed.content["seed"], "seed")
        self.from_profile: set[str] = set()  # paths that the figure's section for the profile sets
        outer = {*SHARED, *keys_of("figure", kinds.every())}

        def merge(below: dict[str, Any], over: Any, path: str) -> dict[str, Any]:
            if not isinstance(over, Mapping):
                raise self.error(path, f"must hold keys and values, got {shown(over)}")
            for key, value in over.items():
                paths = [f"{path}.{key}", *[f"figure.{key}"] * (key in outer)]
                if isinstance(below.get(key), Mapping):
                    below[key] = merge(dict(below[key]), value, paths[0])
                elif not any(map(composed.is_overridden, paths)):
                    below[key] = value
                    self.from_profile.add(paths[0])
            return below

        # The section for the profile changes the figure, and is weaker than the command line.
        content, profile = dict(composed.content["figure"]), composed.content["profile"]["name"]
        valid = dict.fromkeys(project.names("profile"), schema.Keys)
        sections = composed.section(valid, content.pop("profiles", None), "figure.profiles")
        self.content = merge(content, sections.get(profile) or {}, "figure")
        curves = self.content.get("curves")
        curves = curves if isinstance(curves, Mapping) else {}
        paper = str(self.content.get("paper"))
        self.figure = Figure(composed, seed, paper, self.from_profile, curves, [])
        self.members = {name: self._member(name, content) for name, content in curves.items()}
        of = [kind for member in self.members.values() for kind in member.kinds]
        valid = schema.FIGURE | keys_of("figure", of)
        self.form = composed.section(valid, self.content, "figure", schema.REQUIRED)
        runs = composed.content["runs"]
        section = "figure.runs" in self.from_profile and not composed.is_overridden("runs")
        self.runs: int = self.form["runs"]
        if runs is not None and not section:
            self.runs = composed.checked(parameters.Count, runs, "runs")

    def usual_runs(self) -> str:
        """Return the numbers of runs that the files and the profile set, smallest first."""
        profile = conf_files.read_member("profile", self.composed.content["profile"]["name"])
        section = "figure.runs" in self.from_profile
        figure = self.form["runs"] if section else profile.get("runs", self.form["runs"])
        runs = {curve.form["runs"] or figure for curve in self.members.values()}
        return ",".join(map(str, sorted(runs)))

    def specification(self, may_repeat_labels: bool) -> spec.FigureSpec:
        """Return the figure, whose labels within a panel differ unless they may be repeated."""
        form, panels, several = self.form, list[spec.Panel](), dict[str, list[Any]]()
        if not form["curves"]:
            raise self.error("figure.curves", "is empty, there is nothing to draw")
        # A list of `notions` may serve another figure.
        in_panels = {name for names in (form["notions"] or {}).values() for name in names}
        for letter, content in (form["panels"] or {"a": {}}).items():
            path = f"figure.panels.{letter}"
            names = content.get("curves") if isinstance(content, Mapping) else None
            names = names if isinstance(names, list) and names else [*self.members]
            inside = [member for name, member in self.members.items() if name in names]
            of = [kind for member in inside for kind in member.kinds]
            keys = self.composed.section(schema.PANEL | keys_of("panel", of), content, path)
            layers: Layers = ((path, content or {}), ("figure", self.content))
            panels.append(self._panel(str(letter), keys, layers))
            in_panels |= {*(curve.name for curve in panels[-1].curves), keys["against"]}
            for key, value in self._terms(layers, inside).items():  # those that differ, in full
                if value not in several.setdefault(key, []):
                    several[key].append(value)
        for panel in () if may_repeat_labels else panels:
            owner: dict[str, str] = {}
            for curve in panel.curves:
                path, label = f"figure.curves.{curve.name}.label", curve.label
                if label in owner:
                    both = (
                        f"is {shown(label)} in panel {panel.letter}, as is that of {owner[label]}"
                    )
                    hint = f"distinguish them by ++{path}='{label} (<parameter>)'"
                    raise self.error(path, f"{both}: {hint}")
                owner[label] = curve.name
        for name in form["curves"]:
            if name not in in_panels:
                raise self.error(f"figure.curves.{name}", "is among the curves of no panel")
        values = {key: Several(distinct) for key, distinct in several.items()}
        level = self._level(panels)
        original = None
        if form["original"] is not None:  # `{ figure: 2, part: (a) }` or `{ table: 2 }`
            reference = self.composed.section(schema.ORIGINAL, form["original"], "figure.original")
            if (reference["figure"] is None) == (reference["table"] is None):
                raise self.error("figure.original", "must name a figure or a table by its number")
            kind = "figure" if reference["table"] is None else "table"
            original = spec.Original(kind, reference[kind], reference["part"])
        return spec.FigureSpec(
            name=self.composed.figure,
            **{key: form[key] for key in ("paper", "draw", "centre", "slopes", "note")},
            title=self._text(form["title"], "figure.title", values),
            runs=self.runs,
            spread=form["spread"] or "none",
            level=level,
            panels=tuple(panels),
            about=self._text(form["about"], "figure.about", values),
            original=original,
            seed=self.figure.seed,
            profile=self.composed.content["profile"]["name"],
            annotated=form["annotated"] or original is None,
            appearance=self._appearance(),
            data=tuple(self.figure.data),
        )

    def _level(self, panels: Sequence[spec.Panel]) -> float | None:
        # Of confidence intervals, which all curves must have runs enough for.
        if self.form["spread"] != statistics.CONFIDENCE:
            return None
        level: float = self.form["level"] or statistics.LEVEL
        for curve in (curve for panel in panels for curve in panel.curves if not curve.is_exact):
            if why := statistics.lacking(self.form["centre"], level, curve.runs, curve.label):
                raise self.error("figure.spread", f": {why}")
        return level

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
        fields = {field for m in members for field in self._fields(m)}
        shared = form["parameters"] or {}
        self.composed.section(dict.fromkeys(fields, Any), shared, f"{path}.parameters")
        layers = ((f"{path}.parameters", shared), *layers)
        values = self._terms(layers, members, shared)
        sweep = self._sweep(form["sweep"], f"{path}.sweep", fields)
        sweep = sweep or self._sweep(self.form["sweep"], "figure.sweep", fields)
        per_curve = self._sweep(form["each"], f"{path}.each", fields)
        quantities = kinds.quantities()
        pairs = [name for name, quantity in quantities.items() if quantity.pair]
        if form["shows"]:
            self.composed.checked([*quantities], form["shows"], f"{path}.shows")
        if (form["shows"] in pairs) != bool(form["against"]):
            problem = f"and `shows: {' or '.join(pairs)}` need each other"
            raise self.error(f"{path}.against", problem)
        if form["against"]:
            choice(form["against"], f"{path}.against")
        curves = []
        for name in names:
            for value, changed in self._over(per_curve, layers, self.members[name]):
                curve = self._curve(name, changed, sweep)
                suffix = f" ({per_curve.key.split('.')[-1]}={value:g})" if per_curve else ""
                label, legend = curve.label + suffix, curve.legend + suffix
                curves.append(replace(curve, label=label, legend=legend))
        self._refuse_mixture(curves)
        if (number := form["published"]) is not None:
            # The points read off a figure of the paper; a curve of a changed game has none.
            rows = self.figure.published(number, f"{path}.published")
            game = partial(self.figure.instance, path="figure.environment")
            curves = [replace(c, published=published.points(rows, c, game)) for c in curves]
            for curve in curves:
                needs_gaps = curve.published and not curve.shows.pair
                if needs_gaps and kinds.gaps(curve.sources[0]) is None:
                    problem = f": the gains of {curve.label} are a table, but points need means"
                    raise self.error(f"{path}.published", problem)
        if per_curve:
            values["each"] = Several(per_curve.values)
        texts = {k: self._text(form[k], f"{path}.{k}", values) for k in ("title", "row", "column")}
        return spec.Panel(letter=letter, curves=tuple(curves), **texts)

    def _refuse_mixture(self, curves: Sequence[spec.Curve]) -> None:
        # Regret and stopping times share no axis.
        first: dict[str, spec.Curve] = {}
        for curve in (curve for curve in curves if curve.played):
            if (kind := kinds.of(curve.played[0])).has_members:
                first.setdefault(kind.name, curve)
        if len(first) > 1:
            one, other, *_ = first.values()
            problem = (
                f": {other.shows.name} is not drawn beside the {one.shows.name} of {one.label}"
            )
            raise self.error(f"figure.curves.{other.name}", problem)

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

    def _member(self, name: str, content: Any) -> Member:
        path, choice = f"figure.curves.{name}", self.composed.checked
        if not isinstance(content, Mapping):
            raise self.error(path, f"must hold keys and values, got {shown(content)}")
        member_keys = list(dict.fromkeys(kind.key for kind in kinds.every()))
        present = [key for key in member_keys if content.get(key) is not None]
        if len(present) != 1:
            hint = f"`+algorithm@{path}=<name>`, in a file `- /algorithm@curves.{name}: <name>`"
            problem = f"must have one of {', '.join(member_keys)} ({hint})"
            raise self.error(path, f"{problem}, got {' and '.join(present) or 'none'}")
        (key,), played = present, content[present[0]]
        able = [kind for kind in kinds.every() if kind.key == key]
        names = {kind: {*kind.names()} for kind in able}
        valid = set().union(*names.values())
        if isinstance(played, str) and played in registry.members("algorithm").keys() - valid:
            kinds.of_member(played)  # raises for a kind that there is not
        played = choice(sorted(valid), played, f"{path}.{key}")
        matching = [kind for kind in able if played in names[kind]]
        matching.sort(key=lambda kind: not kind.has_members)
        member = Member(path, tuple(matching), played, matching[0].module(played), content, {})
        # Parameters are checked with the layers around them.
        keys = schema.CURVE | dict.fromkeys(member_keys, str) | keys_of("curve", matching)
        if member.module is None:
            keys.pop("share")  # of the budget of an algorithm
        fields = dict.fromkeys(self._fields(member), Any)
        return member._replace(form=self.composed.section(fields | keys, content, path))

    def _fields(self, member: Member) -> Collection[str]:
        # The parameters that a curve may set.
        values = Values(self.figure, ((member.path, member.content),), member)
        return member.kinds[0].fields(values)

    def _curve(self, name: str, outer: Layers, sweep: Sweep | None) -> spec.Curve:
        curve = self.members[name]
        layered = Values(self.figure, ((curve.path, curve.content), *outer), curve)
        form, kind = curve.form, layered.kind
        shows, path = kind.quantity(layered.value("shows")[0], layered), layered.value("shows")[1]
        if sweep is None and not shows.over_time:
            asked = layered.value("shows")[0] or shows.name
            problem = f": {asked}, of kind {kind.name}, is drawn over a sweep"
            raise self.error(path or curve.path, problem)
        if (points := kind.swept(layered, sweep and sweep.key)) is not None and sweep:
            sweep = sweep._replace(values=points)
        layers = self._over(sweep, layered.layers, curve)
        sources = tuple(self._source(curve, inner, shows) for _, inner in layers)
        source, values = sources[0], self._terms(layered.layers, [curve])
        said = kinds.words(source)
        values |= said.settings
        if sweep is not None:
            first, _, inner_key = sweep.key.partition(".")
            values = {} if inner_key else {k: v for k, v in values.items() if k != first}
        label = form["label"] or (curve.module.LABEL if curve.module else curve.name)
        texts = {"label": label, "legend": form["legend"], "variant": form["variant"]}
        label, legend, variant = (
            self._text(text, f"{curve.path}.{key}", values) for key, text in texts.items()
        )
        label = f"{label} ({variant})" if variant else label
        if not legend:  # with the input budget of a private algorithm if the figure asks for it
            epsilon = None
            if self.form["input_privacy"] and said.bandit and "epsilon" in source.params._fields:
                find = getattr(curve.module, "input_epsilon", lambda params: params.epsilon)
                epsilon = float(find(source.params))
            mantissa, _, power = f"{epsilon or 0:.3g}".partition("e")
            number = rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else mantissa
            legend = label if epsilon is None else f"{label} ({number})"
        return spec.Curve(
            name=name,
            label=label,
            legend=legend,
            variant=variant,
            look=spec.StyleOverride(form["colour"] or None, form["marker"], form["line"]),
            annotation=form["annotation"],
            style=kind.style(layered),
            shows=shows,
            over="t" if sweep is None else sweep.key.split(".")[-1],
            x=None if sweep is None else tuple(map(float, sweep.values)),
            sources=sources,
            runs=self.runs if self.composed.is_overridden("runs") else form["runs"] or self.runs,
            fit=sweep and sweep.fit,
            against=tuple(self._against(curve, kind, outer, sweep, shows)),
        )

    def _against(
        self, curve: Member, kind: Kind, outer: Layers, sweep: Sweep | None, shows: Quantity
    ) -> Iterable[Experiment]:
        # The counterpart of each source, in the game of the curve.
        if not shows.pair:
            return
        other = self.members[Values(self.figure, outer).value("against")[0]]
        if kind not in other.kinds:
            problem = f"must be of the kind {kind.name}: others are compared with it"
            raise self.error(other.path, problem)
        shared = {*SHARED, *keys_of("figure", [kind])}
        game = {key: curve.content[key] for key in shared if key in curve.content}
        pairs = ((curve.path, game), (other.path, other.content), *outer)
        observed = next(quantity for quantity in kind.quantities if quantity.name == shows.of)
        for _, layers in self._over(sweep, pairs, other):
            yield self._source(other, layers, observed)

    def _over(self, sweep: Sweep | None, layers: Layers, curve: Member) -> list[tuple[Any, Layers]]:
        # The values of a sweep, each with the layers that it changes; without one, the layers.
        if sweep is None:
            return [(None, layers)]
        outer = Values(self.figure, layers)
        key, valid = sweep.key, {"epsilon", "delta", *sweep.fields}
        first = key.partition(".")[0]
        environment, where = outer.value("environment")
        if environment is not None:
            environment, _ = self.figure.environment(environment, where)
            # A bound gets its means and arms from the environment alone.
            valid -= {*registry.environment(environment["family"]).Params._fields, "arms"}
            numbers = [k for k, v in spec.leaves(environment) if isinstance(v, int | float)]
            valid |= {f"environment.{k}" for k in numbers}
        for name, of_kind in ((n, k) for kind in curve.kinds for n, k in kind.keys.items()):
            valid |= {name} if of_kind.is_swept else set()
            if of_kind.parts and (first == name or outer.value(name)[0] is not None):
                valid |= {f"{name}.{part}" for part in of_kind.parts._fields}
        if key not in valid:
            raise self.composed.unknown(f"{sweep.path}.key", key, valid, f"{sweep.path}.key")
        points, (*above, last) = list[tuple[Any, Layers]](), key.split(".")
        for x in sweep.values:  # set at the dotted key
            values: dict[str, Any] = {
                first: deepcopy(environment) if first == "environment" else {}
            }
            inner = values
            for part in above:
                inner = inner[part]
            inner[last] = x
            points.append((x, ((f"{sweep.path}.values", values), *layers)))
        return points

    def _terms(
        self, layers: Layers, of: Sequence[Member], more: Collection[str] = ()
    ) -> dict[str, Any]:
        # The values that a text may name: those of the game, and more keys.
        values = Values(self.figure, layers)
        every = list(dict.fromkeys(kind for member in of for kind in member.kinds))
        keys = (*SHARED, *keys_of("figure", every), *more)
        terms = {key: value for key in keys if (value := values.value(key)[0]) is not None}
        if "environment" in terms:
            environment, params = values.instance()
            terms["arms"] = registry.environment(environment).arms(params)
            terms |= {**parameters.as_json(params), "instance": instances.name(environment, params)}
        for kind in every:
            terms |= kind.text_values(values)
        return terms

    def _source(self, curve: Member, layers: Layers, shows: Quantity) -> Experiment:
        values = Values(self.figure, layers, curve)
        try:
            return values.kind.read(values, shows)
        except Located:
            raise
        except UserError as error:  # such as an audit of what claims nothing
            raise self.error(curve.path, f": {error}") from None
