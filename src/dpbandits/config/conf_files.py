"""Files of conf/, read one by one as Hydra reads them, and the errors for unreadable files."""

import io
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits.config import refusals
from dpbandits.files import project
from dpbandits.kernel.errors import UserError, shown
from dpbandits.spec.figure import Original, leaves

MAIN = "conf/config.yaml"
MOST = 100_000  # characters of all values that interpolations name
ABSENT = object()  # default of `value_at` that is no value


def read_member(group: str, name: str) -> Mapping[str, Any]:
    """Return the content of a member's file alone, without its defaults. Raises as `read_yaml`."""
    return read_yaml(project.member_file(group, name))


def read_yaml(file: str) -> Mapping[str, Any]:
    """Return the keys and values of a file as Hydra reads it, with interpolations unresolved.

    `file` is a path such as conf/config.yaml, which is read once a process: callers must not change
    what is returned. Raises UserError if the file cannot be read as a mapping.
    """
    return _load(project.find(file), file)


def read_path(path: Path, file: str) -> Mapping[str, Any]:
    """Return the content of any file as it is now, as `read_yaml` does; messages call it `file`."""
    problem = "it must hold keys and values"
    try:
        text = path.read_text("utf-8")
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False)
    except (yaml.YAMLError, OSError, ValueError, RecursionError, OmegaConfBaseException) as error:
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            problem = f"it is not valid YAML: line {error.problem_mark.line + 1}: {error.problem}"
        elif not isinstance(error, OSError) or error.errno:  # else OmegaConf's: no mapping
            problem = str(error).partition("\n")[0]
        raise UserError(f"{file} cannot be read: {' '.join(problem.split())}") from error
    if not isinstance(content, dict) or not content:
        raise UserError(f"{file} cannot be read: {problem}")
    return cast(Mapping[str, Any], content)


_load = cache(read_path)


def defaults(file: str) -> Iterator[tuple[str, str]]:
    """Yield group and name of every member in the defaults of a file; `group@place` if moved.

    The group '' is that of the file. Raises UserError for an entry that names no member.
    """
    entries = read_yaml(file).get("defaults", [])
    for entry in entries if isinstance(entries, list) else [entries]:
        pairs = {"": entry} if isinstance(entry, str) else entry
        if not isinstance(entries, list) or not isinstance(pairs, dict):
            raise UserError(f"{file}: defaults must be a list of members, got {shown(entry)}")
        for group, names in pairs.items():
            if not group.startswith("override"):
                members = names if isinstance(names, list) else [names]
                yield from ((group.strip("/"), str(name)) for name in members)


def original(figure: str) -> Original | None:
    """Return the figure or table of a paper that a figure's file names; None if it names none."""
    named = read_member("figure", figure).get("original")
    if not isinstance(named, Mapping):
        return None
    pairs = ((kind, named.get(kind)) for kind in ("figure", "table"))
    part = str(named.get("part") or "")
    return next((Original(kind, n, part) for kind, n in pairs if isinstance(n, int)), None)


def unsafe(content: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return a key of a composed figure with which Hydra or OmegaConf might run code, and why.

    An interpolation names a key whose value has none itself; those of `paths` are the user's own.
    """
    length = 0
    for path, value in leaves({key: value for key, value in content.items() if key != "paths"}):
        if refusals.is_special(path):
            return path, "is a key on which Hydra acts; a figure cannot have it"
        targets = [value_at(content, key) for key in refusals.PLAIN.findall(str(value))]
        length += sum(len(str(target)) for target in targets)
        if "${" in refusals.PLAIN.sub("", str(value)) or "${paths" in str(value):
            return path, refusals.NAMES
        if length > MOST or any("${" in str(target) for target in targets):
            return path, "names a value that is too long or has ${...} itself"
    return None


def value_at(node: Any, key: str, default: Any = None) -> Any:
    """Return the value at a dotted key of nested mappings; the default if there is none."""
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            return default
        node = node[part]
    return node
