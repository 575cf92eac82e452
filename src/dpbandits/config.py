"""From Hydra's configuration to frozen values: the only module that knows Hydra and OmegaConf.

Hydra composes; dpbandits.reader checks and builds. Errors of either are one line each.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import InterpolationKeyError, OmegaConfBaseException

from dpbandits import parameters, project
from dpbandits.errors import UserError, nearest
from dpbandits.origin import Origins, leaves
from dpbandits.reader import Reader
from dpbandits.spec import FigureSpec

KEYS = {
    "paths": ("cache", "out"),
    "engine": ("workers", "block"),
    "profile": ("name", "horizon_scale"),
}
TOP_KEYS = ("seed", "runs", "figure", *KEYS)


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
    for override in overrides:
        if override.lstrip("+~").startswith("figure="):
            raise UserError(f"the figure is named twice: {figure} and {override}")
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
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    at = Origins(figure, plain, frozenset(override.key_or_group for override in parsed))
    at.keys(plain, TOP_KEYS, "", ("seed", "figure"))
    for group, valid in KEYS.items():
        plain[group] = at.mapping(plain.get(group), group)
        required = [key for key in valid if key != "workers"]  # null: all cores
        at.keys(plain[group], valid, group, required)
    if plain["profile"]["name"] not in (profiles := project.names("profile")):
        raise at.unknown("profile", plain["profile"]["name"], profiles, "profile.name")
    return Reader(at).read(), _settings(at, overrides)


def _settings(at: Origins, overrides: Sequence[str]) -> Settings:
    engine, paths = at.plain["engine"], at.plain["paths"]
    workers = engine.get("workers")
    if workers is not None:
        workers = at.checked(parameters.Count, workers, "engine.workers")
    return Settings(
        cache=project.folder() / at.text(paths["cache"], "paths.cache"),
        out=project.folder() / at.text(paths["out"], "paths.out"),
        workers=workers,
        block=at.checked(parameters.Count, engine["block"], "engine.block"),
        overrides=tuple(overrides),
    )


# Errors ----------------------------------------------------------------------------------------


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Turn the errors of Hydra, OmegaConf and YAML into one line each."""
    _read_figure_file(overrides)
    try:
        yield
    except MissingConfigException as error:
        raise UserError(_missing(error)) from error
    except OverrideParseException as error:
        raise UserError(
            f"cannot read the override '{error.override}': write key=value, a list as key=[1,2],"
            " and quote for the shell what holds spaces, commas or braces"
        ) from error
    except yaml.YAMLError as error:
        raise UserError("not valid YAML: " + " ".join(str(error).split())) from error
    except InterpolationKeyError as error:
        raise UserError(f"{error.full_key}: {_first_line(error)}") from error
    except (HydraException, OmegaConfBaseException) as error:
        unknown = re.match(r"Could not override '([^']+)'", str(error))
        if unknown:
            raise UserError(_unknown_override(unknown[1], overrides)) from error
        if "You must specify 'figure'" in str(error):
            figures = nearest("", project.names("figure"))
            raise UserError(f"which figure? figure=<name>; {figures}") from error
        raise UserError(_first_line(error)) from error
    except UnicodeDecodeError as error:
        raise UserError(f"a file of conf/ cannot be read: {error}") from error
    except ValueError as error:
        # Hydra's own word for a group that is overridden by no name.
        if not str(error).startswith("Config group override"):
            raise
        typed = ", ".join(overrides)
        raise UserError(
            f"a group is overridden by a name, as profile=smoke; got {typed}"
        ) from error


def _read_figure_file(overrides: Sequence[str]) -> None:
    # Alone and first: for a file that is no YAML, or no mapping, Hydra has no words.
    figures = project.names("figure")
    for override in overrides:
        key, _, name = override.partition("=")
        if key == "figure":
            if name not in figures:
                raise UserError(f"unknown figure '{name}'; {nearest(name, figures)}")
            project.read_member("figure", name)


def _missing(error: MissingConfigException) -> str:
    # `In 'figure/x': Could not find 'algorithm/y'` and the options that there are.
    group, _, name = str(error.missing_cfg_file or "").rpartition("/")
    if not name or error.options is None:
        return _first_line(error)
    place = re.match(r"In '([^']+)'", str(error))
    where = f" (conf/{place[1]}.yaml)" if place and "/" in place[1] else ""
    return f"unknown {group} '{name}'{where}; {nearest(name, error.options)}"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _unknown_override(key: str, overrides: Sequence[str]) -> str:
    # The keys that exist are those of the same command without its unknown ones.
    choices = [o for o in overrides if "." not in o.split("=")[0] and not o.startswith(f"{key}=")]
    known = leaves(OmegaConf.to_container(_compose(choices), resolve=False))
    return f"unknown key '{key}' (command line); {nearest(key, known)}, or +{key} to add it"
