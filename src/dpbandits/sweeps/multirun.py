"""Multiruns: every job in turn, then a summary of the jobs of each figure.

Jobs share the store: the first one computes what they have in common. A job that fails stops no
other.
"""

import gc
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256

from dpbandits.drawing import plotting
from dpbandits.factory import produce as factory
from dpbandits.factory.produce import status_of
from dpbandits.files.atomic import MULTIRUN_SCHEMA, to_json, write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.spec.figure import as_file_name, recorded
from dpbandits.store.blocks import Store
from dpbandits.sweeps.jobs import Job, prepare, varied
from dpbandits.sweeps.pictures import summary
from dpbandits.tables.series import PLACE, STATISTICS, rows, summarise, written


def produce(jobs: Sequence[Job], arguments: Sequence[str], check: Callable[[], None]) -> int:
    """Run all jobs, summarise every figure that has several, and return the largest status.

    `arguments` is the command, for the record; `check` is called before every job. Raises UserError
    if every job has the same error, or if a list of values is empty.
    """
    if not jobs:
        if all(arg in ("-m", "--multirun") for arg in arguments if arg.startswith("-")):
            raise UserError("the multirun has no jobs: one of its lists of values is empty")
        return ExitStatus.DONE  # Hydra has answered a request such as --help
    start = time.monotonic()
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.figure, []).append(job)
    check()
    for figure, group in groups.items():
        prepare(group, f"figure={figure}" if len(groups) > 1 else "")
    # All errors are reported before the first job is computed; one in every job is the command's,
    # whatever the value.
    errors = list(dict.fromkeys(job.error for job in jobs if job.error))
    expected = {error.rpartition(", got ")[0] or error for error in errors}
    if all(job.error for job in jobs) and len(expected) == 1:
        got = (error.rpartition(", got ")[2] for error in errors[1:])
        raise UserError(" and ".join([errors[0], *got]))
    for error in errors:
        concerned = "; ".join(job.name for job in jobs if job.error == error)
        print(f"dpbandits: {error}; this concerns {concerned}", file=sys.stderr, flush=True)
    if len(jobs) == 1 and jobs[0].read:
        return factory.produce(jobs[0].read.spec, jobs[0].read.settings)
    order = [job for group in groups.values() for job in group]
    for figure, group in groups.items():
        for job in group:
            check()
            _run(job, f"job {order.index(job) + 1} of {len(order)}", len(group) == 1)
        if len(group) > 1:  # a summary that fails stops no other figure
            status = status_of(figure, partial(_summarise, figure, group, arguments))
            group[0].status = max(group[0].status, status)
    failed = [job.name for job in jobs if job.status != ExitStatus.DONE]
    spent = duration(time.monotonic() - start)
    print(f"{len(jobs) - len(failed)} of {len(jobs)} jobs are complete; {spent}", flush=True)
    if failed:
        print(f"dpbandits: failed, for the reasons above: {'; '.join(failed)}", file=sys.stderr)
    return max(job.status for job in jobs)


def _run(job: Job, number: str, is_alone: bool) -> None:
    # Computes a job; its figure is drawn if it is alone in it, or if that is asked for.
    if job.read is None:
        job.status = ExitStatus.MISTAKE
        return
    start, settings = time.monotonic(), job.read.settings
    action = partial(factory.compute, job.spec, settings, f"{number}, {job.name}")
    if is_alone or settings.job_files:
        print(f"{number}: {job.name}", flush=True)
        action = partial(factory.produce, job.spec, settings)
    job.status = status_of(job.spec.name, action)
    job.seconds = round(time.monotonic() - start, 3)
    if job.status == ExitStatus.DONE:
        job.series = summarise(job.spec, Store(job.read.settings.cache))
    else:
        print(f"dpbandits: {job.name} failed; the other jobs continue", file=sys.stderr)
    gc.collect()  # figures are reference cycles


def _summarise(figure: str, group: Sequence[Job], arguments: Sequence[str]) -> int:
    # Writes the tidy table of completed jobs, with a row for every job, panel, curve and x, the
    # picture, and last the sidecar, which describes them and every job.
    settings = next((job.read.settings for job in group if job.read), None)
    if settings is None:
        return ExitStatus.MISTAKE
    endings, done = varied(group), [job for job in group if job.series]
    command = shlex.join(["dpbandits", "multirun", *recorded(arguments)])
    name = as_file_name(f"{figure}-by-{'-'.join(endings.values())}")
    file, files = settings.out / "multirun" / figure / name, dict[str, bytes]()
    if done:
        given = recorded(dict.fromkeys(key for job in done for key in job.given))
        deleted = {o[1:].partition("=")[0] for job in done for o in job.overrides if o[0] == "~"}
        keys = [key for key in given if key not in {"seed", "runs", *deleted}]
        lines = (
            (job.name, job.spec.seed, *map(job.value, keys), *row)
            for job in done
            for row in rows(job.series)
        )
        files["csv"] = written(("job", "seed", *keys, *PLACE, *STATISTICS), lines)
        if picture := summary(done, endings):
            files |= plotting.render(*picture, f"{command}, revision {revision()}")
    for kind in (*plotting.FORMATS, "csv"):
        if kind in files:
            write_atomically(file.with_name(f"{name}.{kind}"), files[kind])
        else:  # it would be of an earlier command
            file.with_name(f"{name}.{kind}").unlink(missing_ok=True)
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
        **{"figure": figure, "command": command, "varied": [*endings], "jobs": described},
        "provenance": provenance(),
        "files": {kind: sha256(content).hexdigest() for kind, content in files.items()},
    }
    write_atomically(file.with_name(f"{name}.json"), to_json(sidecar))
    print(f"{figure}: summary of {len(group)} jobs; {file}.{{{','.join([*files, 'json'])}}}")
    return ExitStatus.DONE
