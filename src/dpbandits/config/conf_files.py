"""Files of conf/, read one by one as Hydra reads them, and the errors for unreadable files."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import KeyValidationError, OmegaConfBaseException

from dpbandits.core.errors import UserError, shown
from dpbandits.files import project


def read_member(group: str, name: str) -> dict[str, Any]:
    """Return the content of a member's file alone, without its defaults. Raises as `read_yaml`."""
    return read_yaml(project.member_file(group, name))


def read_yaml(file: str) -> dict[str, Any]:
    """Return the keys and values of a file as Hydra reads it, with interpolations unresolved.

    `file` is a path below the project. Raises UserError if the file cannot be read as a mapping.
    """
    content = OmegaConf.to_container(_load(project.folder() / file, file), resolve=False)
    if not isinstance(content, dict):
        raise UserError(f"{file} must hold keys and values")
    return content  # type: ignore[return-value]


def check_defaults(file: str) -> None:
    """Raise UserError unless the defaults list of a file has a form that Hydra accepts."""
    defaults = read_yaml(file).get("defaults", [])
    if not isinstance(defaults, list):
        raise UserError(f"{file}: defaults must be a list, got {shown(defaults)}")
    for entry in defaults:
        if isinstance(entry, dict) and len(entry) == 1:
            (group, name), *_ = entry.items()
            members = name if isinstance(name, list) else [name or ""]
            if isinstance(group, str) and all(isinstance(member, str) for member in members):
                continue
        if not isinstance(entry, str):
            told = "among the defaults; an entry is `group: name`, or _self_"
            raise UserError(f"{file}: {shown(entry)} cannot be {told}")


@cache
def _load(path: Path, file: str) -> Any:
    try:
        if not path.read_text("utf-8").strip():
            raise UserError(f"{file} is empty; it must hold keys and values")
        return OmegaConf.load(path)
    except UnicodeDecodeError as error:
        raise not_text(error) from error
    except OSError as error:
        if is_no_mapping(error):
            raise UserError(f"{file} must hold keys and values") from error
        raise UserError(f"{file} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise not_yaml(error, file) from error
    except KeyValidationError as error:
        raise odd_key() from error
    except RecursionError as error:
        raise UserError(f"{file}: a value contains itself") from error
    except OmegaConfBaseException as error:
        told = str(error).partition("\n")[0]
        raise UserError(f"{file}: {told}") from error


def not_text(error: UnicodeDecodeError) -> UserError:
    """Return the error for a file of conf/ that is not UTF-8; the file is found by its content.

    The decoder's error does not name it.
    """
    for path in (project.folder() / "conf").rglob("*.yaml"):
        if path.read_bytes() == error.object:
            file = path.relative_to(project.folder()).as_posix()
            return UserError(f"{file} is not a text in UTF-8: {error.reason} at byte {error.start}")
    return UserError(f"a file of conf/ is not a text in UTF-8: {error}")


def is_no_mapping(error: OSError) -> bool:
    """Return whether this is OmegaConf's error for a file without a mapping, such as a number."""
    return str(error).startswith("Invalid loaded object type")


def no_mapping() -> UserError:
    """Return the error for a file of conf/ that holds no keys; the loader does not name it."""
    for path in sorted((project.folder() / "conf").rglob("*.yaml")):
        try:
            events = yaml.parse(path.read_text("utf-8"))
            first = next(event for event in events if isinstance(event, yaml.NodeEvent))
        except (StopIteration, yaml.YAMLError, UnicodeDecodeError):  # another kind of error
            continue
        if isinstance(first, yaml.ScalarEvent):
            file = path.relative_to(project.folder()).as_posix()
            return UserError(f"{file} must hold keys and values")
    return UserError("a file of conf/ holds no keys and values")


def odd_key() -> UserError:
    """Return the error for a null key in a file of conf/; the loader does not name the file."""
    for path in sorted((project.folder() / "conf").rglob("*.yaml")):
        if found := re.search(
            r"(?m)^\s*(null|Null|NULL|~)\s*:", path.read_text("utf-8", "replace")
        ):
            file = path.relative_to(project.folder()).as_posix()
            return UserError(f"{file}: {found[1]} cannot be a key, quote it if it is meant as text")
    return UserError("a file of conf/ has a key that is neither a text nor a number")


def not_yaml(error: yaml.YAMLError, file: str = "a file of conf/") -> UserError:
    """Return the error for a file that is not valid YAML, with the line.

    The file is the one that the parser's error names, if it names one.
    """
    mark = getattr(error, "problem_mark", None)
    where = f" line {mark.line + 1}:" if mark else ""
    if mark and Path(mark.name).is_relative_to(project.folder()):
        file = Path(mark.name).relative_to(project.folder()).as_posix()
    problem = getattr(error, "problem", None) or str(error)
    return UserError(f"{file} is not valid YAML:{where} {' '.join(problem.split())}")
