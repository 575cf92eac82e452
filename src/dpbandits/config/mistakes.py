"""Mistakes in overrides and files that Hydra meets first, as errors of one line."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import conf_files, hydra_config, schema
from dpbandits.config.conf_files import ABSENT, leaves, value_at
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

GROUPS = ("profile", "engine", "sweep")  # groups of conf/ beside `figure`
LONGEST = 2000  # characters of an override
KEYS = {  # by section
    "figure": schema.FIGURE,
    "panels": schema.PANEL,
    "curves": schema.CURVE | schema.SPECIAL["algorithm"] | schema.SPECIAL["bound"],
}
# Keys by the names that they would have as options of other programs.
OPTIONS = {
    **{name: name for name in ("runs", "seed", "profile", "engine", "figure")},
    **{name: f"engine.{name}" for name in schema.ENGINE},
    **{name: f"paths.{name}" for name in schema.PATHS},
    **{name: f"figure.{name}" for name in KEYS["figure"] if name != "runs"},
}


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Check the overrides of a command, and reduce errors of Hydra to one line.

    Raises UserError for the errors of Hydra and OmegaConf, and for a file that cannot be read.
    """
    for word in overrides:
        key, _, name = word.partition("=")
        if len(word) > LONGEST:
            raise UserError(f"{shown(word)} is too long (command line)")
        if word.startswith(("=", "@")):
            raise UserError(f"{shown(word)} has no key: write key=value without spaces")
        names = project.names(key) if key in ("figure", *GROUPS) else [name]
        if name not in names and not re.search(r"[,()]", name):
            raise UserError(f"unknown {key} {shown(name)}; {nearest(name, names)}")
    if without_dashes := from_options(overrides, overrides):
        raise UserError(f"overrides are written without dashes: {without_dashes}")
    if figures := sorted({*overrides} & {*project.names("figure")}):
        raise UserError(
            f"{shown(figures[0])} is a figure without its key: figure={figures[0]}; several figures"
            " are `dpbandits multirun figure=<name>,<name>`"
        )
    try:
        yield
    except OverrideParseException as error:
        raise UserError(
            f"cannot read {shown(error.override)}: write key=value without spaces, a figure as"
            " figure=<name>, a list as key=[1,2]; a text with spaces, commas or the like needs two"
            """ pairs of quotes, key='"a, b"'"""
        ) from error
    except (
        *(HydraException, OmegaConfBaseException, yaml.YAMLError),
        *(OSError, ValueError, RecursionError),
    ) as error:
        pairs = (override.partition("=") for override in overrides)
        chosen = [(k, name) for k, _, names in pairs for name in re.split(r"[,()]", names)]
        files = [project.member_file(k, name) for k, name in chosen if k in ("figure", *GROUPS)]
        conf_files.check([conf_files.MAIN, *files])
        if not isinstance(error, HydraException | OmegaConfBaseException):
            raise
        raise UserError(_one_line(error, overrides)) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message."""
    return (str(error).strip() or "the files of conf/ cannot be put together").splitlines()[0]


def setters(plain: Mapping[str, Any], key: str) -> str:
    """Return the keys of a figure's other sections that set a value of the same name."""
    section, name, found = key.split(".")[1], key.rpartition(".")[2], []
    for path, value in leaves(plain["figure"], "figure"):
        above, _, last = path.rpartition(".")
        if last == "key" and name in str(value).split("."):
            found.append(f"{above}.values")
        elif last == name and value is not None and path.split(".")[1] not in (section, "profiles"):
            found.append(path)
    return ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")


def from_options(words: Sequence[str], unread: Collection[str]) -> str:
    """Return the overrides that options stand for: 'runs=5' for --runs 5 and --runs=5; '' if none.

    `unread`: the words that no program parses as its own option.
    """
    overrides = []
    for word, after in zip(words, [*words, ""][1:], strict=True):
        name, equals, value = word.lstrip("-").replace("-", "_").partition("=")
        key = name if "." in name else OPTIONS.get(name)
        if word in unread and word.startswith("-") and key is not None:
            if not equals:
                value = "<value>" if not after or after.startswith("-") or "=" in after else after
            overrides.append(f"{key}={value}")
    return " ".join(overrides)


def _one_line(error: Exception, overrides: Sequence[str]) -> str:
    text = str(error)
    if isinstance(error, MissingConfigException) and error.options is not None:
        # `In 'figure/x': Could not find 'algorithm/y'`, with the valid options.
        group, _, name = str(error.missing_cfg_file).rpartition("/")
        place = re.match(r"In '([^']+/[^']+)'", text)
        where = f" (conf/{place[1]}.yaml)" if place else ""
        return f"unknown {group} '{name}'{where}; {nearest(name, error.options)}"
    if found := re.match(r"Could not (?:override|delete from config\.) '([^']+)'", text):
        return _unknown_key(found[1], overrides)
    if found := re.match(r"Could not append to config\..* already at '(.+)'", text):
        return f"{shown(found[1])} is there already: leave out the plus (command line)"
    if found := re.match(r"(?:Ambiguous value for argument|Sweep parameters) '(.+?)=(.*)'", text):
        key, value = found.groups()
        thousands = re.fullmatch(r"\d{1,3}(,\d{3})+", value)
        number = f"a number is {key}={value.replace(',', '_')}, " if thousands else ""
        return (
            f"'{key}={value}' has several values: {number}a list is {key}=[{value}], a figure of"
            f" each value `dpbandits multirun figure=<name> {key}={value}`"
        )
    if "You must specify 'figure'" in text:
        return f"which figure? figure=<name>; {nearest('', project.names('figure'))}"
    if found := re.match(r"In '([^']+)': \w+ raised while composing.*\n?(.*)", text):
        return f"conf/{found[1]}.yaml cannot be merged with its defaults: {found[2]}"
    return first_line(error)


def _unknown_key(key: str, overrides: Sequence[str]) -> str:
    # The valid keys are those of the same command with its choices of groups alone.
    message, parts = f"unknown key {shown(key)} (command line)", key.split(".")
    if parts[0].startswith("algorithm") or (parts[:2] == ["figure", "curves"] and len(parts) == 3):
        curve = parts[2] if len(parts) == 3 else "<name>"
        message += f"; +algorithm@figure.curves.{curve}=<algorithm> adds a curve"
    choices = [o for o in overrides if o.partition("=")[0] in ("figure", *GROUPS)]
    if any(re.match(r"figure=.*[,(]", choice) for choice in choices):
        return f"{message}: for several figures at once write ++{key}=<value>"
    try:
        config = hydra_config.unresolved(hydra_config.compose(choices))
    except HydraException:
        return f"{message}; are the defaults of conf/config.yaml whole?"
    depth = len(parts)
    while depth and value_at(config, ".".join(parts[:depth]), ABSENT) is ABSENT:
        depth -= 1
    above = ".".join(parts[:depth])
    node = value_at(config, above) if above else config
    if depth == len(parts):
        return f"{message}; it is null, or another part of the command has removed it"
    if not isinstance(node, Mapping):
        return f"{message}; {above} holds no keys, it is {shown(node)}"
    if depth == len(parts) - 1 and parts[-1] in KEYS.get((parts[1:depth] or [above])[0], ()):
        instead = setters(config, key)
        instead = f"set {instead} or add" if instead else "add"
        return f"{message}: it is not there yet, {instead} +{key}=<value>"
    same = [leaf for leaf, _ in leaves(node, above) if leaf.split(".")[-1] == parts[-1]]
    return f"{message}; {nearest(key, same or [f'{above}.{name}'.strip('.') for name in node])}"
