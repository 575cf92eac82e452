"""Loading of figures: Hydra composes the configuration, FigureReader checks it and builds values.

Every error of either is a UserError of one line.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import conf_files, hydra_config, schema
from dpbandits.config.conf_files import ABSENT, value_at
from dpbandits.config.figure_reader import FigureReader
from dpbandits.config.mistakes import GROUPS, first_line, setters
from dpbandits.config.mistakes import one_line_errors as one_line_errors  # for the command line too
from dpbandits.config.schema import Composed
from dpbandits.config.settings import Settings, read_settings
from dpbandits.core.errors import UserError, shown
from dpbandits.files import project
from dpbandits.spec.changes import FREE, PROFILE, Change, text
from dpbandits.spec.figure import FigureSpec

# Parts of keys that have no default: if such a key changes nothing, it has no effect.
WITHOUT_DEFAULT = {*schema.SHARED, "profiles", "sweep", "each"}
WITHOUT_A_FIGURE = "~figure"  # the group is required, but only figures with a file are in it


class Read(NamedTuple):
    """Result of reading a configuration: the figure, the settings and the values themselves."""

    spec: FigureSpec
    settings: Settings
    plain: Mapping[str, Any]


def load(
    figure: str, overrides: Sequence[str], is_variant: bool = False
) -> tuple[FigureSpec, Settings]:
    """Return the figure and the settings that `figure=<figure> <overrides>` describe.

    Raises UserError for an invalid configuration or an override without effect. A variant that the
    judge plays may repeat what the file says, and draws nothing: its labels may be equal.
    """
    for override in overrides:
        if re.match(r"[+~]*(figure=|sweep=|hydra\b)", override):
            command = f"dpbandits multirun figure={figure} ..."
            raise UserError(f"{shown(override)} is for Hydra's own command, `{command}`")
    with one_line_errors([f"figure={figure}", *overrides]):
        config = hydra_config.compose([f"figure={figure}", *overrides])
        read = _read(config, figure, overrides, is_variant)
        for message in () if is_variant else idle(figure, overrides, read).values():
            raise UserError(message)
        return read.spec, read.settings


def settings_of(overrides: Sequence[str], name: str) -> tuple[Settings, int]:
    """Return the folders and the engine of the configuration, and its seed; no figure is needed.

    The overrides may set keys of the paths and of the engine; `name` begins messages. Raises
    UserError for invalid ones.
    """
    with one_line_errors(overrides := [WITHOUT_A_FIGURE, *overrides]):
        plain: Any = OmegaConf.to_container(hydra_config.compose(overrides), resolve=True)
    keys = frozenset(override.partition("=")[0] for override in overrides)
    origin = partial(_origin, name, keys, {})
    return read_settings(Composed(name, plain, origin, keys), overrides[1:]), plain["seed"]


def from_hydra(config: DictConfig) -> tuple[str, list[str], Read | UserError]:
    """Return the figure, the overrides and the configuration of the job that @hydra.main has begun.

    The values of a saved sweep are among the overrides, as if they were on the command line;
    overrides without effect are not rejected here. An invalid configuration gives its error.
    """
    job = HydraConfig.get()
    overrides = [o for o in job.overrides.task if o.partition("=")[0] not in ("figure", "sweep")]
    figure = job.runtime.choices["figure"]
    try:
        with one_line_errors([f"figure={figure}", *overrides]):
            return figure, overrides, _read(config, figure, overrides)
    except UserError as error:
        return figure, overrides, error


def idle(figure: str, overrides: Sequence[str], read: Read) -> dict[str, str]:
    """Return the keys whose overrides leave the figure as it is without them, with messages.

    An override that repeats the value in the files is not among them, nor one that sets a key that
    has a default to it: the figure is the requested one.
    """
    found = {}
    for override in hydra_config.parse(overrides):
        key, word = str(override.key_or_group), str(override.input_line)
        stronger = setters(read.plain, key) if key.startswith("figure.") else ""
        if not (stronger or WITHOUT_DEFAULT & {*key.split(".")}) or override.package:
            continue
        others = [other for other in overrides if other != word]
        try:
            without = _read(hydra_config.compose([f"figure={figure}", *others]), figure, others)
        except (UserError, HydraException, OmegaConfBaseException):
            continue  # the figure cannot be read without it
        same = replace(without.spec, changes=()) == replace(read.spec, changes=())
        if same and without.plain != read.plain:
            reason = f": set by {stronger}" if stronger else ""
            found[key] = f"{figure}: {word} changes nothing in the figure{reason} (command line)"
    return found


def _read(
    config: DictConfig, figure: str, overrides: Sequence[str], is_variant: bool = False
) -> Read:
    parsed = hydra_config.parse(overrides)
    keys = frozenset(str(o.package or o.key_or_group) for o in parsed)
    chosen = {o.key_or_group: str(o.value()) for o in parsed if o.key_or_group in GROUPS}
    composed = Composed(figure, {}, partial(_origin, figure, keys, chosen), keys)
    try:
        plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        # `Interpolation key 'x' not found`, `Missing mandatory value: x` and similar.
        problem = re.sub(r"^\w+ raised while resolving interpolation: ", "", first_line(error))
        raise composed.error(str(error.full_key), f": {problem}") from error
    composed = replace(composed, plain=plain)
    composed.section(schema.TOP, plain, "", [key for key in schema.TOP if key != "runs"])
    for group in project.DISTINCT:  # refuses two members of one name
        project.names(group)
    kinds = schema.PROFILE | {"name": project.names("profile")}
    composed.section(kinds, plain["profile"], "profile", kinds)
    spec = FigureReader(composed).read(may_repeat_labels=is_variant)
    spec = replace(spec, changes=_changes(parsed, config, figure))
    return Read(spec, read_settings(composed, overrides, spec.changes), plain)


def _origin(figure: str, keys: Collection[str], chosen: Mapping[str, str], path: str) -> str:
    # The file that sets a value, or `command line`.
    if any(f"{path}.".startswith(f"{key}.") or key.startswith(f"{path}.") for key in keys):
        return "command line"
    first, *rest = path.split(".")
    if first == "figure":
        file, curve = project.member_file("figure", figure), ".".join(rest[:2])
        written = value_at(conf_files.read_member("figure", figure), ".".join(rest[:3]))
        for group, name in conf_files.defaults(file):
            if group == f"algorithm@{curve}" and (len(rest) < 3 or written is None):
                return project.member_file("algorithm", name)
        return file
    # Profiles set top-level keys too: the runs, or keys that are not valid there.
    main = conf_files.read_yaml(conf_files.MAIN)
    members = {**dict(conf_files.defaults(conf_files.MAIN)), **chosen}
    group = first if first in GROUPS else PROFILE
    if first in {"seed", "paths", *main} - {"runs"} or group not in members:
        return conf_files.MAIN
    return project.member_file(group, members[group])


def _changes(parsed: Iterable[Override], config: DictConfig, figure: str) -> tuple[Change, ...]:
    # The overrides that change the figure, sorted by key; one that repeats a value is no change,
    # and annotations change nothing of a figure.
    changes: dict[str, Change] = {}
    for override in parsed:
        key = str(override.key_or_group)
        free = key in ("figure", "figure.annotated") or key.partition(".")[0] in FREE
        if free or key.endswith(".runs"):
            continue
        now: str | None = text(override.value())
        before, place = None, f"{key}@{override.package}" if override.package else key
        if not override.package:
            contents = (
                hydra_config.written(project.layers(), figure),
                hydra_config.unresolved(config),
            )
            values = (
                value_at(c, "profile.name" if key == PROFILE else key, ABSENT) for c in contents
            )
            before, now = (None if value is ABSENT else text(value) for value in values)
            now = None if override.is_delete() else now
        if now != before:
            changes[place] = Change(place, now, None if key == PROFILE else before)
    return tuple(changes[key] for key in sorted(changes))
