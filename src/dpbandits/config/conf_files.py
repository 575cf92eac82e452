"""Files of conf/, read one by one as Hydra reads them, and the errors for unreadable files."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import KeyValidationError, OmegaConfBaseException

from dpbandits.config import yaml_limits
from dpbandits.config.interrupts import reraise_interrupt
from dpbandits.core.errors import UserError, shown
from dpbandits.files import project
from dpbandits.files.regular import Unsuitable, read_regular

MAIN = "conf/config.yaml"


def read_member(group: str, name: str) -> Mapping[str, Any]:
    """Return the content of a member's file alone, without its defaults. Raises as `read_yaml`."""
    return read_yaml(project.member_file(group, name))


def read_yaml(file: str) -> Mapping[str, Any]:
    """Return the keys and values of a file as Hydra reads it, with interpolations unresolved.

    `file` is a path such as conf/config.yaml, which is read once a process: callers must not change
    what is returned. Raises UserError if the file cannot be read as a mapping.
    """
    return _load(project.find(file), file)


def usual_members() -> dict[str, Any]:
    """Return the member of each group that conf/config.yaml chooses without an override."""
    return {group: name for group, name in _defaults(MAIN) if group}


def check(files: Iterable[str], overridden: Collection[str]) -> None:
    """Raise UserError unless these files, and those that their defaults name, can be read.

    Hydra's own errors for such a file do not name it. A file that does not exist is left to Hydra.
    `overridden`: groups of which conf/config.yaml names a member that is not used.
    """
    waiting, checked = list(files), set[str]()
    while waiting:
        file = waiting.pop(0)
        if file in checked or not project.find(file).is_file():
            continue
        checked.add(file)
        for group, names in _defaults(file):
            if file != MAIN or group not in overridden:
                own = group.partition("@")[0].strip("/") or Path(file).parent.name
                named = names if isinstance(names, list) else [names]
                waiting += [project.member_file(own, name) for name in named if name]


def _defaults(file: str) -> Iterator[tuple[str, Any]]:
    # The entries of a defaults list: a group with the name of a member, names or None; '' stands
    # for the file's own group.
    defaults = read_yaml(file).get("defaults", [])
    if not isinstance(defaults, list):
        raise UserError(f"{file}: defaults must be a list, got {shown(defaults)}")
    for entry in defaults:
        if isinstance(entry, str):
            yield "", entry
            continue
        group, names = next(iter(entry.items())) if _is_pair(entry) else (None, None)
        several = names if isinstance(names, list) else [names or ""]
        if not isinstance(group, str) or not all(isinstance(name, str) for name in several):
            raise UserError(
                f"{file}: {shown(entry)} cannot be among the defaults; an entry is `group: name`,"
                " or _self_"
            )
        yield group.removeprefix("override "), names


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, dict) and len(entry) == 1


@cache
def _load(path: Path, file: str) -> Mapping[str, Any]:
    text = _text(path, file)
    if not text.strip():
        raise UserError(f"{file} is empty; it must hold keys and values")
    try:
        if reason := yaml_limits.excess(text):
            raise UserError(f"{file} is not read: {reason}")
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False)
    except OSError as error:  # OmegaConf's error for a file without a mapping, such as a number
        raise UserError(f"{file} must hold keys and values") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}:" if mark else ""
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise UserError(f"{file} is not valid YAML:{line} {problem}") from error
    except KeyValidationError as error:
        raise UserError(
            f"{file}: a key must be a text or a number; write null and ~ in quotes"
        ) from error
    except RecursionError as error:
        raise UserError(f"{file}: a value contains itself") from error
    except OmegaConfBaseException as error:
        reraise_interrupt(error)
        raise UserError(f"{file}: {str(error).partition(chr(10))[0]}") from error
    if not isinstance(content, dict):
        raise UserError(f"{file} must hold keys and values")
    return cast(Mapping[str, Any], content)


def _text(path: Path, file: str) -> str:
    try:
        return read_regular(path, yaml_limits.BYTES).decode("utf-8")
    except Unsuitable as error:
        raise UserError(f"{file} is not read: {error}") from error
    except UnicodeDecodeError as error:
        reason = f"{error.reason} at byte {error.start}"
        raise UserError(f"{file} is not a text in UTF-8: {reason}") from error
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
