"""From a figure's specification to its files: the whole way, in the order in which data flows."""

import hashlib
import json
import math
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from dpbandits import plotting, runner, verdicts
from dpbandits.atomic import check_writable, write_atomically
from dpbandits.captions import budget, caption
from dpbandits.cells import AnyCell
from dpbandits.curves import Series, summarise, to_csv
from dpbandits.errors import UserError
from dpbandits.progress import duration
from dpbandits.provenance import git_revision, provenance
from dpbandits.settings import Settings
from dpbandits.spec import Curve, FigureSpec
from dpbandits.store import Store, key

KINDS = (*plotting.FORMATS, "csv", "txt", "json")
Draw = Callable[[plotting.Drawing], Figure]


def produce(spec: FigureSpec, settings: Settings) -> int:
    """Compute what is missing and draw what changed; returns the status, 1 where runs failed."""
    start = time.monotonic()
    draw = plotting.drawing_function(spec.paper, spec.draw)
    folder = settings.folder(spec.name)
    check_writable(folder)
    store = Store(settings.cache)
    tasks = runner.plan(spec.runs_of_cells(), store, settings.block)
    if tasks:  # a cache that has everything may be read-only
        check_writable(store.folder)
    computed = sum(len(task.runs) for task in tasks)
    failures = runner.play(tasks, store, settings.workers, spec.name, settings.cluster)
    if failures:
        _report(failures, computed, folder / "failures.json")
        return 1
    (folder / "failures.json").unlink(missing_ok=True)
    series = summarise(spec, store)
    drawn = _write_files(spec, settings, store, draw, series)
    told = _write_verdicts(spec, series, folder / "verdict.json")
    cached = sum(spec.runs_of_cells().values()) - computed
    print(
        f"{spec.name}: {computed} runs computed, {cached} from the cache;"
        f" {'drawn' if drawn else 'pictures are up to date'};"
        f" {duration(time.monotonic() - start)}; {folder}/{spec.name}.{{{','.join(KINDS)}}}{told}"
    )
    return 0


def redraw(spec: FigureSpec, settings: Settings) -> int:
    """Draw from the cache alone, whatever is there. UserError where runs are missing."""
    draw = plotting.drawing_function(spec.paper, spec.draw)
    store = cached(spec, settings)
    series = summarise(spec, store)
    _write_files(spec, settings, store, draw, series, again=True)
    folder = settings.folder(spec.name)
    _write_verdicts(spec, series, folder / "verdict.json")
    print(f"{spec.name}: drawn from the cache; {folder}")
    return 0


def cached(spec: FigureSpec, settings: Settings) -> Store:
    """The store, which has every run of the figure. UserError where runs are missing."""
    store = Store(settings.cache)
    tasks = runner.plan(spec.runs_of_cells(), store, settings.block)
    if tasks:
        missing = sum(len(task.runs) for task in tasks)
        raise UserError(
            f"{spec.name}: {missing} runs are not computed yet; `{command('run', spec, settings)}`"
            " computes them"
        )
    return store


def drawing(spec: FigureSpec, series: Sequence[Series]) -> plotting.Drawing:
    """What the drawing function of a figure gets, of the curves of all its panels."""
    panels = (
        plotting.PanelDrawing(
            p.letter, p.title, tuple(s for s in series if s.panel == p.letter), p.row, p.column
        )
        for p in spec.panels
    )
    changes = "; ".join(change.short for change in spec.changes)
    return plotting.Drawing(spec.title, tuple(panels), changes)


def command(verb: str, spec: FigureSpec, settings: Settings) -> str:
    """The command line that repeats this; where and on what it ran is not part of it."""
    own = [o for o in settings.overrides if not re.match(r"[+~]*(?:paths|engine)[.=]", o)]
    return shlex.join(["dpbandits", verb, spec.name, *own])


def _write_verdicts(spec: FigureSpec, series: Sequence[Series], file: Path) -> str:
    # What came of the claims of a paper, in a file and, in numbers, as words; "" without claims.
    if not spec.claims:
        file.unlink(missing_ok=True)
        return ""
    judged = verdicts.judge(spec, series)
    content = {"figure": spec.name, "claims": verdicts.as_json(judged), "runs": spec.runs}
    write_atomically(file, (json.dumps(content, indent=1) + "\n").encode())
    counted = ", ".join(f"{number} {word}" for word, number in verdicts.count(judged).items())
    return f"; claims: {counted}"


def _write_files(
    spec: FigureSpec,
    settings: Settings,
    store: Store,
    draw: Draw,
    series: list[Series],
    again: bool = False,
) -> bool:
    # Table, pictures and, last, the sidecar that vouches for them. False: all were there already.
    file = settings.folder(spec.name) / spec.name
    table = to_csv(series)
    inputs = hashlib.sha256()
    for part in (repr(spec), command("run", spec, settings), plotting.ink(spec.paper)):
        inputs.update(part.encode())
    inputs.update(table + str(git_revision()).encode())
    if not again and _is_up_to_date(file, inputs.hexdigest()):
        return False
    keywords = f"{command('run', spec, settings)}, revision {git_revision()}"
    files = plotting.render(draw, drawing(spec, series), keywords)
    files["csv"] = table
    files["txt"] = caption(spec).encode()
    sidecar = _sidecar(spec, settings, store, series)
    sidecar["inputs"] = inputs.hexdigest()
    sidecar["files"] = {kind: _digest(content) for kind, content in files.items()}
    for kind, content in files.items():
        write_atomically(file.with_suffix(f".{kind}"), content)
    write_atomically(file.with_suffix(".json"), (json.dumps(sidecar, indent=1) + "\n").encode())
    return True


def _is_up_to_date(file: Path, inputs: str) -> bool:
    # Whether the sidecar tells of these inputs and every file is as it was written.
    try:
        sidecar = json.loads(file.with_suffix(".json").read_bytes())
        return sidecar["inputs"] == inputs and all(
            _digest(file.with_suffix(f".{kind}").read_bytes()) == digest
            for kind, digest in sidecar["files"].items()
        )
    except (OSError, ValueError, KeyError):
        return False


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sidecar(
    spec: FigureSpec, settings: Settings, store: Store, series: Sequence[Series]
) -> dict[str, Any]:
    slopes = {(s.panel, s.label): s.slope for s in series}
    return {
        "figure": spec.name,
        "paper": spec.paper,
        "title": spec.title,
        "command": command("run", spec, settings),
        "runs": spec.runs,
        "centre": spec.centre,
        "spread": spec.spread,
        "seconds_of_computation": round(sum(map(store.seconds, spec.cells())), 3),
        "provenance": provenance(),
        "curves": [
            {
                "panel": panel.letter,
                "label": curve.label,
                "loglog_slope": slopes[panel.letter, curve.label],
                "sources": sources(curve),
            }
            for panel in spec.panels
            for curve in panel.curves
        ],
    }


def sources(curve: Curve) -> list[dict[str, Any]]:
    """What a curve is made of, as JSON values: cells or bounds, one for each swept x."""
    swept = curve.x or [None] * len(curve.sources)
    return [{**_source(s), "x": x} for s, x in zip(curve.sources, swept, strict=True)]


def _source(source: Any) -> dict[str, Any]:
    if not isinstance(source, AnyCell):
        return {"bound": source.function, "arguments": dict(source.arguments)}
    spent = budget(source)
    return {
        "key": key(source),
        **source.description(),
        # JSON knows no infinity.
        "composed_epsilon": "infinite" if spent == math.inf else spent,
    }


def _report(failures: Sequence[runner.Outcome], runs: int, file: Path) -> None:
    described = [
        {
            "cell": failure.task.cell.description(),
            "runs": [failure.task.runs.start, failure.task.runs.stop - 1],
            "error": failure.error,
            "traceback": failure.trace,
        }
        for failure in failures
    ]
    write_atomically(file, (json.dumps(described, indent=1) + "\n").encode())
    first = failures[0].task
    failed = sum(len(failure.task.runs) for failure in failures)
    print(
        f"dpbandits: {failed} of {runs} runs failed, the others are kept; first"
        f" {first.cell.name}, runs {first.runs.start}-{first.runs.stop - 1}: {failures[0].error};"
        f" all of them, with tracebacks, are in {file}; when that is mended, the same command"
        " computes only what is missing",
        file=sys.stderr,
    )
