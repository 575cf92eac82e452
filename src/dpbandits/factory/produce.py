"""Production of a figure from its specification to its files, in the order in which data flows."""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dpbandits.checks.comparisons import counted
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.factory import sidecar
from dpbandits.factory.captions import caption
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.factory.sidecar import command, digest
from dpbandits.files.atomic import VERDICT_SCHEMA, check_writable, to_json, write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.judge import about
from dpbandits.judge.about import About
from dpbandits.run import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.run.runner import complete
from dpbandits.run.tasks import plan
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.series import Series, summarise, to_csv

KINDS = (*plotting.FORMATS, "csv", "txt", "json")
VERDICT = "verdict.json"


def produce(spec: FigureSpec, settings: Settings) -> int:
    """Plan, play, summarise, draw, judge and write; return the status, FAILED if runs failed.

    Computes what is missing and draws what changed. Raises UserError if the figure cannot be drawn
    or written.
    """
    start = time.monotonic()
    picture = _Picture(spec)
    folder = settings.folder(spec.name)
    check_writable(folder)
    runs = spec.runs_of_cells()
    completed = complete(runs, settings, spec.name, folder)
    if completed.failures:
        return ExitStatus.FAILED
    written = picture.write(settings, completed.store)
    cached = sum(runs.values()) - completed.computed
    counts = ", ".join(f"{n} {word}" for word, n in about.count(written.claims).items())
    verdicts = f"; sentences about this figure: {counts} ({VERDICT})" if counts else ""
    print(
        f"{spec.name}: {counted(completed.computed, 'run')} computed, {cached} from the cache;"
        f" {'drawn' if written.drawn else 'pictures are up to date'};"
        f" {duration(time.monotonic() - start)}; {folder}/{spec.name}.{{{','.join(KINDS)}}}"
        f"{verdicts}"
    )
    return ExitStatus.DONE


def write(spec: FigureSpec, settings: Settings, store: Store) -> list[Series]:
    """Write the files of a figure, unless they are up to date, and return its curves.

    The store must have all runs. Raises UserError if the figure cannot be drawn.
    """
    return _Picture(spec).write(settings, store).series


def redraw(spec: FigureSpec, settings: Settings) -> int:
    """Draw from the cache alone, even if the files are up to date; return the status 0.

    Raises UserError if runs are missing.
    """
    picture = _Picture(spec)
    picture.write(settings, cached(spec, settings), again=True)
    print(f"{spec.name}: drawn from the cache; {settings.folder(spec.name)}")
    return 0


def cached(spec: FigureSpec, settings: Settings) -> Store:
    """Return the store, which has every run of the figure; raise UserError if runs are missing."""
    store = Store(settings.cache)
    tasks = plan(spec.runs_of_cells(), store, settings.block)
    if tasks:
        missing = sum(len(task.runs) for task in tasks)
        raise UserError(
            f"{spec.name}: {missing} runs are not computed yet; `{command('run', spec, settings)}`"
            " computes them"
        )
    return store


def drawing(spec: FigureSpec, series: Sequence[Series]) -> plotting.Drawing:
    """Return the input of the figure's drawing function, from the curves that it draws."""
    of_curve = {(each.panel, each.label): each for each in series}
    panels = (
        plotting.PanelDrawing(
            *(p.letter, p.title),
            tuple(of_curve[p.letter, curve.label] for curve in spec.drawn(p)),
            *(p.row, p.column),
        )
        for p in spec.panels
    )
    changes = "; ".join(change.short for change in spec.changes)
    return plotting.Drawing(spec.title, tuple(panels), changes, spec.annotated)


class _Written(NamedTuple):
    drawn: bool  # False if all files were up to date
    series: list[Series]
    claims: Sequence[About]


class _Picture:
    # A figure that can be drawn. Its drawing function is imported and its style read before the
    # runs: the files may be edited meanwhile, and mistakes show at once.

    def __init__(self, spec: FigureSpec) -> None:
        refuse_undrawable(spec)
        self.spec = spec
        self.draw = plotting.drawing_function(spec.paper, spec.draw)
        self.style = plotting.style_digest(spec.paper)

    def write(self, settings: Settings, store: Store, again: bool = False) -> _Written:
        # Writes the table, pictures, caption and verdicts, and last the sidecar with their digests.
        spec = self.spec
        folder = settings.folder(spec.name)
        file = folder / spec.name
        series = summarise(spec, store)
        claims = about.about(spec, store)
        texts = {"csv": to_csv(series), "txt": caption(spec).encode()}
        verdict = b""
        if claims:
            sentences = about.as_json(claims)
            verdict = to_json({"schema": VERDICT_SCHEMA, "figure": spec.name, "claims": sentences})
        described = sidecar.sidecar(spec, settings, store, series)
        # A text may depend on more than the specification, such as another figure's reference or
        # the releases of an algorithm. The digest of the texts covers all of it.
        undated = {k: v for k, v in described.items() if k != "provenance"}
        undated["provenance"] = {k: v for k, v in provenance().items() if k != "written"}
        inputs = hashlib.sha256(to_json(undated))
        for part in (*texts.values(), verdict, repr(spec).encode(), self.style.encode()):
            inputs.update(digest(part).encode())
        if not again and _is_up_to_date(file, inputs.hexdigest(), verdict):
            return _Written(False, series, claims)
        keywords = f"{command('run', spec, settings)}, revision {revision()}"
        files = {**plotting.render(self.draw, drawing(spec, series), keywords), **texts}
        described["inputs"] = inputs.hexdigest()
        described["files"] = {kind: digest(content) for kind, content in files.items()}
        for kind, content in files.items():
            write_atomically(_of_kind(file, kind), content)
        if verdict:
            write_atomically(folder / VERDICT, verdict)
        else:
            (folder / VERDICT).unlink(missing_ok=True)
        write_atomically(_of_kind(file, "json"), to_json(described))
        return _Written(True, series, claims)


def _of_kind(file: Path, kind: str) -> Path:
    return file.with_name(f"{file.name}.{kind}")  # the name of a figure may have dots


def _is_up_to_date(file: Path, inputs: str, verdict: bytes) -> bool:
    # True if the sidecar has the digest of these inputs and no file has changed since.
    try:
        before = json.loads(_of_kind(file, "json").read_bytes())
        written = file.with_name(VERDICT).read_bytes() if verdict else b""
        return (
            before["inputs"] == inputs
            and written == verdict
            and all(
                digest(_of_kind(file, kind).read_bytes()) == of_file
                for kind, of_file in before["files"].items()
            )
        )
    except (OSError, ValueError, KeyError):
        return False
