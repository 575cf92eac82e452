"""Instances: a law with its parameters, from a description, and their names in texts."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpbandits.config import conf_files
from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

FEW = 10  # means that a description lists at most


class Steps(NamedTuple):
    """Means in equal steps."""

    first: float
    last: float
    arms: parameters.Arms


def instance(description: Mapping[str, Any], origin: str, figure: str) -> tuple[str, Any]:
    """Return the name of the law and its parameters.

    The description is that of a file in conf/environment/; means in equal steps are written
    `means: {first: 0.75, last: 0.25, arms: 5}`. Raises UserError, with the origin, if it is
    invalid.
    """
    content = {key: value for key, value in description.items() if key not in ("name", "law")}
    law = description.get("law")
    if law not in registry.environment_names():
        near = nearest(str(law), registry.environment_names())
        raise UserError(f"{figure}: unknown law {shown(law)} ({origin}); {near}")
    if isinstance(content.get("means"), Mapping):
        steps = parameters.build(Steps, content["means"], f"{law}: means", lambda field: origin)
        content["means"] = np.linspace(*steps).tolist()
    params = registry.environment(law).Params
    return law, parameters.build(params, content, law, lambda field: origin)


def name(law: str, params: Any) -> str:
    """Return the papers' name of an instance, which is `name` in its file of conf/environment/.

    If no file names it, return its law and number of arms.
    """
    arms, kind = registry.environment(law).arms(params), getattr(params, "kind", None)
    unnamed = law.replace("-", " ").capitalize()
    if kind is not None:
        unnamed = f"{parameters.reading_name(kind)} adversary"
    return _names(project.layers()).get((law, params), f"{unnamed}, K = {arms}")


def description(law: str, params: Any) -> str:
    """Return the text for an instance: its name, if a file has one, else its arms and its law.

    Without a law, `params` are means of arms of which only these matter.
    """
    if not law:
        for (named, instance), text in _names(project.layers()).items():
            if named == "bernoulli" and tuple(instance.means) == tuple(params):
                return text
        return f"K = {len(params)}, means {_numbers(params)}"
    fields, usual = parameters.plain(params), type(params)._field_defaults
    others = [f"{k}={v}" for k, v in fields.items() if getattr(params, k) != usual.get(k)]
    text = f"law {law}"
    if "means" in fields:
        text = f"{law.replace('-', ' ').capitalize()} arms of means {_numbers(fields['means'])}"
    elif "kind" in fields:
        text = f"gains of the {fields['kind']} adversary"
    more = [other for other in others if not other.startswith(("arms=", "means=", "kind="))]
    arms = f"K = {registry.environment(law).arms(params)}"
    return _names(project.layers()).get((law, params), ", ".join([arms, text, *more]))


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
