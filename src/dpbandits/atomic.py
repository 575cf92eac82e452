"""Files that are whole or absent."""

import os
from pathlib import Path

from dpbandits.errors import UserError


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, whatever happens in between; make its folder if need be.

    Raises UserError where the system refuses, with what to do.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror or error}. What was written before is kept: make"
            " room or choose another folder (paths.cache=..., paths.out=...), then repeat the"
            " command; it computes only what is missing"
        ) from error
