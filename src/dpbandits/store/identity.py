"""Identity of a cell's results: the cell, the sources that it reaches, the versions of libraries.

The libraries are those that draw the numbers. The key is a digest of the identity. Equal keys mean
equal bits.
"""

import hashlib
import json
from functools import cache
from importlib import import_module
from typing import Any

from dpbandits.cells.kinds import AnyCell
from dpbandits.store import fingerprint

FORMAT = 1  # of the blocks


def version(library: str) -> str:
    """Return the version of a library as imported: its files may be of another one by now."""
    library_version: str = import_module(library).__version__
    return library_version


def identity(cell: AnyCell) -> dict[str, Any]:
    """Return everything that determines the bits of a cell's results, as JSON values."""
    return {
        "format": FORMAT,
        "cell": cell.description(),
        "sources": fingerprint.sources(cell.roots),
        "versions": {name: version(name) for name in cell.libraries},
    }


@cache
def key(cell: AnyCell) -> str:
    """Return the digest of the cell's identity, 20 hexadecimal digits."""
    canonical = json.dumps(identity(cell), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:20]
