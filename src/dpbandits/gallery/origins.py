"""Where the curves of the gallery's figures come from, in words."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum


class Origin(Enum):
    """Where the curves of a figure come from; the value is what a card says."""

    REFERENCE = "from the reference curves"
    CACHE = "from runs in the cache"
    EXACT = "from formulas"
    MISSING = "not computed yet"
    FAILED = "failed"


COUNTED = {  # after a number of figures
    Origin.REFERENCE: "drawn from the committed reference curves",
    Origin.CACHE: "drawn from runs in the cache",
    Origin.EXACT: "from formulas (nothing is played)",
    Origin.MISSING: "not computed yet",
    Origin.FAILED: "failed",
}


def in_words(origins: Iterable[Origin]) -> str:
    """Return `34 figures: 30 drawn from the committed reference curves, 4 from formulas (...)`."""
    counts = Counter(origins)
    number = counts.total()
    parts = ", ".join(f"{counts[one]} {words}" for one, words in COUNTED.items() if counts[one])
    return f"{number} figure{'s' * (number != 1)}: {parts}" if number else "no figures"
