"""Reader of the sources of a curve, cells or bounds, from the layers around it.

A layer is the mapping of a curve, of a panel or of the figure. The innermost layer that has a key
sets its value.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from dpbandits.audit import designs
from dpbandits.audit.cell import AuditCell
from dpbandits.audit.subject import Plays, Subject
from dpbandits.cells.bandit_cell import Cell, Grid, StoppingCell, Stream
from dpbandits.config import bound_arguments, instances
from dpbandits.config.instances import Described, describe, instance
from dpbandits.config.origins import Origins
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, shown
from dpbandits.spec.figure import Bound

SHARED = ("horizon", "epsilon", "delta", "environment", "stream", "plays")
OWN: dict[
    str, tuple[str, ...]
] = {  # the kinds of curve, and the keys of each kind beside those of every curve
    "algorithm": ("pulls_of",),
    "rule": (),
    "bound": ("at",),
}
LOOK = ("legend", "reading", "colour", "marker", "line")
CURVE_KEYS = (*OWN, "label", "runs", *LOOK, *SHARED)
GRIDS = [grid.value for grid in Grid]

Layer = tuple[str, Mapping[str, Any]]  # path of a mapping in the configuration, and the mapping


class SourceReader:
    """Reader of the cells and bounds of a figure. Its methods raise UserError for bad values."""

    def __init__(self, origins: Origins, figure: Mapping[str, Any], given: set[str]) -> None:
        self.at = origins
        self.figure = figure
        self.given = given  # paths that the figure's own section for the profile sets
        self.named: dict[str, Described] = {}  # cache of descriptions, by name of conf/environment/
        self.laws: dict[str, tuple[str, Any]] = {}  # cache of their instances

    def cell(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Cell:
        """Return the cell of an algorithm on a bandit."""
        params = registry.algorithm(curve["algorithm"]).Params
        law, of_law, horizon = self._bandit(layers)
        return Cell(
            algorithm=curve["algorithm"],
            params=self._params("algorithm", params, path, curve, layers, {"horizon": horizon}),
            environment=law,
            instance=of_law,
            horizon=horizon,
            grid=self._grid(layers),
            seed=self._seed(),
            pulls_of=self._pulls_of(path, curve, registry.environment(law).arms(of_law)),
        )

    def audit_cell(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> AuditCell:
        """Return the cell of an audit of an algorithm."""
        cls = registry.algorithm(curve["algorithm"]).Params
        told = {"horizon": designs.LONG}  # placeholder: every game of the audit sets its own
        params = self._params("algorithm", cls, path, curve, layers, told)
        value, where = self._needed("plays", layers)
        subject = Subject.of(curve["algorithm"], params)
        cell = AuditCell(subject, self.at.checked(Plays, value, where), self._seed())
        try:
            cell.claim()
        except UserError as error:
            raise self.at.error(str(error), path) from None
        return cell

    def stopping_cell(
        self, path: str, curve: Mapping[str, Any], layers: list[Layer]
    ) -> StoppingCell:
        """Return the cell of a stopping rule."""
        params = registry.stopping_rule(curve["rule"]).Params
        cell = StoppingCell(
            rule=curve["rule"],
            params=self._params("rule", params, path, curve, layers, {}),
            stream=self._stream(layers),
            seed=self._seed(),
        )
        if cell.samples_at_most() > 2**53:
            raise self.at.error(f"{cell.name} may take more than 2^53 samples", path)
        return cell

    def bound(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Bound:
        """Return a function of theory/ with its arguments."""
        name, game = curve["bound"], self.game(layers)
        arguments = bound_arguments.arguments(
            self.at, name, path, game, partial(self.find, layers=layers)
        )
        return Bound(name, tuple(arguments.items()))

    def game(self, layers: list[Layer]) -> dict[str, Any]:
        """Return the arguments that the bandit and the stream supply to a bound."""
        game: dict[str, Any] = {}
        if self.find("environment", layers)[0] is not None:
            law, params, horizon = self._bandit(layers)
            arms = registry.environment(law).arms(params)
            game |= {**params._asdict(), "arms": arms, "horizon": horizon}
        if self.find("stream", layers)[0] is not None:
            game |= self._stream(layers)._asdict()
        return game

    def of_panel(self, layers: list[Layer], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that a title may name: those of the panel's bandit or stream."""
        found = {key: self.find(key, layers)[0] for key in (*SHARED, *given)}
        values = {key: value for key, value in found.items() if value is not None}
        if values.get("environment") is not None:
            law, params, values["horizon"] = self._bandit(layers)
            values |= self.of_instance(law, params)
        if values.get("stream") is not None:
            values["stream"] = self._stream(layers)._asdict()
        return values

    def of_instance(self, law: str, params: Any) -> dict[str, Any]:
        """Return the values of an instance that titles and labels may name."""
        arms = registry.environment(law).arms(params)
        return {**parameters.plain(params), "arms": arms, "instance": instances.name(law, params)}

    # Values of the layers

    def find(self, key: str, layers: list[Layer]) -> tuple[Any, str]:
        """Return the innermost value of a key and its path; (None, "") if no layer has it."""
        for path, mapping in layers:
            if mapping.get(key) is not None:
                return mapping[key], f"{path}.{key}"
        return None, ""

    def changed(
        self, key: str, value: Any, layers: list[Layer], where: str, own: Iterable[str]
    ) -> list[Layer]:
        """Return the layers with one more inside them that sets only `key` to `value`.

        `key` is for example `environment.means.arms`, `own` holds the parameters that may be
        changed too, and `where` is the path of the sweep or `each`, whose key and values these are.
        Raises UserError for an unknown key.
        """
        first, _, inner = key.partition(".")
        valid = {"horizon", "epsilon", "delta", *own}
        content, path = self.find("environment", layers)
        if content is not None:
            described = self._described(content, path)
            valid |= {f"environment.{name}" for name in described.paths()}
        if first == "stream" or self.find("stream", layers)[0] is not None:
            valid |= {f"stream.{name}" for name in Stream._fields}
        if key not in valid:
            raise self.at.unknown(f"{where}.key", key, valid, f"{where}.key")
        path = f"{where}.values"
        if first == "environment":
            typed = self.at.of(path) if self.at.was_typed(path) else None
            value = described.changed(inner, value, typed)
        elif first == "stream":
            value = {inner: value}
        return [(path, {first: value}), *layers]

    def _needed(self, key: str, layers: list[Layer]) -> tuple[Any, str]:
        value, path = self.find(key, layers)
        if value is None:
            raise self.at.error(f"figure.{key} is missing", f"figure.{key}")
        return value, path

    # The parts of a cell

    def _params(
        self,
        kind: str,
        params: type,
        path: str,
        curve: Mapping[str, Any],
        layers: list[Layer],
        told: Mapping[str, Any],
    ) -> Any:
        # The Params of an algorithm or a rule; `told` holds the fields that the game sets.
        known = parameters.fields(params)
        self.at.keys(curve, dict.fromkeys((*CURVE_KEYS, *OWN[kind], *known)), path, ())
        values, paths = {}, {}
        for field in known:
            value, where = (told[field], "") if field in told else self.find(field, layers)
            if value is not None:
                values[field] = value
            paths[field] = where or f"{'figure' if field in SHARED else path}.{field}"
        return parameters.build(params, values, curve[kind], lambda f: self.at.of(paths[f]))

    def _seed(self) -> int:
        seed: int = self.at.checked(parameters.Seed, self.at.plain["seed"], "seed")
        return seed

    def _grid(self, layers: list[Layer]) -> Grid:
        checkpoints, path = self._needed("checkpoints", layers)
        return Grid(self.at.choice(checkpoints, GRIDS, path))

    def _pulls_of(self, path: str, curve: Mapping[str, Any], arms: int) -> int | None:
        # The configuration counts arms from 1, as the papers do.
        if curve.get("pulls_of") is None:
            return None
        path = f"{path}.pulls_of"
        arm: int = self.at.checked(parameters.Count, curve["pulls_of"], path)
        if arm > arms:
            raise self.at.error(f"pulls_of must be an arm from 1 to {arms}, got {arm}", path)
        return arm - 1

    def _stream(self, layers: list[Layer]) -> Stream:
        # A layer may change part of the stream, so all layers are merged.
        self._needed("stream", layers)
        values, paths = {}, {}
        for path, mapping in reversed(layers):
            for field, value in self.at.mapping(mapping.get("stream"), f"{path}.stream").items():
                values[field], paths[field] = value, f"{path}.stream.{field}"
        paths.setdefault("mean", "figure.stream.mean")
        stream = parameters.build(Stream, values, "stream", lambda f: self.at.of(paths[f]))
        if abs(stream.mean) > stream.radius:
            message = f"mean must be within {stream.radius:g} of 0, got {shown(stream.mean)}"
            raise self.at.error(message, paths["mean"])
        return stream

    def _described(self, content: Any, path: str) -> Described:
        # Cached, because a sweep reads the same file thousands of times.
        if not isinstance(content, str):
            return describe(self.at, content, path)
        if content not in self.named:
            self.named[content] = describe(self.at, content, path)
        return self.named[content]

    def _law(self, described: Described, content: Any) -> tuple[str, Any]:
        if not isinstance(content, str):
            return instance(described, self.at.figure)
        if content not in self.laws:
            self.laws[content] = instance(described, self.at.figure)
        return self.laws[content]

    def _bandit(self, layers: list[Layer]) -> tuple[str, Any, int]:
        # The law's name, its parameters and the horizon, scaled by the profile unless it was typed,
        # is swept, or comes from the figure's own section for the profile.
        content, path = self._needed("environment", layers)
        law, params = self._law(self._described(content, path), content)
        value, path = self._needed("horizon", layers)
        horizon: int = self.at.checked(parameters.Rounds, value, path)
        swept = ".values." in path
        if not (self.at.was_typed(path) or path in self.given or swept):
            scale = self.at.plain["profile"]["horizon_scale"]
            scale = self.at.checked(parameters.Positive, scale, "profile.horizon_scale")
            if horizon * scale > 2**53:
                message = f"profile.horizon_scale {scale:g} takes the horizon {horizon} above 2^53"
                raise self.at.error(message, "profile.horizon_scale")
            horizon = max(1, round(horizon * scale))
        arms = registry.environment(law).arms(params)
        if horizon < arms:
            message = f"horizon must be at least {arms}, the number of arms, got {horizon}"
            raise self.at.error(message, path)
        return law, params, horizon
