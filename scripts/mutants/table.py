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
SHARES = ((1.0, "all"), (0.8, "80 % or more"), (0.5, "50 to 80 %"), (0.0, "below 50 %"))


class Unfit(SystemExit):
    """Reason why no table is written."""


def lines_of(results: Iterable[Result], equivalent: Mapping[str, str]) -> list[str]:
    """Return what failed first, and a table of folders by the share of mutants killed.

    Mutants that change nothing are left out, except from the number of all.
    """
    everything = list(results)
    counts = Counter(result["killed"] for result in everything)
    first = [f"{group} {counts[group]}" for group in (*GROUPS, TIME_LIMIT)]
    others = [r for r in everything if r["killed"] or r["name"] not in equivalent]
    killed = Counter(r["name"].partition("/")[0] for r in others if r["killed"])
    shares: dict[str, list[str]] = {label: [] for _, label in SHARES}
    for folder, number in Counter(r["name"].partition("/")[0] for r in others).items():
        label = next(label for least, label in SHARES if killed[folder] >= least * number)
        shares[label].append(f"`{folder}` {killed[folder]}/{number}")
    same = len(everything) - len(others)
    return [
        f"Mutants: {len(everything)}, of which {same} are equivalent and"
        f" {len(others) - killed.total()} survived. Failed first: {', '.join(first)}.",
        "",
        "|killed |folders|",
        "|---|---|",
        *(f"|{label} |{', '.join(folders)}|" for label, folders in shares.items() if folders),
    ]


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
