"""Values that a figure's file gives a curve: the innermost of its layers sets every one.

The layers are, from the inside: the value of a sweep, the curve, its panel, the figure.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

from dpbandits.config import conf_files, instances, schema
from dpbandits.config.schema import SHARED, Composed
from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.kinds import Kind
from dpbandits.files import project
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import Located, nearest, shown
from dpbandits.kernel.registry import members
from dpbandits.privacy.calibration import largest_budget
from dpbandits.privacy.releases import Release, rho_of_gaussian
from dpbandits.spec.figure import Data
from dpbandits.tables import published

# Mappings that set the values of a curve, each with its path, the innermost first.
Layers = tuple[tuple[str, Mapping[str, Any]], ...]
COMPOSED = "composed"  # share: the epsilon whose releases compose to that of the figure


class Member(NamedTuple):
    """Curve of the figure with its algorithm, stopping rule or bound."""

    path: str
    kinds: tuple[Kind, ...]  # that may play it; its own first
    name: str  # of the algorithm, rule or bound
    module: Any  # of the algorithm or rule
    content: Mapping[str, Any]
    form: Mapping[str, Any]  # its checked keys


@dataclass(frozen=True)
class Figure:
    """What all curves of a figure share."""

    composed: Composed
    seed: int
    paper: str
    from_profile: Collection[str]  # paths that the figure's section for the profile sets
    curves: Collection[str]
    data: list[Data]  # tables that were read, the first first

    def environment(self, value: Any, path: str) -> tuple[Mapping[str, Any], str]:
        """Return the description of an environment, with the means of a table, and its origin."""
        origin, table = self.composed.origin(path), path  # the key that may name a table
        if isinstance(value, Mapping):
            table += ".means.file" if isinstance(value.get("means"), Mapping) else ".means"
        elif instances.names_a_table(value):
            value = {"family": "bernoulli", "means": value}
        else:
            self.composed.checked(project.names("environment"), value, path)
            origin, table = project.member_file("environment", value), ""
            value = conf_files.read_member("environment", value)
        anywhere = self.composed.is_overridden(table)
        content, data = instances.own_data(value, origin, self.composed.figure, anywhere)
        if data and data not in self.data:
            self.data.append(data)
        return content, origin

    def instance(self, value: Any, path: str) -> tuple[str, Any]:
        """Return an environment and its Params."""
        return instances.instance(*self.environment(value, path), self.composed.figure)

    def published(self, number: int | str, path: str) -> list[published.Row]:
        """Return the published points of a figure of the paper."""
        if not (rows := published.rows(self.paper, number)):
            raise self.composed.error(path, f": no point of Fig. {number} is published")
        valid = {*members("algorithm"), *self.curves}
        for name in (row["curve"] for row in rows if not valid & {*row["curve"].split()}):
            table = f"figures/published/{self.paper}.csv"
            raise Located(f"{table}: curve: no figure draws {shown(name)}; {nearest(name, valid)}")
        return rows


@dataclass(frozen=True)
class Values:
    """What a figure's file gives a curve, or a panel without one: `kinds.Given`.

    Its methods raise Located for the first wrong key or value.
    """

    figure: Figure
    layers: Layers
    curve: Member | None = None

    @property
    def name(self) -> str:
        """Name of the member, such as an algorithm."""
        return self.curve.name if self.curve else ""

    @property
    def module(self) -> Any:
        """Module of the member; None if it has none."""
        return self.curve and self.curve.module

    @property
    def seed(self) -> int:
        """Root of every random stream."""
        return self.figure.seed

    @property
    def path(self) -> str:
        """Path of the curve, or of the innermost layer."""
        return self.curve.path if self.curve else self.layers[0][0]

    @property
    def kind(self) -> Kind:
        """The kind that plots what `shows` asks for, else the curve's own."""
        assert self.curve is not None
        asked = self.value("shows")[0]
        able = (k for k in self.curve.kinds if asked in [q.name for q in k.quantities])
        return next(able, self.curve.kinds[0])

    def value(self, key: str) -> tuple[Any, str]:
        """Return the innermost value of a key and its path; (None, "") if no layer has it."""
        pairs = ((m[key], f"{path}.{key}") for path, m in self.layers if m.get(key) is not None)
        return next(pairs, (None, ""))

    def needed(self, key: str) -> tuple[Any, str]:
        """Return the same. Raises Located without a value."""
        value, path = self.value(key)
        if value is None:
            raise self.error(f"figure.{key}", "is missing")
        return value, path

    def checked(self, kind: Any, value: Any, path: str) -> Any:
        """Return the value as a type of msgspec or of kernel.parameters."""
        return self.figure.composed.checked(kind, value, path)

    def error(self, path: str, problem: str) -> Located:
        """Return the error at a path."""
        return self.figure.composed.error(path, problem)

    def scale(self, path: str) -> float:
        """Return the profile's factor on horizons.

        It is 1 for a value that the command line, a sweep or the figure's section for the profile
        sets.
        """
        is_fixed = self.figure.composed.is_overridden(path) or path in self.figure.from_profile
        profile = self.figure.composed.content["profile"]
        return 1.0 if is_fixed or ".values." in path else float(profile["horizon_scale"])

    def instance(self) -> tuple[str, Any]:
        """Return the environment and its Params."""
        return self._instance

    @cached_property
    def _instance(self) -> tuple[str, Any]:
        return self.figure.instance(*self.needed("environment"))

    def parts(self, key: str) -> Any:
        """Return the parts of a key, of which every layer may set some."""
        self.needed(key)
        able = self.curve.kinds if self.curve else kinds.every()
        cls = next(kind.keys[key].parts for kind in able if key in kind.keys)
        values, paths = dict[str, Any](), dict.fromkeys(cls._fields, f"figure.{key}")
        for path, mapping in reversed(self.layers):
            for part, value in (mapping.get(key) or {}).items():
                values[part], paths[part] = value, f"{path}.{key}.{part}"
        origin = self.figure.composed.origin
        return parameters.build(cls, values, key, lambda part: origin(paths[part]))

    def grid(self) -> Grid | tuple[int, ...]:
        """Return the checkpoints of a curve over time."""
        name, path = self.needed("checkpoints")
        if isinstance(name, list):
            rounds = [self.checked(parameters.Rounds, n, path) for n in name]
            self.checked(parameters.Ascending, rounds, path)
            return tuple(rounds)
        name = self.checked(schema.CHECKPOINTS, name, path)
        if name != schema.PUBLISHED:
            return Grid(name)
        if (number := self.value("published")[0]) is None:
            raise self.error(path, "at published rounds need `published`, the paper's figure")
        return published.rounds(self.figure.published(number, path))

    def _composed(self, params: Any, horizon: int | None) -> Any:
        # The params with the epsilon whose releases compose to the one that they have.
        assert self.curve is not None
        if horizon is None or not hasattr(self.curve.module, "releases"):
            problem = f": the releases of {self.name} over a number of rounds are not known"
            raise self.error(f"{self.curve.path}.share", problem)
        environment, instance = self.instance()
        arms = registry.environment(environment).arms(instance)
        delta = self.checked(parameters.Delta, self.value("delta")[0] or 0.0, "figure.delta")
        return _spending(self.curve.module, params, arms, horizon, delta, self.name)

    def params(self, **game: Any) -> Any:
        """Return the Params of the member; `game` has the values that the game sets."""
        assert self.curve is not None
        wide = Values(self.figure, (("figure", game), *self.layers), self.curve)
        cls = self.curve.module.Params
        fields = parameters.fields(cls)
        # A missing one would be set by the curve, unless the whole figure may set it.
        paths = {f: f"{'figure' if f in (*SHARED, *game) else self.path}.{f}" for f in fields}
        paths |= {f: path for f in paths if (path := wide.value(f)[1])}
        settings = {field: wide.value(field)[0] for field in fields}
        if (share := self.curve.form["share"]) is not None:
            if settings.get("epsilon") is None:
                raise self.error(f"{self.path}.share", f": {self.name} gets no epsilon to share")
            epsilon = self.checked(parameters.Budget, settings["epsilon"], paths["epsilon"])
            if share != COMPOSED:
                share = self.checked(parameters.Fraction, share, f"{self.path}.share")
                settings["epsilon"] = share * epsilon
        if settings.get("rho") == "from-epsilon":
            # The largest rho whose Gaussian noise is (epsilon, delta)-DP.
            epsilon = self.checked(parameters.Positive, *self.needed("epsilon"))
            delta = self.checked(parameters.Fraction, *self.needed("delta"))
            settings["rho"] = rho_of_gaussian(epsilon, delta)
        if settings.get("epsilon") == "from-rho":
            # epsilon-DP is epsilon²/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
            rho = self.checked(parameters.Positive, *self.needed("rho"))
            settings["epsilon"] = math.sqrt(2.0 * rho)
        values = {field: value for field, value in settings.items() if value is not None}
        for field in fields:
            if field not in {*values, *cls._field_defaults}:
                raise self.error(paths[field], f"is missing: +{paths[field]}=<value> sets it")
        origin = self.figure.composed.origin
        params = parameters.build(cls, values, self.name, lambda field: origin(paths[field]))
        if share == COMPOSED:
            return self._composed(params, game.get("horizon"))
        return params


@cache
def _spending(module: Any, params: Any, arms: int, horizon: int, delta: float, name: str) -> Any:
    def releases(epsilon: float) -> list[Release]:
        return list(module.releases(params._replace(epsilon=epsilon), arms, horizon))

    epsilon = largest_budget(releases, params.epsilon, delta, name, "epsilon")
    return params._replace(epsilon=epsilon)
