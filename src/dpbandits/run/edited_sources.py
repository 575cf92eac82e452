"""Report of sources that were edited while a command runs.

An edit reaches neither the numbers nor the keys of the process (core/roots.py), so the results are
right; but they are those of the sources as they were when the command started.
"""

import sys
from collections.abc import Iterable

from dpbandits.cells.kinds import AnyCell
from dpbandits.store import fingerprint

_reported: set[str] = set()


def report(cells: Iterable[AnyCell]) -> None:
    """Print one line that names the sources of these cells edited since the process started.

    A source is named once per process.
    """
    names = {name for cell in cells for name in cell.roots}
    if edited := sorted({*fingerprint.edited(tuple(sorted(names)))} - _reported):
        _reported.update(edited)
        print(
            f"dpbandits: {', '.join(edited)}: edited since this command started; it still"
            " uses the sources from its start, also for the keys of its runs; run it again to use"
            " the edit",
            file=sys.stderr,
        )
