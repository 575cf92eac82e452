"""From Hydra's configuration to frozen values: the only module that knows Hydra and OmegaConf.

Hydra composes; dpbandits.reader checks and builds. Errors of either are one line each.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits import parameters, project
from dpbandits.errors import UserError, nearest
from dpbandits.reader import Reader, checked, leaves
from dpbandits.spec import FigureSpec

KEYS = {
    "": ("seed", "runs", "paths", "profile", "engine", "figure"),
    "paths": ("cache", "out"),
    "engine": ("workers", "block"),
    "profile": ("name", "horizon_scale"),
}


@dataclass(frozen=True)
class Settings:
    """What is not the figure's: where things go and on what they run."""

    cache: Path
    out: Path
    workers: int | None  # None: all cores
    block: int  # runs per task at least
    overrides: tuple[str, ...]  # of the command line, for the record


def load(figure: str, overrides: Sequence[str]) -> tuple[FigureSpec, Settings]:
    """The figure and the settings that `figure=<figure> <overrides>` describe."""
    figures = project.names("figure")
    if figure not in figures:
        raise UserError(f"unknown figure '{figure}'; {nearest(figure, figures)}")
    with one_line_errors([f"figure={figure}", *overrides]):
        return _read(_compose([f"figure={figure}", *overrides]), figure, overrides)


def from_hydra(config: DictConfig) -> tuple[FigureSpec, Settings]:
    """The figure and the settings of the configuration that @hydra.main hands to its function."""
    hydra_config = HydraConfig.get()
    typed = hydra_config.overrides.task
    with one_line_errors(typed):
        overrides = [override for override in typed if not override.startswith("figure=")]
        return _read(config, hydra_config.runtime.choices["figure"], overrides)


def _compose(overrides: Sequence[str]) -> DictConfig:
    conf = str(project.folder() / "conf")
    with hydra.initialize_config_dir(config_dir=conf, version_base="1.3"):
        return hydra.compose("config", overrides=list(overrides))


def _read(config: DictConfig, figure: str, overrides: Sequence[str]) -> tuple[FigureSpec, Settings]:
    plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    for group, valid in KEYS.items():
        for name in plain[group] if group else plain:
            if name not in valid:
                key = f"{group}.{name}" if group else name
                raise UserError(f"unknown key '{key}'; {nearest(str(name), valid)}")
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    typed = frozenset(override.key_or_group for override in parsed)
    return Reader(figure, plain, typed).read(), _settings(plain, overrides)


def _settings(plain: Mapping[str, Any], overrides: Sequence[str]) -> Settings:
    engine, paths = plain["engine"], plain["paths"]
    origin = "conf/engine/ or command line"
    workers = engine["workers"]
    if workers is not None:
        workers = checked(parameters.Count, workers, "engine.workers", origin)
    return Settings(
        cache=project.folder() / str(paths["cache"]),
        out=project.folder() / str(paths["out"]),
        workers=workers,
        block=checked(parameters.Count, engine["block"], "engine.block", origin),
        overrides=tuple(overrides),
    )


# Errors ----------------------------------------------------------------------------------------


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Turn the errors of Hydra, OmegaConf and YAML into one line each."""
    try:
        yield
    except MissingConfigException as error:
        wanted = str(error.missing_cfg_file or "").rsplit("/", 1)[-1]
        if not wanted or error.options is None:
            raise UserError(_first_line(error)) from error
        group = str(error.missing_cfg_file).removesuffix(f"/{wanted}")
        raise UserError(f"unknown {group} '{wanted}'; {nearest(wanted, error.options)}") from error
    except yaml.YAMLError as error:
        raise UserError("not valid YAML: " + " ".join(str(error).split())) from error
    except (HydraException, OmegaConfBaseException) as error:
        unknown = re.match(r"Could not override '([^']+)'", str(error))
        if unknown:
            raise UserError(_unknown_override(unknown[1], overrides)) from error
        if "You must specify 'figure'" in str(error):
            raise UserError(
                f"which figure? figure=<name>; {nearest('', project.names('figure'))}"
            ) from error
        raise UserError(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _unknown_override(key: str, overrides: Sequence[str]) -> str:
    # The keys that exist are those of the same command without its unknown ones.
    choices = [o for o in overrides if "." not in o.split("=")[0] and not o.startswith(f"{key}=")]
    known = leaves(OmegaConf.to_container(_compose(choices), resolve=False))
    return f"unknown key '{key}' (command line); {nearest(key, known)}, or +{key} to add it"
