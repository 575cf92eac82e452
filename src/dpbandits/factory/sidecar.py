"""Sidecar of a figure: the command, the specification and the provenance behind its files."""

import hashlib
import math
import shlex
from collections.abc import Sequence
from typing import Any

from dpbandits.config.settings import Settings
from dpbandits.experiments import Experiment
from dpbandits.experiments.budgets import budget
from dpbandits.factory import captions
from dpbandits.files.atomic import FIGURE_SCHEMA
from dpbandits.files.provenance import provenance
from dpbandits.spec.changes import recorded
from dpbandits.spec.figure import Curve, FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.store.key import key
from dpbandits.tables.series import Series


def command(verb: str, spec: FigureSpec, settings: Settings) -> str:
    """Return the command line that repeats this, without overrides of folders and engines."""
    if settings.command:
        return settings.command
    return shlex.join(["dpbandits", verb, spec.name, *recorded(settings.overrides)])


def sidecar(
    spec: FigureSpec, settings: Settings, store: Store, series: Sequence[Series]
) -> dict[str, Any]:
    """Return the content of the sidecar, without the digests of the files."""
    slopes = {(s.panel, s.label): s.slope for s in series}
    return {
        "schema": FIGURE_SCHEMA,
        "figure": spec.name,
        "paper": spec.paper,
        "title": spec.title,
        "changed_from_its_file": changed(spec),
        "command": command("run", spec, settings),
        "runs": spec.runs,
        "seed": spec.seed,
        "centre": spec.centre,
        "spread": spec.spread,
        "seconds_of_computation": round(sum(map(store.seconds, spec.cells())), 3),
        "provenance": provenance(),
        "curves": [
            {
                "panel": panel.letter,
                "label": curve.label,
                "loglog_slope": slopes[panel.letter, curve.label],
                "privacy": captions.privacy(curve),
                "sources": sources(curve),
            }
            for panel in spec.panels
            for curve in panel.curves
        ],
    }


def changed(spec: FigureSpec) -> list[dict[str, str | None]]:
    """Return the differences from the figure's file as JSON values; null: absent or deleted."""
    return [{"key": c.key, "value": c.value, "file": c.before} for c in spec.changes]


def sources(curve: Curve) -> list[dict[str, Any]]:
    """Return the experiments of a curve as JSON values, one for each swept x."""
    swept = curve.x or [None] * len(curve.sources)
    return [{**of_source(s), "x": x} for s, x in zip(curve.sources, swept, strict=True)]


def of_source(source: Experiment) -> dict[str, Any]:
    """Return an experiment as JSON values; one that has runs with its key and its budget."""
    if not source.columns:
        return source.description()
    spent = budget(source)
    return {
        "key": key(source),
        **source.description(),
        # JSON has no infinity.
        "composed_epsilon": "infinite" if spent == math.inf else spent,
    }


def digest(content: bytes) -> str:
    """Return the digest of a file's content, SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
