"""Table of tried mutants in docs/checks.md, and the results behind it."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from marked_part import replaced

from dpbandits.files.provenance import git_revision
from mutants.concerned import GROUPS, TIME_LIMIT
from mutants.mutations import Mutant

KEPT = ("name", "kind", "before", "after", "module", "killed", "test")
Result = Mapping[str, Any]


class Unfit(SystemExit):
    """Reason why no table is written."""


def lines_of(results: Iterable[Result], equivalent: Mapping[str, str]) -> list[str]:
    """Return what failed first over all folders, and a table with a row per folder and for all."""
    by_folder: dict[str, list[Result]] = {}
    for result in results:
        by_folder.setdefault(result["name"].partition("/")[0], []).append(result)
    everything = [result for of_folder in by_folder.values() for result in of_folder]
    counts = Counter(result["killed"] for result in everything)
    first = [f"{group} {counts[group]}" for group in (*GROUPS, TIME_LIMIT)]
    return [
        f"Failed first: {', '.join(first)}.",
        "",
        "| folder | mutants | equivalent | survived | killed |",
        "|---|---:|---:|---:|---:|",
        *(_row(f"`{folder}`", of, equivalent) for folder, of in by_folder.items()),
        _row("all", everything, equivalent),
    ]


def _row(name: str, results: Sequence[Result], equivalent: Mapping[str, str]) -> str:
    killed = sum(bool(result["killed"]) for result in results)
    same = sum(not r["killed"] and r["name"] in equivalent for r in results)
    others = len(results) - same
    share = f"{killed / others:.1%}".replace("%", " %") if others else "-"
    return f"| {name} | {len(results)} | {same} | {others - killed} | {share} |"


def write_results(
    root: Path,
    chosen: Sequence[Mutant],
    results: Mapping[str, Result],
    seed: int,
    digest_of: Mapping[str, str],
) -> None:
    """Write the file of results. Raises Unfit while a mutant is untried or its module changed."""
    tried = [results[mutant.name] for mutant in chosen if mutant.name in results]
    changed = [r for r in tried if r["module"] != digest_of[r["name"].partition(":")[0]]]
    if len(tried) < len(chosen) or changed:
        missing = len(chosen) - len(tried) + len(changed)
        raise Unfit(f"{missing} of {len(chosen)} mutants have not been tried: make mutants")
    kept = [{key: result[key] for key in KEPT} for result in tried]
    head = {"revision": git_revision(), "seed": seed, "mutants": len(chosen)}
    file = root / "tests" / "mutants" / "results.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in (head, *kept)), "utf-8")


def write_table(root: Path, equivalent: Mapping[str, str], digest_of: Mapping[str, str]) -> None:
    """Write the table of the file of results into docs/checks.md."""
    head, results = read(root)
    modules = {result["name"].partition(":")[0]: result["module"] for result in results}
    changed = [name for name, digest in modules.items() if digest_of.get(name) != digest]
    page = root / "docs" / "checks.md"
    text = page.read_text("utf-8")
    page.write_text(replaced(text, "mutants", part(head, results, equivalent, changed)), "utf-8")


def part(
    head: Mapping[str, Any],
    results: Sequence[Result],
    equivalent: Mapping[str, str],
    changed: Sequence[str],
) -> str:
    """Return the generated part of the page; `changed` are modules that changed since."""
    since = f"Modules that have changed since: {len(changed)}."
    lines = [f"Revision {head['revision']}, seed {head['seed']}. {since}", ""]
    lines += lines_of(results, equivalent)
    return "\n".join(lines) + "\n"


def read(root: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the head and the results that the table was made of."""
    text = (root / "tests" / "mutants" / "results.jsonl").read_text("utf-8")
    head, *results = map(json.loads, text.splitlines())
    return head, results
