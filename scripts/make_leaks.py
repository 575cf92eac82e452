"""Write the table of planted leaks in docs/checks.md: `python scripts/make_leaks.py`.

Reads the audits that `pytest -m slow tests/slow/test_planted_leaks.py` wrote to out/leaks. Leaves
the table as it is if an audit is missing, or unless all are from one revision of a clean checkout.
"""

import datetime
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from marked_part import MissingPart, replaced

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "checks.md"
AUDITS = ROOT / "out" / "leaks"


class Unfit(Exception):
    """Reason why nothing is written."""


def measured(kind: str) -> list[dict[str, Any]]:
    """Return the audits of a kind, sorted by number and budget."""
    audits = [json.loads(file.read_text("utf-8")) for file in AUDITS.glob(f"{kind}-*.json")]
    return sorted(audits, key=lambda audit: (audit["number"], audit["epsilon"]))


def text() -> str:
    """Return the table and the line above it. Raises Unfit if audits are missing or mixed."""
    leaks, none = map(measured, ("leak", "none"))
    revisions = {entry["revision"] for entry in (*leaks, *none)}
    if not (leaks and none):
        raise Unfit(f"there are no audits in {AUDITS.relative_to(ROOT)}")
    (revision, *others) = sorted(map(str, revisions))
    if others or revision == "None" or revision.endswith("-dirty"):
        raise Unfit(f"the audits are not all of one clean revision: {', '.join(sorted(revisions))}")
    epsilons = sorted({entry["epsilon"] for entry in leaks})
    rows = {entry["number"]: entry for entry in leaks}
    cells = {(entry["number"], entry["epsilon"]): certified(entry) for entry in leaks}
    clean = {(entry["number"], entry["epsilon"]) for entry in none}
    numbers = {number for number, _ in clean}
    if absent := {(n, e) for n in rows for e in epsilons} - {*cells}:
        raise Unfit(f"audits of leaks are missing (number, epsilon): {sorted(absent)}")
    if absent := {(n, e) for n in numbers for e in epsilons} - clean:
        raise Unfit(f"audits without a leak are missing (number, epsilon): {sorted(absent)}")
    number = len(leaks[0]["audits"])
    seeds = f"{number} seed{'s' if number > 1 else ''}"
    detected, of_none = (
        [audit["refuted"] for entry in entries for audit in entry["audits"]]
        for entries in (leaks, none)
    )
    lines = [
        f"Measured {datetime.datetime.now(datetime.UTC):%Y-%m-%d} at revision {revision}, with"
        f" {seeds} each. Detected in {sum(detected)} of {len(detected)} audits; false alarms"
        f" without a leak: {sum(of_none)} of {len(of_none)}.",
        "",
        f"|leak |games |{' |'.join(f'ε = {epsilon}' for epsilon in epsilons)}|",
        f"|---|---|{'---|' * len(epsilons)}",
    ]
    for number, entry in rows.items():
        columns = " |".join(cells[number, epsilon] for epsilon in epsilons)
        lines.append(f"|{entry['name']} |{entry['plays']:,} |{columns}|")
    return "\n".join(lines) + "\n"


def certified(entry: Mapping[str, Any]) -> str:
    """Return a leak's audited bounds at a budget, over the seeds.

    A bound on one choice is at the claimed delta; a bound on all arms is at delta 0, followed by
    the declared epsilon if that is smaller than the budget.
    """
    audits: Sequence[Mapping[str, Any]] = entry["audits"]
    of_choice = entry["event"] == "one choice"
    bounds = [audit[entry["event"]][-1 if of_choice else 0] for audit in audits]
    ends = dict.fromkeys(f"{bound:.3g}" for bound in (min(bounds), max(bounds)))
    interval = "–".join(ends)
    declared = max(audit["declared"] for audit in audits)
    if not of_choice and declared < entry["epsilon"]:
        interval += f"; declared {declared:.3g}"
    return interval


def main() -> int:
    try:
        new = replaced(DOCUMENT.read_text("utf-8"), "leaks", text())
    except (MissingPart, Unfit) as why:
        print(f"{DOCUMENT.name}: the table is unchanged: {why}", file=sys.stderr)
        return 1
    DOCUMENT.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
