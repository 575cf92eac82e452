"""Production of a figure from its specification to its files, in the order in which data flows."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from dpbandits.checks.comparisons import counted
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.drawing import plotting
from dpbandits.factory import sidecar
from dpbandits.factory.captions import caption
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.factory.sidecar import command, digest
from dpbandits.files import schemas
from dpbandits.files.atomic import check_writable, write_atomically
from dpbandits.files.provenance import provenance, revision
from dpbandits.judge import about
from dpbandits.judge.about import About
from dpbandits.run.compile_ahead import CompilingAhead
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.in_turn import Begun
from dpbandits.run.missing_runs import Completing
from dpbandits.run.progress import duration
from dpbandits.run.tasks import plan
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables.series import Series, summarise, to_csv

KINDS = (*plotting.FORMATS, "csv", "txt", "json")
VERDICT = "verdict.json"
Draw = Callable[[plotting.Drawing], Figure]


@dataclass(frozen=True)
class Words:
    """Words about the curves of a figure: the caption and the verdicts on claims."""

    caption: str
    claims: Sequence[About]


def produce(spec: FigureSpec, settings: Settings) -> int:
    """Compute what is missing and draw what changed; return the status, FAILED if runs failed."""
    with CompilingAhead(figures=1) as compiling:
        begun = begin(spec, settings)
        compiling.add(begun.completing.later_kernels)
        return begun.finish(lambda: None)


def begin(spec: FigureSpec, settings: Settings) -> Begun[int]:
    """Begin to compute what is missing; the rest of `produce` is left to `finish`.

    Raises UserError if the figure cannot be drawn or written.
    """
    start = time.monotonic()
    refuse_undrawable(spec)
    draw = plotting.drawing_function(spec.paper, spec.draw)
    style = plotting.style_digest(spec.paper)  # now: its files may be edited during the runs
    folder = settings.folder(spec.name)
    check_writable(folder)
    runs = spec.runs_of_cells()
    completing = Completing(runs, settings, spec.name, folder)

    def finish(at_the_last: Callable[[], None]) -> int:
        described = ""

        def compose() -> None:  # a second or two
            nonlocal described
            described = caption(spec)

        completed = completing.finish(at_the_last, meanwhile=compose)
        if completed.failures:
            return ExitStatus.FAILED
        series = summarise(spec, completed.store)
        claims = about.about(spec, completed.store)
        words = Words(described, claims)
        drawn = _write_files(spec, settings, completed.store, draw, style, series, words)
        cached = sum(runs.values()) - completed.computed
        print(
            f"{spec.name}: {counted(completed.computed, 'run')} computed, {cached} from the cache;"
            f" {'drawn' if drawn else 'pictures are up to date'};"
            f" {duration(time.monotonic() - start)}; {folder}/{spec.name}.{{{','.join(KINDS)}}}"
            f"{_in_words(about.count(claims))}"
        )
        return ExitStatus.DONE

    return Begun(completing, finish)


def write(spec: FigureSpec, settings: Settings, store: Store) -> list[Series]:
    """Write the files of a figure, unless they are up to date, and return its curves.

    The store must have all runs. Raises UserError if the figure cannot be drawn.
    """
    draw = plotting.drawing_function(spec.paper, spec.draw)
    style = plotting.style_digest(spec.paper)
    series = summarise(spec, store)
    words = Words(caption(spec), about.about(spec, store))
    _write_files(spec, settings, store, draw, style, series, words)
    return series


def redraw(spec: FigureSpec, settings: Settings) -> int:
    """Draw from the cache alone, even if the files are up to date; return the status 0.

    Raises UserError if runs are missing.
    """
    refuse_undrawable(spec)
    draw = plotting.drawing_function(spec.paper, spec.draw)
    style = plotting.style_digest(spec.paper)
    store = cached(spec, settings)
    series = summarise(spec, store)
    words = Words(caption(spec), about.about(spec, store))
    _write_files(spec, settings, store, draw, style, series, words, again=True)
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


def _in_words(counted: dict[str, int]) -> str:
    # `; sentences about this figure: 6 reproduced, 1 not reproduced (verdict.json)`
    if not counted:
        return ""
    counts = ", ".join(f"{number} {word}" for word, number in counted.items())
    return f"; sentences about this figure: {counts} (verdict.json)"


def _write_files(
    spec: FigureSpec,
    settings: Settings,
    store: Store,
    draw: Draw,
    style: str,
    series: list[Series],
    words: Words,
    again: bool = False,
) -> bool:
    # Writes the table, pictures, caption and verdicts, and last the sidecar with their digests.
    # Returns False if all of them were up to date.
    folder = settings.folder(spec.name)
    file = folder / spec.name
    texts = {"csv": to_csv(series), "txt": words.caption.encode()}
    described = sidecar.sidecar(spec, settings, store, series)
    verdict = _verdict(spec, words.claims)
    # A text may depend on more than the specification, such as another figure's reference or the
    # releases of an algorithm. The digest of the texts covers all of it.
    undated = {k: v for k, v in described.items() if k != "provenance"}
    undated["provenance"] = {k: v for k, v in provenance().items() if k != "written"}
    inputs = hashlib.sha256(schemas.to_json(undated))
    for part in (
        *texts.values(),
        verdict,
        repr(spec).encode(),
        style.encode(),
    ):
        inputs.update(digest(part).encode())
    if not again and _is_up_to_date(file, inputs.hexdigest(), verdict):
        return False
    keywords = f"{command('run', spec, settings)}, revision {revision()}"
    files = {**plotting.render(draw, drawing(spec, series), keywords), **texts}
    described["inputs"] = inputs.hexdigest()
    described["files"] = {kind: digest(content) for kind, content in files.items()}
    for kind, content in files.items():
        write_atomically(_of_kind(file, kind), content)
    if verdict:
        write_atomically(folder / VERDICT, verdict)
    else:
        (folder / VERDICT).unlink(missing_ok=True)
    write_atomically(_of_kind(file, "json"), schemas.to_json(described))
    return True


def _of_kind(file: Path, kind: str) -> Path:
    return file.with_name(f"{file.name}.{kind}")  # the name of a figure may have dots


def _verdict(spec: FigureSpec, claims: Sequence[About]) -> bytes:
    # The claims of a paper with their verdicts; empty without claims.
    if not claims:
        return b""
    content = {"figure": spec.name, "claims": about.as_json(claims)}
    return schemas.to_json({"schema": schemas.VERDICT, **content})


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
