"""Folders, engine and seed of the configuration, for commands and programs without a figure."""

from collections.abc import Sequence
from typing import Any

from omegaconf import OmegaConf

from dpbandits.config import conf_files, hydra_config
from dpbandits.config.mistakes import one_line_errors
from dpbandits.config.schema import Composed
from dpbandits.config.settings import Settings, read_settings

WITHOUT_A_FIGURE = "~figure"  # the group is required, but only figures with a file are in it


def settings_of(overrides: Sequence[str], name: str) -> tuple[Settings, int]:
    """Return the folders and the engine of the configuration, and its seed.

    The overrides may set keys of the paths and of the engine; `name` begins messages. Raises
    UserError for invalid ones.
    """
    with one_line_errors(overrides):
        config = hydra_config.compose([WITHOUT_A_FIGURE, *overrides])
        plain: Any = OmegaConf.to_container(config, resolve=True)
    keys = frozenset(override.partition("=")[0] for override in overrides)
    composed = Composed(
        name, plain, lambda path: "command line" if path in keys else conf_files.MAIN, keys
    )
    return read_settings(composed, overrides), plain["seed"]
