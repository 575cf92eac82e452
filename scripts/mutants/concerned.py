"""The tests that concern a mutant: those that execute its line. Measured without the compiler."""

import ast
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants.mutations import Mutant

# A test's group is the first of these that its file begins with; they run in this order.
GROUPS: dict[str, tuple[str, ...]] = {
    "oracle": (
        *("contract/test_oracles", "contract/test_ties", "unit/test_pictures"),
        *("unit/test_dp_ucb_int", "unit/test_exp3"),
    ),
    "exact privacy": (
        *("contract/test_exact_privacy", "contract/test_undone", "contract/test_next_choice"),
        *("contract/test_recorded_releases", "contract/test_non_interference"),
    ),
    "contract": ("contract/",),
    "statistics": (
        *("unit/test_statistics", "unit/test_bands", "unit/test_ranks", "unit/test_noise"),
        *("unit/test_perturbation", "unit/test_judge_", "unit/test_check"),
    ),
    "unit": ("unit/",),
    "commands": ("commands/",),
}
# They start commands in processes of their own, in which no line is measured, or need the compiler.
# Golden rows, which repeat what the code does, are in neither folder; tests of commands follow.
LEFT_OUT = {
    *("contract/test_plain_python.py", "unit/test_config.py", "unit/test_changes.py"),
    *("unit/test_kernel.py", "unit/test_documents.py"),
}
TIME_LIMIT = "time limit"  # in place of a group: the tests of a mutant did not end
FEW = 30  # tests of a file, and
SHORT = 15.0  # seconds of a group, in the first run


@dataclass(frozen=True)
class MeasuredTest:
    """A test, the seconds that it takes without the compiler, and what it executes."""

    name: str  # node id
    seconds: float
    lines: dict[str, frozenset[int]]  # of a file of the package

    @property
    def file(self) -> str:
        """File of the test, relative to tests/."""
        return self.name.partition("::")[0].removeprefix("tests/")

    @property
    def group(self) -> str:
        """Name of the group in GROUPS."""
        return group_of(self.name)


def group_of(test: str) -> str:
    """Return the group of a test or of a file of tests."""
    file = test.partition("::")[0].removeprefix("tests/")
    return next(group for group, begins in GROUPS.items() if file.startswith(begins))


def test_files(checkout: Path) -> list[str]:
    """Return the files of tests that take part, relative to the checkout."""
    files = sorted((checkout / "tests").glob("*/test_*.py"))
    names = [file.relative_to(checkout / "tests").as_posix() for file in files]
    included = [name for name in names if name not in LEFT_OUT]
    return [f"tests/{name}" for name in included if name.startswith(("contract/", "unit/"))]


def digest(checkout: Path, test_file: str, modules: Iterable[str]) -> str:
    """Return a digest of a file of tests and of the modules whose lines it may execute."""
    content = hashlib.sha256((checkout / test_file).read_bytes())
    for module in modules:
        content.update((checkout / "src" / "dpbandits" / module).read_bytes())
    return content.hexdigest()[:16]


def read(files: Iterable[Path]) -> list[MeasuredTest]:
    """Return the measured tests that passed."""
    tests = []
    for file in files:
        measured = json.loads(file.read_text("utf-8"))
        for name, seconds in measured["seconds"].items():
            lines = measured["lines"].get(name, {})
            tests.append(
                MeasuredTest(name, seconds, {key: frozenset(of) for key, of in lines.items()})
            )
    return tests


class Selection:
    """Chooses tests of mutants."""

    def __init__(self, package: Path, tests: Sequence[MeasuredTest]) -> None:
        self.package = package
        order = [*GROUPS]
        self.tests = sorted(tests, key=lambda test: (order.index(test.group), test.seconds))

    def all_of(self, mutant: Mutant) -> list[MeasuredTest]:
        """Return all tests that execute the line; if there is none, the function, or the file."""
        for lines in self._places(mutant):
            chosen = [t for t in self.tests if lines & t.lines.get(mutant.file, frozenset())]
            if chosen:
                return chosen
        return []

    def first_of(self, tests: Sequence[MeasuredTest]) -> list[MeasuredTest]:
        """Return the short tests among some, a few from every file."""
        chosen = []
        seconds, of_file = dict.fromkeys(GROUPS, 0.0), dict[str, int]()
        for test in tests:
            if of_file.get(test.file, 0) < FEW and seconds[test.group] + test.seconds < SHORT:
                chosen.append(test)
                seconds[test.group] += test.seconds
                of_file[test.file] = of_file.get(test.file, 0) + 1
        return chosen

    def _places(self, mutant: Mutant) -> Iterable[set[int]]:
        source = (self.package / mutant.file).read_bytes()
        last = mutant.line + source[mutant.begin : mutant.end].count(b"\n")
        bodies = [
            range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
        ]
        inside = [body for body in bodies if mutant.line in body]
        if inside:  # lines elsewhere run while a module is imported, by chance in some test
            yield {*range(mutant.line, last + 1)}
            yield {line for body in inside for line in body}
        yield {*range(1, source.count(b"\n") + 2)}
