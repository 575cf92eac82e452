"""Multiruns: every job in turn, then a summary of the jobs of each figure.

Jobs share the store: the first one computes what they have in common. A job that fails stops no
other.
"""

import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpbandits.config.compose import Read
from dpbandits.config.recorded import is_recorded, recorded
from dpbandits.core.errors import UserError
from dpbandits.curves.series import PLACE, STATISTICS, Series, rows, summarise, written
from dpbandits.drawing import plotting
from dpbandits.factory import produce as factory
from dpbandits.factory.produce_all import produce_one, status_of
from dpbandits.files import schemas
from dpbandits.files.provenance import revision
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.spec.changes import as_file_name
from dpbandits.store.blocks import Store
from dpbandits.sweeps import files
from dpbandits.sweeps.jobs import Job, names, refuse_idle, short, varied
from dpbandits.sweeps.keys import JobCurves
from dpbandits.sweeps.lines import summary

WORDS: dict[int, str] = {  # in the sidecar
    ExitStatus.DONE: "done",
    ExitStatus.MISTAKE: "mistaken",
    ExitStatus.FAILED: "failed",
}


@dataclass
class Done:
    """Outcome of a job."""

    job: Job
    name: str
    status: int = ExitStatus.DONE
    seconds: float = 0.0
    error: str | None = None  # in its configuration
    series: Sequence[Series] = ()  # empty if it failed


def produce(jobs: Sequence[Job], words: Sequence[str]) -> int:
    """Run all jobs, summarise every figure that has several, and return the largest status.

    `words` is the command, for the record. Raises UserError if every job has the same error, or if
    a list of values is empty.
    """
    if not jobs:
        if all(word in ("-m", "--multirun") for word in words if word.startswith("-")):
            raise UserError("the multirun has no jobs: one of its lists of values is empty")
        return ExitStatus.DONE  # Hydra has answered a request such as --help
    if len(jobs) == 1:
        return _produce_alone(jobs[0])
    start = time.monotonic()
    of_figures: dict[str, list[Job]] = {}
    for job in jobs:
        of_figures.setdefault(job.figure, []).append(job)
    several = len(of_figures) > 1
    waiting = {figure: _with_names(group, several) for figure, group in of_figures.items()}
    _report_mistakes([done for group in waiting.values() for done in group])
    for figure, group in waiting.items():
        for done in group:
            _run(done)
        if len(group) > 1:
            _summarise(figure, group, words)
    return _report_end([done for group in waiting.values() for done in group], start)


def _produce_alone(job: Job) -> int:
    if isinstance(job.read, UserError):
        raise job.read
    refuse_idle([job])
    return factory.produce(job.read.spec, job.read.settings)


def _with_names(jobs: Sequence[Job], several: bool) -> list[Done]:
    # The jobs of a figure with their names. A job alone in its figure gets no folder in the
    # multirun.
    all_jobs = []
    try:
        refuse_idle(jobs)
    except UserError as error:
        jobs = [replace(job, read=error) for job in jobs]
    for job, name in zip(jobs, names(jobs), strict=True):
        label = ", ".join(filter(None, (f"figure={job.figure}" if several else "", name)))
        if isinstance(job.read, UserError):
            all_jobs.append(Done(job, label, ExitStatus.MISTAKE, error=str(job.read)))
            continue
        settings = replace(job.read.settings, job=name or None)
        all_jobs.append(Done(replace(job, read=job.read._replace(settings=settings)), label))
    return all_jobs


def _report_mistakes(all_jobs: Sequence[Done]) -> None:
    # All errors are reported before the first job is computed. An error in every job is the
    # command's.
    errors = list(dict.fromkeys(done.error for done in all_jobs))
    if len(errors) == 1 and errors[0]:
        raise UserError(errors[0])
    for error in filter(None, errors):
        jobs = "; ".join(done.name for done in all_jobs if done.error == error)
        print(f"dpbandits: {error}; this concerns {jobs}", file=sys.stderr, flush=True)


def _run(done: Done) -> None:
    if not isinstance(done.job.read, Read):
        return
    spec, settings, _ = done.job.read
    start = time.monotonic()
    done.status = produce_one(spec, settings)
    done.seconds = round(time.monotonic() - start, 3)
    if done.status == ExitStatus.DONE:
        done.series = summarise(spec, Store(settings.cache))
    else:
        _report_failure(done, settings.folder(spec.name) / "failures.json")
    sys.stdout.flush()  # each line appears at once, in a file too
    gc.collect()  # figures are reference cycles


def _report_failure(done: Done, failures: Path) -> None:
    # Reported at once, with the traceback of the first failed run, so far reported in one line.
    # A task that is lost on a cluster has none.
    if done.status != ExitStatus.MISTAKE and failures.is_file():
        trace = json.loads(failures.read_bytes())[0]["traceback"]
        print(trace or "", end="", file=sys.stderr)
    print(f"dpbandits: {done.name} failed; the other jobs continue", file=sys.stderr, flush=True)


def _report_end(all_jobs: Sequence[Done], start: float) -> int:
    failed = [done.name for done in all_jobs if done.status != ExitStatus.DONE]
    made = len(all_jobs) - len(failed)
    print(f"{made} of {len(all_jobs)} jobs are complete; {duration(time.monotonic() - start)}")
    if failed:
        sys.stdout.flush()
        names_of_failed = "; ".join(failed)
        print(f"dpbandits: failed, for the reasons above: {names_of_failed}", file=sys.stderr)
    return max(done.status for done in all_jobs)


# The summary of a figure -----------------------------------------------------------------------


def _summarise(figure: str, group: Sequence[Done], words: Sequence[str]) -> None:
    # Writes the table and the picture, and last the sidecar, which describes them and every job.
    settings = next((d.job.read.settings for d in group if isinstance(d.job.read, Read)), None)
    if settings is None:
        return
    keys = varied([done.job for done in group])
    folder = settings.out / "multirun" / figure
    command = files.command(("dpbandits", "multirun"), words)
    sidecar = {
        "schema": schemas.MULTIRUN,
        "figure": figure,
        "command": command,
        "varied": keys,
        "jobs": [
            {
                "name": done.name,
                "overrides": recorded(done.job.overrides),
                "status": WORDS[done.status],
                "seconds": done.seconds,
                "error": done.error,
            }
            for done in group
        ],
    }

    def write() -> int:
        file = folder / as_file_name(f"{figure}-by-{'-'.join(short(keys).values())}")
        written_as = files.write(file, _files(group, command), sidecar)
        print(f"{figure}: summary of {len(group)} jobs; {written_as}")
        return ExitStatus.DONE

    # A summary that fails stops no other figure.
    group[0].status = max(group[0].status, status_of(figure, write))


def _files(group: Sequence[Done], command: str) -> dict[str, bytes]:
    made = [done for done in group if done.series]
    if not made:
        return {}
    points = [JobCurves(done.job, done.series) for done in made]
    table = {"csv": _table(made)}
    if not (picture := summary(points, varied([done.job for done in group]))):
        return table
    drawing, draw = picture
    return table | plotting.render(draw, drawing, f"{command}, revision {revision()}")


def _table(made: Sequence[Done]) -> bytes:
    # A row for every job, panel, curve and x: first the job and all its parameters. `runs` is left
    # out, as it has a column anyway.
    all_keys = dict.fromkeys(key for done in made for key in done.job.texts())
    keys = [key for key in all_keys if is_recorded(key) and key != "runs"]
    return written(
        ("job", *keys, *PLACE, *STATISTICS),
        (
            (done.name, *(done.job.value(key) for key in keys), *row)
            for done in made
            for row in rows(done.series)
        ),
    )
