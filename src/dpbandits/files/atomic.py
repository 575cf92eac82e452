"""Files that are written: each complete or absent, and the versions of those that programs read."""

import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpbandits.kernel.errors import UserError

# Versions of the JSON files that other programs read; docs/files.md lists the keys. A key that is
# removed, renamed or given another meaning raises the version. A new key does not.
FIGURE_SCHEMA = "dpbandits-figure/1"  # out/<figure>/<figure>.json, beside the pictures
VERDICT_SCHEMA = "dpbandits-verdict/3"  # out/<figure>/verdict.json
REFERENCE_SCHEMA = "dpbandits-reference/1"  # figures/reference/<figure>.json
AUDITS_SCHEMA = "dpbandits-audits/1"  # figures/reference/audits/<figure>.json
CLAIMS_SCHEMA = "dpbandits-claims/1"  # figures/reference/claims/<paper>.json
EXPORT_SCHEMA = "dpbandits-export/1"  # dpbandits export --format json
MULTIRUN_SCHEMA = "dpbandits-multirun/1"  # out/multirun/<figure>/<figure>-by-<keys>.json

# Remedy for a command that plays runs; commands that play none pass another or none.
REPEAT = (
    "Files written before are kept: make room or choose another folder (paths.cache=...,"
    " paths.out=...), then repeat the command; it computes only what is missing"
)


def to_json(content: Any) -> bytes:
    """Return the bytes of a JSON file, indented for readers."""
    return (json.dumps(content, indent=1) + "\n").encode()


def write_atomically(path: Path, content: bytes, remedy: str = REPEAT) -> None:
    """Write a file completely or not at all, and create its folder if necessary.

    Raises UserError, with the remedy, if the system refuses.
    """
    # A random name and not the process id: containers that share a folder may share process ids.
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    with _refusals_in_one_line(path, remedy):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)


def check_writable(folder: Path, remedy: str = REPEAT) -> None:
    """Create a folder if necessary and check that it is writable, before hours of work.

    Raises UserError, with the remedy, if the system refuses.
    """
    with _refusals_in_one_line(folder, remedy):
        folder.mkdir(parents=True, exist_ok=True)
        # A temporary file, because another process may run the same check.
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"not empty, which a full disk would allow")


@contextmanager
def _refusals_in_one_line(path: Path, remedy: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(f"cannot write {path}: {reason}{remedy and f'. {remedy}'}") from error
