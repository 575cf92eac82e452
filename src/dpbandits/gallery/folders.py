"""Names of the folders of galleries below paths.out."""

from collections.abc import Sequence

from dpbandits.spec.changes import LONGEST_NAME, as_file_name, digest

ELSEWHERE = ("paths.", "engine.", "engine=")  # where and on what: they make no other gallery


def folder_name(figures: Sequence[str], overrides: Sequence[str]) -> str:
    """Return `gallery`, or `galleries/<words>` for some figures alone or with overrides.

    Where curves are stored and what computes them makes no other gallery. The name holds the words
    as they were typed; where it cannot, it ends in a digest of them.
    """
    words = [*figures, *(word for word in overrides if not word.startswith(ELSEWHERE))]
    if not words:
        return "gallery"
    short = ",".join(word.removeprefix("figure.") for word in words)
    name = as_file_name(short)
    # A name that was cut has a digest already.
    odd = name != short and len(short) <= LONGEST_NAME
    return f"galleries/{name}-{digest(','.join(words))}" if odd else f"galleries/{name}"
