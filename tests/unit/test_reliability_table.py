"""Pages about faults have one row for the result of each of their slow tests, and no others."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import make_reliability
import marked_part
import pytest
from commands import ROOT
from make_reliability import RELIABILITY, TESTS

pages = pytest.mark.parametrize("page", TESTS)


def rows(text: str) -> list[list[str]]:
    """Return the cells of the rows between the two comments, below their titles."""
    lines = [
        line for line in marked_part.read(text, "measured").splitlines() if line.startswith("|")
    ]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def text(page: str) -> str:
    return (ROOT / "docs" / page).read_text("utf-8")


def test_the_tests_of_a_page_have_names_of_their_own() -> None:
    names = [name for page in TESTS for name in make_reliability.tests(page)]
    assert len(names) == len(set(names)) > 12


@pages
def test_the_table_has_one_row_for_every_test_in_their_order(page: str) -> None:
    names = [f"`{name}`" for name in make_reliability.tests(page)]
    assert [row[-1] for row in rows(text(page))] == names, "make_reliability.py"


@pages
def test_every_row_has_numbers(page: str) -> None:
    for row in rows(text(page)):
        assert len(row) == 4, row
        assert re.search(r"\d", row[1] + row[2]), row


@pages
def test_the_table_states_its_date_and_revision(page: str) -> None:
    part = marked_part.read(text(page), "measured")
    pattern = (
        r"Measured \d{4}-\d\d-\d\d at revision [0-9a-f]{12}, on \w+ \w+ with \d+ cores \(load \d+\)"
    )
    assert re.match(pattern, part)


def defined(file: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


@pages
def test_every_test_of_a_page_is_slow_and_records_its_row_last(page: str) -> None:
    for file in make_reliability.test_files(page):
        assert re.search(r"^pytestmark = \[\s*pytest.mark.slow", file.read_text("utf-8"), re.M)
        for test in defined(file):
            last = test.body[-1]
            assert isinstance(last, ast.Expr), test.name
            assert isinstance(last.value, ast.Call), test.name
            assert ast.unparse(last.value.func) == "row", test.name


# The script --------------------------------------------------------------------------------------


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Project of two tests, one of which fails where the file `broken` exists."""
    (tmp_path / "tests" / "slow").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "out").mkdir()
    written = "{'revision': 'abc', 'seconds': 1, 'fault': 'F', 'done': 'D', 'came': '7'}"
    (tmp_path / "tests" / "slow" / "test_reliability.py").write_text(
        "import json, pathlib, pytest\n"
        "HERE = pathlib.Path(__file__).parents[2]\n"
        "def tell(name):\n"
        "    folder = HERE / 'out' / 'reliability'\n"
        "    folder.mkdir(exist_ok=True)\n"
        f"    (folder / f'{{name}}.json').write_text(json.dumps({written}))\n"
        "@pytest.mark.slow\n"
        "def test_one():\n"
        "    assert not (HERE / 'broken').exists()\n"
        "    tell('test_one')\n"
        "@pytest.mark.slow\n"
        "def test_two():\n"
        "    if (HERE / 'absent').exists():\n"
        "        pytest.skip('it is not here')\n"
        "    tell('test_two')\n"
    )
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nmarkers = slow\naddopts = -p no:cacheprovider\n"
    )
    (tmp_path / "docs" / "reliability.md").write_text(
        "Before\n<!-- measured -->\nold\n<!-- end of measured -->\nAfter\n"
    )
    monkeypatch.setattr(make_reliability, "git_revision", lambda: "abc")
    for name, place in (
        ("ROOT", tmp_path),
        ("ROWS", tmp_path / "out" / "reliability"),
    ):
        monkeypatch.setattr(make_reliability, name, place)
    return tmp_path


@pytest.mark.long
def test_the_script_writes_what_the_tests_measured(elsewhere: Path) -> None:
    assert make_reliability.main([]) == 0
    written = (elsewhere / "docs" / RELIABILITY).read_text("utf-8")
    assert rows(written) == [["F", "D", "7", "`test_one`"], ["F", "D", "7", "`test_two`"]]
    assert written.startswith("Before\n<!-- measured -->\nMeasured 2")
    assert written.endswith("|\n<!-- end of measured -->\nAfter\n")


@pytest.mark.long
@pytest.mark.parametrize("wrong", ["broken", "absent"])
def test_the_script_writes_nothing_where_a_test_failed_or_was_skipped(
    wrong: str, elsewhere: Path
) -> None:
    (elsewhere / wrong).touch()
    old = {"revision": "abb", "seconds": 1, "fault": "old", "done": "", "came": ""}
    make_reliability.ROWS.mkdir()
    (make_reliability.ROWS / "test_two.json").write_text(json.dumps(old))
    before = (elsewhere / "docs" / "reliability.md").read_text("utf-8")
    assert make_reliability.main([]) == 1
    assert (elsewhere / "docs" / "reliability.md").read_text("utf-8") == before


@pytest.mark.long
def test_the_script_reuses_measurements_of_the_same_revision(elsewhere: Path) -> None:
    assert make_reliability.main([]) == 0
    (elsewhere / "broken").touch()  # the first test would fail now
    assert make_reliability.main([]) == 0
    (elsewhere / "out" / "reliability" / "test_one.json").unlink()
    assert make_reliability.main([]) == 1


@pytest.mark.long
def test_of_a_checkout_that_is_not_clean_nothing_is_written(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (elsewhere / "docs" / "reliability.md").read_text("utf-8")
    monkeypatch.setattr(make_reliability, "git_revision", lambda: "abc-dirty")
    assert make_reliability.main([]) == 1
    assert (elsewhere / "docs" / "reliability.md").read_text("utf-8") == before
