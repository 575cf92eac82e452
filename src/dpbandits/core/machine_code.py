"""Folder in which numba keeps the machine code of kernels.

numba's disk cache watches only the file of the decorated function: after an edit of a helper in
another file it still serves the old machine code. Machine code is therefore kept in a folder named
by a digest of all sources that are compiled, of dpbandits, plugins and the user's project.
"""

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from dpbandits.core import roots
from dpbandits.core.errors import variables_of

with variables_of("numba", "NUMBA_"):
    import llvmlite
    import numba
    import numpy as np

log = logging.getLogger("dpbandits")
settings: Any = numba.config


@cache
def island_digest() -> str:
    """Return a digest of all sources that are compiled and of the versions of the compiler.

    The sources are those that this process has read; 16 hexadecimal digits of SHA-256.
    """
    versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
    digest = hashlib.sha256(f"{versions} {settings.USING_SVML}".encode())
    for root in roots.found().roots:
        for name, content in root.sources().items():
            if root.compiles(name):
                digest.update(f"\0{root.package}/{name}\0".encode())
                digest.update(content)
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """Return the user's cache folder of this project; the variable DPBANDITS_CACHE moves it."""
    if named := os.environ.get("DPBANDITS_CACHE"):
        return Path(named).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # The XDG specification requires that a relative path is ignored.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "dpbandits"


@cache
def folder() -> Path | None:
    """Create and return the folder of machine code; None if it cannot be written."""
    try:
        kept = user_cache() / "kernels" / island_digest()
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=kept):
            pass
        return kept
    except (OSError, RuntimeError) as error:  # RuntimeError: a `~` without a home folder
        log.warning(
            "the machine code cannot be kept, every start compiles it again, for seconds (%s%s);"
            " set DPBANDITS_CACHE to a folder that can be written",
            f"DPBANDITS_CACHE={own}: " if (own := os.environ.get("DPBANDITS_CACHE")) else "",
            error,
        )
        return None


def keep(function: Callable[..., Any]) -> bool:
    """Make numba keep what is decorated next in the folder; return False if it is not kept.

    No folder's name covers the source of a function outside all roots.
    """
    package, _, rest = function.__module__.partition(".")
    path = f"{rest.replace('.', '/')}.py"
    covered = any(root.package == package and root.compiles(path) for root in roots.found().roots)
    if not covered or folder() is None:
        return False
    settings.CACHE_DIR = str(folder())
    return True


def set_aside(error: Exception) -> None:
    """Rename the folder, whose machine code cannot be read, and warn; kernels compile again."""
    if (kept := folder()) is not None and kept.exists():
        aside = Path(tempfile.mkdtemp(prefix=f"{kept.name}.damaged-", dir=kept.parent))
        kept.replace(aside)
        log.warning("the machine code in %s cannot be read (%s): set aside", kept, error)
