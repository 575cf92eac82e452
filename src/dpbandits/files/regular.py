"""Bounded reads of regular files, for folders into which others may have put files."""

import os
import stat
from pathlib import Path


class Unsuitable(Exception):
    """Reason why a file is not read."""


def read_regular(path: Path, limit: int) -> bytes:
    """Return the content of a regular file of at most `limit` bytes; links are followed.

    Raises Unsuitable for any other file: reading a FIFO would wait for ever, a device might never
    end. Raises OSError if the file is absent or cannot be read.
    """
    # Checked before the file is opened, because opening a device may have effects, and again on the
    # open file, because the path may have been replaced in between. O_NONBLOCK: opening a FIFO must
    # not wait for a writer.
    _check(path.stat(), limit)
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        _check(os.fstat(file.fileno()), limit)
        return file.read(limit)


def _check(status: os.stat_result, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Unsuitable("it is not a regular file")
    if status.st_size > limit:
        raise Unsuitable(f"it has {status.st_size:,} bytes, expected at most {limit:,}")
