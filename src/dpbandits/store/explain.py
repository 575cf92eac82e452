"""Reasons why a cell is or is not in the cache."""

import json
from collections.abc import Iterator
from typing import Any

from dpbandits.core.errors import shown
from dpbandits.experiments import Experiment
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.key import identity, key

SHOWN = 6  # differences that a line lists at most


def explain(spec: FigureSpec, store: Store) -> Iterator[str]:
    """Yield a line per cell: its key, the number of cached runs and the reason if any is missing.

    The last line counts the complete cells of the figure.
    """
    runs_of = spec.runs_of_cells()
    complete = 0
    for cell, runs in runs_of.items():
        have = runs - sum(map(len, store.missing(cell, runs)))
        complete += have == runs
        why = ""
        if have < runs:
            more = "more runs are requested than cached"
            why = f"  {more if have else _reason(cell, store)}"
        yield f"{key(cell)}  {have:>4}/{runs} runs  {cell.name}{why}"
    yield (
        f"{spec.name}: {complete} of {len(runs_of)} cells are complete in {store.folder};"
        f" `dpbandits run` computes {'nothing' if complete == len(runs_of) else 'the rest'}"
    )


def _reason(cell: Experiment, store: Store) -> str:
    # How the most similar cell of the same member differs from this one, of which no run is cached.
    wanted = dict(_flat(identity(cell)))
    candidates = []
    for path in (store.folder / cell.member).glob("*/identity.json"):
        if path.parent.name == key(cell):
            continue
        try:
            there = dict(_flat(json.loads(path.read_bytes())))
        except (OSError, ValueError):
            continue
        names = [n for n in sorted(wanted.keys() | there.keys()) if wanted.get(n) != there.get(n)]
        # The same cell from other sources is a better hint than another cell from the same ones.
        distance = sum(name.startswith("cell.") for name in names), len(names)
        candidates.append((distance, [_difference(n, there.get(n), wanted.get(n)) for n in names]))
    if not candidates:
        return "never computed"
    _, differences = min(candidates)
    if len(differences) > SHOWN:
        differences = [*differences[:SHOWN], f"{len(differences) - SHOWN} more"]
    return f"not computed; the most similar cached cell differs in {', '.join(differences)}"


def _difference(name: str, there: Any, wanted: Any) -> str:
    kind, _, rest = name.partition(".")
    if kind == "sources":
        return f"the source {rest}" + (" (new)" if there is None else " (gone)" * (wanted is None))
    short = rest if kind == "cell" else name
    if isinstance(wanted, list) and isinstance(there, list) and len(there) != len(wanted):
        return f"{short} ({len(there)} values, wanted {len(wanted)})"
    return f"{short} ({shown(there)}, wanted {shown(wanted)})"


def _flat(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for name, child in node.items():
            yield from _flat(child, f"{path}.{name}" if path else name)
    else:
        yield path, node
