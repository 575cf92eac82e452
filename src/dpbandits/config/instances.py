"""Environments of the configuration: from a name in conf/environment/ or a mapping to an instance.

An instance is the name of a law with its parameters.
"""

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.config import conf_files
from dpbandits.config.origins import Origins, leaves
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

FEW = 10  # means that a description lists at most


@dataclass(frozen=True)
class Described:
    """Description of an environment in the configuration, and the place that it comes from."""

    content: Mapping[str, Any]
    origin: str

    def paths(self) -> list[str]:
        """Return the dotted paths of the numbers in the description, for example `means.arms`."""
        return [path for path, value in leaves(self.content) if isinstance(value, int | float)]

    def changed(self, key: str, value: Any, origin: str | None) -> "Described":
        """Return a copy with one key changed, and with the new origin unless that is None."""
        content = copy.deepcopy(dict(self.content))
        node = content
        *path, last = key.split(".")
        for part in path:
            node = node[part]
        node[last] = value
        return Described(content, origin or self.origin)


def describe(origins: Origins, value: Any, path: str) -> Described:
    """Return the description for the value at a path: a mapping, or the name of a file.

    Raises UserError for an unknown name.
    """
    if isinstance(value, Described):
        return value
    if isinstance(value, Mapping):
        return Described(dict(value), origins.of(path))
    origins.choice(value, project.names("environment"), path)
    file = project.member_file("environment", value)
    return Described(conf_files.read_member("environment", value), file)


def instance(described: Described, figure: str) -> tuple[str, Any]:
    """Return the name of the law and its parameters. Raises UserError if either is invalid."""
    content = copy.deepcopy(dict(described.content))
    content.pop("name", None)
    law = content.pop("law", None)
    if law not in registry.environment_names():
        problem = "law is missing" if law is None else f"unknown law {shown(law)}"
        near = nearest(str(law), registry.environment_names())
        raise UserError(f"{figure}: {problem} ({described.origin}); {near}")
    if isinstance(content.get("means"), Mapping):
        content["means"] = _equal_steps(content["means"], described, figure)
    params = registry.environment(law).Params
    return law, parameters.build(params, content, law, lambda field: described.origin)


def _equal_steps(steps: Mapping[str, Any], described: Described, figure: str) -> list[float]:
    # `means: {first: 0.75, last: 0.25, arms: 5}`
    kinds = {"first": float, "last": float, "arms": parameters.Arms}
    if set(steps) != set(kinds):
        got = ", ".join(map(str, steps))
        raise UserError(
            f"{figure}: means needs first, last and arms, got {got} ({described.origin})"
        )
    for name, kind in kinds.items():
        try:
            parameters.coerce(kind, steps[name])
        except ValueError as error:
            raise UserError(
                f"{figure}: {name} must be {error}, got {shown(steps[name])} ({described.origin})"
            ) from None
    return [float(mean) for mean in np.linspace(steps["first"], steps["last"], int(steps["arms"]))]


def name(law: str, params: Any) -> str:
    """Return the papers' name of an instance, which is `name` in its file of conf/environment/.

    If no file names it, return its law and number of arms.
    """
    return _names(project.layers()).get((law, params)) or _unnamed(law, params)


def description(law: str, params: Any) -> str:
    """Return the text for an instance: its name, if a file has one, else its arms and its law."""
    return _names(project.layers()).get((law, params)) or _of_law(law, params)


def description_of_means(means: Sequence[float]) -> str:
    """Return the text for arms of which only the means matter."""
    named = {
        tuple(p.means): n for (law, p), n in _names(project.layers()).items() if law == "bernoulli"
    }
    return named.get(tuple(means)) or f"K = {len(means)}, means {_numbers(means)}"


@cache
def _names(layers: tuple[Path, ...]) -> Mapping[tuple[str, Any], str]:
    # By law and parameters: a name belongs to the instance, in whatever form a command gives it.
    names: dict[tuple[str, Any], str] = {}
    for member in project.names("environment"):
        # A file with a mistake gives no name. The mistake is reported where the file is used.
        with suppress(UserError):
            content = conf_files.read_member("environment", member)
            if isinstance(name := content.get("name"), str):
                file = project.member_file("environment", member)
                names[instance(Described(content, file), member)] = name
    return names


def _unnamed(law: str, params: Any) -> str:
    arms = registry.environment(law).arms(params)
    if kind := getattr(params, "kind", None):
        return f"{parameters.reading_name(kind)} adversary, K = {arms}"
    return f"{law.replace('-', ' ').capitalize()}, K = {arms}"


def _of_law(law: str, params: Any) -> str:
    arms, fields = registry.environment(law).arms(params), parameters.plain(params)
    if "means" in fields:
        means = _numbers(fields.pop("means"))
        text = f"K = {arms}, {law.replace('-', ' ').capitalize()} arms of means {means}"
    elif "kind" in fields:
        text = f"K = {arms}, gains of the {fields.pop('kind')} adversary"
    else:
        text = f"K = {arms}, law {law}"
    defaults = type(params)._field_defaults
    others = [
        f"{field}={value}"
        for field, value in fields.items()
        if field != "arms" and getattr(params, field) != defaults.get(field)
    ]
    return ", ".join([text, *others])


def _numbers(values: Sequence[float]) -> str:
    # Lists a few values in full. Of more values in equal steps it lists the ends, otherwise the
    # first two and the last.
    if len(values) <= FEW:
        return ", ".join(f"{value:g}" for value in values)
    steps = np.diff(values)
    if np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return f"in equal steps from {values[0]:g} to {values[-1]:g}"
    return f"{values[0]:g}, {values[1]:g}, ..., {values[-1]:g}"
