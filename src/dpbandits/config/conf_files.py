"""Files of conf/, read one by one as Hydra reads them, and the errors for unreadable files."""

import io
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dpbandits.core.errors import UserError, shown
from dpbandits.files import project

MAIN = "conf/config.yaml"
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


def defaults(file: str) -> Iterator[tuple[str, str]]:
    """Yield group and name of every member in the defaults of a file; `group@place` if moved.

    The group '' is that of the file. Raises UserError for an entry that names no member.
    """
    entries = read_yaml(file).get("defaults", [])
    if not isinstance(entries, list):
        raise UserError(f"{file}: defaults must be a list, got {shown(entries)}")
    for entry in entries:
        pairs = {"": entry} if isinstance(entry, str) else entry
        if not isinstance(pairs, dict) or len(pairs) != 1:
            raise UserError(f"{file}: {shown(entry)} cannot be among the defaults")
        ((group, names),) = pairs.items()
        for name in names if isinstance(names, list) else [names]:
            if not isinstance(name, str | None):
                raise UserError(f"{file}: {shown(entry)} cannot be among the defaults")
            if name and not group.startswith("override"):
                yield group.strip("/"), name


def usual_members() -> dict[str, str]:
    """Return the member of each group that conf/config.yaml chooses without an override."""
    return {group: name for group, name in defaults(MAIN) if group}


def check(files: list[str]) -> None:
    """Raise UserError unless these files, and those that their defaults name, can be read.

    Hydra's own errors for such a file do not name it. A file that does not exist is left to Hydra.
    """
    waiting = list(dict.fromkeys(files))
    for file in waiting:
        if project.find(file).is_file():
            for group, name in defaults(file):
                group = group.partition("@")[0] or Path(file).parent.name
                member = project.member_file(group, name)
                waiting += [] if member in waiting else [member]


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the dotted path and the value of every leaf of nested mappings."""
    if isinstance(node, Mapping):
        for name, child in node.items():
            yield from leaves(child, f"{path}.{name}" if path else str(name))
    else:
        yield path, node


def value_at(node: Any, key: str, default: Any = None) -> Any:
    """Return the value at a dotted key of nested mappings; the default if there is none."""
    for part in key.split("."):
        if not isinstance(node, Mapping) or part not in node:
            return default
        node = node[part]
    return node


@cache
def _load(path: Path, file: str) -> Mapping[str, Any]:
    try:
        text = path.read_text("utf-8")
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False)
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not a text in UTF-8: byte {error.start}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise UserError(f"{file} is not valid YAML:{line} {problem}") from error
    except OSError as error:  # OmegaConf's for a file without a mapping has no errno
        problem = str(error.strerror) if error.errno else "it must hold keys and values"
        raise UserError(f"{file} cannot be read: {problem}") from error
    except RecursionError as error:
        raise UserError(f"{file}: a value contains itself") from error
    except OmegaConfBaseException as error:
        raise UserError(f"{file}: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(content, dict) or not content:
        raise UserError(f"{file} cannot be read: it must hold keys and values")
    return cast(Mapping[str, Any], content)
