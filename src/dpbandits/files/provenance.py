"""Provenance of results: revision, versions, machine, time, and the user's project."""

import datetime
import hashlib
import os
import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from dpbandits.kernel.roots import PACKAGE, Root, discovery

LIBRARIES = ("numba", "numpy", "scipy", "matplotlib", "hydra-core", "joblib")


@cache
def git_revision() -> str | None:
    """Return the commit of the package's checkout; None outside a checkout.

    The suffix `-dirty` marks changes since that commit.
    """
    # An installed package may lie within a user's repository, whose commit is not the package's.
    if not (PACKAGE.folder.parents[1] / ".git").exists():
        return None
    return _git(PACKAGE, "describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*")


def is_clean(revision: str | None) -> bool:
    """Return whether a revision is that of `git_revision` without changes since a commit."""
    return revision is not None and not revision.endswith("-dirty")


@cache
def revision() -> str:
    """Return the commit of the checkout; for an installed package, version and digest of files.

    The digest covers all files of the package, conf/ and references among them, as they were
    installed: `1.0.0+` and 12 hexadecimal digits of SHA-256.
    """
    if (commit := git_revision()) is not None:
        return commit
    files = {
        path.relative_to(PACKAGE.folder).as_posix(): path.read_bytes()
        for path in sorted(PACKAGE.folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return f"{version('dpbandits')}+{_digest(files)}"


@cache
def _git(root: Root, *arguments: str) -> str | None:
    # What git prints in a folder. GIT_DIR and similar variables, which a hook sets, may name
    # another repository.
    command = ["git", "-C", str(root.folder), *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, env=kept, capture_output=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode().strip()


def _digest(contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for path, content in contents.items():
        digest.update(f"\0{path}\0".encode() + content)
    return digest.hexdigest()[:12]


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries that it uses."""
    libraries = {name: version(name) for name in ("dpbandits", *LIBRARIES)}
    return {"python": platform.python_version(), **libraries}


def provenance() -> dict[str, Any]:
    """Return revision, versions, machine and time as JSON values.

    With a project of the user, also its package, the digest of its sources and its commit, null
    outside a repository; with plugins, the digest of each one's sources.
    """
    project, more = discovery().project, dict[str, Any]()
    if project:
        # Not `describe --dirty`: it may run the programs that a repository's configuration names.
        commit, digest = _git(project, "rev-parse", "HEAD"), _digest(project.sources())
        identity = {"package": project.package, "revision": commit and commit[:12]}
        more["project"] = identity | {"sources": digest}
    if plugins := [root for root in discovery().roots[1:] if root != project]:
        more["plugins"] = {root.package: _digest(root.sources()) for root in plugins}
    return {
        "revision": revision(),
        **more,
        "versions": versions(),
        "machine": f"{platform.system()} {platform.machine()}",
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
