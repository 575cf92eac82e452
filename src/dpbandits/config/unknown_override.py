"""Message for an override whose key is not in the configuration."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.errors import HydraException

from dpbandits.config import hydra_config
from dpbandits.config.origins import beaten_by, leaves
from dpbandits.config.overrides import GROUPS
from dpbandits.config.readers.figure import FIGURE_KEYS
from dpbandits.config.readers.panel import PANEL_KEYS
from dpbandits.config.readers.source import CURVE_KEYS
from dpbandits.core import parameters
from dpbandits.core.errors import nearest, shown


def unknown_override(key: str, overrides: Sequence[str]) -> str:
    """Return the message for a key that Hydra cannot override or delete.

    The valid keys are those of the same command with its choices of groups alone.
    """
    choices = [o for o in overrides if o.partition("=")[0] in ("figure", *GROUPS)]
    message = f"unknown key {shown(key)} (command line)"
    if key.startswith("algorithm@"):
        value = next((o.partition("=")[2] for o in overrides if o.startswith(f"{key}=")), "<name>")
        return f"{shown(key)} is not a curve yet (command line): +{key}={value} adds it"
    if key == "engine.scheduler":
        return f"{message}: only engine=dask has a scheduler"
    if any(re.match(r"figure=.*[,(]", choice) for choice in choices):
        return f"{message}: for several figures at once write ++{key}=<value>"
    try:
        config = hydra_config.unresolved(hydra_config.compose(choices))
    except HydraException:
        return f"{message}; are the defaults of conf/config.yaml whole?"
    return _in_configuration(key, config, message, overrides)


def _in_configuration(
    key: str, config: Mapping[str, Any], message: str, overrides: Sequence[str]
) -> str:
    # Descends to the first part of the key that does not exist.
    node: Any = config
    parts = key.split(".")
    depth = 0
    while isinstance(node, Mapping) and depth < len(parts) and parts[depth] in node:
        node = node[parts[depth]]
        depth += 1
    above = ".".join(parts[:depth])
    if depth == len(parts) and node is None:
        return f"{shown(key)} is null, there is nothing to delete (command line)"
    if depth == len(parts):
        return f"{message}; another part of the command has removed it"
    if not isinstance(node, Mapping):
        return f"{message}; {above} holds no keys, it is {shown(node)}"
    inside = {"curves": CURVE_KEYS, "panels": PANEL_KEYS}.get(parts[1], ()) if depth > 1 else ()
    if parts[-1] in (FIGURE_KEYS if above == "figure" else inside) and len(parts) == depth + 1:
        if depth == 1 and (stronger := beaten_by(config, key)):
            invalid = _invalid_value(key, overrides)
            return f"{message}: set {stronger} instead, which override it{invalid}"
        return f"{message}: it is not there yet, +{key}=<value> adds it"
    same = [leaf for leaf, _ in leaves(node, above) if leaf.split(".")[-1] == parts[-1]]
    return f"{message}; {nearest(key, same or [f'{above}.{name}'.strip('.') for name in node])}"


def _invalid_value(key: str, overrides: Sequence[str]) -> str:
    # Adds that the value is invalid too; otherwise only the next message would report that.
    name = key.removeprefix("figure.")
    kinds = {"epsilon": parameters.Budget, "delta": parameters.Delta, "horizon": parameters.Rounds}
    parsed = hydra_config.parse(overrides)
    for value in (o.value() for o in parsed if o.key_or_group == key and name in kinds):
        try:
            parameters.coerce(kinds[name], value)
        except ValueError as error:
            return f"; {name} must be {error}, got {shown(value)}"
    return ""
