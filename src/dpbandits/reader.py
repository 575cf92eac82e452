"""The strict builder: from a figure's plain mapping to a FigureSpec.

A value is looked up in the curve, then in the panel, then in the figure. A key that nobody reads is
an error, and every error names the key, where it stands and the nearest valid key.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from dpbandits import parameters, project, registry, statistics, theory
from dpbandits.cell import Cell, Grid
from dpbandits.errors import shown
from dpbandits.instances import describe, instance
from dpbandits.origin import Origins
from dpbandits.spec import Bound, Curve, FigureSpec, Panel

SHARED = (
    "horizon",
    "epsilon",
    "environment",
)  # a panel overrides them, a curve overrides the panel
PANEL_KEYS = ("title", "each", *SHARED)
CURVE_KEYS = ("algorithm", "bound", "label", *SHARED)
REQUIRED = ("paper", "title", "draw", "runs", "horizon", "environment", "checkpoints", "centre")
FIGURE_KEYS = (
    *(*REQUIRED, "epsilon", "spread", "slopes", "input_privacy"),
    *("sweep", "curves", "panels", "profiles"),
)
GRIDS = [grid.value for grid in Grid]

Layer = tuple[str, Mapping[str, Any]]  # the path of a mapping in the configuration, and the mapping


class Reader:
    """Reads the figure of a composed configuration."""

    def __init__(self, origins: Origins) -> None:
        self.at = origins
        self.plain = origins.plain
        self.figure = origins.mapping(self.plain["figure"], "figure")
        self.given: set[str] = set()  # horizons that the profile itself gives

    def read(self) -> FigureSpec:
        """The whole figure, checked."""
        at, figure = self.at, self.figure
        at.keys(figure, FIGURE_KEYS, "figure", ())
        self._apply_profile()
        at.keys(figure, FIGURE_KEYS, "figure", REQUIRED)
        if figure.get("epsilon") is not None:
            at.checked(parameters.Positive, figure["epsilon"], "figure.epsilon")
        self._check_sweep()
        self.curves = at.mapping(figure.get("curves"), "figure.curves")
        if not self.curves:
            raise at.error("figure.curves is empty, there is nothing to draw", "figure.curves")
        panels = at.mapping(figure.get("panels"), "figure.panels") or {"a": None}
        runs, path = self.plain["runs"], "runs"
        if runs is None:
            runs, path = figure["runs"], "figure.runs"
        return FigureSpec(
            name=at.figure,
            paper=at.text(figure["paper"], "figure.paper"),
            title=at.text(figure["title"], "figure.title"),
            draw=at.text(figure["draw"], "figure.draw"),
            runs=at.checked(parameters.Count, runs, path),
            centre=at.choice(figure["centre"], statistics.CENTRES, "figure.centre"),
            spread=at.choice(figure.get("spread") or "none", statistics.SPREADS, "figure.spread"),
            slopes=at.checked(bool, figure.get("slopes", False), "figure.slopes"),
            panels=tuple(self._panel(str(letter), panels[letter]) for letter in panels),
        )

    # The figure as a whole

    def _apply_profile(self) -> None:
        # What the figure says under `profiles:` of the chosen one replaces what it says above.
        at = self.at
        profiles = at.mapping(self.figure.pop("profiles", None), "figure.profiles")
        at.keys(profiles, project.names("profile"), "figure.profiles", ())
        name = self.plain["profile"]["name"]

        def merge(below: dict[str, Any], over: Mapping[str, Any], path: str) -> None:
            inside = f"figure.profiles.{name}{path.removeprefix('figure')}"
            at.keys(over, below, inside, ())
            for key, value in over.items():
                where = f"{path}.{key}"
                if isinstance(below[key], Mapping):
                    below[key] = dict(below[key])
                    merge(below[key], at.mapping(value, f"{inside}.{key}"), where)
                elif not at.was_typed(where):  # what is typed beats the profile
                    below[key] = value
                    self.given.add(where)

        merge(self.figure, at.mapping(profiles.get(name), f"figure.profiles.{name}"), "figure")

    def _check_sweep(self) -> None:
        if self.figure.get("sweep") is None:
            self.sweep: list[tuple[str, Any]] | None = None
            return
        key, values = self._key_and_values(self.figure["sweep"], "figure.sweep")
        self.sweep = [(key, value) for value in values]

    def _key_and_values(self, content: Any, path: str) -> tuple[str, list[Any]]:
        at, mapping = self.at, self.at.mapping(content, path)
        at.keys(mapping, ("key", "values"), path, ("key", "values"))
        key, values = at.text(mapping["key"], f"{path}.key"), mapping["values"]
        try:
            parameters.coerce(parameters.Ascending, values)
        except ValueError as error:
            message = f"{path}.values must be {error}, got {shown(values)}"
            raise at.error(message, f"{path}.values") from None
        return key, values

    # Panels and curves

    def _panel(self, letter: str, content: Any) -> Panel:
        at, path = self.at, f"figure.panels.{letter}"
        panel = at.mapping(content, path)
        at.keys(panel, PANEL_KEYS, path, ())
        layers: list[Layer] = [(path, panel), ("figure", self.figure)]
        curves: list[Curve] = []
        for name in self.curves:
            curves += self._curves(name, path, panel, layers)
        shared = {key: self._find(key, layers)[0] for key in SHARED}
        title = panel.get("title") or ""
        try:
            filled = str(title).format(**shared)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError):
            message = f"{path}.title {shown(title)} may name only {', '.join(SHARED)} in braces"
            raise at.error(message, f"{path}.title") from None
        return Panel(letter, filled, tuple(curves))

    def _curves(
        self, name: str, path: str, panel: Mapping[str, Any], layers: list[Layer]
    ) -> list[Curve]:
        # The curve, or one for each value of what the panel names under `each`.
        content = self.curves[name]
        if panel.get("each") is None:
            return [self._curve(name, content, layers)]
        key, values = self._key_and_values(panel["each"], f"{path}.each")
        found = []
        for value in values:
            curve = self._curve(name, content, self._swept(key, value, layers, f"{path}.each"))
            told = f"({key.split('.')[-1]}={value:g})"
            label, legend = f"{curve.label} {told}", f"{curve.legend} {told}"
            found.append(replace(curve, label=label, legend=legend))
        return found

    def _curve(self, name: str, content: Any, layers: list[Layer]) -> Curve:
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
        swept = [layers]
        if self.sweep is not None:
            swept = [self._swept(*each, layers, "figure.sweep") for each in self.sweep]
        label = at.text(curve.get("label") or label, f"{path}.label")
        sources = tuple(read(path, curve, each) for each in swept)
        return Curve(
            name=name,
            label=label,
            legend=self._legend(label, sources[0]),
            style=algorithm or "bound",
            x=None if self.sweep is None else tuple(float(value) for _, value in self.sweep),
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
            seed=self.at.checked(parameters.Seed, self.plain["seed"], "seed"),
        )

    def _bound(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Bound:
        self.at.keys(curve, CURVE_KEYS, path, ())
        function = theory.function(self.at.choice(curve["bound"], theory.names(), f"{path}.bound"))
        _, params, horizon = self._game(layers)
        epsilon, where = self._find("epsilon", layers)
        if epsilon is not None:
            epsilon = self.at.checked(parameters.Positive, epsilon, where)
        arguments = {**params._asdict(), "horizon": horizon, "epsilon": epsilon}
        accepted = inspect.signature(function).parameters
        for name in accepted:
            if arguments.get(name) is None:
                raise self.at.error(f"{path} needs {name}", path)
        return Bound(curve["bound"], tuple((name, arguments[name]) for name in accepted))

    # Values that a panel, a curve or a sweep may change

    def _find(self, key: str, layers: list[Layer]) -> tuple[Any, str]:
        # The innermost value of a key and its path; (None, "") where there is none.
        for path, mapping in layers:
            if mapping.get(key) is not None:
                return mapping[key], f"{path}.{key}"
        return None, ""

    def _swept(self, key: str, value: Any, layers: list[Layer], where: str) -> list[Layer]:
        # The layers below one that holds the swept key alone, here `environment.means.arms`.
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
            scale = self.plain["profile"]["horizon_scale"]
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
