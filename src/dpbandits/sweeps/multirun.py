"""Multiruns: every job in turn, then a summary of the jobs of each figure.

Jobs share the store: the first one computes what they have in common. A job that fails stops no
other.
"""

import gc
import json
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from dpbandits.config.compose import Read
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.factory import produce as factory
from dpbandits.factory.produce_all import produce_one, status_of
from dpbandits.files import schemas
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.spec.changes import as_file_name, is_recorded, recorded
from dpbandits.store.blocks import Store
from dpbandits.sweeps.jobs import Done, Job, names, refuse_idle, short, varied
from dpbandits.sweeps.pictures import summary
from dpbandits.tables.series import PLACE, STATISTICS, rows, summarise, written

WORDS: dict[int, str] = {  # in the sidecar
    ExitStatus.DONE: "done",
    ExitStatus.MISTAKE: "mistaken",
    ExitStatus.FAILED: "failed",
}


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
        (job,) = jobs
        if isinstance(job.read, UserError):
            raise job.read
        refuse_idle(jobs)
        return factory.produce(job.read.spec, job.read.settings)
    start = time.monotonic()
    figures = dict.fromkeys(job.figure for job in jobs)
    groups = {f: _named([job for job in jobs if job.figure == f], len(figures)) for f in figures}
    every = [done for group in groups.values() for done in group]
    # All errors are reported before the first job is computed; one in every job is the command's.
    errors = dict.fromkeys(done.error for done in every)
    for error in filter(None, errors):
        if len(errors) == 1:
            raise UserError(error)
        concerned = "; ".join(done.name for done in every if done.error == error)
        print(f"dpbandits: {error}; this concerns {concerned}", file=sys.stderr, flush=True)
    for figure, group in groups.items():
        for done in group:
            _run(done)
        if len(group) > 1:
            _summarise(figure, group, words)
    failed = [done.name for done in every if done.status != ExitStatus.DONE]
    spent = duration(time.monotonic() - start)
    print(f"{len(every) - len(failed)} of {len(every)} jobs are complete; {spent}", flush=True)
    if failed:
        print(f"dpbandits: failed, for the reasons above: {'; '.join(failed)}", file=sys.stderr)
    return max(done.status for done in every)


def _named(jobs: Sequence[Job], figures: int) -> list[Done]:
    # The jobs of a figure with their names. A job alone in its figure gets no folder in the
    # multirun.
    try:
        refuse_idle(jobs)
    except UserError as error:
        jobs = [replace(job, read=error) for job in jobs]
    found = []
    for job, name in zip(jobs, names(jobs), strict=True):
        label = ", ".join(filter(None, (f"figure={job.figure}" if figures > 1 else "", name)))
        if isinstance(job.read, UserError):
            found.append(Done(job, label, ExitStatus.MISTAKE, error=str(job.read)))
        else:
            settings = replace(job.read.settings, job=name or None)
            found.append(Done(replace(job, read=job.read._replace(settings=settings)), label))
    return found


def _run(done: Done) -> None:
    if isinstance(done.job.read, UserError):
        return
    spec, settings = done.job.read.spec, done.job.read.settings
    start = time.monotonic()
    done.status = produce_one(spec, settings)
    done.seconds = round(time.monotonic() - start, 3)
    if done.status == ExitStatus.DONE:
        done.series = summarise(spec, Store(settings.cache))
    else:
        # With the traceback of the first failed run, so far reported in one line. A task that is
        # lost on a cluster has none.
        failures = settings.folder(spec.name) / "failures.json"
        if done.status != ExitStatus.MISTAKE and failures.is_file():
            trace = json.loads(failures.read_bytes())[0]["traceback"]
            print(trace or "", end="", file=sys.stderr)
        print(f"dpbandits: {done.name} failed; the other jobs continue", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # each line appears at once, in a file too
    gc.collect()  # figures are reference cycles


def _summarise(figure: str, group: Sequence[Done], words: Sequence[str]) -> None:
    # Writes the table and the picture, and last the sidecar, which describes them and every job.
    settings = next((d.job.read.settings for d in group if isinstance(d.job.read, Read)), None)
    if settings is None:
        return
    keys = varied([done.job for done in group])
    command = shlex.join(["dpbandits", "multirun", *recorded(words)])
    name = as_file_name(f"{figure}-by-{'-'.join(short(keys).values())}")
    file = settings.out / "multirun" / figure / name

    def write() -> int:
        files = _files(group, keys, command)
        # Those of other kinds would be of an earlier command.
        for kind in (*plotting.FORMATS, "csv"):
            path = file.with_name(f"{name}.{kind}")
            if kind in files:
                write_atomically(path, files[kind])
            else:
                path.unlink(missing_ok=True)
        described = [
            {
                "name": done.name,
                "overrides": recorded(done.job.overrides),
                "status": WORDS[done.status],
                "seconds": done.seconds,
                "error": done.error,
            }
            for done in group
        ]
        sidecar = {
            "schema": schemas.MULTIRUN,
            **{"figure": figure, "command": command, "varied": keys, "jobs": described},
            "provenance": provenance(),
            "files": {kind: sha256(content).hexdigest() for kind, content in files.items()},
        }
        write_atomically(file.with_name(f"{name}.json"), schemas.to_json(sidecar))
        kinds = ",".join([*files, "json"])
        print(f"{figure}: summary of {len(group)} jobs; {file}.{{{kinds}}}")
        return ExitStatus.DONE

    # A summary that fails stops no other figure.
    group[0].status = max(group[0].status, status_of(figure, write))


def _files(group: Sequence[Done], varied_keys: Sequence[str], command: str) -> dict[str, bytes]:
    # The tidy table, with a row for every job, panel, curve and x, and the pictures. `runs` is no
    # key of the table, as it has a column anyway.
    made = [done for done in group if done.series]
    if not made:
        return {}
    given = dict.fromkeys(key for done in made for key in done.job.texts())
    keys = [key for key in given if is_recorded(key) and key != "runs"]
    table = written(
        ("job", *keys, *PLACE, *STATISTICS),
        (
            (done.name, *(done.job.value(key) for key in keys), *row)
            for done in made
            for row in rows(done.series)
        ),
    )
    picture = summary(made, varied_keys)
    if picture is None:
        return {"csv": table}
    drawing, draw = picture
    return {"csv": table, **plotting.render(draw, drawing, f"{command}, revision {revision()}")}
