"""Environments of the configuration: a name of conf/environment/ or a mapping, made an instance."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbandits import parameters, project, registry
from dpbandits.errors import UserError, nearest, shown
from dpbandits.origin import Origins, leaves


@dataclass(frozen=True)
class Described:
    """What the configuration says of an environment, and where."""

    content: dict[str, Any]
    origin: str

    def paths(self) -> list[str]:
        """The dotted paths of the numbers that it gives, as `means.arms`."""
        return [path for path, value in leaves(self.content) if isinstance(value, int | float)]

    def changed(self, key: str, value: Any, origin: str | None) -> "Described":
        """The same with one of its keys changed; an origin says that the place is another."""
        content = copy.deepcopy(self.content)
        node = content
        *path, last = key.split(".")
        for part in path:
            node = node[part]
        node[last] = value
        return Described(content, origin or self.origin)


def describe(at: Origins, value: Any, path: str) -> Described:
    """The description that stands at a path: a mapping, or the name of a file."""
    if isinstance(value, Described):
        return value
    if isinstance(value, Mapping):
        return Described(dict(value), at.of(path))
    at.choice(value, project.names("environment"), path)
    file = project.member_file("environment", value)
    return Described(project.read_member("environment", value), file)


def instance(described: Described, figure: str) -> tuple[str, Any]:
    """The law's name and its parameters, checked."""
    content = copy.deepcopy(described.content)
    law = content.pop("law", None)
    if law not in registry.environment_names():
        what = "law is missing" if law is None else f"unknown law {shown(law)}"
        near = nearest(str(law), registry.environment_names())
        raise UserError(f"{figure}: {what} ({described.origin}); {near}")
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
