"""Paths of a project: its folder, and the files of conf/."""

from functools import cache
from pathlib import Path

from dpbandits.core.errors import UserError


def folder() -> Path:
    """Return the folder that contains conf/ and figures/.

    It is the current folder or the nearest one above it, else the checkout of the sources. Raises
    UserError if there is none.
    """
    return _seen_from(Path.cwd())


@cache
def _seen_from(here: Path) -> Path:
    for candidate in (here, *here.parents, Path(__file__).parents[3]):
        if (candidate / "conf" / "config.yaml").is_file() and (candidate / "figures").is_dir():
            return candidate
    raise UserError(
        "no project here: conf/config.yaml and figures/ are neither in this folder nor above it;"
        " run the command inside a checkout of dpbandits"
    )


def names(group: str) -> list[str]:
    """Return the sorted names of a group in conf/.

    Groups are figure, algorithm, environment, profile and engine.
    """
    return sorted(path.stem for path in (folder() / "conf" / group).glob("*.yaml"))


def member_file(group: str, name: str) -> str:
    """Return the path of a configuration file relative to the project's folder, for messages."""
    return f"conf/{group}/{name}.yaml"
