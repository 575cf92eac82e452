"""Installed plugins: packages that register members by entry points.

A package of the groups dpbandits.algorithms, dpbandits.environments or dpbandits.stopping names the
module of a member, as in `my-ucb = "my_plugin.policies.my_ucb"`.
"""

import importlib.util
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

from dpbandits.core.own_project import Invalid

GROUPS = ("algorithms", "environments", "stopping")


class Plugin(NamedTuple):
    """Member that an installed package registers."""

    group: str  # one of GROUPS
    name: str
    package: str  # top-level package
    folder: Path  # of that package
    path: str  # of the member's source, below the folder


def find() -> tuple[Plugin, ...]:
    """Return the members that installed packages register, in the order of group and name.

    Raises Invalid for an entry point whose module has no source in its package.
    """
    points = {(group, p.name, p.value) for group in GROUPS for p in _entries(group)}
    return tuple(_plugin(*point) for point in sorted(points))


def _entries(group: str) -> list[importlib.metadata.EntryPoint]:
    return list(entry_points(group=f"dpbandits.{group}"))


def _plugin(group: str, name: str, module: str) -> Plugin:
    package, *parts = module.split(".")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        path = "/".join(parts) + ".py"
        if (Path(place) / path).is_file():
            return Plugin(group, name, package, Path(place), path)
    raise Invalid(
        f"the plugin {name!r} (entry point dpbandits.{group}) names the module {module}, of which"
        " no source is installed: install its package again or remove it"
    )
