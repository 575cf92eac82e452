"""`make test` shows its progress: occasional lines in a log, a live line on a terminal."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT
from tests_shown import Tally

A, B = "tests/unit/test_a.py", "tests/unit/test_b.py"


def tally(workers: int = 2, pace: dict[str, float] | None = None) -> Tally:
    """Return a tally of four tests in one file and two in another."""
    return Tally(
        [*(f"{A}::t{i}" for i in range(4)), f"{B}::t0", f"{B}::t[::]"], workers, pace or {}
    )


def end(tally: Tally, file: str, tests: int, seconds: float) -> None:
    tally.begun.setdefault(file)
    tally.done[file] += tests
    tally.seconds[file] += tests * seconds


def test_without_any_pace_nothing_is_estimated() -> None:
    assert tally().remaining() is None
    assert tally().line(3.0) == "0/2 files, 0 % of 6 tests, after 3.0 s"


def test_the_time_left_is_that_of_every_file_over_the_workers() -> None:
    known = tally(2, {A: 3.0, B: 5.0})
    assert known.remaining() == pytest.approx(12.0)  # by one worker, while the other plays B
    assert tally(1, {A: 3.0, B: 5.0}).remaining() == pytest.approx(22.0)
    assert tally(2, {A: 5.0, B: 10.0}).remaining() == pytest.approx(20.0)
    end(known, A, 2, 100.0)  # slower than before, which counts until the file is done
    assert known.remaining() == pytest.approx(10.0)


def test_a_file_that_was_never_played_counts_by_its_own_tests_or_else_as_the_mean() -> None:
    unknown = tally(1, {A: 2.0})
    assert unknown.remaining() == pytest.approx(4 * 2.0 + 2 * 2.0)
    end(unknown, B, 1, 7.0)
    assert unknown.remaining() == pytest.approx(4 * 2.0 + 1 * 7.0)


def test_the_line_names_the_files_that_are_being_played() -> None:
    shown = tally(2, {A: 10.0, B: 10.0})
    shown.begun |= dict.fromkeys((A, B))
    assert shown.line(65.0) == (
        "0/2 files, 0 % of 6 tests, after 1 min 05 s, about 40 s left, in test_a.py and test_b.py"
    )
    end(shown, B, 2, 10.0)
    end(shown, A, 1, 10.0)
    assert shown.line(9.0).startswith("1/2 files, 50 % of 6 tests, after 9.0 s, about 30 s left")
    assert shown.line(9.0).endswith(", in test_a.py")
    end(shown, A, 3, 10.0)
    assert shown.line(9.0) == "2/2 files, 100 % of 6 tests, after 9.0 s"
    assert shown.pace() == {A: 10.0, B: 10.0}


# In a separate pytest --------------------------------------------------------------------------

CONFTEST = """
import pathlib
import pytest
import tests_shown

tests_shown.KEPT = str(pathlib.Path(__file__).with_name("kept.json"))
tests_shown.LIVE_EVERY = tests_shown.LINE_EVERY = 0.0

@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if tests_shown.is_wanted(config):
        config.pluginmanager.register(tests_shown.Shown(config))
"""
TESTS = """
import pytest

@pytest.mark.parametrize("n", range(3))
def test_that_passes(n):
    print("not shown")
"""
BAD = """
def test_that_fails():
    assert 1 == 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Project of two test files, one of which fails."""
    for name, text in (("conftest", CONFTEST), ("test_a", TESTS), ("test_b", TESTS + BAD)):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n", "utf-8")
    return tmp_path


def environment() -> dict[str, str]:
    # A user's environment, not that of the pytest around it.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    folders = [ROOT / "tests" / "commands", ROOT / "tests" / "unit", ROOT / "src"]
    return {**own, "PYTHONPATH": os.pathsep.join(map(str, folders)), "COLUMNS": "100"}


def played(project: Path, *words: str, **more: str) -> list[str]:
    """Return the lines of `pytest` with these words, which must end with the failure."""
    command = (sys.executable, "-m", "pytest", *words)
    env = environment() | more
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert "FAILED test_b.py::test_that_fails - assert 1 == 2" in done.stdout
    return done.stdout.splitlines()


LINE = re.compile(r"([012])/2 files, (\d+) % of 7 tests, after [\d.]+ s")
WORKERS = (("-n", "0"), ("-n", "2", "--dist", "loadfile"))


@pytest.mark.parametrize("workers", WORKERS, ids=" ".join)
def test_in_a_log_there_are_lines_and_no_dots(project: Path, workers: tuple[str, ...]) -> None:
    lines = played(project, *workers)
    shown = [match for line in lines if (match := LINE.match(line))]
    percent = [int(match[2]) for match in shown]
    assert percent == sorted(percent)
    assert percent[0] == 0
    assert percent[-1] == 100
    assert shown[-1][1] == "2"
    failed = lines.index("FAILED test_b.py::test_that_fails")
    assert failed < max(i for i, line in enumerate(lines) if LINE.match(line))  # immediately
    # And again in pytest's own summary, below its report.
    assert lines[-2].startswith("FAILED test_b.py::test_that_fails - ")
    assert lines[-1].startswith("1 failed, 6 passed in ")
    assert not [line for line in lines if re.match(r"[.FE]+( *\[ *\d+%\])?$", line)]
    assert "test_a.py" in (project / "kept.json").read_text("utf-8")


@pytest.mark.parametrize("workers", WORKERS, ids=" ".join)
def test_on_a_terminal_there_is_one_line_that_changes(
    project: Path, workers: tuple[str, ...]
) -> None:
    leader, follower = pty.openpty()
    command = (sys.executable, "-m", "pytest", *workers)
    process = subprocess.Popen(
        command, cwd=project, env=environment(), stdout=follower, stderr=follower
    )
    os.close(follower)
    text = b""
    try:
        while chunk := os.read(leader, 65536):
            text += chunk
    except OSError:  # how Linux ends it
        pass
    os.close(leader)
    assert process.wait() == 1
    *live, rest = text.decode().split("\r")[:-1], text.decode()
    assert len([part for part in live[0] if LINE.match(part)]) > 7
    assert not re.search(r"\n\d/2 files", rest)  # always overwriting the previous line
    assert re.search(r"\rFAILED test_b.py::test_that_fails\r\n", rest)


@pytest.mark.parametrize(
    ("words", "more"),
    [(("-v",), {}), (("-q",), {}), (("-s",), {}), ((), {"PYTEST_CURRENT_TEST": "inside"})],
)
def test_beside_names_or_output_and_inside_a_test_pytest_shows_what_it_always_does(
    project: Path, words: tuple[str, ...], more: dict[str, str]
) -> None:
    assert not [line for line in played(project, *words, "-n", "0", **more) if LINE.match(line)]
