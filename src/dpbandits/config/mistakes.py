"""Mistakes in overrides and files that Hydra meets first, as errors of one line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import yaml
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import conf_files, hydra_config, schema
from dpbandits.config.conf_files import leaves
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project

GROUPS = ("profile", "engine", "sweep")  # groups of conf/ beside `figure`
LONGEST = 2000  # characters of an override
SYNTAX = (
    "write key=value without spaces, a figure as figure=<name>, a list as key=[1,2]; a text with"
    """ spaces, commas or the like needs two pairs of quotes, key='"a, b"'"""
)
KEYS = {  # by section
    "figure": schema.FIGURE,
    "panels": schema.PANEL,
    "curves": schema.CURVE | schema.SPECIAL["algorithm"] | schema.SPECIAL["bound"],
}
# Keys that somebody may write as options; Hydra has none of these.
OPTIONS = {*schema.TOP, *schema.FIGURE, *schema.ENGINE, *schema.PATHS}


@contextmanager
def one_line_errors(overrides: Sequence[str]) -> Iterator[None]:
    """Check the overrides of a command, and reduce errors of Hydra to one line.

    Raises UserError for the errors of Hydra and OmegaConf, and for a file that cannot be read.
    """
    for word in overrides:
        key, _, value = word.partition("=")
        if word.startswith("-") and key.lstrip("-").replace("-", "_") in OPTIONS:
            raise UserError(f"{word} is no option: overrides are written without dashes, key=value")
        if word.startswith(("=", "@")) or len(word) > LONGEST:  # Hydra would fail
            raise UserError(f"cannot read {shown(word)}: {SYNTAX}")
        names = project.names(key) if key in ("figure", *GROUPS) else [value]
        if value not in names and not re.search(r"[,()]", value):
            raise UserError(f"unknown {key} {shown(value)}; {nearest(value, names)}")
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
        return (
            f"'{key}={value}' has several values: a list is {key}=[{value}], a figure of each value"
            f" `dpbandits multirun figure=<name> {key}={value}`"
        )
    if "You must specify 'figure'" in text:
        return f"which figure? figure=<name>; {nearest('', project.names('figure'))}"
    if found := re.match(r"In '([^']+)': \w+ raised while composing.*\n?(.*)", text):
        return f"conf/{found[1]}.yaml cannot be merged with its defaults: {found[2]}"
    return first_line(error)


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
        config = hydra_config.unresolved(hydra_config.compose(choices))
    except HydraException:
        return f"{message}; are the defaults of conf/config.yaml whole?"
    above, node = "", cast(Any, config)
    for part in parts:
        if not isinstance(node, Mapping):
            return f"{message}; {above} holds no keys, it is {shown(node)}"
        if part not in node:
            break
        above, node = f"{above}.{part}".strip("."), node[part]
    else:
        return f"{message}; it is null, or another part of the command has removed it"
    section = (above.split(".")[1:] or [above])[0]
    if f"{above}.{parts[-1]}" == key and parts[-1] in KEYS.get(section, ()):
        stronger = setters(config, key)
        instead = f"set {stronger} or add" if stronger else "add"
        return f"{message}: it is not there yet, {instead} +{key}=<value>"
    same = [leaf for leaf, _ in leaves(node, above) if leaf.split(".")[-1] == parts[-1]]
    return f"{message}; {nearest(key, same or [f'{above}.{name}'.strip('.') for name in node])}"
