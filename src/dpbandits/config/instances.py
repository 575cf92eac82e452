"""Instances: a law with its parameters, from a description, and their names in texts."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.config import conf_files
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

FEW = 10  # means that a description lists at most


def instance(description: Mapping[str, Any], origin: str, figure: str) -> tuple[str, Any]:
    """Return the name of the law and its parameters.

    The description is that of a file in conf/environment/; means in equal steps are written
    `means: {first: 0.75, last: 0.25, arms: 5}`. Raises UserError, with the origin, if it is
    invalid.
    """
    content = {key: value for key, value in description.items() if key not in ("name", "law")}
    law, steps = description.get("law"), content.get("means")
    if law not in registry.environment_names():
        near = nearest(str(law), registry.environment_names())
        raise UserError(f"{figure}: unknown law {shown(law)} ({origin}); {near}")
    if isinstance(steps, Mapping):
        kinds = {"first": float, "last": float, "arms": parameters.Arms}
        if set(steps) != set(kinds):
            got = ", ".join(map(str, steps))
            raise UserError(f"{figure}: means needs first, last and arms, got {got} ({origin})")
        try:
            first, last, arms = (parameters.coerce(kinds[key], steps[key]) for key in kinds)
        except ValueError as error:
            raise UserError(
                f"{figure}: first, last and arms must be numbers, arms {error}, got"
                f" {shown(dict(steps))} ({origin})"
            ) from None
        content["means"] = np.linspace(first, last, arms).tolist()
    params = registry.environment(law).Params
    return law, parameters.build(params, content, law, lambda field: origin)


def name(law: str, params: Any) -> str:
    """Return the papers' name of an instance, which is `name` in its file of conf/environment/.

    If no file names it, return its law and number of arms.
    """
    if found := _names(project.layers()).get((law, params)):
        return found
    arms = registry.environment(law).arms(params)
    if kind := getattr(params, "kind", None):
        return f"{parameters.reading_name(kind)} adversary, K = {arms}"
    return f"{law.replace('-', ' ').capitalize()}, K = {arms}"


def description(law: str, params: Any) -> str:
    """Return the text for an instance: its name, if a file has one, else its arms and its law."""
    if found := _names(project.layers()).get((law, params)):
        return found
    arms, fields = registry.environment(law).arms(params), parameters.plain(params)
    fields.pop("arms", None)
    if "means" in fields:
        means = _numbers(fields.pop("means"))
        text = f"K = {arms}, {law.replace('-', ' ').capitalize()} arms of means {means}"
    elif "kind" in fields:
        text = f"K = {arms}, gains of the {fields.pop('kind')} adversary"
    else:
        text = f"K = {arms}, law {law}"
    usual = type(params)._field_defaults
    others = [f"{k}={v}" for k, v in fields.items() if getattr(params, k) != usual.get(k)]
    return ", ".join([text, *others])


def description_of_means(means: Sequence[float]) -> str:
    """Return the text for arms of which only the means matter."""
    for (law, params), found in _names(project.layers()).items():
        if law == "bernoulli" and tuple(params.means) == tuple(means):
            return found
    return f"K = {len(means)}, means {_numbers(means)}"


@cache
def _names(layers: tuple[Path, ...]) -> Mapping[tuple[str, Any], str]:
    # A name belongs to the instance, in whatever form a command gives it. A file with a mistake
    # gives none: the mistake is reported where the file is used.
    names: dict[tuple[str, Any], str] = {}
    for member in project.names("environment"):
        with suppress(UserError):
            content = conf_files.read_member("environment", member)
            if isinstance(content.get("name"), str):
                names[instance(content, member, member)] = content["name"]
    return names


def _numbers(values: Sequence[float]) -> str:
    # A few values in full; of more in equal steps the ends, otherwise the first two and the last.
    if len(values) <= FEW:
        return ", ".join(f"{value:g}" for value in values)
    if np.allclose(np.diff(values), values[1] - values[0], rtol=1e-6, atol=0):
        return f"in equal steps from {values[0]:g} to {values[-1]:g}"
    return f"{values[0]:g}, {values[1]:g}, ..., {values[-1]:g}"
