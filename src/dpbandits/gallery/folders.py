"""Names of the folders of galleries below paths.out."""

import re
from collections.abc import Sequence
from hashlib import sha256

from dpbandits.results import ELSEWHERE

LONGEST = 80  # characters of a name; the words of a longer one are cut


def folder_name(figures: Sequence[str], overrides: Sequence[str]) -> str:
    """Return `gallery`, or `galleries/<words>` for some figures alone or with overrides.

    Where curves are stored and what computes them makes no other gallery. The name holds the words
    as they were typed; where it cannot, it ends in a digest of them.
    """
    words = [
        *figures,
        *(word for word in overrides if not word.startswith((*ELSEWHERE, "engine="))),
    ]
    if not words:
        return "gallery"
    typed = ",".join(words)
    short = ",".join(word.removeprefix("figure.") for word in words)
    name = re.sub(r"[^\w.,=+~-]", "_", short)
    if name == short and len(name) <= LONGEST:
        return f"galleries/{name}"
    return f"galleries/{name[:LONGEST]}-{sha256(typed.encode()).hexdigest()[:8]}"
