"""Golden names of random streams: which are recorded, how, and in which file.

The name of a stream is its seed: one more letter, and it draws other numbers. Names are recorded
where the code requests a generator, so they are the names that seed it, whichever function builds
them. Nothing is played.

Every golden case (golden_rows.py) records the names of its run. Where its algorithm promises
privacy and its arms are Bernoulli, it also records the names of an audit: the bisections for the
edge of a decision, every design in every stage of the search, and the games that are measured.
"""

import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from golden_rows import COMMON, SEED, Case

from dpbandits.audit import kernels as features
from dpbandits.audit import search
from dpbandits.audit.designs import Design
from dpbandits.audit.events import Event
from dpbandits.audit.search import Auditor
from dpbandits.audit.subject import Subject
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.files.atomic import write_atomically
from dpbandits.kernel import registry
from dpbandits.kernel.randomness import Role, stream, words
from dpbandits.privacy.notions import budget_of

FILE = Path(__file__).with_name("streams.jsonl")
AUDIT = "audit"  # the key of an audit's names; those of a run are keyed by role
NUMBER, MANY_ARMS, PLAYS = 3, 5, 200_000  # of an audit; none of them a default
BUCKETS = 4  # of the hashed features; the real number takes most of the time, and is in no name
PLAIN = (None, Regret.PSEUDO)  # pulls_of and regret of the cells whose algorithms are audited
EXAMPLES = 8  # names of an audit recorded in full, evenly spaced among its hundreds

Request = tuple[int, Role, int, str]  # root seed, role, number of the run, name
Names = dict[str, dict[str, Any]]  # of one case, by role or AUDIT; JSON values


class _Enough(Exception):
    """All streams have been requested: nothing needs to be played."""


def names(case: Case) -> Names:
    """Return the names of the streams of a case."""
    kept: Names = {
        role.name.lower(): {"words": " ".join(f"{w:08x}" for w in words(name)), "name": name}
        for _, role, _, name in requests_of_a_run(case.cell)
    }
    cell = case.cell
    plain = isinstance(cell, RegretExperiment) and (cell.pulls_of, cell.regret) == PLAIN
    if plain and case.on == "bernoulli" and hasattr(registry.algorithm(cell.member), "guarantee"):
        # Some golden games are long or have a tiny budget, both useless for an audit.
        field = budget_of(cell.params._fields) or ""
        params = cell.params._replace(**{field: COMMON[field]})
        kept[AUDIT] = _summary(requests_of_an_audit(Subject.of(cell.member, params)))
    return kept


def requests_of_a_run(cell: Any) -> list[Request]:
    """Return the streams that a run of a cell requests, in order; the policy's is the last."""
    requests: list[Request] = []

    def listening(root: int, role: Role, run: int, name: str) -> np.random.Generator:
        requests.append((root, role, run, name))
        if role is Role.POLICY:
            raise _Enough
        return stream(root, role, run, name)

    with patch.object(sys.modules[type(cell).__module__], "stream", listening), suppress(_Enough):
        cell.play(range(1))
    return requests


def requests_of_an_audit(subject: Subject) -> list[Request]:
    """Return the streams that an audit requests, in order.

    Counts that depend on the design alone replace its games, and a search to which all designs are
    equal replaces its search. The names therefore depend neither on statistics nor on the machine.
    """
    requests: list[Request] = []

    def listening(root: int, role: Role, run: int, name: str) -> np.random.Generator:
        requests.append((root, role, run, name))
        return stream(root, role, run, name)

    with ExitStack() as stack:
        stack.enter_context(patch.object(search, "stream", listening))
        stack.enter_context(patch.object(search, "block_of_games", _counts))
        stack.enter_context(patch.object(search, "best_event", _event))
        stack.enter_context(patch.object(features, "BUCKETS", BUCKETS))
        features.features.cache_clear()
        stack.callback(features.features.cache_clear)  # other tests have the real buckets
        Auditor(subject, SEED, 1, NUMBER, MANY_ARMS).audit(PLAYS)
    return requests


def _counts(
    algorithm: str,
    params: Any,
    design: Design,
    table: Any,
    rng: Any,
    games: int,
    counts: Any = None,
) -> np.ndarray:
    # Both arms are pulled in the first round, and more than one sequence occurs; arm 1 is pulled as
    # often as its mean, which is the value that a bisection reads.
    if counts is None:
        counts = np.zeros(features.features(*table.shape)[-1].stop, np.uint32)
    counts[:2] = games // 2
    arms, rounds = table.shape
    pulls = rounds * arms  # the first cell after those of the rounds
    counts[pulls + round(float(design.table[0].mean()) * rounds)] = games
    counts[-BUCKETS : 2 - BUCKETS] = games // 2
    return counts


def _event(
    counts: Any, games: int, seen: Iterable[Any], delta: float
) -> tuple[float, Event | None]:
    return 1.0, Event(next(iter(seen)), np.array([0]), swapped=False)


def _summary(requests: list[Request]) -> dict[str, Any]:
    # All names of an audit would take a megabyte per algorithm.
    text = "\n".join(f"{root} {role:d} {run} {name}" for root, role, run, name in requests)
    return {
        "streams": len(requests),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "examples": [name for *_, name in requests[:: len(requests) // EXAMPLES]],
    }


def difference(golden: Names, now: Names) -> str | None:
    """Return a description of the first difference, or None where all names are identical."""
    for kind in {**golden, **now}:
        before, after = golden.get(kind, {}), now.get(kind, {})
        for key in sorted({**before, **after}):  # a name before its digest
            if (old := before.get(key)) != (new := after.get(key)):
                return f"{kind} stream: {key} is\n  {new}\ngolden\n  {old}"
    return None


def read() -> dict[str, Names]:
    """Return the golden names by case."""
    kept: dict[str, Names] = {}
    for line in FILE.read_text("utf-8").splitlines():
        row = json.loads(line)
        kept.setdefault(row.pop("case"), {})[row.pop("stream")] = row
    return kept


def write(kept: dict[str, Names]) -> None:
    """Write the file: one line per case and stream."""
    rows = ((case, kind, row) for case, of in kept.items() for kind, row in of.items())
    lines = (json.dumps({"case": case, "stream": kind, **row}) + "\n" for case, kind, row in rows)
    write_atomically(FILE, "".join(lines).encode())
