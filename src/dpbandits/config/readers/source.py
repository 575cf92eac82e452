"""Reader of the sources of a curve, cells or bounds, from the layers around it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dpbandits.audit import designs
from dpbandits.audit.cell import AuditCell
from dpbandits.audit.subject import Plays, Subject
from dpbandits.cells.bandit_cell import Cell, Grid, Regret, StoppingCell, Stream
from dpbandits.config import bound_arguments, instances
from dpbandits.config.instances import Described, describe, instance
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.layers import Layers
from dpbandits.config.section import Section
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, shown
from dpbandits.privacy.concentrated import rho_of_gaussian
from dpbandits.spec.figure import Bound

OWN: dict[
    str, tuple[str, ...]
] = {  # the kinds of curve, and the keys of each kind beside those of every curve
    "algorithm": ("pulls_of", "regret"),
    "rule": (),
    "bound": ("at",),
}
LOOK = ("legend", "reading", "colour", "marker", "line")
CURVE_KEYS = (*OWN, "label", "runs", *LOOK, *SHARED)
FROM_EPSILON = "from-epsilon"  # in place of rho
GRIDS = [grid.value for grid in Grid]


class SourceReader:
    """Reader of the cells and bounds of a figure. Its methods raise UserError for bad values."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.named: dict[str, Described] = {}  # cache of descriptions, by name of conf/environment/
        self.laws: dict[str, tuple[str, Any]] = {}  # cache of their instances

    def cell(self, curve: Section, layers: Layers) -> Cell:
        """Return the cell of an algorithm on a bandit."""
        params = registry.algorithm(curve.get("algorithm")).Params
        law, of_law, horizon = self._bandit(layers)
        return Cell(
            algorithm=curve.get("algorithm"),
            params=self._params("algorithm", params, curve, layers, {"horizon": horizon}),
            environment=law,
            instance=of_law,
            horizon=horizon,
            grid=self._grid(layers),
            seed=self._seed(),
            pulls_of=self._pulls_of(curve, registry.environment(law).arms(of_law)),
            regret=self._regret(curve, layers, hasattr(registry.environment(law), "table")),
        )

    def audit_cell(self, curve: Section, layers: Layers) -> AuditCell:
        """Return the cell of an audit of an algorithm."""
        cls = registry.algorithm(curve.get("algorithm")).Params
        placeholder = {"horizon": designs.LONG}  # every game of the audit sets its own
        params = self._params("algorithm", cls, curve, layers, placeholder)
        value, where = self._needed("plays", layers)
        subject = Subject.of(curve.get("algorithm"), params)
        cell = AuditCell(subject, self.origins.checked(Plays, value, where), self._seed())
        try:
            cell.claim()
        except UserError as error:
            raise self.origins.error(str(error), curve.path) from None
        return cell

    def stopping_cell(self, curve: Section, layers: Layers) -> StoppingCell:
        """Return the cell of a stopping rule."""
        params = registry.stopping_rule(curve.get("rule")).Params
        cell = StoppingCell(
            rule=curve.get("rule"),
            params=self._params("rule", params, curve, layers, {}),
            stream=self._stream(layers),
            seed=self._seed(),
        )
        if cell.samples_at_most() > 2**53:
            problem = f"{cell.name} may take more than 2^53 samples"
            raise self.origins.error(problem, curve.path)
        return cell

    def bound(self, curve: Section, layers: Layers) -> Bound:
        """Return a function of theory/ with its arguments."""
        name = curve.get("bound")
        game = self.game(layers, bound_arguments.accepted(name))
        arguments = bound_arguments.arguments(curve, name, game, layers.find)
        return Bound(name, tuple(arguments.items()))

    def game(self, layers: Layers, accepted: Collection[str]) -> dict[str, Any]:
        """Return the arguments that the bandit and the stream supply to a bound.

        Only lookups for the accepted arguments are recorded.
        """
        game, quiet = dict[str, Any](), layers.unrecorded()
        if quiet.find("environment")[0] is not None:
            law, params, horizon = self._bandit(quiet)
            arms = registry.environment(law).arms(params)
            of_law = {**params._asdict(), "arms": arms}
            game |= {**of_law, "horizon": horizon}
            for key, supplied in (("environment", of_law), ("horizon", ("horizon",))):
                if not {*supplied}.isdisjoint(accepted):
                    layers.find(key)
        if quiet.find("stream")[0] is not None:
            fields = [field for field in Stream._fields if field in accepted]
            game |= self._stream(layers, fields)._asdict()
        return game

    def of_panel(self, layers: Layers, parameters_of_panel: Iterable[str]) -> dict[str, Any]:
        """Return the values that a title may name: those of the panel's bandit or stream."""
        layers = layers.unrecorded()
        values = {key: layers.find(key)[0] for key in (*SHARED, *parameters_of_panel)}
        values = {key: value for key, value in values.items() if value is not None}
        if values.get("environment") is not None:
            law, params, values["horizon"] = self._bandit(layers)
            values |= self._of_instance(law, params)
        if values.get("stream") is not None:
            values["stream"] = self._stream(layers)._asdict()
        return values

    def _of_instance(self, law: str, params: Any) -> dict[str, Any]:
        arms = registry.environment(law).arms(params)
        return {**parameters.plain(params), "arms": arms, "instance": instances.name(law, params)}

    # Values of the layers

    def changed(
        self, key: str, value: Any, layers: Layers, where: str, own: Iterable[str]
    ) -> Layers:
        """Return the layers with one more inside them that sets only `key` to `value`.

        `key` is for example `environment.means.arms`, `own` holds the parameters that may be
        changed too, and `where` is the path of the sweep or `each`, whose key and values these are.
        Raises UserError for an unknown key.
        """
        first, _, inner = key.partition(".")
        valid = {"horizon", "epsilon", "delta", *own}
        quiet = layers.unrecorded()
        content, path = quiet.find("environment")
        if content is not None:
            described = self._described(content, path)
            valid |= {f"environment.{name}" for name in described.paths()}
        if first == "stream" or layers.unrecorded().find("stream")[0] is not None:
            valid |= {f"stream.{name}" for name in Stream._fields}
        if key not in valid:
            raise self.origins.unknown(f"{where}.key", key, valid, f"{where}.key")
        if first == "environment":
            layers.reads.update(quiet.reads - {f"{path}.{inner}"})  # the sweep overrides that one
            path = f"{where}.values"
            origin = self.origins.of(path) if self.origins.is_overridden(path) else None
            value = described.changed(inner, value, origin)
        elif first == "stream":
            value = {inner: value}
        return layers.inside(f"{where}.values", {first: value})

    def _needed(self, key: str, layers: Layers) -> tuple[Any, str]:
        value, path = layers.find(key)
        if value is None:
            raise self.origins.error(f"figure.{key} is missing", f"figure.{key}")
        return value, path

    # The parts of a cell

    def _params(
        self,
        kind: str,
        params: type,
        curve: Section,
        layers: Layers,
        of_game: Mapping[str, Any],
    ) -> Any:
        # The Params of an algorithm or a rule; `of_game` holds the fields that the game sets.
        known = parameters.fields(params)
        curve.keys(dict.fromkeys((*CURVE_KEYS, *OWN[kind], *known)))
        values, paths = {}, {}
        for field in known:
            value, where = (of_game[field], "") if field in of_game else layers.find(field)
            if field == "rho" and value == FROM_EPSILON:
                value = self._rho(layers)
            if value is not None:
                values[field] = value
            paths[field] = where or f"{'figure' if field in SHARED else curve.path}.{field}"
        return parameters.build(
            params, values, curve.get(kind), lambda f: self.origins.of(paths[f])
        )

    def _rho(self, layers: Layers) -> float:
        # The largest rho whose Gaussian noise is (epsilon, delta)-DP, for the values around it.
        epsilon = self.origins.checked(parameters.Positive, *self._needed("epsilon", layers))
        delta = self.origins.checked(parameters.Fraction, *self._needed("delta", layers))
        return rho_of_gaussian(epsilon, delta)

    def _seed(self) -> int:
        seed: int = self.origins.checked(parameters.Seed, self.origins.plain["seed"], "seed")
        return seed

    def _grid(self, layers: Layers) -> Grid:
        checkpoints, path = self._needed("checkpoints", layers)
        return Grid(self.origins.choice(checkpoints, GRIDS, path))

    def _pulls_of(self, curve: Section, arms: int) -> int | None:
        # The configuration counts arms from 1, as the papers do.
        if curve.get("pulls_of") is None:
            return None
        arm: int = curve.checked(parameters.Count, "pulls_of")
        if arm > arms:
            problem = f"pulls_of must be an arm from 1 to {arms}, got {arm}"
            raise self.origins.error(problem, curve.path_of("pulls_of"))
        return arm - 1

    def _regret(self, curve: Section, layers: Layers, of_table: bool) -> Regret:
        value, path = layers.find("regret")
        if value is None:
            return Regret.PSEUDO
        chosen = Regret(self.origins.choice(value, [kind.value for kind in Regret], path))
        if of_table:
            problem = "regret is for arms with means; that on a table of gains is always realised"
            raise self.origins.error(problem, path)
        if chosen is Regret.REALISED and curve.get("pulls_of") is not None:
            raise self.origins.error("regret: pulls are recorded instead of it", path)
        return chosen

    def _stream(self, layers: Layers, recorded: Iterable[str] = Stream._fields) -> Stream:
        # A layer may change part of the stream, so all layers are merged. Lookups for some of its
        # fields are recorded.
        if layers.unrecorded().find("stream")[0] is None:
            raise self.origins.error("figure.stream is missing", "figure.stream")
        values, paths = layers.merged("stream", recorded, self.origins)
        paths.setdefault("mean", "figure.stream.mean")
        stream = parameters.build(Stream, values, "stream", lambda f: self.origins.of(paths[f]))
        if abs(stream.mean) > stream.radius:
            message = f"mean must be within {stream.radius:g} of 0, got {shown(stream.mean)}"
            raise self.origins.error(message, paths["mean"])
        return stream

    def _described(self, content: Any, path: str) -> Described:
        # Cached, because a sweep reads the same file thousands of times.
        if not isinstance(content, str):
            return describe(self.origins, content, path)
        if content not in self.named:
            self.named[content] = describe(self.origins, content, path)
        return self.named[content]

    def _law(self, described: Described, content: Any) -> tuple[str, Any]:
        if not isinstance(content, str):
            return instance(described, self.origins.figure)
        if content not in self.laws:
            self.laws[content] = instance(described, self.origins.figure)
        return self.laws[content]

    def _bandit(self, layers: Layers) -> tuple[str, Any, int]:
        # The law's name, its parameters and the horizon, scaled by the profile unless the command
        # line, a sweep or the figure's own section for the profile sets it.
        content, path = self._needed("environment", layers)
        law, params = self._law(self._described(content, path), content)
        value, path = self._needed("horizon", layers)
        horizon: int = self.origins.checked(parameters.Rounds, value, path)
        swept = ".values." in path
        if not (self.origins.is_overridden(path) or path in self.origins.of_profile or swept):
            scale = self.origins.plain["profile"]["horizon_scale"]
            scale = self.origins.checked(parameters.Positive, scale, "profile.horizon_scale")
            if horizon * scale > 2**53:
                message = f"profile.horizon_scale {scale:g} takes the horizon {horizon} above 2^53"
                raise self.origins.error(message, "profile.horizon_scale")
            horizon = max(1, round(horizon * scale))
        arms = registry.environment(law).arms(params)
        if horizon < arms:
            message = f"horizon must be at least {arms}, the number of arms, got {horizon}"
            raise self.origins.error(message, path)
        return law, params, horizon
