"""Loading of figures: Hydra composes the configuration, config.reader checks it and builds values.

Every error of either is a UserError of one line.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
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
from dpbandits.config.mistakes import GROUPS, first_line, setters
from dpbandits.config.mistakes import one_line_errors as one_line_errors  # for cli/multirun.py too
from dpbandits.config.reader import FigureReader
from dpbandits.config.schema import Composed
from dpbandits.config.settings import Settings, read_settings
from dpbandits.core.errors import UserError, shown
from dpbandits.files import project
from dpbandits.spec.changes import FREE, PROFILE, Change, text
from dpbandits.spec.figure import FigureSpec

# Parts of keys that have no default: if such a key changes nothing, it has no effect.
WITHOUT_DEFAULT = (*schema.SHARED, "profiles", "sweep", "each")


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
    if "=" in figure:
        raise UserError(f"{shown(figure)} is not a figure: its name comes first, then key=value")
    for override in overrides:
        if re.match(r"[+~]*figure=", override):
            raise UserError(f"the figure is named twice: {figure} and {override}")
        if re.match(r"[+~]*(sweep=|hydra\b)", override):
            command = f"dpbandits multirun figure={figure} ..."
            raise UserError(f"{shown(override)} is for Hydra, which `{command}` uses")
    with one_line_errors([f"figure={figure}", *overrides]):
        config = hydra_config.compose([f"figure={figure}", *overrides])
        read = _read(config, figure, overrides, is_variant)
        for message in () if is_variant else idle(figure, overrides, read).values():
            raise UserError(message)
        return read.spec, read.settings


def job_of_hydra() -> tuple[str, list[str]]:
    """Return the figure of the job that @hydra.main has begun, and its other overrides.

    The values of a saved sweep are among the overrides, as if they were on the command line.
    """
    job = HydraConfig.get()
    overrides = [o for o in job.overrides.task if o.partition("=")[0] not in ("figure", "sweep")]
    return job.runtime.choices["figure"], overrides


def from_hydra(config: DictConfig) -> Read:
    """Return the figure and settings of the configuration that @hydra.main passes to its function.

    Overrides without effect are not rejected here. Raises UserError for an invalid configuration.
    """
    figure, overrides = job_of_hydra()
    with one_line_errors([f"figure={figure}", *overrides]):
        return _read(config, figure, overrides)


def idle(figure: str, overrides: Sequence[str], read: Read) -> dict[str, str]:
    """Return the overrides without which the figure is the same, each with a message.

    An override that repeats the value in the files is not among them, nor one that sets a key that
    has a default to it: the figure is the requested one.
    """
    found = {}
    for override in hydra_config.parse(overrides):
        key, word = str(override.key_or_group), str(override.input_line)
        stronger = setters(read.plain, key) if key.startswith("figure.") else ""
        if not (stronger or {*WITHOUT_DEFAULT} & {*key.split(".")}) or override.package:
            continue
        others = [other for other in overrides if other != word]
        try:
            without = _read(hydra_config.compose([f"figure={figure}", *others]), figure, others)
        except (UserError, HydraException, OmegaConfBaseException):
            continue  # the figure cannot be read without it
        same = replace(without.spec, changes=()) == replace(read.spec, changes=())
        if same and without.plain != read.plain:
            reason = f": set by {stronger}" if stronger else ""
            found[word] = f"{figure}: {word} changes nothing in the figure{reason} (command line)"
    return found


def _read(
    config: DictConfig, figure: str, overrides: Sequence[str], is_variant: bool = False
) -> Read:
    parsed = hydra_config.parse(overrides)
    keys = frozenset(str(o.package or o.key_or_group) for o in parsed)
    chosen = {o.key_or_group: str(o.value()) for o in parsed if o.key_or_group in GROUPS}
    members = conf_files.usual_members() | chosen
    composed = Composed(figure, {}, partial(_origin, figure, keys, members), keys)
    try:
        plain: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        # `Interpolation key 'x' not found`, `Missing mandatory value: x` and similar.
        problem = re.sub(r"^\w+ raised while resolving interpolation: ", "", first_line(error))
        raise composed.error(str(error.full_key), f": {problem}") from error
    composed = replace(composed, plain=plain)
    composed.section(schema.TOP, plain, "", [key for key in schema.TOP if key != "runs"])
    kinds = schema.PROFILE | {"name": project.names("profile")}
    composed.section(kinds, plain["profile"], "profile", kinds)
    spec = replace(FigureReader(composed).read(), changes=_changes(parsed, config, figure))
    for panel in () if is_variant else spec.panels:
        for other, curve in itertools.combinations(panel.curves, 2):
            if curve.label == other.label:
                path = f"figure.curves.{curve.name}"
                raise composed.error(
                    f"{path}.label",
                    f"is {shown(curve.label)} in panel {panel.letter}, as that of {other.name}:"
                    f" distinguish them, as by ++{path}.label='{curve.label} (<parameter>)'",
                )
    return Read(spec, read_settings(composed, overrides, spec.changes), plain)


def _origin(figure: str, keys: Iterable[str], members: Mapping[str, str], path: str) -> str:
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
    main = conf_files.read_yaml(conf_files.MAIN)
    # Profiles set top-level keys too: the runs, or keys that are not valid there.
    group = first if first in GROUPS else PROFILE
    if first in ("seed", "paths", *(key for key in main if key != "runs")) or group not in members:
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
        if override.package:
            change = Change(f"{key}@{override.package}", text(override.value()), None)
        else:
            contents = hydra_config.unresolved(config), hydra_config.without_overrides(figure)
            place = "profile.name" if key == PROFILE else key
            values = (value_at(content, place, ABSENT) for content in contents)
            now, before = (None if value is ABSENT else text(value) for value in values)
            now = None if override.is_delete() else now
            if now == before:
                continue
            change = Change(key, now, None if key == PROFILE else before)
        changes[change.key] = change
    return tuple(changes[key] for key in sorted(changes))
