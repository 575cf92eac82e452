"""Checks of overrides before Hydra composes them, where its own messages would not help."""

import re
from collections.abc import Collection, Sequence

from hydra.core.override_parser.types import Override

from dpbandits.config import conf_files, hydra_config
from dpbandits.config.readers.figure import FIGURE_KEYS
from dpbandits.core.errors import LONGEST, UserError, nearest, shown
from dpbandits.files import project

GROUPS = ("profile", "engine", "sweep")  # groups of conf/ beside `figure`
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
CURVE = re.compile(r"figure\.curves\.[^.]+")
# Keys by the names that they would have as options of other programs.
OPTIONS = {
    **{name: name for name in ("runs", "seed", "profile", "engine", "figure")},
    **{name: f"engine.{name}" for name in ("workers", "block", "scheduler")},
    **{name: f"paths.{name}" for name in ("out", "cache")},
    **{name: f"figure.{name}" for name in FIGURE_KEYS if name != "runs"},
}


def check_files(overrides: Sequence[str]) -> None:
    """Raise UserError unless every file that the command composes can be read.

    This check comes first, because Hydra has no clear error for a file that is not YAML, is not a
    mapping, or whose defaults are not a list.
    """
    figures, files, groups = project.names("figure"), [conf_files.MAIN], set[str]()
    for override in overrides:
        key, equals, text = override.partition("=")
        group = key.lstrip("+").partition("@")[0]
        if not equals or group not in ("figure", "algorithm", *GROUPS):
            continue
        names = re.split(r"[,()]", text)
        if key == "figure" and len(names) == 1 and text not in figures:
            name = shown(text)  # shorter than elsewhere: the message also lists figures
            name = name if len(name) <= LONGEST // 2 else f"{name[:24]}...{name[-24:]}"
            raise UserError(f"unknown figure {name}; {nearest(text, figures)}")
        if key == "figure" and len(names) == 1:
            check_figure_name(text)
        groups.add(group)
        files += [project.member_file(group, name) for name in names if len(name) <= LONGEST]
    conf_files.check(files, groups)


def check_figure_name(name: str) -> None:
    """Raise UserError unless a figure of this name can be named in an override and in a path."""
    if not NAME.fullmatch(name):
        raise UserError(
            f"{project.member_file('figure', name)}: rename the file, with letters, digits, dots,"
            " hyphens and underscores only"
        )


def check(overrides: Sequence[str]) -> None:
    """Raise UserError for an override that Hydra would reject with an unclear message."""
    overrides = [override for override in overrides if override not in ("-m", "--multirun")]
    if "=" in overrides[1:-1]:
        at = overrides.index("=", 1)
        written = f"{overrides[at - 1]}={overrides[at + 1]}"
        raise UserError(f"no spaces around an equals sign: write {written}")
    if without_dashes := from_options(overrides, overrides):
        raise UserError(f"overrides are written without dashes: {without_dashes}")
    if any(override.startswith("-") for override in overrides):
        return  # options of Hydra are among them
    if names := {*overrides} & {*project.names("figure")}:
        raise UserError(
            f"{shown(min(names))} is a figure without its key: figure={min(names)}; several figures"
            " are `dpbandits multirun figure=<name>,<name>`"
        )
    for override in hydra_config.parse(overrides):
        key, text = override.key_or_group, shown(override.input_line)
        if not key:
            raise UserError(f"{text} has no key: write key=value")
        if len(key) > LONGEST:  # Hydra would look for a file of that name
            raise UserError(f"unknown key {shown(key)} (command line)")
        _check_algorithm(override)
        if key not in GROUPS or override.package or override.is_delete():
            continue
        if override.is_add():
            raise UserError(f"{text} would be a second {key}: leave out the plus")
        if override.value() in (None, "") or isinstance(override.value(), int | float):
            raise UserError(f"{text} names no {key}; {nearest('', project.names(key))}")


def _check_algorithm(override: Override) -> None:
    # A curve uses a file of conf/algorithm by +algorithm@figure.curves.<name>=<file>.
    key, package, text = override.key_or_group, override.package, shown(override.input_line)
    known = project.names("algorithm")
    try:
        name = None if override.is_delete() else override.value()
    except ValueError:  # several values, of a multirun
        return
    if key == "algorithm" and not override.is_delete():
        file = name if isinstance(name, str) and name else "<name>"
        if not CURVE.fullmatch(package or ""):
            add = f"+algorithm@figure.curves.<curve>={file}"
            raise UserError(f"{text} names no curve: write {add}")
    elif CURVE.fullmatch(key) and isinstance(name, str) and name in known:
        add = f"+algorithm@{key}={name}"
        raise UserError(f"{text} gives a curve the name of an algorithm: write {add}")


def from_options(words: Sequence[str], unread: Collection[str]) -> str:
    """Return the overrides that options stand for: 'runs=5' for --runs 5 and --runs=5; '' if none.

    `unread`: the words that no program parses as its own option.
    """
    overrides = []
    for position, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        key = name if "." in name else OPTIONS.get(name)
        if word not in unread or not word.startswith("-") or key is None:
            continue
        after = words[position + 1] if position + 1 < len(words) else ""
        if not equals:
            value = "<value>" if not after or after.startswith("-") or "=" in after else after
        overrides.append(f"{key}={value}")
    return " ".join(overrides)
