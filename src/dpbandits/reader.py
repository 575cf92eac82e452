"""The strict builder: from a figure's plain mapping to a FigureSpec.

A value is looked up in the curve, then in the panel, then in the figure. A key that nobody reads is
an error, and every error names the key, where it stands and the nearest valid key. Paths are those
of the command line, as `figure.curves.dp-se.epsilon`.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dpbandits import parameters, project, registry, statistics, theory
from dpbandits.cell import Cell, Grid
from dpbandits.errors import UserError, nearest
from dpbandits.spec import Bound, Curve, FigureSpec, Panel

SHARED = (
    "horizon",
    "epsilon",
    "environment",
)  # a panel overrides them, a curve overrides the panel
PANEL_KEYS = ("title", *SHARED)
CURVE_KEYS = ("algorithm", "bound", "label", *SHARED)
REQUIRED = (
    "paper",
    "title",
    "draw",
    "runs",
    "horizon",
    "environment",
    "checkpoints",
    "centre",
)
FIGURE_KEYS = (
    *REQUIRED,
    "epsilon",
    "spread",
    "slopes",
    "sweep",
    "curves",
    "panels",
    "profiles",
)

Layer = tuple[str, Mapping[str, Any]]  # the path of a mapping in the configuration, and the mapping


def checked(annotation: Any, value: Any, what: str, origin: str) -> Any:
    """The value as the annotated type; UserError `what must be ..., got ... (origin)`."""
    try:
        return parameters.coerce(annotation, value)
    except ValueError as error:
        raise UserError(f"{what} must be {error}, got {value!r} ({origin})") from None


def leaves(node: Any, path: str = "") -> Iterator[str]:
    """The dotted paths of all values of nested mappings."""
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, f"{path}.{name}" if path else str(name))
    else:
        yield path


class Reader:
    """Reads one figure of a composed configuration; `typed` are the keys of the command line."""

    def __init__(self, name: str, plain: Mapping[str, Any], typed: frozenset[str]) -> None:
        self.name = name
        self.figure = dict(plain["figure"])
        self.plain = plain
        self.typed = typed
        self.file = project.member_file("figure", name)
        self.unscaled: set[str] = set()  # horizons that the profile itself gives

    def read(self) -> FigureSpec:
        """The whole figure, checked."""
        self._known(self.figure, FIGURE_KEYS, "figure")
        self._apply_profile()
        figure = self.figure
        for key in REQUIRED:
            if figure.get(key) is None:
                raise self._error(f"figure.{key} is missing ({self.file})")
        self._check_sweep()
        if not figure.get("curves"):
            raise self._error(f"figure.curves is empty, there is nothing to draw ({self.file})")
        runs, runs_path = self.plain["runs"], "runs"
        if runs is None:
            runs, runs_path = figure["runs"], "figure.runs"
        panels = figure.get("panels") or {"a": {}}
        return FigureSpec(
            name=self.name,
            paper=self._text("paper"),
            title=self._text("title"),
            draw=self._text("draw"),
            runs=self._checked(parameters.Count, runs, runs_path),
            centre=self._choice("centre", statistics.CENTRES),
            spread=self._choice("spread", statistics.SPREADS),
            slopes=self._checked(bool, figure.get("slopes", False), "figure.slopes"),
            panels=tuple(self._panel(letter, panels[letter] or {}) for letter in panels),
        )

    # The figure as a whole

    def _apply_profile(self) -> None:
        profiles = self.figure.pop("profiles", None) or {}
        self._known(profiles, project.names("profile"), "figure.profiles")
        chosen = self.plain["profile"]["name"]

        def merge(below: dict[str, Any], over: Mapping[str, Any], path: str) -> None:
            self._known(over, below, f"figure.profiles.{chosen}{path.removeprefix('figure')}")
            for key, value in over.items():
                where = f"{path}.{key}"
                if isinstance(value, Mapping) and isinstance(below[key], Mapping):
                    below[key] = dict(below[key])
                    merge(below[key], value, where)
                elif not self._was_typed(where):  # what is typed beats the profile
                    below[key] = value
                    self.unscaled.add(where)

        merge(self.figure, profiles.get(chosen) or {}, "figure")

    def _check_sweep(self) -> None:
        sweep = self.figure.get("sweep")
        if sweep is None:
            return
        self._known(sweep, ("key", "values"), "figure.sweep")
        values = sweep.get("values")
        if not isinstance(values, list) or not values:
            origin = self._origin("figure.sweep.values")
            raise self._error(
                f"figure.sweep.values must be a list of numbers, got {values!r} ({origin})"
            )
        for value in values:
            self._checked(float, value, "figure.sweep.values")

    # Panels and curves

    def _panel(self, letter: str, panel: Mapping[str, Any]) -> Panel:
        path = f"figure.panels.{letter}"
        self._known(panel, PANEL_KEYS, path)
        layers: list[Layer] = [(path, panel), ("figure", self.figure)]
        shared = {key: self._find(key, layers)[0] for key in SHARED}
        try:
            title = str(panel.get("title", "")).format(**shared)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            raise self._error(
                f"{path}.title {panel['title']!r} cannot be filled in with the values of"
                f" {', '.join(SHARED)}: {error} ({self._origin(path)})"
            ) from None
        curves = self.figure["curves"]
        drawn = tuple(self._curve(name, curves[name] or {}, layers) for name in curves)
        return Panel(letter, title, drawn)

    def _curve(self, name: str, curve: Mapping[str, Any], layers: list[Layer]) -> Curve:
        path = f"figure.curves.{name}"
        algorithm, bound = curve.get("algorithm"), curve.get("bound")
        if (algorithm is None) == (bound is None):
            raise self._error(
                f"{path} must have either an algorithm (under defaults:"
                f" `- /algorithm@curves.{name}: <name>`) or a bound ({self.file})"
            )
        layers = [(path, curve), *layers]
        sweep = self.figure.get("sweep")
        if sweep is None:
            swept = [layers]
        else:
            swept = [self._swept(sweep["key"], value, layers) for value in sweep["values"]]
        read = self._cell if bound is None else self._bound
        return Curve(
            name=name,
            label=str(curve.get("label") or bound or registry.algorithm(str(algorithm)).LABEL),
            style=algorithm or "bound",
            x=None if sweep is None else tuple(float(value) for value in sweep["values"]),
            sources=tuple(read(path, curve, each) for each in swept),
        )

    def _cell(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Cell:
        law, instance = self._environment(layers)
        horizon = self._horizon(layers, registry.environment(law).arms(instance))
        algorithm = registry.algorithm(curve["algorithm"])
        known = parameters.fields(algorithm.Params)
        self._known(curve, (*CURVE_KEYS, *known), path)
        values, paths = {}, {}
        for field in known:
            value, where = (horizon, "") if field == "horizon" else self._find(field, layers)
            if value is not None:
                values[field] = value
            paths[field] = where or f"{path}.{field}"
        return Cell(
            algorithm=curve["algorithm"],
            params=parameters.build(
                algorithm.Params,
                values,
                curve["algorithm"],
                lambda f: self._origin(paths[f]),
            ),
            environment=law,
            instance=instance,
            horizon=horizon,
            grid=Grid(self._choice("checkpoints", [grid.value for grid in Grid])),
            seed=self._checked(parameters.Seed, self.plain["seed"], "seed"),
        )

    def _bound(self, path: str, curve: Mapping[str, Any], layers: list[Layer]) -> Bound:
        self._known(curve, CURVE_KEYS, path)
        law, instance = self._environment(layers)
        horizon = self._horizon(layers, registry.environment(law).arms(instance))
        try:
            function = theory.function(curve["bound"])
        except UserError as error:
            raise self._error(f"{error} ({self._origin(f'{path}.bound')})") from None
        epsilon, where = self._find("epsilon", layers)
        if epsilon is not None:
            epsilon = self._checked(parameters.Positive, epsilon, where)
        arguments = {**instance._asdict(), "horizon": horizon, "epsilon": epsilon}
        accepted = inspect.signature(function).parameters
        for name in accepted:
            if arguments.get(name) is None:
                raise self._error(f"{path} needs {name} ({self._origin(path)})")
        return Bound(curve["bound"], tuple((name, arguments[name]) for name in accepted))

    # Values that a panel, a curve or a sweep may change

    def _find(self, key: str, layers: list[Layer]) -> tuple[Any, str]:
        # The innermost value of a key and its path; (None, "") where there is none.
        for path, mapping in layers:
            if mapping.get(key) is not None:
                return mapping[key], f"{path}.{key}"
        return None, ""

    def _swept(self, key: str, value: Any, layers: list[Layer]) -> list[Layer]:
        # The layers below one that holds the swept key alone, here `environment.means.arms`.
        origin = self._origin("figure.sweep.key")
        first, *rest = str(key).split(".")
        if first not in SHARED:
            near = nearest(first, SHARED)
            raise self._error(f"unknown figure.sweep.key '{key}' ({origin}); {near}")
        if not rest:
            return [("figure.sweep.values", {first: value}), *layers]
        inner, _ = self._environment_mapping(layers)
        if ".".join(rest) not in (known := list(leaves(inner))):
            near = nearest(key, [f"{first}.{leaf}" for leaf in known])
            raise self._error(f"unknown figure.sweep.key '{key}' ({origin}); {near}")
        node = inner
        for part in rest[:-1]:
            node = node[part]
        node[rest[-1]] = value
        return [("figure.sweep.values", {first: inner}), *layers]

    def _horizon(self, layers: list[Layer], arms: int) -> int:
        value, path = self._find("horizon", layers)
        horizon: int = self._checked(parameters.Rounds, value, path)
        swept = path.startswith("figure.sweep")
        if not (self._was_typed(path) or path in self.unscaled or swept):
            scale = self.plain["profile"]["horizon_scale"]
            horizon = round(horizon * self._checked(parameters.Positive, scale, "profile"))
        if horizon < arms:
            raise self._error(
                f"horizon must be at least {arms}, the number of arms, got {horizon}"
                f" ({self._origin(path)})"
            )
        return horizon

    def _environment_mapping(self, layers: list[Layer]) -> tuple[dict[str, Any], str]:
        # A mapping that describes the environment, to be changed freely, and where it stands.
        value, path = self._find("environment", layers)
        if isinstance(value, Mapping):
            return {k: dict(v) if isinstance(v, Mapping) else v for k, v in value.items()}, path
        known = project.names("environment")
        if value not in known:
            near = nearest(str(value), known)
            raise self._error(f"unknown environment {value!r} ({self._origin(path)}); {near}")
        return project.read_member("environment", value), project.member_file("environment", value)

    def _environment(self, layers: list[Layer]) -> tuple[str, Any]:
        mapping, path = self._environment_mapping(layers)
        origin = path if path.startswith("conf/") else self._origin(path)
        law = mapping.pop("law", None)
        if law not in registry.environment_names():
            near = nearest(str(law), registry.environment_names())
            raise self._error(f"unknown law {law!r} ({origin}); {near}")
        if isinstance(mapping.get("means"), Mapping):
            mapping["means"] = self._equal_steps(mapping["means"], origin)
        params = registry.environment(law).Params
        return law, parameters.build(params, mapping, law, lambda field: origin)

    def _equal_steps(self, steps: Mapping[str, Any], origin: str) -> list[float]:
        if set(steps) != {"first", "last", "arms"}:
            got = ", ".join(steps)
            raise self._error(f"means needs first, last and arms, got {got} ({origin})")
        arms = checked(parameters.Arms, steps["arms"], f"{self.name}: arms", origin)
        ends = [checked(float, steps[k], f"{self.name}: {k}", origin) for k in ("first", "last")]
        return [float(mean) for mean in np.linspace(ends[0], ends[1], arms)]

    # Checks and the places of values

    def _checked(self, annotation: Any, value: Any, path: str) -> Any:
        what = f"{self.name}: {path.rsplit('.', 1)[-1]}"
        return checked(annotation, value, what, self._origin(path))

    def _text(self, key: str) -> str:
        value = self.figure[key]
        if not isinstance(value, str):
            raise self._error(f"figure.{key} must be a text, got {value!r} ({self.file})")
        return value

    def _choice(self, key: str, choices: Iterable[str]) -> str:
        value = str(self.figure.get(key, "none"))
        if value not in choices:
            origin = self._origin(f"figure.{key}")
            raise self._error(f"unknown {key} '{value}' ({origin}); {nearest(value, choices)}")
        return value

    def _known(self, mapping: Mapping[str, Any], valid: Iterable[str], path: str) -> None:
        for name in mapping:
            if name not in valid:
                where = f"{path}.{name}"
                near = nearest(str(name), valid)
                raise self._error(f"unknown key '{where}' ({self._origin(where)}); {near}")

    def _error(self, message: str) -> UserError:
        return UserError(f"{self.name}: {message}")

    def _was_typed(self, path: str) -> bool:
        return any(path == key or path.startswith(f"{key}.") for key in self.typed)

    def _origin(self, path: str) -> str:
        if self._was_typed(path):
            return "command line"
        first, *rest = path.split(".")
        if first != "figure":
            return "conf/config.yaml, conf/profile/ or conf/engine/"
        if rest[0] == "curves" and len(rest) > 2:
            # A curve's value stands in the figure's own file, or else in the algorithm's.
            own = project.read_member("figure", self.name).get("curves", {}).get(rest[1]) or {}
            algorithm = self.figure["curves"][rest[1]].get("algorithm")
            if rest[2] not in own and algorithm in project.names("algorithm"):
                return project.member_file("algorithm", algorithm)
        return self.file
