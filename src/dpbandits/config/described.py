"""Folders, engine and seed of the configuration, for commands and programs without a figure."""

from collections.abc import Sequence
from typing import Any

from omegaconf import OmegaConf

from dpbandits.config import hydra_config
from dpbandits.config.compose import KEYS
from dpbandits.config.errors import one_line_errors
from dpbandits.config.origins import Origins
from dpbandits.config.section import Section
from dpbandits.config.settings import Settings, read_settings

WITHOUT_A_FIGURE = ("~figure",)  # the group is required, but only figures with a file are in it


def settings_of(overrides: Sequence[str], name: str) -> tuple[Settings, int]:
    """Return the folders and the engine of the configuration, and its seed.

    The overrides may set keys of the paths and of the engine; `name` begins messages. Raises
    UserError for invalid ones.
    """
    with one_line_errors(overrides):
        config = hydra_config.compose([*WITHOUT_A_FIGURE, *overrides])
        plain: Any = OmegaConf.to_container(config, resolve=True)
    keys = frozenset(override.partition("=")[0] for override in overrides)
    chosen = {o.partition("=")[0]: o.partition("=")[2] for o in overrides if "." not in o}
    origins = Origins(name, plain, keys, chosen)
    whole = Section(origins, plain, "")
    for group in ("paths", "engine"):
        section = whole.section(group)
        section.keys(KEYS[group], [k for k in KEYS[group] if k not in ("workers", "scheduler")])
    return read_settings(origins, overrides), whole.content["seed"]
