"""Keys of the sections of a configuration with their types, and the check of a section.

Paths are those of the command line, for example `figure.curves.dp-se.epsilon`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any, get_args

import msgspec

from dpbandits.experiments import kinds
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.kinds import Kind
from dpbandits.kernel import parameters
from dpbandits.kernel.errors import Located, UserError, nearest, shown
from dpbandits.kernel.parameters import Count
from dpbandits.spec.figure import FORMATS
from dpbandits.tables import statistics

Keys = dict[Any, Any]
Kinds = dict[str, Any]  # key: a type of msgspec or of kernel.parameters, or the list of valid names
WORDS = {"str": "a text", "bool": "true or false", "array": "a list", "object": "keys and values"}
EMPTY = (str, bool)
NAME = r"^\w[\w.-]*$"  # of a file, which therefore stays in its folder
ADDRESS = r"^(tcp|tls|ws|wss)://([\w.-]+|\[[\da-fA-F:]+\]):[1-9]\d{0,4}$"

FOLDERS: Kinds = dict.fromkeys(("cache", "out"), Annotated[str, msgspec.Meta(pattern=r"\S")])
PATHS: Kinds = {**FOLDERS, "jobs": bool}
ENGINE: Kinds = {
    "block": Count,
    "workers": parameters.Workers,
    "scheduler": Annotated[str, msgspec.Meta(pattern=ADDRESS)],
}
PROFILE: Kinds = {"name": str, "horizon_scale": parameters.Positive}
TOP: Kinds = {
    "seed": parameters.Seed,
    "runs": Count,
    **dict.fromkeys(("figure", "paths", "engine", "profile"), Keys),
}
SHARED: Kinds = {  # of a figure, a panel and a curve; the innermost one holds
    "epsilon": parameters.Budget,
    "delta": parameters.Delta,
    "environment": str | Keys,
}
PUBLISHED = "published"  # checkpoints at the rounds of the points that a panel draws
CHECKPOINTS = [*(grid.value for grid in Grid), PUBLISHED]  # or a list of rounds
# A higher one needs more than the 24 groups that a median of means has.
IS_LEVEL = parameters.Constraint(lambda x: 0.5 <= x <= 0.9999, "from 0.5 to 0.9999")
LEVEL = Annotated[float, IS_LEVEL]
REQUIRED = ("paper", "title", "draw", "runs", "centre")
FIGURE: Kinds = {
    "paper": Annotated[str, msgspec.Meta(pattern=NAME)],
    **dict.fromkeys(("title", "draw", "note", "about"), str),
    **dict.fromkeys(("sweep", "curves", "panels", "profiles", "original"), Keys),
    "notions": dict[str, list[str]],
    **dict.fromkeys(("slopes", "input_privacy", "annotated"), bool),
    "runs": Count,
    "centre": [*statistics.CENTRES],
    "spread": [*statistics.SPREAD_NAMES],
    "level": LEVEL,
    "checkpoints": Any,
    "width": Any,
    "font_size": parameters.Positive,
    "untitled": bool,
    "legend": ["below", "right", "none"],
    **{axis: ["linear", "log"] for axis in ("x_axis", "y_axis")},
    "format": [*FORMATS],
    "style": Annotated[str, msgspec.Meta(min_length=1)],
    **SHARED,
}
PANEL: Kinds = {
    **dict.fromkeys(("title", "row", "column", "against"), str),
    **dict.fromkeys(("parameters", "each", "sweep"), Keys),
    "curves": list[str],
    "shows": str,
    "checkpoints": Any,
    "published": int | str,  # figure of the paper, or its part
    **SHARED,
}
CURVE: Kinds = {
    **dict.fromkeys(("label", "legend", "variant"), str),
    "share": Any,  # inside (0, 1), or composed
    "runs": Count,
    "colour": str,
    "marker": ["o", "s", "^", "v", "<", ">", "D", "d", "p", "P", "*", "h", "x", "+", "|", ""],
    "line": ["-", "--", "-.", ":", ""],
    "annotation": bool,
    **SHARED,
    "epsilon": Any,  # or from-rho
}
RENAMED = {"reading": "variant"}  # keys of version 1.0
VALUES: Kinds = {"key": str, "values": list[Any] | Keys, "fit": tuple[float, float]}
STEPS: Kinds = {"first": float, "last": float, "number": Count}
ORIGINAL: Kinds = {"figure": Count, "table": Count, "part": str}


def keys_of(place: str, of: Iterable[Kind]) -> Kinds:
    """Return the keys of kinds in a place: figure, panel or curve."""
    keys = {name: (key, kind) for kind in of for name, key in kind.keys.items()}
    for name in keys.keys() & {*FIGURE, *PANEL, *CURVE}:
        raise UserError(f"the kind {keys[name][1].name} has a key '{name}', which all figures have")
    return {name: key.type for name, (key, _) in keys.items() if place in key.places}


def keys_in(section: str) -> Kinds:
    """Return the keys of every kind in a section: figure, panels or curves."""
    sections = {"figure": FIGURE, "panels": PANEL, "curves": CURVE}
    if section not in sections:
        return {}
    every = kinds.every()
    members = dict.fromkeys([kind.key for kind in every] * (section == "curves"), str)
    return sections[section] | members | keys_of(section.removesuffix("s"), every)


@dataclass(frozen=True)
class Composed:
    """Composed configuration, with the file, or `command line`, that sets each value.

    Its methods raise UserError in one line: figure, path, what is wrong, origin.
    """

    figure: str
    content: Mapping[str, Any]
    origin: Callable[[str], str]  # of the value at a path
    overrides: frozenset[str] = frozenset()  # keys of the command line

    def is_overridden(self, path: str) -> bool:
        """Return whether the command line sets the value, or a mapping around it."""
        return any(path == key or path.startswith(f"{key}.") for key in self.overrides)

    def error(self, path: str, problem: str) -> Located:
        """Return the error `<figure>: <path> <problem> (<origin>)`."""
        return Located(
            f"{self.figure}: {path} {problem} ({self.origin(path)})".replace(" : ", ": ")
        )

    def unknown(self, kind: str, name: object, valid: Iterable[str], path: str) -> Located:
        """Return the error for a name that is not valid, with the nearest valid ones."""
        where = f"{self.figure}: unknown {kind} {shown(name)} ({self.origin(path)})"
        near = str(name).rpartition(".")[2] if kind == "key" else str(name)
        return Located(f"{where}; {nearest(near, valid)}")

    def checked(self, kind: Any, value: Any, path: str) -> Any:
        """Return the value as a type of msgspec or of kernel.parameters, or as a valid name."""
        if isinstance(kind, list):
            if value not in kind:
                raise self.unknown(path.rpartition(".")[2], value, kind, path)
            return str(value)
        try:
            is_variant = isinstance(kind, type) and issubclass(kind, IntEnum)
            constrained = any(isinstance(part, parameters.Constraint) for part in get_args(kind))
            if is_variant or constrained or kind in (bool, int, float, tuple[float, ...]):
                return parameters.coerce(kind, value)
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            expected = str(error).partition(", got ")[0].replace("Expected", "must be")
            for name, text in WORDS.items():
                expected = expected.replace(f"`{name}`", text)
            raise self.error(path, f"{expected}, got {shown(value)}") from None
        except ValueError as error:
            raise self.error(path, f"must be {error}, got {shown(value)}") from None

    def section(
        self, valid: Kinds, content: Any, path: str, required: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return the checked values of all keys of a section; those that it lacks are empty.

        An empty text is "", an empty switch is False, every other empty value is None.
        """
        if content is not None and not isinstance(content, Mapping):
            raise self.error(path, f"must hold keys and values, got {shown(content)}")
        values: dict[str, Any] = {k: kind() if kind in EMPTY else None for k, kind in valid.items()}
        for key, value in (content or {}).items():
            where = f"{path}.{key}".lstrip(".")
            if key not in valid:
                places = {
                    kind.name: kind.keys[key].places for kind in kinds.every() if key in kind.keys
                }
                if places and re.fullmatch(r"figure|figure\.(panels|curves)\.[^.]+", path):
                    owners = (f"{name} (of a {' or '.join(of)})" for name, of in places.items())
                    problem = f"is a key of the kind {', '.join(owners)}, not of what is here"
                    raise self.error(where, f"{problem}; {nearest(key, valid)}")
                if RENAMED.get(key) in valid:
                    raise self.error(where, f"is now called {RENAMED[key]}")
                raise self.unknown("key", where, valid, where)
            if value is not None:
                values[key] = self.checked(valid[key], value, where)
        for key in required:
            if (content or {}).get(key) is None:
                raise self.error(f"{path}.{key}".lstrip("."), "is missing")
        return values
