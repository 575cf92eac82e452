"""Reader of what is played, a bandit or a stream, from the layers around a curve."""

from collections.abc import Collection, Iterable
from typing import Any

from dpbandits.cells.bandit_cell import Stream
from dpbandits.config import instances
from dpbandits.config.instances import Described, describe, instance
from dpbandits.config.origins import SHARED, Origins
from dpbandits.config.readers.layers import Layers
from dpbandits.core import parameters, registry
from dpbandits.core.errors import shown


class GameReader:
    """Reader of the bandits and streams of a figure. Its methods raise UserError for bad values."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.named: dict[str, Described] = {}  # cache of descriptions, by name of conf/environment/
        self.laws: dict[str, tuple[str, Any]] = {}  # cache of their instances

    def bandit(self, layers: Layers) -> tuple[str, Any, int]:
        """Return the name of the law, its parameters and the horizon.

        The profile scales the horizon unless the command line, a sweep or the figure's own section
        for the profile sets it.
        """
        content, path = layers.needed("environment", self.origins)
        law, params = self._law(self._described(content, path), content)
        value, path = layers.needed("horizon", self.origins)
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

    def stream(self, layers: Layers, recorded: Iterable[str] = Stream._fields) -> Stream:
        """Return the stream of a stopping rule; only lookups for some fields are recorded."""
        # A layer may change part of the stream, so all layers are merged.
        if layers.unrecorded().find("stream")[0] is None:
            raise self.origins.error("figure.stream is missing", "figure.stream")
        values, paths = layers.merged("stream", recorded, self.origins)
        paths.setdefault("mean", "figure.stream.mean")
        stream = parameters.build(Stream, values, "stream", lambda f: self.origins.of(paths[f]))
        if abs(stream.mean) > stream.radius:
            message = f"mean must be within {stream.radius:g} of 0, got {shown(stream.mean)}"
            raise self.origins.error(message, paths["mean"])
        return stream

    def supplied(self, layers: Layers, accepted: Collection[str]) -> dict[str, Any]:
        """Return the arguments that the bandit and the stream supply to a bound.

        Only lookups for the accepted arguments are recorded.
        """
        game, quiet = dict[str, Any](), layers.unrecorded()
        if quiet.find("environment")[0] is not None:
            law, params, horizon = self.bandit(quiet)
            arms = registry.environment(law).arms(params)
            of_law = {**params._asdict(), "arms": arms}
            game |= {**of_law, "horizon": horizon}
            for key, supplied in (("environment", of_law), ("horizon", ("horizon",))):
                if not {*supplied}.isdisjoint(accepted):
                    layers.find(key)
        if quiet.find("stream")[0] is not None:
            fields = [field for field in Stream._fields if field in accepted]
            game |= self.stream(layers, fields)._asdict()
        return game

    def of_panel(self, layers: Layers, parameters_of_panel: Iterable[str]) -> dict[str, Any]:
        """Return the values that a title may name: those of the panel's bandit or stream."""
        layers = layers.unrecorded()
        values = {key: layers.find(key)[0] for key in (*SHARED, *parameters_of_panel)}
        values = {key: value for key, value in values.items() if value is not None}
        if values.get("environment") is not None:
            law, params, values["horizon"] = self.bandit(layers)
            values |= self._of_instance(law, params)
        if values.get("stream") is not None:
            values["stream"] = self.stream(layers)._asdict()
        return values

    def _of_instance(self, law: str, params: Any) -> dict[str, Any]:
        arms = registry.environment(law).arms(params)
        return {**parameters.plain(params), "arms": arms, "instance": instances.name(law, params)}

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
