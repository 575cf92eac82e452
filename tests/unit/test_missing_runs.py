"""The figure and the check share one way to plan, play, report and fail."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import below

from dpbandits.checks import against_reference
from dpbandits.config import compose
from dpbandits.config.settings import Cluster
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.run import runner
from dpbandits.run.exit_status import ExitStatus

pytestmark = pytest.mark.usefixtures("in_checkout")
Captured = pytest.CaptureFixture[str]


def a_figure(*typed: str) -> int:
    return produce.produce(
        *compose.load("adap-headline", ["figure.horizon=2000", "runs=2", *typed])
    )


def a_check(*typed: str) -> int:
    return against_reference.check(["adap-episodes"], [*typed, "runs=3"])


def fail(cell: RegretExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Stand for a simulation that fails."""
    raise ZeroDivisionError("the gap is 0")


Command = Callable[..., int]
COMMANDS = [a_figure, a_check]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_engine_that_is_asked_for_plays(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Cluster | None] = []
    whole = runner._started

    def started(resources: Any, tasks: Any, workers: Any, cluster: Any) -> Any:
        asked.append(cluster)
        return whole(resources, tasks, workers, None)

    monkeypatch.setattr(runner, "_started", started)
    command("engine=dask", "engine.scheduler=tcp://somewhere:8786", *below(tmp_path))
    assert set(asked) == {Cluster("tcp://somewhere:8786")}


@pytest.mark.parametrize("command", COMMANDS)
def test_failed_runs_are_reported_alike_with_the_status_of_a_failure(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(RegretExperiment, "play", fail)
    assert command("engine.workers=1", *below(tmp_path)) == ExitStatus.FAILED
    err = capsys.readouterr().err
    assert "runs failed, the others are kept; first failure: " in err
    assert "ZeroDivisionError: the gap is 0" in err
    (report,) = tmp_path.rglob("failures.json")
    assert "Traceback" in json.loads(report.read_text())[0]["traceback"]


def test_an_error_of_a_source_of_the_project_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(produce, "error_place", lambda error: "mine.py, line 1: no")
    assert produce.status_of("a-figure", lambda: 1 // 0) == ExitStatus.MISTAKE
    assert capsys.readouterr().err == "dpbandits: a-figure: mine.py, line 1: no\n"
