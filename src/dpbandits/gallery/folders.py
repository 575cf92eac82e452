"""Folders of galleries: their names below paths.out, and how their files are written."""

from collections.abc import Sequence
from functools import partial

from dpbandits.files.atomic import write_atomically
from dpbandits.spec.figure import as_file_name, recorded

REMEDY = "A gallery is written whole or not at all: make room, or name another folder with --out"


# Writes a file of a gallery; raises UserError if the system refuses.
write = partial(write_atomically, remedy=REMEDY)


def folder_name(figures: Sequence[str], overrides: Sequence[str]) -> str:
    """Return `gallery`, or `galleries/<words>` for a choice of figures or for overrides.

    Overrides of folders and engines are ignored. The name holds the words as they were given; if
    they are not a valid name, it ends in a digest of them.
    """
    words = [*figures, *recorded(overrides)]
    if not words:
        return "gallery"
    short = ",".join(word.removeprefix("figure.") for word in words)
    return f"galleries/{as_file_name(short)}"
