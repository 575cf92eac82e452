"""Composition of the configuration by Hydra, from the files of conf/ and overrides."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
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
            return hydra.compose("config", overrides=[*overrides, *search_path()])
    finally:
        around.hydra = outer


def main_folder() -> str:
    """Return the folder that Hydra searches first: conf/ of the first layer."""
    return str(project.layers()[0] / "conf")


def search_path() -> list[str]:
    """Return the override that names conf/ of all other layers; none if there is one layer."""
    others = [(layer / "conf").as_posix() for layer in project.layers()[1:]]
    quoted = ",".join("'file://{}'".format(path.replace("'", r"\'")) for path in others)
    return [f"hydra.searchpath=[{quoted}]"] if others else []


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
