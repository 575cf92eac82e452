"""The panels and curves of a figure: a value is looked up in the curve, the panel, the figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpbandits import bounds, parameters, registry
from dpbandits.cell import Cell, Grid
from dpbandits.errors import shown
from dpbandits.instances import describe, instance
from dpbandits.origin import Origins
from dpbandits.spec import Bound, Curve, Panel

SHARED = ("horizon", "epsilon", "environment")  # the innermost of curve, panel and figure counts
PANEL_KEYS = ("title", "curves", "each", "sweep", *SHARED)
CURVE_KEYS = ("algorithm", "bound", "label", *SHARED)
GRIDS = [grid.value for grid in Grid]

Layer = tuple[str, Mapping[str, Any]]  # the path of a mapping in the configuration, and the mapping
Values = tuple[str, Sequence[Any], str]  # a key, its values, and where they stand


class PanelReader:
    """Reads the panels of a figure."""

    def __init__(self, origins: Origins, figure: Mapping[str, Any], given: set[str]) -> None:
        self.at = origins
        self.figure = figure
        self.given = given  # horizons that the profile itself gives

    def read(self, letter: str, content: Any, curves: Mapping[str, Any]) -> Panel:
        """One panel with these curves, checked."""
        at, path = self.at, f"figure.panels.{letter}"
        panel = at.mapping(content, path)
        at.keys(panel, PANEL_KEYS, path, ())
        layers: list[Layer] = [(path, panel), ("figure", self.figure)]
        each = self._values(panel.get("each"), f"{path}.each")
        sweep = self._values(panel.get("sweep"), f"{path}.sweep")
        sweep = sweep or self._values(self.figure.get("sweep"), "figure.sweep")
        read = [
            curve
            for name in curves
            for curve in self._for_each(name, curves[name], each, layers, sweep)
        ]
        shared = {key: self._find(key, layers)[0] for key in SHARED}
        title = panel.get("title") or ""
        try:
            filled = str(title).format(**shared)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError):
            message = f"{path}.title {shown(title)} may name only {', '.join(SHARED)} in braces"
            raise at.error(message, f"{path}.title") from None
        return Panel(letter, filled, tuple(read))

    def _values(self, content: Any, path: str) -> Values | None:
        # What is swept, or drawn for each of several values.
        if content is None:
            return None
        at, mapping = self.at, self.at.mapping(content, path)
        at.keys(mapping, ("key", "values"), path, ("key", "values"))
        key, values = at.text(mapping["key"], f"{path}.key"), mapping["values"]
        try:
            parameters.coerce(parameters.Ascending, values)
        except ValueError as error:
            message = f"{path}.values must be {error}, got {shown(values)}"
            raise at.error(message, f"{path}.values") from None
        return key, values, path

    # Curves

    def _for_each(
        self,
        name: str,
        content: Any,
        each: Values | None,
        layers: list[Layer],
        sweep: Values | None,
    ) -> list[Curve]:
        # The curve, or one for each of several values.
        if each is None:
            return [self._curve(name, content, layers, sweep)]
        key, values, path = each
        found = []
        for value in values:
            changed = self._changed(key, value, layers, path)
            curve = self._curve(name, content, changed, sweep)
            told = f"({key.split('.')[-1]}={value:g})"
            label, legend = f"{curve.label} {told}", f"{curve.legend} {told}"
            found.append(replace(curve, label=label, legend=legend))
        return found

    def _curve(self, name: str, content: Any, layers: list[Layer], sweep: Values | None) -> Curve:
        at, path = self.at, f"figure.curves.{name}"
        curve = at.mapping(content, path)
        algorithm, bound = curve.get("algorithm"), curve.get("bound")
        if algorithm is not None and bound is not None:
            raise at.error(f"{path} must have either an algorithm or a bound, not both", path)
        if algorithm is None and bound is None:
            # The algorithm's own file needs no hint: it lacks the line `algorithm: <name>`.
            hints = {
                "command line": f" (`+algorithm@{path}=<name>`)",
                at.file: f" (under defaults: `- /algorithm@curves.{name}: <name>`)",
            }
            hint = hints.get(at.of(path), "")
            raise at.error(f"{path} must have an algorithm{hint} or a bound", path)
        if algorithm is None:
            label = at.text(bound, f"{path}.bound")
        else:
            at.choice(algorithm, registry.algorithm_names(), f"{path}.algorithm")
            label = registry.algorithm(algorithm).LABEL
        read: Callable[..., Cell | Bound] = self._bound if algorithm is None else self._cell
        layers = [(path, curve), *layers]
        style = algorithm or "bound"
        if algorithm is None:
            given = self._given(layers)
            bounds.check_keys(at, path, curve, CURVE_KEYS, given)
            if curve.get("at") is not None:
                style = "transition"
                key, _, where = sweep or (None, [], "")
                sweep = "epsilon", bounds.transitions(at, path, curve, given, key), where
        swept = [layers]
        if sweep is not None:
            swept = [self._changed(sweep[0], value, layers, sweep[2]) for value in sweep[1]]
        label = at.text(curve.get("label") or label, f"{path}.label")
        sources = tuple(read(path, curve, each) for each in swept)
        return Curve(
            name=name,
            label=label,
            legend=self._legend(label, sources[0]),
            style=style,
            x=None if sweep is None else tuple(float(value) for value in sweep[1]),
            sources=sources,
        )

    def _legend(self, label: str, source: Cell | Bound) -> str:
        # With the budget that a private algorithm is given as its input, where the figure asks.
        path = "figure.input_privacy"
        wanted = self.at.checked(bool, self.figure.get("input_privacy", False), path)
        if not wanted or isinstance(source, Bound) or "epsilon" not in source.params._fields:
            return label
        module = registry.algorithm(source.algorithm)
        given = getattr(module, "input_epsilon", lambda params: params.epsilon)
        return f"{label} ({given(source.params):.3g})"

    def _cell(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Cell:
        algorithm = registry.algorithm(curve["algorithm"])
        known = parameters.fields(algorithm.Params)
        self.at.keys(curve, dict.fromkeys((*CURVE_KEYS, *known)), path, ())
        law, params, horizon = self._game(layers)
        values, paths = {}, {}
        for field in known:
            value, where = (horizon, "") if field == "horizon" else self._find(field, layers)
            if value is not None:
                values[field] = value
            missing = f"figure.{field}" if field in SHARED else f"{path}.{field}"
            paths[field] = where or missing
        return Cell(
            algorithm=curve["algorithm"],
            params=parameters.build(
                algorithm.Params, values, curve["algorithm"], lambda f: self.at.of(paths[f])
            ),
            environment=law,
            instance=params,
            horizon=horizon,
            grid=Grid(self.at.choice(self.figure["checkpoints"], GRIDS, "figure.checkpoints")),
            seed=self.at.checked(parameters.Seed, self.at.plain["seed"], "seed"),
        )

    def _bound(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Bound:
        arguments = bounds.arguments(self.at, curve["bound"], path, curve, self._given(layers))
        return Bound(curve["bound"], tuple(arguments.items()))

    def _given(self, layers: list[Layer]) -> dict[str, Any]:
        # What the game gives to a bound.
        law, params, horizon = self._game(layers)
        epsilon, where = self._find("epsilon", layers)
        if epsilon is not None:
            epsilon = self.at.checked(parameters.Positive, epsilon, where)
        arms = registry.environment(law).arms(params)
        return {**params._asdict(), "arms": arms, "horizon": horizon, "epsilon": epsilon}

    # Values that a panel, a curve or a sweep may change

    def _find(self, key: str, layers: list[Layer]) -> tuple[Any, str]:
        # The innermost value of a key and its path; (None, "") where there is none.
        for path, mapping in layers:
            if mapping.get(key) is not None:
                return mapping[key], f"{path}.{key}"
        return None, ""

    def _changed(self, key: str, value: Any, layers: list[Layer], where: str) -> list[Layer]:
        # The layers below one that holds the changed key alone, here `environment.means.arms`.
        described = describe(self.at, *self._find("environment", layers))
        valid = ["horizon", "epsilon", *(f"environment.{inner}" for inner in described.paths())]
        if key not in valid:
            raise self.at.unknown(f"{where}.key", key, valid, f"{where}.key")
        path = f"{where}.values"
        first, _, inner = key.partition(".")
        if inner:
            typed = self.at.of(path) if self.at.was_typed(path) else None
            value = described.changed(inner, value, typed)
        return [(path, {first: value}), *layers]

    def _game(self, layers: list[Layer]) -> tuple[str, Any, int]:
        # The law's name, its parameters and the horizon.
        described = describe(self.at, *self._find("environment", layers))
        law, params = instance(described, self.at.figure)
        value, path = self._find("horizon", layers)
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
