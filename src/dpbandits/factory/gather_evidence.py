"""Gathering of the evidence on a figure: its runs of the profile `evidence`, summarised.

A change of the sources that moves no bit needs no new evidence: `confirm` computes the runs that
the figure draws, which are the first of the evidence, and compares them with the recorded ones.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.curves import evidence, evidence_records, references
from dpbandits.files import schemas
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.in_turn import Begun, InTurn, Waiting
from dpbandits.run.missing_runs import Completing, complete
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store

PACKAGE = Path(__file__).parents[1]  # has the figures only where it is installed


def gather(figures: Sequence[str]) -> int:
    """Compute the missing runs and write evidence.csv and evidence.json beside each reference.

    Returns the exit status: FAILED if runs failed. A figure without runs needs no files. Raises
    UserError before any run if a figure is part of an installed package.
    """
    waiting = list[Waiting[int]]()
    for figure in figures:
        folder = _folder(figure)
        drawn, _ = compose.load(figure, [])
        spec, settings = compose.load(figure, ["profile=evidence"])
        if cells := spec.cells():
            waiting.append(Waiting({*cells}, partial(_begin, folder, drawn, spec, settings)))
    in_turn = InTurn(waiting)
    return max((in_turn.finish_next() for _ in waiting), default=ExitStatus.DONE)


def _begin(folder: Path, drawn: FigureSpec, spec: FigureSpec, settings: Settings) -> Begun[int]:
    runs = spec.runs_of_cells()
    for cell, number in drawn.runs_of_cells().items():
        runs[cell] = max(number, runs.get(cell, 0))
    completing = Completing(runs, settings, spec.name, settings.folder(spec.name))

    def finish(at_the_last: Callable[[], None]) -> int:
        completed = completing.finish(at_the_last)
        if completed.failures:
            return ExitStatus.FAILED
        _write(folder, drawn, spec, completed.store)
        return ExitStatus.DONE

    return Begun(completing, finish)


def _write(folder: Path, drawn: FigureSpec, spec: FigureSpec, store: Store) -> None:
    summaries = evidence.of_runs(spec, drawn, store)
    table = evidence.to_csv(summaries)
    record = {
        "schema": schemas.EVIDENCE,
        "figure": spec.name,
        "command": f"dpbandits report --gather {spec.name}",
        "runs": sorted({each.runs for each in summaries.values() if each.runs}),
        "cells": evidence_records.digest_of_cells(drawn),
        "sources": evidence_records.digest_of_sources(drawn),
        "drawn_runs": sum(drawn.runs_of_cells().values()),
        "drawn_digest": evidence_records.digest_of_runs(drawn, store),
        "seconds": round(sum(map(store.seconds, spec.cells())), 3),
        "sha256": hashlib.sha256(table).hexdigest(),
        **provenance(),
    }
    write_atomically(folder / "evidence.csv", table)
    _write_record(folder, record)


def confirm(figure: str) -> int:
    """Accept the evidence for the sources of this process if all drawn runs have the recorded bits.

    Prints a line and returns the exit status: ALARM if a bit moved, MISTAKE if there is nothing to
    compare with, FAILED if runs failed. Raises UserError as `gather` does.
    """
    folder = _folder(figure)
    drawn, settings = compose.load(figure, [])
    if not drawn.cells():
        return ExitStatus.DONE
    remedy = f"`dpbandits report --gather {figure}` recomputes the evidence"
    record = evidence_records.read_record(figure)
    runs = drawn.runs_of_cells()
    recorded = record.get("cells"), record.get("drawn_runs")
    if recorded != (evidence_records.digest_of_cells(drawn), sum(runs.values())):
        print(f"{figure}: the evidence is of other cells, or of other runs of them; {remedy}")
        return ExitStatus.MISTAKE
    if evidence_records.is_current(drawn):
        print(f"{figure}: the evidence was computed from these sources, or is confirmed for them")
        return ExitStatus.DONE
    completed = complete(runs, settings, figure, settings.folder(figure))
    if completed.failures:
        return ExitStatus.FAILED
    if evidence_records.digest_of_runs(drawn, completed.store) != record.get("drawn_digest"):
        print(f"{figure}: runs differ from those of the evidence; {remedy}")
        return ExitStatus.ALARM
    record["sources"] = evidence_records.digest_of_sources(drawn)
    record["confirmed"] = provenance()
    _write_record(folder, record)
    print(f"{figure}: confirmed, {sum(runs.values())} runs of {len(runs)} cells have the same bits")
    return ExitStatus.DONE


def _folder(figure: str) -> Path:
    folder = references.folder(figure)
    if folder.is_relative_to(PACKAGE):
        raise UserError(
            f"evidence on {figure} would change the installed package ({folder}): gather it in a"
            " checkout of dpbandits, or in the project that has the figure"
        )
    return folder


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    write_atomically(folder / "evidence.json", schemas.to_json(record))
