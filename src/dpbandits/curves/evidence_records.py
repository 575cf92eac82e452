"""Records of the evidence: what it was computed from, figures/reference/<figure>/evidence.json."""

import hashlib
import json
from typing import Any

from dpbandits.cells.kinds import AnyCell
from dpbandits.core.errors import UserError
from dpbandits.curves import references
from dpbandits.spec.figure import FigureSpec
from dpbandits.store import fingerprint
from dpbandits.store.blocks import Store


def read_record(figure: str) -> dict[str, Any]:
    """Return the provenance of a figure's evidence. Raises UserError if it cannot be read."""
    file = f"figures/reference/{figure}/evidence.json"
    remedy = f"`dpbandits report --gather {figure}` writes it"
    try:
        content: dict[str, Any] = json.loads(
            (references.folder(figure) / "evidence.json").read_bytes()
        )
    except FileNotFoundError:
        raise UserError(f"{file} is missing; {remedy}") from None
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}; {remedy}") from None
    except ValueError:
        raise UserError(f"{file} cannot be read: it is not valid JSON; {remedy}") from None
    return content


def is_current(spec: FigureSpec) -> bool:
    """Return whether the committed evidence was computed from the sources of this process."""
    return not spec.cells() or read_record(spec.name).get("sources") == digest_of_sources(spec)


def digest_of_sources(spec: FigureSpec) -> str:
    """Return the digest of the sources that the numbers of a figure depend on."""
    digests: dict[str, str] = {}
    for cell in spec.cells():
        digests |= fingerprint.sources(cell.roots)
    return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()


def digest_of_cells(spec: FigureSpec) -> str:
    """Return the digest of what the curves of a figure play; the numbers of runs are no part."""
    played = [
        [
            panel.letter,
            curve.label,
            source.description(),
            *[curve.published] * bool(curve.published),
        ]
        for panel in spec.panels
        for curve in panel.curves
        for source in (*curve.sources, *curve.against)
        if isinstance(source, AnyCell)
    ]
    return hashlib.sha256(json.dumps(played).encode()).hexdigest()


def digest_of_runs(spec: FigureSpec, store: Store) -> str:
    """Return the digest of the bits of all runs of a figure; KeyError if one is missing."""
    digest = hashlib.sha256()
    for cell, runs in spec.runs_of_cells().items():
        digest.update(store.load(cell, runs).tobytes())
    return digest.hexdigest()
