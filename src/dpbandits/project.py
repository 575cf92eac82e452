"""The files of a checkout: where conf/ and figures/ are, and what they are called."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from dpbandits.errors import UserError


def folder() -> Path:
    """The folder of conf/ and figures/: the nearest one upwards, else that of the sources."""
    for candidate in (Path.cwd(), *Path.cwd().parents, Path(__file__).parents[2]):
        if (candidate / "conf" / "config.yaml").is_file() and (candidate / "figures").is_dir():
            return candidate
    raise UserError(
        "no project here: conf/config.yaml and figures/ are neither in this folder nor above it;"
        " run the command inside a checkout of dpbandits"
    )


def names(group: str) -> list[str]:
    """The members of a group of conf/: figure, algorithm, environment, profile, engine."""
    return sorted(path.stem for path in (folder() / "conf" / group).glob("*.yaml"))


def member_file(group: str, name: str) -> str:
    """The path of a member's file below the project's folder, as messages show it."""
    return f"conf/{group}/{name}.yaml"


def read_member(group: str, name: str) -> dict[str, Any]:
    """What a member's file says, by itself, as plain values."""
    content = _read_yaml(folder() / member_file(group, name))
    if not isinstance(content, dict):
        raise UserError(f"{member_file(group, name)} must hold keys and values")
    return copy.deepcopy(content)


@cache
def _read_yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text())
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
