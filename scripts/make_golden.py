"""Regenerate the golden rows and stream names: `python scripts/make_golden.py [name ...]`.

For a deliberate change of a law or of a random stream, and for a new algorithm, environment or set
of hyper-parameters. The rows, and the names of the random streams behind them, are those of the
code in this checkout, right or wrong. A name is a file of conf/algorithm/ or of conf/environment/;
without names all rows are regenerated. The script prints the changes: review them, and commit
tests/golden/rows.jsonl and tests/golden/streams.jsonl with the change that caused them.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import golden_rows  # noqa: E402  (the golden cases are defined beside the test)
import golden_streams  # noqa: E402


def main(names: list[str]) -> int:
    os.chdir(ROOT)
    cases = golden_rows.cases()
    valid = {name for case in cases for name in (case.plays, case.on)}
    if unknown := sorted(set(names) - valid):
        print(
            f"unknown: {', '.join(unknown)}; there are {', '.join(sorted(valid))}", file=sys.stderr
        )
        return 2
    asked = {case.name for case in cases if not names or {case.plays, case.on} & set(names)}
    streams_before = golden_streams.read() if golden_streams.FILE.exists() else {}
    streams = {
        case.name: golden_streams.names(case)
        if case.name in asked or case.name not in streams_before
        else streams_before[case.name]
        for case in cases
    }
    made_with, before = golden_rows.read() if golden_rows.FILE.exists() else ({}, {})
    if names and made_with != golden_rows.made_with():
        print(f"made with {made_with}, this is {golden_rows.made_with()}: all rows are regenerated")
        asked = {case.name for case in cases}
    after = {
        case.name: golden_rows.play(case)
        if case.name in asked or case.name not in before
        else before[case.name]
        for case in cases
    }
    changes = [f"gone: {name}" for name in {**before, **streams_before} if name not in after]
    for name, rows in after.items():
        if name not in before or name not in streams_before:
            changes.append(f"new: {name}")
            continue
        if change := golden_streams.difference(streams_before[name], streams[name]):
            changes.append(f"changed: {name}, {change}")
        if change := golden_rows.difference(before[name], rows):
            changes.append(f"changed: {change}")
    golden_rows.write(after.values())
    golden_streams.write(streams)
    print("\n".join(changes) or "nothing changed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
