"""Atomic file writes: a file is either complete or absent."""

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpbandits.core.errors import UserError

# Remedy for a command that plays runs; commands that play none pass another or none.
REPEAT = (
    "Files written before are kept: make room or choose another folder (paths.cache=...,"
    " paths.out=...), then repeat the command; it computes only what is missing"
)


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
        for link in (part for part in (path, *path.parents) if part.is_symlink()):
            if not link.exists():  # the system's reason is "File exists"
                reason = f"{link} is a link to {link.readlink()}, which does not exist"
        advice = f". {remedy}" if remedy else ""
        raise UserError(f"cannot write {path}: {reason}{advice}") from error
