"""Algorithms as arguments: by name, with parameters, or defined in this process."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dpbandits.config.described import curve_of
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.run.in_memory import Definition

# Keys that the game sets; a parameter `horizon` is the horizon of the game.
OF_GAME = ("horizon", "environment", "stream", "plays")


class NoParameters(NamedTuple):
    """Params of an algorithm of this process that defines none."""


@dataclass(frozen=True)
class Player:
    """Algorithm with parameters, as a curve of a figure."""

    name: str  # of the curve
    curve: Mapping[str, Any]  # content that a figure's file would have
    member: str = ""  # file in conf/algorithm/ that it comes from
    settings: Mapping[str, Any] = field(default_factory=dict)  # parameters that the user set
    definition: Definition | None = None  # of an algorithm of this process
    variant_of: str = ""  # its name without parameters, if it plays with several settings

    @property
    def params(self) -> type:
        """Class of its parameters."""
        if self.definition is not None:
            return self.definition.params
        cls: type = registry.algorithm(self.curve["algorithm"]).Params
        return cls

    @property
    def label(self) -> str:
        """Its name in the papers."""
        if self.definition is not None:
            return self.definition.label
        return str(self.curve.get("label") or registry.algorithm(self.curve["algorithm"]).LABEL)

    @property
    def fields(self) -> dict[str, Any]:
        """Fields of its parameters, with their annotations."""
        return parameters.fields(self.params)


def player(algorithm: Any, settings: Mapping[str, Any]) -> Player:
    """Return an algorithm with parameters.

    `algorithm` is a name or an object that defines one. Raises UserError for an unknown name, for
    an object without `play`, and for a parameter that the algorithm does not have.
    """
    settings = {name: plain(value) for name, value in settings.items()}
    if isinstance(algorithm, str):
        curve, is_member = curve_of(algorithm)
        made = Player(algorithm, {**curve, **settings}, algorithm if is_member else "", settings)
    else:
        definition = definition_of(algorithm)
        name = re.sub(r"[^a-z0-9]+", "-", definition.label.lower()).strip("-") or "algorithm"
        if name in registry.algorithm_names():
            name += "-in-memory"  # what is known of the registered one is not known of this one
        curve = {"algorithm": "uniform", "label": definition.label}  # replaced once it is read
        made = Player(name, curve, "", settings, definition)
    known = [name for name in made.fields if name not in OF_GAME]
    for name in settings:
        if name == "horizon":
            raise UserError(f"{made.name}: horizon is that of the game, not a parameter")
        if name not in known:
            problem = f"{made.name} has no parameter {shown(name)}"
            raise UserError(f"{problem}; {nearest(name, known)}")
    return made


def definition_of(algorithm: Any) -> Definition:
    """Return the algorithm that an object defines: a function, a class, a module or a namespace.

    A function is the `play` of an algorithm without parameters. Any other object has `play` and, if
    needed, `LABEL`, `Params`, `releases` and `claim`, as a file in algorithms/ has. Raises
    UserError if it has no `play`, or if its Params are no NamedTuple.
    """
    is_function = inspect.isfunction(algorithm) or hasattr(algorithm, "py_func")
    play = algorithm if is_function else getattr(algorithm, "play", None)
    label = getattr(algorithm, "LABEL", None) or getattr(algorithm, "__name__", None)
    label = str(label or type(algorithm).__name__)
    if not callable(play):
        raise UserError(
            f"{shown(algorithm)} is no algorithm: give a name, or an object with a function"
            " play(params, bandit, rng)"
        )
    params = getattr(algorithm, "Params", NoParameters)
    if not (isinstance(params, type) and issubclass(params, tuple) and hasattr(params, "_fields")):
        raise UserError(f"{label}: Params must be a class derived from typing.NamedTuple")
    return Definition(
        label,
        params,
        play,
        getattr(algorithm, "releases", None),
        getattr(algorithm, "claim", None),
    )


def plain(value: Any) -> Any:
    """Return an argument as a configuration would hold it: numbers, texts, lists, mappings."""
    if isinstance(value, IntEnum):
        return parameters.reading_name(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
