"""Loading of figures: Hydra composes the configuration, config.readers checks it and builds values.

Every error of either is a UserError of one line.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import hydra
import yaml
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import KeyValidationError, OmegaConfBaseException

from dpbandits.config import changed, conf_files, unused_overrides
from dpbandits.config.origins import Origins, beaten_by, leaves
from dpbandits.config.overrides import check, check_figure
from dpbandits.config.readers.figure import FIGURE_KEYS, Reader
from dpbandits.config.readers.panel import PANEL_KEYS
from dpbandits.config.readers.source import CURVE_KEYS
from dpbandits.config.settings import Settings, read_settings
from dpbandits.config.written_texts import refuse_unwritable
from dpbandits.core import parameters
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project
from dpbandits.spec.changes import Change
from dpbandits.spec.figure import FigureSpec

KEYS = {
    "paths": ("cache", "out"),
    "engine": ("workers", "block", "scheduler"),
    "profile": ("name", "horizon_scale"),
}
GROUPS = ("profile", "engine", "sweep")  # groups of conf/ beside `figure`
TOP_KEYS = ("seed", "runs", "figure", *KEYS)


class Read(NamedTuple):
    """Result of reading a configuration: the figure, the settings and the origin of each value."""

    spec: FigureSpec
    settings: Settings
    at: Origins


def load(figure: str, overrides: Sequence[str]) -> tuple[FigureSpec, Settings]:
    """Return the figure and the settings that `figure=<figure> <overrides>` describe.

    Raises UserError for an invalid configuration or an override without effect.
    """
    if "=" in figure:
        raise UserError(f"{shown(figure)} is no figure: its name comes first, then key=value")
    for override in overrides:
        if re.match(r"[+~]*figure=", override):
            raise UserError(f"the figure is named twice: {figure} and {override}")
        if re.match(r"[+~]*sweep=", override):
            raise UserError(f"a saved sweep is for `python experiments/run.py {override}`")
        if re.match(r"[+~]*hydra\b", override):
            raise UserError(
                f"{shown(override)} is a setting of Hydra's own, which only"
                f" `python experiments/run.py figure={figure} ...` has a use for"
            )
    with one_line_errors([f"figure={figure}", *overrides]):
        read = _read(_compose([f"figure={figure}", *overrides]), figure, overrides)
        unused_overrides.refuse_idle(read.at, read.spec)
        _refuse_idle_deletions(read, figure, overrides)
        return read.spec, read.settings


def job_of_hydra() -> tuple[str, list[str]]:
    """Return the figure of the job that @hydra.main has begun, and its other overrides.

    The values of a saved sweep are among the overrides, as if they had been typed.
    """
    job = HydraConfig.get()
    typed = [o for o in job.overrides.task if o.partition("=")[0] not in ("figure", "sweep")]
    return job.runtime.choices["figure"], typed


def from_hydra(config: DictConfig) -> Read:
    """Return the figure and settings of the configuration that @hydra.main passes to its function.

    Overrides without effect are not rejected here. Raises UserError for an invalid configuration.
    """
    figure, overrides = job_of_hydra()
    with one_line_errors([f"figure={figure}", *overrides]):
        return _read(config, figure, overrides)


def _compose(overrides: Sequence[str]) -> DictConfig:
    # In a job of a multirun in another process, Hydra is already initialised.
    conf, around = str(project.folder() / "conf"), GlobalHydra.instance()
    outer = around.hydra
    around.clear()
    try:
        with hydra.initialize_config_dir(config_dir=conf, version_base="1.3"):
            return hydra.compose("config", overrides=list(overrides))
    finally:
        around.hydra = outer


def _read(config: DictConfig, figure: str, overrides: Sequence[str]) -> Read:
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    differences = _changes(config, figure, parsed)
    typed = frozenset(o.package or o.key_or_group for o in parsed)
    defaults = conf_files.read_yaml("conf/config.yaml").get("defaults") or []
    chosen = dict(pair for entry in defaults if isinstance(entry, dict) for pair in entry.items())
    chosen |= {o.key_or_group: o.value() for o in parsed if o.key_or_group in GROUPS}
    try:
        plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        # `Interpolation key 'x' not found`, `Missing mandatory value: x` and similar.
        what = re.sub(r"^\w+ raised while resolving interpolation: ", "", _first_line(error))
        path = str(error.full_key)
        raise Origins(figure, {}, typed, chosen).error(f"{path}: {what}", path) from error
    at = Origins(figure, plain, typed, chosen, differences)
    at.keys(plain, TOP_KEYS, "", ("seed", "figure"))
    refuse_unwritable(at)
    for group, valid in KEYS.items():
        plain[group] = at.mapping(plain.get(group), group)
        required = [key for key in valid if key not in ("workers", "scheduler")]
        at.keys(plain[group], valid, group, required)
    if plain["profile"]["name"] not in (profiles := project.names("profile")):
        raise at.unknown("profile", plain["profile"]["name"], profiles, "profile.name")
    return Read(Reader(at).read(), read_settings(at, overrides), at)


def _changes(config: DictConfig, figure: str, parsed: Sequence[Override]) -> tuple[Change, ...]:
    # The changes against the configuration of the figure without any override.
    if not any(map(changed.may_change, parsed)):
        return ()
    file = _compose([f"figure={figure}"])
    return changed.changes(
        parsed,
        *(cast(Any, OmegaConf.to_container(c, resolve=False)) for c in (config, file)),
    )


def _refuse_idle_deletions(read: Read, figure: str, overrides: Sequence[str]) -> None:
    # The effect of a deleted key follows from the same command without the deletion.
    for position, typed in enumerate(overrides):
        if not typed.lstrip().startswith("~"):
            continue  # before parsing: a list of many values takes seconds to parse again
        key = OverridesParser.create().parse_override(typed).key_or_group
        if not unused_overrides.may_be_deleted_in_vain(key):
            continue
        others = [*overrides[:position], *overrides[position + 1 :]]
        try:
            kept = _read(_compose([f"figure={figure}", *others]), figure, others)
        except (UserError, HydraException, OmegaConfBaseException):
            continue  # without the deletion the figure is invalid
        unused_overrides.refuse_idle_deletion(key, read.at, kept.at, kept.spec)


# Errors ----------------------------------------------------------------------------------------


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Turn the errors of Hydra, OmegaConf and YAML into UserErrors of one line each."""
    check_figure(overrides)
    try:
        check(overrides, GROUPS)
        yield
    except MissingConfigException as error:
        raise UserError(_missing(error)) from error
    except OverrideParseException as error:
        raise UserError(
            f"cannot read {shown(error.override)}: write key=value, a list as key=[1,2]; a text"
            """ with spaces, commas or the like stands in two pairs of quotes, key='"a, b"'"""
        ) from error
    except yaml.YAMLError as error:
        raise conf_files.not_yaml(error) from error
    except (HydraException, OmegaConfBaseException) as error:
        unknown = re.match(r"Could not (?:override|delete from config\.) '([^']+)'", str(error))
        if unknown:
            raise UserError(_unknown_override(unknown[1], overrides)) from error
        if there := re.match(r"Could not append to config\..* already at '(.+)'", str(error)):
            told = f"{shown(there[1])} is there already: leave out the plus (command line)"
            raise UserError(told) from error
        if several := re.match(
            r"(?:Ambiguous value for argument|Sweep parameters) '(.+)'", str(error)
        ):
            raise UserError(
                f"{shown(several[1])} is several values: a list is key=[1,2]; a figure for each"
                " value comes from `python experiments/run.py -m figure=<name> key=1,2`"
            ) from error
        if "You must specify 'figure'" in str(error):
            figures = nearest("", project.names("figure"))
            raise UserError(f"which figure? figure=<name>; {figures}") from error
        if isinstance(error, KeyValidationError) or isinstance(error.__cause__, KeyValidationError):
            raise conf_files.odd_key() from error
        if merged := re.match(r"In '([^']+)': \w+ raised while composing.*\n?(.*)", str(error)):
            told = f"conf/{merged[1]}.yaml cannot be merged with the files that it names"
            raise UserError(f"{told}: {merged[2]}".strip(": ")) from error
        raise UserError(_first_line(error)) from error
    except UnicodeDecodeError as error:
        raise conf_files.not_text(error) from error
    except RecursionError as error:
        raise UserError("a value in a file of conf/ contains itself") from error
    except OSError as error:
        if not conf_files.is_no_mapping(error):
            raise
        raise conf_files.no_mapping() from error
    except ValueError as error:
        if "digits" not in str(error):
            raise
        raise UserError("a number of the command line has thousands of digits") from error


def _missing(error: MissingConfigException) -> str:
    # `In 'figure/x': Could not find 'algorithm/y'`, with the valid options.
    group, _, name = str(error.missing_cfg_file or "").rpartition("/")
    if not name or error.options is None:
        return _first_line(error)
    place = re.match(r"In '([^']+)'", str(error))
    where = f" (conf/{place[1]}.yaml)" if place and "/" in place[1] else ""
    return f"unknown {group} '{name}'{where}; {nearest(name, error.options)}"


def _first_line(error: Exception) -> str:
    told = str(error).strip() or "the files of conf/ cannot be put together"
    return told.splitlines()[0]


def _misvalued(key: str, overrides: Sequence[str]) -> str:
    # Adds that the value is invalid too; otherwise only the next message would report that.
    name = key.removeprefix("figure.")
    kinds = {"epsilon": parameters.Budget, "delta": parameters.Delta, "horizon": parameters.Rounds}
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    for value in (o.value() for o in parsed if o.key_or_group == key and name in kinds):
        try:
            parameters.coerce(kinds[name], value)
        except ValueError as error:
            return f"; {name} must be {error}, got {shown(value)}"
    return ""


def _unknown_override(key: str, overrides: Sequence[str]) -> str:
    # The valid keys are those of the same command with its group choices alone.
    choices = [o for o in overrides if o.partition("=")[0] in ("figure", *GROUPS)]
    message = f"unknown key {shown(key)} (command line)"
    if key.startswith("algorithm@"):
        value = next((o.partition("=")[2] for o in overrides if o.startswith(f"{key}=")), "<name>")
        return f"{shown(key)} is no curve yet (command line): +{key}={value} adds it"
    if key == "engine.scheduler":
        return f"{message}: only engine=dask has a scheduler"
    if any(re.match(r"figure=.*[,(]", choice) for choice in choices):
        return f"{message}: for several figures at once write ++{key}=<value>"
    try:
        node: Any = OmegaConf.to_container(_compose(choices), resolve=False)
    except HydraException:
        return f"{message}; are the defaults of conf/config.yaml whole?"
    # Descends to the first part of the key that does not exist.
    parts = key.split(".")
    depth = 0
    while isinstance(node, dict) and depth < len(parts) and parts[depth] in node:
        node = node[parts[depth]]
        depth += 1
    above = ".".join(parts[:depth])
    if depth == len(parts) and node is None:
        return f"{shown(key)} is null, there is nothing to delete (command line)"
    if depth == len(parts):
        return f"{message}; another part of the command has removed it"
    if not isinstance(node, dict):
        return f"{message}; {above} holds no keys, it is {shown(node)}"
    inside = {"curves": CURVE_KEYS, "panels": PANEL_KEYS}.get(parts[1], ()) if depth > 1 else ()
    if parts[-1] in (FIGURE_KEYS if above == "figure" else inside) and len(parts) == depth + 1:
        if depth == 1 and (stronger := beaten_by({"figure": node}, key)):
            return f"{message}: set {stronger} instead, which beat it{_misvalued(key, overrides)}"
        return f"{message}: it is not there yet, +{key}=<value> adds it"
    same = [leaf for leaf, _ in leaves(node, above) if leaf.split(".")[-1] == parts[-1]]
    return f"{message}; {nearest(key, same or [f'{above}.{name}'.strip('.') for name in node])}"
