"""Loading of figures: Hydra composes the configuration, FigureReader checks it and builds values.

Every error of either is a UserError of one line.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import hydra
import yaml
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import conf_files, refusals, schema
from dpbandits.config.conf_files import ABSENT, value_at
from dpbandits.config.figure_reader import FigureReader
from dpbandits.config.schema import Composed
from dpbandits.config.settings import Settings, read_settings
from dpbandits.experiments import kinds
from dpbandits.files import project
from dpbandits.kernel import roots
from dpbandits.kernel.errors import UserError, closest, installing, nearest, shown
from dpbandits.spec.figure import FREE, PROFILE, Change, FigureSpec, leaves, text

GROUPS = ("profile", "engine", "sweep")  # groups of conf/ beside `figure`
# Parts of keys that have no default: if such a key changes nothing, it has no effect.
WITHOUT_DEFAULT = {*schema.SHARED, "profiles", "sweep", "each", "level"}
COMPOSING = Lock()  # Hydra holds one configuration for all threads
WITHOUT_A_FIGURE = "~figure"  # the group is required, but only figures with a file are in it
HERE = "_here_"  # place in defaults of a file whose keys are those of the figure
LONGEST = 2000  # characters of an override
SYNTAX = (
    "write key=value without spaces, a figure as figure=<name>, a list as key=[1,2]; a text with"
    """ spaces, commas or the like needs two pairs of quotes, key='"a, b"'"""
)
HYDRA = r"(-m|--multirun|--hydra-help|--resolve|-i|--info\S*) .*|(-c|--cfg)[ =](job|hydra|all).*"
DASHES = "overrides are written without dashes, key=value, such as runs=5"


class Layers(SearchPathPlugin):
    """Plugin of Hydra: it searches conf/ of the layers before that of dpbandits."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Insert the layers of this process in their order."""
        for layer in reversed(project.layers()[:-1]):
            # Not as_uri(): Hydra does not decode %20 and the like.
            search_path.prepend("dpbandits", f"file://{layer / 'conf'}")


Plugins.instance().register(Layers)


def composed(overrides: Sequence[str]) -> DictConfig:
    """Return the configuration that Hydra composes. Raises its errors and those of OmegaConf."""
    folder = str(project.layers()[-1] / "conf")
    with COMPOSING:
        # In a job of a multirun in another process, Hydra is already initialised.
        around = GlobalHydra.instance()
        outer = around.hydra
        around.clear()
        try:
            with hydra.initialize_config_dir(config_dir=folder, version_base="1.3"):
                return hydra.compose("config", overrides=list(overrides))
        finally:
            around.hydra = outer


@cache
def _written(layers: tuple[Path, ...], figure: str) -> Any:
    # The configuration of a figure's files in these layers, with interpolations as written.
    return OmegaConf.to_container(composed([f"figure={figure}"]))


class Read(NamedTuple):
    """Result of reading a configuration: the figure, the settings and the values themselves."""

    spec: FigureSpec
    settings: Settings
    content: Mapping[str, Any]


def load(
    figure: str, overrides: Sequence[str], is_variant: bool = False
) -> tuple[FigureSpec, Settings]:
    """Return the figure and the settings that `figure=<figure> <overrides>` describe.

    Raises UserError for an invalid configuration or an override without effect. A variant that the
    judge plays may repeat what the file says, and draws nothing: its labels may be equal.
    """
    for override in overrides:
        if override.startswith("-"):
            raise UserError(f"{override} is no option: {DASHES}")
        if re.match(r"[+~]*(figure=|sweep=|hydra\b)", override):
            command = f"dpbandits multirun figure={figure} ..."
            raise UserError(f"{shown(override)} is for Hydra's own command, `{command}`")
    with one_line_errors([f"figure={figure}", *overrides]):
        config = composed([f"figure={figure}", *overrides])
        read = _read_figure(config, figure, overrides, is_variant)
        for message in () if is_variant else idle(figure, overrides, read).values():
            raise UserError(message)
        return read.spec, read.settings


def settings_of(overrides: Sequence[str], name: str) -> tuple[Settings, int]:
    """Return the folders and the engine of the configuration, and its seed; no figure is needed.

    The overrides may set keys of the paths and of the engine; `name` begins messages. Raises
    UserError for invalid ones.
    """
    with one_line_errors(overrides := [WITHOUT_A_FIGURE, *overrides]):
        content: Any = OmegaConf.to_container(composed(overrides), resolve=True)
    keys = frozenset(override.partition("=")[0] for override in overrides)
    origin = partial(_origin, name, keys, {})
    return read_settings(Composed(name, content, origin, keys), overrides[1:]), content["seed"]


def value(key: str, text: str) -> Any:
    """Return the value that an override `key=text` gives. Raises UserError if it cannot be read."""
    with one_line_errors(override := [f"{key}={text}"]):
        return OverridesParser.create().parse_overrides(override)[0].value()


def from_hydra(config: DictConfig) -> tuple[str, list[str], Read | None, str | None]:
    """Return the job that @hydra.main has begun: figure, overrides, configuration or the error.

    The values of a saved sweep are among the overrides, as if they were on the command line;
    overrides without effect are not rejected here.
    """
    job = HydraConfig.get()
    Path(job.sweep.dir, "multirun.yaml").unlink(missing_ok=True)  # written by Hydra's sweeper
    overrides = [o for o in job.overrides.task if o.partition("=")[0] not in ("figure", "sweep")]
    typed = [o.removeprefix("figure=") for o in job.overrides.task if o.startswith("figure=")]
    figure = job.runtime.choices.get("figure", *typed[-1:])  # an override may delete the choice
    try:
        with one_line_errors([f"figure={figure}", *overrides]):
            return figure, overrides, _read_figure(config, figure, overrides), None
    except UserError as error:
        return figure, overrides, None, str(error)


def idle(figure: str, overrides: Sequence[str], read: Read) -> dict[str, str]:
    """Return the keys whose overrides leave the figure as it is without them, with messages.

    An override that repeats the value in the files is not among them, nor one that sets a key that
    has a default to it: the figure is the requested one.
    """
    messages, needed = {}, WITHOUT_DEFAULT | schema.keys_of("figure", kinds.every()).keys()
    for override in OverridesParser.create().parse_overrides(list(overrides)):
        key, word = str(override.key_or_group), str(override.input_line)
        stronger = _setters(read.content, key) if key.startswith("figure.") else ""
        if not (stronger or needed & {*key.split(".")}) or override.package:
            continue
        others = [other for other in overrides if other != word]
        try:
            without = _read_figure(composed([f"figure={figure}", *others]), figure, others)
        except (UserError, HydraException, OmegaConfBaseException):
            continue  # the figure cannot be read without it
        same = replace(without.spec, changes=()) == replace(read.spec, changes=())
        if same and without.content != read.content:
            reason = f": set by {stronger}" if stronger else ""
            messages[key] = f"{figure}: {word} changes nothing in the figure{reason} (command line)"
    return messages


def _read_figure(
    config: DictConfig, figure: str, overrides: Sequence[str], is_variant: bool = False
) -> Read:
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    keys = frozenset(str(o.package or o.key_or_group) for o in parsed)
    chosen = {o.key_or_group: str(o.value()) for o in parsed if o.key_or_group in GROUPS}
    values = Composed(figure, {}, partial(_origin, figure, keys, chosen), keys)
    written: Any = OmegaConf.to_container(config)
    if refused := conf_files.unsafe(written):
        raise values.error(*refused)
    try:
        content: Any = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        # `Interpolation key 'x' not found`, `Missing mandatory value: x` and similar.
        problem = re.sub(r"^\w+ raised while resolving interpolation: ", "", str(error))
        first = problem.strip().partition("\n")[0]
        raise values.error(str(error.full_key), f": {first}") from error
    values = replace(values, content=content)
    values.section(schema.TOP, content, "", [key for key in schema.TOP if key != "runs"])
    for group in project.DISTINCT:  # refuses two members of one name
        project.names(group)
    keys_of_profile = schema.PROFILE | {"name": project.names("profile")}
    values.section(keys_of_profile, content["profile"], "profile", keys_of_profile)
    reader = FigureReader(values)
    spec = reader.specification(may_repeat_labels=is_variant)
    # The overrides that change the figure, sorted by key; one that repeats a value is no change,
    # and annotations change nothing of a figure.
    changes: dict[str, Change] = {}
    for override in parsed:
        key = str(override.key_or_group)
        if key in ("figure", "figure.annotated") or key.partition(".")[0] in FREE:
            continue
        now: str | None = text(override.value())
        before, full_key = None, f"{key}@{override.package}" if override.package else key
        if not override.package:
            path = "profile.name" if key == PROFILE else key
            contents = (_written(project.layers(), figure), written)
            both = (value_at(content, path, ABSENT) for content in contents)
            before, now = (None if value is ABSENT else text(value) for value in both)
            before = reader.usual_runs() if key == "runs" else before
            now = None if override.is_delete() else now
        if now != before:
            changes[full_key] = Change(full_key, now, None if key == PROFILE else before)
    differing = [changes[key] for key in sorted(changes)]
    spec = replace(spec, changes=tuple(change for change in differing if not change.is_ink))
    return Read(spec, read_settings(values, overrides, differing), content)


def _origin(figure: str, keys: Collection[str], chosen: Mapping[str, str], path: str) -> str:
    # The file that sets a value, or `command line`.
    if any(f"{path}.".startswith(f"{key}.") or key.startswith(f"{path}.") for key in keys):
        return "command line"
    first, *rest = path.split(".")
    if first == "figure":
        curve, figure_file = ".".join(rest[:2]), project.member_file("figure", figure)
        parts = ((group.partition("@"), name) for group, name in conf_files.defaults(figure_file))
        included = (project.member_file(g, n) for (g, _, package), n in parts if package == HERE)
        for file in (figure_file, *included):
            written = value_at(conf_files.read_yaml(file), ".".join(rest[:3]))
            for group, name in conf_files.defaults(file):
                if group == f"algorithm@{curve}" and (len(rest) < 3 or written is None):
                    return project.member_file("algorithm", name)
            if written is not None:
                return file
        return figure_file
    # Profiles set top-level keys too: the runs, or keys that are not valid there.
    main = conf_files.read_yaml(conf_files.MAIN)
    members = {**dict(conf_files.defaults(conf_files.MAIN)), **chosen}
    group = first if first in GROUPS else PROFILE
    if first in {"seed", "paths", *main} - {"runs"} or group not in members:
        return conf_files.MAIN
    return project.member_file(group, members[group])


# Mistakes that Hydra meets first


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Check the overrides of a command, and reduce errors of Hydra to one line.

    Raises UserError for the errors of Hydra and OmegaConf, and for a file that cannot be read.
    """
    refusals.check(project.layers())
    for word, after in pairwise([*overrides, ""]):
        key, sign, value = word.partition("=")
        if not (sign or word.startswith("~")) and Path(word).stem in project.names("figure"):
            written = f"`dpbandits multirun` takes a figure as figure={Path(word).stem}"
            raise UserError(f"cannot read {shown(word)}: {written}")
        if word.startswith(("=", "@")) or len(word) > LONGEST:  # Hydra would fail
            raise UserError(f"cannot read {shown(word)}: {SYNTAX}")
        names = project.names(key) if key in ("figure", *GROUPS) else [value]
        if key == "figure" and value not in names and (answer := _of_paper(value, names)):
            raise UserError(f"unknown figure {shown(value)}: {answer}")
        if value not in names and ("/" in value or not re.search(r"[,()]", value)):
            name = Path(value).stem  # of a file
            near = f"the name of the {key} is {name}" if name in names else nearest(value, names)
            alone = key == "figure" and near.startswith("valid") and not roots.discovery().project
            near += f"; no {roots.MARKER} is here or above" * alone
            raise UserError(f"unknown {key} {shown(value)}; {near}")
        if word.startswith("-") and not re.fullmatch(HYDRA, f"{word} {after}"):
            raise UserError(f"{word} is no option: {DASHES}")
    try:
        yield
    except OverrideParseException as error:
        raise UserError(f"cannot read {shown(error.override)}: {SYNTAX}") from error
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_one_line(error, overrides)) from error
    except (yaml.YAMLError, OSError, ValueError, RecursionError):
        groups = ((group, project.names(group)) for group in ("figure", *GROUPS, "algorithm"))
        files = [project.member_file(group, name) for group, names in groups for name in names]
        for file in (conf_files.MAIN, *files):
            [*conf_files.defaults(file)]  # raises for a file that is the reason, with its name
        raise


def _of_paper(value: str, figures: Sequence[str]) -> str:
    # The command that was meant by a paper's key, or a number of its figures, in place of a name.
    papers: dict[str, list[str]] = {}
    for name in figures:
        with suppress(UserError):
            content = conf_files.read_member("figure", name)
            papers.setdefault(str(content.get("paper")), []).append(name)
    paper = next((key for key in papers if key in value.lower()), "")
    wanted = re.search(r"(fig|table)[a-z]*\W*(\d+)(?:\s*\(?([a-z])\b)?", value, re.IGNORECASE)
    if paper and wanted:
        kind = "table" if wanted[1].lower() == "table" else "figure"
        found = [(name, conf_files.original(name)) for name in papers[paper]]
        same = [n for n, of in found if of and of.kind == kind and int(wanted[2]) in of.numbers]
        same = [n for n, of in found if n in same and of and (wanted[3] or "") in of.part] or same
        run = " or ".join(f"`dpbandits run {name}`" for name in same)
        return f"{run} draws it" if run else f"`dpbandits list {paper}` lists those of this paper"
    if value.lower() in papers:
        return (
            f"`dpbandits run-all --paper {paper}` runs, `dpbandits list {paper}` lists this paper"
        )
    return ""


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    text = str(error)
    if isinstance(error, MissingConfigException) and error.options is not None:
        # `In 'figure/x': Could not find 'algorithm/y'`, with the valid options.
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        location = re.match(r"In '([^']+/[^']+)'", text)
        where = f" (conf/{location[1]}.yaml)" if location else ""
        if group == "hydra/launcher" and name.startswith("submitit"):
            return f"the launcher {name} is not installed: {installing('submitit')}"
        return f"unknown {group} '{name}'{where}; {nearest(name, error.options)}"
    if match := re.match(r"Could not (?:override|delete from config\.) '([^']+)'", text):
        return _unknown_key(match[1], overrides)
    if match := re.match(r"Could not append to config\..* already at '(.+)'", text):
        return f"{shown(match[1])} is there already: leave out the plus (command line)"
    if match := re.match(r"(?:Ambiguous value for argument|Sweep parameters) '(.+?)=(.*)'", text):
        key, value = match.groups()
        return (
            f"'{key}={value}' has several values: a list is {key}=[{value}], a figure of each value"
            f" `dpbandits multirun figure=<name> {key}={value}`"
        )
    if "You must specify 'figure'" in text:
        return f"which figure? figure=<name>; {nearest('', project.names('figure'))}"
    if match := re.match(r"In '([^']+)': \w+ raised while composing.*\n?(.*)", text):
        return f"conf/{match[1]}.yaml cannot be merged with its defaults: {match[2]}"
    return (text.strip() or "the files of conf/ cannot be put together").splitlines()[0]


def _unknown_key(key: str, overrides: Sequence[str]) -> str:
    # The valid keys are those of the same command with its choices of groups alone.
    message, parts = f"unknown key {shown(key)} (command line)", key.split(".")
    if key.startswith("algorithm") or (key.startswith("figure.curves.") and len(parts) == 3):
        curve = parts[2] if len(parts) == 3 else "<name>"
        message += f"; +algorithm@figure.curves.{curve}=<algorithm> adds a curve"
    choices = [o for o in overrides if o.partition("=")[0].lstrip("~") in ("figure", *GROUPS)]
    if any(re.match(r"figure=.*[,(]", choice) for choice in choices):
        return f"{message}: for several figures at once write ++{key}=<value>"
    try:
        config: Any = OmegaConf.to_container(composed(choices))
    except HydraException:
        return f"{message}; are the defaults of conf/config.yaml whole?"
    above, node = "", config
    for part in parts:
        if not isinstance(node, Mapping):
            return f"{message}; {above} holds no keys, it is {shown(node)}"
        if part not in node:
            break
        above, node = f"{above}.{part}".strip("."), node[part]
    else:
        return f"{message}; it is null, or another part of the command has removed it"
    addable = [f"{above}.{name}" for name in _addable(above, node)]
    if key in addable:
        return f"{message}: {_adding(config, key, key, overrides)}"
    same = [leaf for leaf, _ in leaves(node, above) if leaf.split(".")[-1] == parts[-1]]
    valid = same or [*(f"{above}.{name}".strip(".") for name in node), *addable]
    message += f"; {nearest(key, valid)}"
    if (near := closest(key, valid)) in addable:
        message += f" {_adding(config, near, key, overrides)}"
    return message


def _addable(above: str, node: Mapping[str, Any]) -> set[str]:
    # Keys that may be added to a section of the figure: the schema's and, to a curve, parameters of
    # the algorithm that it draws.
    keys = {*schema.keys_in((above.split(".")[1:] or [above])[0])}
    for kind in kinds.every() if re.fullmatch(r"figure\.curves\.[^.]+", above) else ():
        if node.get(kind.key) in kind.names() and (module := kind.module(node[kind.key])):
            keys |= {*module.Params._fields}
    return keys - node.keys()


def _adding(config: Any, key: str, typed: str, overrides: Sequence[str]) -> str:
    # How to set a key that is not there yet: by a plus, unless others set its value everywhere.
    if not (stronger := _setters(config, key)):
        return f"it is not there yet, add +{key}=<value>"
    figure, others = "", []
    for override in overrides:
        name, _, value = override.partition("=")
        if name == "figure":
            figure = value
        elif not override.startswith("-"):  # Hydra's own option
            others.append(f"+{key}={value}" if name == typed else override)
    try:
        load(figure, others)
    except UserError:  # such as an override without effect
        return f"its value is that of {stronger}: set these"
    return f"it is not there yet, set {stronger} or add +{key}=<value>"


def _setters(content: Mapping[str, Any], key: str) -> str:
    # The keys of a figure's other sections that set a value of the same name.
    section, name, setters = key.split(".")[1], key.rpartition(".")[2], []
    for path, value in leaves(content["figure"], "figure"):
        above, _, last = path.rpartition(".")
        if last == "key" and name in str(value).split("."):
            setters.append(f"{above}.values")
        elif last == name and value is not None and path.split(".")[1] not in (section, "profiles"):
            setters.append(path)
    return ", ".join(setters[:4]) + (f" and {len(setters) - 4} more" if len(setters) > 4 else "")
