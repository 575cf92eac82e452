"""Gathering of the evidence on a figure: its runs of the profile `evidence`, summarised."""

import hashlib
import json
from pathlib import Path

from dpbandits.config import compose
from dpbandits.core.errors import UserError
from dpbandits.curves import evidence, references
from dpbandits.files import schemas
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.missing_runs import complete

PACKAGE = Path(__file__).parents[1]  # has the figures only where it is installed


def gather(figure: str) -> int:
    """Compute the missing runs and write evidence.csv and evidence.json beside the reference.

    Returns the exit status: FAILED if runs failed. A figure without runs needs no files. Raises
    UserError before any run if the figure is part of an installed package.
    """
    folder = references.folder(figure)
    if folder.is_relative_to(PACKAGE):
        raise UserError(
            f"evidence on {figure} would change the installed package ({folder}): gather it in a"
            " checkout of dpbandits, or in the project that has the figure"
        )
    drawn, _ = compose.load(figure, [])
    spec, settings = compose.load(figure, ["profile=evidence"])
    if not spec.cells():
        return 0
    completed = complete(spec.runs_of_cells(), settings, figure, settings.folder(figure))
    if completed.failures:
        return ExitStatus.FAILED
    summaries = evidence.of_runs(spec, drawn, completed.store)
    table = evidence.to_csv(summaries)
    record = {
        "schema": schemas.EVIDENCE,
        "figure": figure,
        "command": f"dpbandits report --gather {figure}",
        "runs": sorted({each.runs for each in summaries.values() if each.runs}),
        "cells": evidence.digest_of_cells(drawn),
        "sources": evidence.digest_of_sources(drawn),
        "seconds": round(sum(map(completed.store.seconds, spec.cells())), 3),
        "sha256": hashlib.sha256(table).hexdigest(),
        **provenance(),
    }
    write_atomically(folder / "evidence.csv", table)
    write_atomically(folder / "evidence.json", (json.dumps(record, indent=1) + "\n").encode())
    return 0
