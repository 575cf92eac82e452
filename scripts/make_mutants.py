"""Try small wrong versions of the sources: `python scripts/make_mutants.py [folder ...]`.

Chooses mutants of every module by a seed, and runs the tests that concern each, without the golden
rows, until one fails. A mutant that no test notices has survived; tests/mutants/reviewed.yaml lists
those that change nothing, with reasons. Results are kept in out/mutants/ at once: the same command
continues after an interruption, and mutants of a module that changed since are tried again. The
tests run without the compiler, so that a mutant costs seconds. Exit status 1: a mutant survived
that is not listed.

`--table` writes tests/mutants/results.jsonl and the table of docs/checks.md from the results. While
mutants are untried it keeps the former and states in the latter how many modules have changed.
"""

import argparse
import ast
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import yaml
from mutants import concerned
from mutants.concerned import Selection
from mutants.mutations import Mutant, sample
from mutants.table import Unfit, write_results, write_table
from mutants.trials import Copies, killer, measure

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "dpbandits"
OUT = ROOT / "out" / "mutants"
SEED, NUMBER = 1, 5  # mutants of each folder
FOLDERS = sorted(file.parent.name for file in PACKAGE.glob("*/__init__.py"))


def files_of(folder: str) -> list[str]:
    """Return the modules of a folder, relative to the package."""
    return sorted(file.relative_to(PACKAGE).as_posix() for file in (PACKAGE / folder).glob("*.py"))


def module_digest(file: str) -> str:
    """Return a digest of a module's code, without comments."""
    code = ast.unparse(ast.parse((PACKAGE / file).read_bytes()))
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def reviewed() -> dict[str, dict[str, str]]:
    """Return why mutants are equivalent, and what would be needed against survivors, by name."""
    content = yaml.safe_load((ROOT / "tests" / "mutants" / "reviewed.yaml").read_text("utf-8"))
    return {key: dict(content[key] or {}) for key in ("equivalent", "survivors")}


def results() -> dict[str, dict[str, Any]]:
    """Return the latest result of every mutant, by name."""
    file = OUT / "results.jsonl"
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {result["name"]: result for result in map(json.loads, lines)}


def measured_tests(copies: Copies) -> Selection:
    """Measure which lines each test executes, unless that is known, and return the selection."""
    folder = OUT / "lines"
    folder.mkdir(parents=True, exist_ok=True)
    of, modules = {}, [module for part in FOLDERS for module in files_of(part)]
    for file in concerned.test_files(ROOT):
        name = file.removeprefix("tests/").removesuffix(".py").replace("/", ".")
        of[file] = folder / f"{name}-{concerned.digest(ROOT, file, modules)}.json"
    missing = [file for file, kept in of.items() if not kept.exists()]
    for line in copies.run_all(missing, lambda copy, file: measure(copy, file, of[file])):
        print(line, flush=True)
    return Selection(PACKAGE, concerned.read(of.values()))


def try_mutants(mutants: list[Mutant], workers: int) -> None:
    """Try mutants; print their results and append them to the file."""
    copies = Copies(ROOT, OUT, workers)
    selection = measured_tests(copies)
    with (OUT / "results.jsonl").open("a", encoding="utf-8") as file:

        def do(copy: Any, mutant: Mutant) -> tuple[Mutant, dict[str, Any] | None]:
            try:
                return mutant, killer(copy, mutant, selection)
            except Exception as error:  # pytest itself failed: it stays untried
                print(f"{mutant.name}: {error!r}", file=sys.stderr, flush=True)
                return mutant, None

        for number, (mutant, result) in enumerate(copies.run_all(mutants, do), start=1):
            if result is None:
                continue
            facts = {"name": mutant.name, "line": mutant.line, "kind": mutant.kind}
            change = {"before": mutant.before, "after": mutant.after}
            digest = {"module": module_digest(mutant.file)}
            file.write(json.dumps({**facts, **change, **digest, **result}) + "\n")
            file.flush()
            outcome = f"killed by {result['test']}" if result["killed"] else "SURVIVED"
            line = f"{mutant.file}:{mutant.line}, {mutant.kind}: {outcome}"
            print(f"{number}/{len(mutants)} {line}", flush=True)
    copies.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folders", nargs="*", metavar="folder", help=", ".join(FOLDERS))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--number", type=int, default=NUMBER, help="mutants of each folder")
    parser.add_argument("--shard", default="1/1", help="part of the mutants, as 2/4")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--survivors", action="store_true", help="try again those that survived")
    parser.add_argument("--table", action="store_true", help="only write the table")
    options = parser.parse_args()
    if unknown := sorted({*options.folders} - {*FOLDERS}):
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(FOLDERS)}")
    chosen = [
        mutant
        for folder in options.folders or FOLDERS
        for mutant in sample(PACKAGE, files_of(folder), options.number, options.seed)
    ]
    if options.table:
        digest_of = {mutant.file: module_digest(mutant.file) for mutant in chosen}
        try:
            write_results(ROOT, chosen, results(), options.seed, digest_of)
        except Unfit as why:
            print(f"{why}; the table counts the modules that have changed", file=sys.stderr)
        write_table(ROOT, reviewed()["equivalent"], digest_of)
        return 0
    part, parts = map(int, options.shard.split("/"))
    shard = chosen[part - 1 :: parts]
    stored, review = results(), reviewed()

    def is_due(mutant: Mutant) -> bool:
        result = stored.get(mutant.name)
        if result is None or result["module"] != module_digest(mutant.file):
            return True
        return (
            options.survivors and not result["killed"] and mutant.name not in review["equivalent"]
        )

    due = [mutant for mutant in shard if is_due(mutant)]
    print(f"{len(shard)} mutants, of which {len(due)} are tried now")
    try_mutants(due, options.workers)
    latest, listed = results(), {name for names in review.values() for name in names}
    survivors = [m.name for m in shard if not latest.get(m.name, {"killed": ""})["killed"]]
    if new := [name for name in survivors if name not in listed]:
        print(f"{len(new)} survivors are not in tests/mutants/reviewed.yaml:", *new, sep="\n")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
