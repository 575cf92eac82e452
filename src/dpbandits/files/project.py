"""Paths of a project: where conf/ and figures/ are, and how their files are called."""

from functools import cache
from pathlib import Path

from dpbandits.core.errors import UserError


def folder() -> Path:
    """The folder of conf/ and figures/: the nearest one upwards, else that of the sources."""
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
    """The members of a group of conf/: figure, algorithm, environment, profile, engine."""
    return sorted(path.stem for path in (folder() / "conf" / group).glob("*.yaml"))


def member_file(group: str, name: str) -> str:
    """The path of a member's file below the project's folder, as messages show it."""
    return f"conf/{group}/{name}.yaml"
