"""Errors of a project's own sources."""

import pytest

from dpbandits.factory import produce_all
from dpbandits.run.exit_status import ExitStatus


def test_an_error_of_a_source_of_the_project_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(produce_all, "of_own_source", lambda error: "mine.py, line 1: no")
    assert produce_all.status_of("a-figure", lambda: 1 // 0) == ExitStatus.MISTAKE
    assert capsys.readouterr().err == "dpbandits: a-figure: mine.py, line 1: no\n"
