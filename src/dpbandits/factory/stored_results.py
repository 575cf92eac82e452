"""Results of a figure without computation, from the cache or from the committed reference.

The cache is used if it has all runs; otherwise the reference, unless it is stale or the command
changes the figure. Without either, a result has no curves.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.files.provenance import revision, versions
from dpbandits.judge.about import About, about
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables import references
from dpbandits.tables.series import Series, summarise


class ResultKind(Enum):
    """Origin of curves."""

    CACHE = "cache"
    REFERENCE = "reference"
    EXACT = "exact"  # functions of theory/ alone, evaluated on demand


@dataclass(frozen=True)
class Source:
    """Provenance of the curves of a figure."""

    kind: ResultKind
    revisions: tuple[str, ...]  # one, unless the cache was filled at several
    dates: tuple[str, ...]  # first and last, or the only one; empty for exact curves
    seconds: float  # computing time, summed over all threads
    machines: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]  # libraries; several versions are joined by commas


@dataclass(frozen=True)
class Result:
    """A figure with its curves and the verdicts on its claims; no curves if `source` is None."""

    spec: FigureSpec
    settings: Settings
    series: tuple[Series, ...]
    claims: tuple[About, ...]
    source: Source | None


def load(figure: str, overrides: Sequence[str] = ()) -> Result:
    """Load the curves of a figure without computing any runs.

    Raises UserError if the configuration or the reference is invalid.
    """
    spec, settings = compose.load(figure, overrides)
    store = Store(settings.cache)
    if not any(store.missing(cell, runs) for cell, runs in spec.runs_of_cells().items()):
        series, source = summarise(spec, store), _of_cache(spec, store)
    elif spec.changes or references.stale(spec, references.PAPER):
        return Result(spec, settings, (), (), None)
    else:
        series = references.read(spec, references.PAPER)
        origin = references.record(figure, references.PAPER) or {}
        source = Source(
            kind=ResultKind.REFERENCE,
            revisions=_several([origin["revision"]]),
            dates=(origin["written"],),
            seconds=origin["seconds"],
            machines=(origin["machine"],),
            versions=tuple(origin["versions"].items()),
        )
    return Result(spec, settings, tuple(series), tuple(about(spec, store)), source)


def _of_cache(spec: FigureSpec, store: Store) -> Source:
    cells = spec.cells()
    if not cells:
        return Source(
            ResultKind.EXACT, _several([revision()]), (), 0.0, (), tuple(versions().items())
        )
    headers = [block.header for cell in cells for block in store.blocks(cell)]
    dates = _several(header.get("written") for header in headers)
    libraries: dict[str, list[str]] = {}
    for header in headers:
        for name, number in header.get("versions", {}).items():
            libraries.setdefault(name, []).append(number)
    return Source(
        kind=ResultKind.CACHE,
        revisions=_several(header.get("revision") for header in headers),
        dates=(dates[0], dates[-1]) if len(dates) > 1 else dates,
        seconds=sum(header["seconds"] for header in headers),
        machines=_several(header.get("machine") for header in headers),
        versions=tuple((name, ", ".join(_several(all_))) for name, all_ in libraries.items()),
    )


def _several(values: Iterable[Any]) -> tuple[str, ...]:
    # Distinct non-empty values, sorted.
    return tuple(sorted({str(value) for value in values if value}))
