"""Multiruns with jobs in other processes: hydra-submitit-launcher as on SLURM, but local."""

import importlib.util
from pathlib import Path

import pytest
from commands import RUN_PY, Done, Process, below

pytestmark = [
    pytest.mark.usefixtures("in_checkout"),
    pytest.mark.skipif(
        importlib.util.find_spec("submitit") is None,
        reason="submitit is not installed (requirements-cluster.lock)",
    ),
]

FIGURE = "adap-c2"


def multirun(folder: Path, *more: str, minutes: int = 5) -> Done:
    launcher = ("-m", "hydra/launcher=submitit_local", f"hydra.launcher.timeout_min={minutes}")
    overrides = (f"figure={FIGURE}", "profile=smoke", "engine.workers=1")
    return Process(*RUN_PY, *launcher, *overrides, *below(folder), *more).done()


def logs(folder: Path, kind: str) -> list[str]:
    """Return the log of each job."""
    files = (folder / "out" / "multirun" / ".submitit").glob(f"*/*_log.{kind}")
    return [path.read_text() for path in files]


def test_the_jobs_of_a_multirun_fill_one_cache_and_report_their_results(tmp_path: Path) -> None:
    done = multirun(tmp_path, "seed=1,2")
    assert (done.status, done.out, done.err) == (0, "", "")
    said = logs(tmp_path, "out")
    assert len(said) == 2
    for text in said:
        assert f"{FIGURE}: 32 runs computed, 0 from the cache; drawn;" in text


def test_a_job_that_fails_elsewhere_makes_the_status_of_the_command(tmp_path: Path) -> None:
    done = multirun(tmp_path, "seed=1,-1")
    assert (done.status, done.out) == (2, "")
    *_, told = done.err.splitlines()
    assert told == (
        "dpbandits: a job of the multirun ended with status 2; its output is below the folder"
        " .submitit of the multirun"
    )
    complaints = "".join(logs(tmp_path, "err"))
    assert complaints.count("dpbandits: ") == 1
    assert f"dpbandits: {FIGURE}: seed must be a whole number" in complaints
    assert f"{FIGURE}: 32 runs computed" in "".join(logs(tmp_path, "out"))  # the other continues


def test_a_job_that_reaches_its_time_limit_is_one_line(tmp_path: Path) -> None:
    done = multirun(tmp_path, "seed=1", minutes=0)
    assert (done.status, done.out) == (2, "")
    told = done.err.splitlines()[-1]
    assert told.startswith(
        "dpbandits: submitit did not complete a job of the multirun: Uncompleted"
    )
    assert "the same command continues from there" in told
    assert "Traceback" not in done.err
