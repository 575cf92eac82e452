"""Table of tried mutants in docs/checks.md, and the results behind it."""

import json
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
    """Return the rows of the table, a row per folder and one for all."""
    by_folder: dict[str, list[Result]] = {}
    for result in results:
        by_folder.setdefault(result["name"].partition("/")[0], []).append(result)
    everything = [result for of_folder in by_folder.values() for result in of_folder]
    groups = [*GROUPS, TIME_LIMIT]
    return [
        f"| folder | mutants | {' | '.join(groups)} | equivalent | survived | killed |",
        f"|---|{'---:|' * (len(groups) + 4)}",
        *(_row(f"`{folder}`", of, groups, equivalent) for folder, of in by_folder.items()),
        _row("all", everything, groups, equivalent),
    ]


def _row(
    name: str, results: Sequence[Result], groups: Sequence[str], equivalent: Mapping[str, str]
) -> str:
    killed = [result for result in results if result["killed"]]
    same = [r for r in results if not r["killed"] and r["name"] in equivalent]
    counts = [sum(result["killed"] == group for result in killed) for group in groups]
    others = len(results) - len(same)
    share = f"{100.0 * len(killed) / others:.1f} %" if others else "-"
    numbers = [len(results), *counts, len(same), others - len(killed)]
    return f"| {name} | {' | '.join(map(str, numbers))} | {share} |"


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
    since = (
        f"Changed since: {', '.join(f'`{name}`' for name in changed)}."
        if changed
        else "No module has changed since."
    )
    lines = [f"Revision {head['revision']}, seed {head['seed']}. {since}", ""]
    lines += lines_of(results, equivalent)
    return "\n".join(lines) + "\n"


def read(root: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the head and the results that the table was made of."""
    text = (root / "tests" / "mutants" / "results.jsonl").read_text("utf-8")
    head, *results = map(json.loads, text.splitlines())
    return head, results
