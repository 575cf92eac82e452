"""Multiruns: every job in turn, then a summary of the jobs of each figure.

Jobs share the store: the first one computes what they have in common. A job that fails stops no
other.
"""

import gc
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256

from dpbandits.config.compose import Read
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.factory import produce as factory
from dpbandits.factory.produce_all import produce_one, status_of
from dpbandits.files.atomic import MULTIRUN_SCHEMA, to_json, write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.run import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.spec.changes import as_file_name, is_recorded, recorded
from dpbandits.store.blocks import Store
from dpbandits.sweeps.jobs import Job, names, refuse_idle, short, varied
from dpbandits.sweeps.pictures import summary
from dpbandits.tables.series import PLACE, STATISTICS, rows, summarise, written


def produce(jobs: Sequence[Job], words: Sequence[str]) -> int:
    """Run all jobs, summarise every figure that has several, and return the largest status.

    `words` is the command, for the record. Raises UserError if every job has the same error, or if
    a list of values is empty.
    """
    if not jobs:
        if all(word in ("-m", "--multirun") for word in words if word.startswith("-")):
            raise UserError("the multirun has no jobs: one of its lists of values is empty")
        return ExitStatus.DONE  # Hydra has answered a request such as --help
    start = time.monotonic()
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.figure, []).append(job)
    for figure, group in groups.items():
        _prepare(group, f"figure={figure}" if len(groups) > 1 else "")
    # All errors are reported before the first job is computed; one in every job is the command's.
    errors = dict.fromkeys(job.error for job in jobs)
    for error in filter(None, errors):
        if len(errors) == 1:
            raise UserError(error)
        concerned = "; ".join(job.name for job in jobs if job.error == error)
        print(f"dpbandits: {error}; this concerns {concerned}", file=sys.stderr, flush=True)
    if len(jobs) == 1 and isinstance(jobs[0].read, Read):
        return factory.produce(jobs[0].read.spec, jobs[0].read.settings)
    for figure, group in groups.items():
        for job in group:
            _run(job)
        if len(group) > 1:  # a summary that fails stops no other figure
            status = status_of(figure, partial(_summarise, figure, group, words))
            group[0].status = max(group[0].status, status)
    failed = [job.name for job in jobs if job.status != ExitStatus.DONE]
    spent = duration(time.monotonic() - start)
    print(f"{len(jobs) - len(failed)} of {len(jobs)} jobs are complete; {spent}", flush=True)
    if failed:
        print(f"dpbandits: failed, for the reasons above: {'; '.join(failed)}", file=sys.stderr)
    return max(job.status for job in jobs)


def _prepare(group: Sequence[Job], figure: str) -> None:
    # Names the jobs of a figure. A job alone in its figure gets no folder in the multirun.
    try:
        refuse_idle(group)
    except UserError as error:
        for job in group:
            job.read = error
    for job, name in zip(group, names(group), strict=True):
        job.name = ", ".join(filter(None, (figure, name)))
        if isinstance(job.read, Read):
            settings = replace(job.read.settings, job=name or None)
            job.read = job.read._replace(settings=settings)


def _run(job: Job) -> None:
    if isinstance(job.read, UserError):
        job.status = ExitStatus.MISTAKE
        return
    spec, settings = job.read.spec, job.read.settings
    start = time.monotonic()
    job.status = produce_one(spec, settings)
    job.seconds = round(time.monotonic() - start, 3)
    if job.status == ExitStatus.DONE:
        job.series = summarise(spec, Store(settings.cache))
    else:
        print(f"dpbandits: {job.name} failed; the other jobs continue", file=sys.stderr)
    sys.stdout.flush()  # each line appears at once, in a file too
    gc.collect()  # figures are reference cycles


def _summarise(figure: str, group: Sequence[Job], words: Sequence[str]) -> int:
    # Writes the table and the picture, and last the sidecar, which describes them and every job.
    settings = next((job.read.settings for job in group if isinstance(job.read, Read)), None)
    if settings is None:
        return ExitStatus.MISTAKE
    keys = varied(group)
    command = shlex.join(["dpbandits", "multirun", *recorded(words)])
    name = as_file_name(f"{figure}-by-{'-'.join(short(keys).values())}")
    file = settings.out / "multirun" / figure / name
    files = _files([job for job in group if job.series], keys, command)
    for kind in (*plotting.FORMATS, "csv"):
        path = file.with_name(f"{name}.{kind}")
        if kind in files:
            write_atomically(path, files[kind])
        else:  # it would be of an earlier command
            path.unlink(missing_ok=True)
    described = [
        {
            "name": job.name,
            "overrides": recorded(job.overrides),
            "status": ExitStatus(job.status).name.lower(),
            "seconds": job.seconds,
            "error": job.error,
        }
        for job in group
    ]
    sidecar = {
        "schema": MULTIRUN_SCHEMA,
        **{"figure": figure, "command": command, "varied": keys, "jobs": described},
        "provenance": provenance(),
        "files": {kind: sha256(content).hexdigest() for kind, content in files.items()},
    }
    write_atomically(file.with_name(f"{name}.json"), to_json(sidecar))
    print(f"{figure}: summary of {len(group)} jobs; {file}.{{{','.join([*files, 'json'])}}}")
    return ExitStatus.DONE


def _files(made: Sequence[Job], varied_keys: Sequence[str], command: str) -> dict[str, bytes]:
    # The tidy table of completed jobs, with a row for every job, panel, curve and x, and the
    # pictures. `runs` is no key of the table, as it has a column anyway.
    if not made:
        return {}
    given = dict.fromkeys(key for job in made for key in job.texts())
    keys = [key for key in given if is_recorded(key) and key != "runs"]
    found = ((job, row) for job in made for row in rows(job.series))
    table = written(
        ("job", *keys, *PLACE, *STATISTICS),
        ((job.name, *map(job.value, keys), *row) for job, row in found),
    )
    picture = summary(made, varied_keys)
    if picture is None:
        return {"csv": table}
    drawing, draw = picture
    return {"csv": table, **plotting.render(draw, drawing, f"{command}, revision {revision()}")}
