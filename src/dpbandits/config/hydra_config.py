"""Composition of the configuration by Hydra, from conf/ of all layers and overrides."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf

from dpbandits.files import project


def compose(overrides: Sequence[str]) -> DictConfig:
    """Return the composed configuration. Raises the errors of Hydra and of OmegaConf."""
    # In a job of a multirun in another process, Hydra is already initialised.
    around = GlobalHydra.instance()
    outer = around.hydra
    around.clear()
    try:
        with hydra.initialize_config_dir(config_dir=main_folder(), version_base="1.3"):
            return hydra.compose("config", overrides=list(overrides))
    finally:
        around.hydra = outer


def main_folder() -> str:
    """Return the folder that Hydra searches last: conf/ of the last layer."""
    return str(project.layers()[-1] / "conf")


class Layers(SearchPathPlugin):
    """Plugin of Hydra: it searches conf/ of the layers before that of dpbandits."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Insert the layers of this process in their order."""
        for layer in reversed(project.layers()[:-1]):
            # Not as_uri(): Hydra does not decode %20 and the like.
            search_path.prepend("dpbandits", f"file://{layer / 'conf'}")


Plugins.instance().register(Layers)


def parse(overrides: Sequence[str]) -> list[Override]:
    """Return the parsed overrides. Raises OverrideParseException for invalid syntax."""
    return OverridesParser.create().parse_overrides(list(overrides))


def unresolved(config: DictConfig) -> Mapping[str, Any]:
    """Return the configuration as plain values, with interpolations as they are written."""
    return cast(Mapping[str, Any], OmegaConf.to_container(config, resolve=False))


def without_overrides(figure: str) -> Mapping[str, Any]:
    """Return the configuration of a figure's files alone, unresolved; composed once a process."""
    return _without_overrides(project.layers(), figure)


@cache
def _without_overrides(layers: tuple[Path, ...], figure: str) -> Mapping[str, Any]:
    # The layers are only part of the cache key: every project has files of its own.
    return unresolved(compose([f"figure={figure}"]))
