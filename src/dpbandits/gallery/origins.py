"""Origins of the curves of the gallery's figures, in words."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum


class Origin(Enum):
    """Origin of the curves of a figure; the value is the text on its card."""

    REFERENCE = "reference curves"
    CACHE = "runs in the cache"
    EXACT = "formulas"
    MISSING = "not computed yet"
    FAILED = "failed"


COUNTED = {  # after a number of figures
    Origin.REFERENCE: "drawn from the committed reference curves",
    Origin.CACHE: "drawn from runs in the cache",
    Origin.EXACT: "from formulas (no runs)",
    Origin.MISSING: "not computed yet",
    Origin.FAILED: "failed",
}


def in_words(origins: Iterable[Origin]) -> str:
    """Return `2 figures: 1 drawn from the committed reference curves, 1 not computed yet`."""
    counts = Counter(origins)
    number = counts.total()
    if number <= 1:
        return "".join(f"1 figure, {COUNTED[origin]}" for origin in counts) or "no figures"
    parts = ", ".join(
        f"{counts[origin]} {words}" for origin, words in COUNTED.items() if counts[origin]
    )
    return f"{number} figures: {parts}"
