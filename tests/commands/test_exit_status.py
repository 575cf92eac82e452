"""Exit statuses are distinct, documented, and returned for the reasons that the page gives."""

import re
from collections.abc import Callable, Sequence

import pytest
from commands import ROOT

from dpbandits.checks import against_reference
from dpbandits.checks.against_reference import Checked
from dpbandits.checks.matching_points import Point
from dpbandits.checks.tolerance_bands import BandResult
from dpbandits.cli import privacy, process
from dpbandits.core.errors import UserError
from dpbandits.run.exit_status import ExitStatus
from dpbandits.spec.figure import FigureSpec


def raising(error: BaseException) -> Callable[[], int]:
    def act() -> int:
        raise error

    return act


def status_after(action: Callable[[], int]) -> int:
    """Return the status with which `guarded` ends the process."""
    with pytest.raises(SystemExit) as caught:
        process.guarded(action)
    return int(caught.value.code or 0)


def test_the_documented_statuses_are_those_of_the_code() -> None:
    section = (ROOT / "docs" / "files.md").read_text("utf-8").partition("## Exit statuses")[2]
    documented = [int(number) for number in re.findall(r"^\| (\d+) \|", section, re.M)]
    assert documented == [int(status) for status in ExitStatus]
    assert len({*documented}) == len(documented)


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (lambda: ExitStatus.DONE, 0),
        (lambda: ExitStatus.ALARM, 1),
        (raising(UserError("the disk is full")), 2),
        (raising(MemoryError()), 2),
        (lambda: ExitStatus.FAILED, 3),
        (raising(KeyError("x")), 3),
        (raising(OSError("x")), 3),
        (raising(KeyboardInterrupt()), 130),
    ],
)
def test_a_command_ends_with_the_status_of_its_outcome(
    action: Callable[[], int], status: int
) -> None:
    assert status_after(action) == status


def test_an_error_of_the_program_has_its_traceback_and_a_line_that_asks_for_a_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status_after(raising(KeyError("x"))) == ExitStatus.FAILED
    *traceback, last = capsys.readouterr().err.splitlines()
    assert traceback[0].startswith("Traceback")
    assert traceback[-1] == "KeyError: 'x'"
    assert last.startswith("dpbandits: KeyError: 'x'; this is an error of the program: please")


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (("inside", "inside"), 0),
        (("inside", "outside"), 1),
        (("failed", "inside"), 3),
        (("failed", "outside"), 3),
    ],
)
def test_a_check_distinguishes_a_curve_outside_its_band_from_failed_runs(
    outcomes: tuple[str, str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = dict(zip(("ftpl-gauss-cdf", "ftpl-new-cdf"), outcomes, strict=True))

    def compare_all(
        spec: FigureSpec, settings: object, points: Sequence[Point], level: float
    ) -> Checked | None:
        name = spec.name
        if figures[name] == "failed":
            return None
        alarm = "far away" if figures[name] == "outside" else ""
        return Checked(name, ((points[0], BandResult(alarm, 0.0, 0.0)),))

    monkeypatch.setattr(against_reference, "compare_all", compare_all)
    assert against_reference.check(list(figures), []) == status


def test_an_audit_that_refutes_a_promise_ends_with_the_status_of_an_alarm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"plays": "1000", "many_arms": "3", "seed": "1", "workers": "1"}

    def audited() -> int:
        return privacy.audit("adap-ucb", [], "1", **options)

    assert audited() == ExitStatus.DONE
    monkeypatch.setattr("dpbandits.audit.search.AuditFinding.refutes_claim", True)
    assert audited() == ExitStatus.ALARM
    assert capsys.readouterr().err == (
        "dpbandits: adap-ucb exceeds the budget that its paper claims\n"
    )
