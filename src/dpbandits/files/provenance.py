"""Provenance of results: revision, versions, machine, time."""

import datetime
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from typing import Any

from dpbandits.core.roots import ROOTS

LIBRARIES = ("numba", "numpy", "scipy", "matplotlib", "hydra-core", "joblib")


@cache
def git_revision() -> str | None:
    """Return the commit of the package's checkout; None outside a checkout.

    The suffix `-dirty` marks changes since that commit, and sources that were edited since the
    process started.
    """
    command = [
        "git",
        "-C",
        str(ROOTS[0].folder),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
    ]
    command += ["--exclude", "*"]
    # Drop GIT_DIR and similar variables, which a hook sets: they may name another repository.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, env=own, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    revision = done.stdout.strip()
    if not revision.endswith("-dirty") and any(root.is_edited() for root in ROOTS):
        return f"{revision}-dirty"
    return revision


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries that it uses."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {
        "dpbandits": version("dpbandits"),
        "python": platform.python_version(),
        **libraries,
    }


def now() -> str:
    """Return the current time in UTC, in ISO format to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def provenance() -> dict[str, Any]:
    """Return revision, versions, machine and time as JSON values."""
    return {
        "revision": git_revision(),
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}",
        "written": now(),
    }
