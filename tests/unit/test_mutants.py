"""Mutants are small, distinct and the same every time; their table counts what killed them."""

import ast
import dataclasses
from pathlib import Path

import make_mutants
import marked_part
import pytest
from mutants import concerned, mutations, table, trials
from mutants.concerned import MeasuredTest, Selection
from mutants.mutations import Mutant, mutants_of, sample

SOURCE = '''"""A module."""

LARGEST = 4


class Params(NamedTuple):
    """Parameters, of which 2 are whole numbers."""

    rounds: int = 3


@kernel
def play(params, bandit, rng):
    """Play 5 rounds."""
    if params.rounds < 1:
        raise ValueError(f"{params.rounds} < 1")
    for i in range(params.rounds):
        total[i] = sums[i] / 2.0 + laplace(rng, params.scale)
        left += 1
    return min(total, left) if left else -total
'''

EXPECTED = {
    ("", "4", "5"),
    ("", "4", "3"),
    ("Params", "3", "4"),
    ("Params", "3", "2"),
    ("play", "params.rounds < 1", "(params.rounds) <= (1)"),
    ("play", "params.rounds < 1", "(params.rounds) > (1)"),
    ("play", "1", "2"),
    ("play", "1", "0"),
    ("play", "range(params.rounds)", "range(params.rounds + 1)"),
    ("play", "range(params.rounds)", "range(params.rounds - 1)"),
    ("play", "total[i] = sums[i] / 2.0 + laplace(rng, params.scale)", "pass"),
    ("play", "total[i]", "total[i - 1]"),
    ("play", "sums[i] / 2.0 + laplace(rng, params.scale)", "(sums[i] / 2.0)"),
    ("play", "sums[i] / 2.0 + laplace(rng, params.scale)", "(laplace(rng, params.scale))"),
    (
        "play",
        "sums[i] / 2.0 + laplace(rng, params.scale)",
        "(sums[i] / 2.0) - (laplace(rng, params.scale))",
    ),
    ("play", "sums[i] / 2.0", "(sums[i])"),
    ("play", "sums[i] / 2.0", "(sums[i]) * (2.0)"),
    ("play", "sums[i]", "sums[i - 1]"),
    ("play", "laplace(rng, params.scale)", "(0.0 * laplace(rng, params.scale))"),
    ("play", "laplace(rng, params.scale)", "laplace(rng, 1.05 * (params.scale))"),
    ("play", "left += 1", "pass"),
    ("play", "left += 1", "left = (1)"),
    ("play", "min(total, left) if left else -total", "(min(total, left))"),
    ("play", "min(total, left) if left else -total", "(-total)"),
    ("play", "min(total, left)", "max(total, left)"),
    ("play", "min(total, left)", "min(left, total)"),
    ("play", "-total", "(total)"),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "module.py").write_text(SOURCE, "utf-8")
    return tmp_path


def test_every_kind_of_mistake_is_made_and_messages_are_left_alone(package: Path) -> None:
    made = mutants_of(package, "module.py", 1)
    factors = [m for m in made if m.kind == "constant"]
    assert {(m.scope, m.before, m.after) for m in made if m not in factors} == EXPECTED
    (halves,) = factors
    assert halves.before == "2.0"
    assert 0.02 <= abs(float(halves.after) / 2.0 - 1.0) <= 0.1


def test_a_mutant_changes_its_own_place_alone(package: Path) -> None:
    for mutant in mutants_of(package, "module.py", 1):
        wrong = mutant.of(SOURCE.encode()).decode()
        assert wrong.count("\n") == SOURCE.count("\n")
        changed = [
            number
            for number, lines in enumerate(
                zip(SOURCE.splitlines(), wrong.splitlines(), strict=True), start=1
            )
            if lines[0] != lines[1]
        ]
        assert changed == [mutant.line]


def test_a_name_survives_a_change_elsewhere(package: Path) -> None:
    before = [m.name for m in mutants_of(package, "module.py", 1)]
    (package / "module.py").write_text(SOURCE.replace("LARGEST = 4\n", "# More.\nLARGEST = 4\n"))
    assert [m.name for m in mutants_of(package, "module.py", 1)] == before
    assert len(set(before)) == len(before)


def test_the_sample_is_of_every_module_and_the_same_every_time() -> None:
    chosen: list[Mutant] = []
    for folder in make_mutants.FOLDERS:
        files = make_mutants.files_of(folder)
        of_folder = sample(make_mutants.PACKAGE, files, 12, seed=4)
        assert of_folder == sample(make_mutants.PACKAGE, files, 12, seed=4)
        assert of_folder != sample(make_mutants.PACKAGE, files, 12, seed=5)
        full = {file for file in files if mutants_of(make_mutants.PACKAGE, file, 4)}
        assert {mutant.file for mutant in of_folder} == full
        chosen += of_folder
    assert len({mutant.name for mutant in chosen}) == len(chosen)
    assert len({mutant.kind for mutant in chosen}) >= 15
    for mutant in chosen:
        source = (make_mutants.PACKAGE / mutant.file).read_bytes()
        assert ast.dump(ast.parse(mutant.of(source))) != ast.dump(ast.parse(source))


def test_the_tests_of_a_mutant_are_those_that_execute_its_line(package: Path) -> None:
    def of(name: str, seconds: float, *lines: int) -> MeasuredTest:
        return MeasuredTest(f"tests/{name}", seconds, {"module.py": frozenset(lines)})

    tests = [
        of("unit/test_a.py::test_late", 2.0, 19),
        of("unit/test_a.py::test_early", 1.0, 19, 21),
        of("contract/test_oracles_a.py::test_oracle", 9.0, 19),
        of("contract/test_oracles_a.py::test_long", 29.0, 19),
        of("contract/test_oracles_a.py::test_other", 0.1, 16),
    ]
    selection = Selection(package, tests)
    left_out, top = (
        next(m for m in mutants_of(package, "module.py", 1) if m.before.startswith(begin))
        for begin in ("total[i] =", "4")
    )
    chosen = selection.all_of(dataclasses.replace(left_out, line=19))
    names = [test.name.partition("::")[2] for test in chosen]
    assert names == ["test_oracle", "test_long", "test_early", "test_late"]
    assert [test.seconds for test in selection.first_of(chosen)] == [9.0, 1.0, 2.0]
    # Executed while the module is imported, by no test: all tests of the module take part.
    assert len(selection.all_of(top)) == len(tests)


def test_modules_that_only_kernels_execute_have_tests_that_compile_them() -> None:
    for module, test in trials.COMPILED.items():
        assert module in make_mutants.files_of(module.partition("/")[0])
        assert (make_mutants.ROOT / test).is_file()


def test_golden_rows_take_no_part() -> None:
    files = concerned.test_files(make_mutants.ROOT)
    assert len(files) > 60
    assert not [file for file in files if "golden" in file]
    assert {concerned.group_of(file) for file in files} == {*concerned.GROUPS}
    assert {
        f"{file.parent.name}/{file.name}"
        for file in (make_mutants.ROOT / "tests").glob("*/test_*.py")
    } >= concerned.LEFT_OUT


def test_the_table_counts_the_killers_and_lists_the_survivors() -> None:
    def result(name: str, killed: str) -> dict[str, str]:
        return {"name": name, "before": "a | b", "after": "a", "killed": killed}

    tried = [
        result("algorithms/a.py:play:1", "oracle"),
        result("algorithms/a.py:play:2", "exact privacy"),
        result("algorithms/a.py:play:3", ""),
        result("algorithms/a.py:play:4", ""),
        result("theory/b.py::5", "time limit"),
    ]
    lines = table.lines_of(tried, {"algorithms/a.py:play:3": "equal"}, {})
    assert lines[0].startswith("| folder | mutants | oracle | exact privacy | contract |")
    assert lines[2:5] == [
        "| `algorithms` | 4 | 1 | 1 | 0 | 0 | 0 | 0 | 1 | 1 | 66.7 % |",
        "| `theory` | 1 | 0 | 0 | 0 | 0 | 0 | 1 | 0 | 0 | 100.0 % |",
        "| all | 5 | 1 | 1 | 0 | 0 | 0 | 1 | 1 | 1 | 75.0 % |",
    ]
    assert lines[-1] == ("* `algorithms/a.py:play:4`: `a \\| b` became `a`; not reviewed yet")


def test_a_table_needs_a_result_of_every_mutant_as_it_is_now(package: Path) -> None:
    chosen = mutants_of(package, "module.py", 1)
    done = {m.name: {"name": m.name, "module": "old", "killed": "unit"} for m in chosen[1:]}
    for results, digest, missing in (
        (done, "old", 1),
        ({}, "old", len(chosen)),
        (done, "new", len(chosen)),
    ):
        with pytest.raises(table.Unfit, match=f"^{missing} of {len(chosen)} mutants"):
            table.write_results(package, chosen, results, 1, {"module.py": digest})


def test_the_page_has_the_table_of_the_results() -> None:
    head, results = table.read(make_mutants.ROOT)
    reviewed = make_mutants.reviewed()
    page = (make_mutants.ROOT / "docs" / "checks.md").read_text("utf-8")
    first, rest = marked_part.read(page, "mutants").split("\n\n", 1)
    assert first.startswith(f"Revision {head['revision']}, seed {head['seed']}. ")
    lines = table.lines_of(results, reviewed["equivalent"], reviewed["survivors"])
    assert rest == "\n".join(lines) + "\n"
    assert len(results) == head["mutants"] >= 300


def test_what_is_reviewed_has_survived_and_has_a_reason() -> None:
    _, results = table.read(make_mutants.ROOT)
    survivors = {result["name"] for result in results if not result["killed"]}
    reviewed = make_mutants.reviewed()
    listed = [*reviewed["equivalent"], *reviewed["survivors"]]
    assert sorted(listed) == sorted(survivors)
    assert all(len(reason) > 10 for of in reviewed.values() for reason in of.values())


def test_no_kind_of_draw_is_missing_from_the_list() -> None:
    called = {
        node.func.attr
        for file in (make_mutants.PACKAGE / "algorithms").glob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "rng"
    }
    assert called
    assert called <= mutations.DRAWS
