"""Exit statuses are distinct, documented, and returned for the reasons that the page gives."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import DPBANDITS, Process

from dpbandits.checks import against_reference
from dpbandits.checks.against_reference import Checked, Point
from dpbandits.checks.tolerance_bands import BandResult
from dpbandits.cli import main, process
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.spec.figure import FigureSpec

FULL = "dpbandits: the output cannot be written: No space left on device; other files are kept\n"


def raising(error: BaseException) -> Callable[[], int]:
    def act() -> int:
        raise error

    return act


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (lambda: ExitStatus.ALARM, 1),
        (raising(UserError("the disk is full")), 2),
        (raising(MemoryError()), 2),
        (raising(KeyError("x")), 3),
        (raising(KeyboardInterrupt()), 130),
    ],
)
def test_a_command_ends_with_the_status_of_its_outcome(
    action: Callable[[], int], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        process.guarded(action)
    assert int(caught.value.code or 0) == status
    if status == ExitStatus.FAILED:
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("Traceback")
        assert lines[-1].endswith("please report it with the lines above")


@pytest.mark.parametrize("verb", ["list", "explain adap-c2 profile=smoke"])
@pytest.mark.parametrize(
    ("redirection", "status", "line"),
    [
        (">&-", 0, ""),
        ("2>&-", 0, ""),
        ("<&- >&- 2>&-", 0, ""),
        ("> /dev/full", 2, FULL),
        ("> /dev/full 2> /dev/full", 2, ""),
        ("| true", 0, ""),  # a closed pipe
    ],
)
def test_an_output_that_is_closed_or_full_is_no_error_of_the_program(
    verb: str, redirection: str, status: int, line: str
) -> None:
    shell = f"set -o pipefail; {' '.join(DPBANDITS)} {verb} {redirection}"
    done = Process("bash", "-c", shell).done()
    assert (done.status, done.err) == (status, line)


def test_a_deleted_current_folder_gets_one_line(tmp_path: Path) -> None:
    shell = f"rmdir {tmp_path} && {' '.join(DPBANDITS)} list"
    done = Process("bash", "-c", shell, folder=str(tmp_path)).done()
    done.assert_told(2, "the current folder no longer exists")


def test_a_limit_of_memory_under_which_libraries_wait_without_end_is_refused() -> None:
    limited = f"ulimit -v 450000; {' '.join(DPBANDITS)} run adap-c2 profile=smoke"
    done = Process("bash", "-c", limited).done()
    done.assert_told(2, "may use 450,000 kB of memory (ulimit -v)", "need 1,048,576")


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("outcomes", "status"),
    [(("inside", "inside"), 0), (("inside", "outside"), 1), (("failed", "outside"), 3)],
)
def test_a_check_distinguishes_a_curve_outside_its_band_from_failed_runs(
    outcomes: tuple[str, str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = dict(zip(("ftpl-gauss-cdf", "ftpl-new-cdf"), outcomes, strict=True))

    def compare_all(spec: FigureSpec, _: object, points: list[Point], level: float) -> Any:
        band = BandResult("far away" if figures[spec.name] == "outside" else "", 0.0, 0.0)
        failed = figures[spec.name] == "failed"
        return None if failed else Checked(spec.name, ((points[0], band),))

    monkeypatch.setattr(against_reference, "compare_all", compare_all)
    assert against_reference.check(list(figures), []) == status


def test_an_audit_that_refutes_a_promise_ends_with_the_status_of_an_alarm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def audited() -> int:
        return main.audit("adap-ucb", plays=1000, many_arms=3, workers=1)

    assert audited() == ExitStatus.DONE
    monkeypatch.setattr("dpbandits.audit.search.AuditFinding.refutes_guarantee", True)
    assert audited() == ExitStatus.ALARM
    assert capsys.readouterr().err == (
        "dpbandits: adap-ucb exceeds the budget that its paper claims\n"
    )
