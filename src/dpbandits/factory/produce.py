"""Production of figures, from their specifications to their files."""

import json
import math
import shlex
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.colors import CSS4_COLORS, TABLEAU_COLORS, is_color_like
from matplotlib.figure import Figure

from dpbandits.checks.comparisons import plural
from dpbandits.config import compose, conf_files
from dpbandits.config.settings import Settings
from dpbandits.drawing import plotting
from dpbandits.drawing.formulas import fault
from dpbandits.drawing.styles import in_mathtext
from dpbandits.experiments.kinds import composed_budget
from dpbandits.factory import captions
from dpbandits.factory.statements import Statement
from dpbandits.files import project
from dpbandits.files.atomic import (
    FIGURE_SCHEMA,
    VERDICT_SCHEMA,
    check_writable,
    to_json,
    write_atomically,
)
from dpbandits.files.provenance import provenance, revision
from dpbandits.judge import about
from dpbandits.judge.about import About
from dpbandits.kernel.errors import UserError, in_one_line, nearest, shown
from dpbandits.run import ExitStatus
from dpbandits.run.progress import duration
from dpbandits.run.runner import complete
from dpbandits.run.tasks import plan
from dpbandits.run.user_algorithms import error_place
from dpbandits.spec.figure import RESULTS, Curve, FigureSpec, recorded
from dpbandits.store.blocks import Store
from dpbandits.store.key import key
from dpbandits.tables.series import Series, summarise, to_csv

VERDICT = "verdict.json"
Drawer = tuple[Callable[[plotting.Drawing], Figure], str]  # with the digest of the style


class Written(NamedTuple):
    """A figure whose files are written."""

    series: list[Series]
    claims: Sequence[About]
    noted: Sequence[Statement]  # what kinds say of the runs, such as those without an answer
    is_drawn: bool  # False: the files were up to date


def produce(spec: FigureSpec, settings: Settings) -> int:
    """Plan, play, summarise, draw, judge and write; return the status, FAILED if runs failed.

    Computes what is missing and draws what changed. Raises UserError if the figure cannot be drawn
    or written.
    """
    start = time.monotonic()
    drawer = _drawer(spec)  # before the runs: the files may be edited meanwhile
    folder = settings.folder(spec.name)
    check_writable(folder)
    runs = spec.runs_of_experiments()
    completed = complete(runs, settings, spec.name, folder)
    if completed.failures:
        return ExitStatus.FAILED
    done = write(spec, settings, completed.store, drawer)
    cached = sum(runs.values()) - completed.computed
    counts = ", ".join(f"{n} {word}" for word, n in about.count(done.claims).items())
    verdicts = f"; sentences about this figure: {counts} ({VERDICT})" if counts else ""
    print(
        f"{spec.name}: {plural(completed.computed, 'run')} computed, {cached} from the cache;"
        f" {'drawn' if done.is_drawn else 'pictures are up to date'};"
        f" {duration(time.monotonic() - start)}; {folder}/{spec.name}.{{{','.join(kinds(spec))}}}"
        f"{verdicts}",
        *(f"{spec.name}: {captions.with_papers(statement.text)}" for statement in done.noted),
        sep="\n",
        flush=True,  # the lines appear at once, in a file too
    )
    return ExitStatus.DONE


def compute(spec: FigureSpec, settings: Settings, label: str) -> int:
    """Compute the missing runs of a figure and draw nothing; return the status as `produce` does.

    `label` begins the lines of progress. Raises UserError if the figure could not be drawn.
    """
    start, folder, runs = time.monotonic(), settings.folder(spec.name), spec.runs_of_experiments()
    _drawer(spec)
    check_writable(folder.parent)
    completed = complete(runs, settings, label, folder)
    if completed.failures:
        return ExitStatus.FAILED
    cached = sum(runs.values()) - completed.computed
    print(
        f"{label}: {plural(completed.computed, 'run')} computed, {cached} from the cache;"
        f" {duration(time.monotonic() - start)}",
        flush=True,
    )
    return ExitStatus.DONE


def produce_all(paper: str | None, overrides: Sequence[str]) -> int:
    """Compute and draw the figures, each with the overrides; return the largest status.

    A figure that fails does not stop the others. Raises UserError if the paper is unknown, if no
    figure can be loaded, or if the output folder is not writable.
    """
    start = time.monotonic()
    names = figures_of(paper)
    # All figures are loaded before the first is computed, so that mistakes are reported at once. If
    # every figure fails to load, the command is at fault: its error is raised, once.
    loaded, errors = [], dict[str, UserError]()
    for name in names:
        try:
            spec, settings = compose.load(name, overrides)
            refuse_undrawable(spec)
            loaded.append((spec, settings))
        except UserError as error:
            errors[name] = error
        except Exception as error:
            if not (place := error_place(error)):
                raise
            errors[name] = UserError(f"{name}: {place}")
    if not loaded:
        raise next(iter(errors.values()))
    check_writable(loaded[0][1].out)
    for mistake in errors.values():
        print(f"dpbandits: {mistake}", file=sys.stderr)
    statuses: dict[str, int] = dict.fromkeys(errors, ExitStatus.MISTAKE)
    for spec, settings in loaded:
        statuses[spec.name] = status_of(spec.name, partial(produce, spec, settings))
    failed = [name for name in names if statuses[name] != ExitStatus.DONE]
    print(
        f"{len(names) - len(failed)} of {len(names)} figures are complete;"
        f" {duration(time.monotonic() - start)}",
        flush=True,
    )
    if failed:
        print(f"dpbandits: {', '.join(failed)} failed, for the reasons above", file=sys.stderr)
    return max(statuses.values())


def figures_of(paper: str | None) -> list[str]:
    """Return the figures whose file has `paper: <paper>`; without a paper all but our results.

    Raises UserError for an unknown paper.
    """
    names = project.names("figure")
    papers = dict.fromkeys(names, "")
    for name in names:
        with suppress(UserError):  # loading the figure reports it
            papers[name] = str(conf_files.read_member("figure", name).get("paper"))
    if paper is None:
        return [name for name in names if papers[name] != RESULTS]
    if paper not in papers.values():
        raise UserError(f"unknown paper {shown(paper)}; {nearest(paper, papers.values())}")
    return [name for name in names if papers[name] == paper]


def status_of(figure: str, action: Callable[[], int]) -> int:
    """Return the status of what computes and draws a figure; print its error."""
    status = ExitStatus.MISTAKE
    try:
        return action()
    except UserError as error:
        problem = str(error)
    except Exception as fault:  # such as of a drawing function, whose author needs the traceback
        place = error_place(fault)
        problem = f"{figure}: {place or in_one_line(fault)}"
        if not place and not isinstance(fault, MemoryError):
            traceback.print_exc()
            status = ExitStatus.FAILED
    print(f"dpbandits: {problem}", file=sys.stderr)
    return status


def redraw(spec: FigureSpec, settings: Settings) -> int:
    """Draw from the cache alone, even if the files are up to date; return the status 0.

    Raises UserError first for a mistake in the drawing, then if runs are missing.
    """
    write(spec, settings, drawer=_drawer(spec), store=cached(spec, settings), again=True)
    print(f"{spec.name}: drawn from the cache; {settings.folder(spec.name)}")
    return 0


def cached(spec: FigureSpec, settings: Settings) -> Store:
    """Return the store, which has every run of the figure; raise UserError if runs are missing."""
    store = Store(settings.cache)
    if missing := sum(len(t.runs) for t in plan(spec.runs_of_experiments(), store, settings.block)):
        run = shlex.join(["dpbandits", "run", spec.name, *settings.overrides])
        raise UserError(f"{spec.name}: {missing} runs are not computed yet; `{run}` computes them")
    return store


def kinds(spec: FigureSpec) -> tuple[str, ...]:
    """Return the endings of a figure's files."""
    return *spec.appearance.formats, "csv", "txt", "json"


def command(verb: str, spec: FigureSpec, settings: Settings) -> str:
    """Return the command line that repeats this, without overrides of folders and engines."""
    if settings.command:
        return settings.command
    return shlex.join(["dpbandits", verb, spec.name, *recorded(settings.overrides)])


def drawing(spec: FigureSpec, series: Sequence[Series]) -> plotting.Drawing:
    """Return the input of the figure's drawing function, from the curves that it draws."""
    drawn = {(s.panel, s.label): s for s in series}
    panels = (
        plotting.PanelDrawing(
            *(p.letter, p.title),
            tuple(drawn[p.letter, curve.label] for curve in spec.drawn_curves(p)),
            *(p.row, p.column),
        )
        for p in spec.panels
    )
    changes = "; ".join(change.phrase(replaced=False) for change in spec.changes)
    return plotting.Drawing(spec.title, tuple(panels), changes, spec.annotated, spec.appearance)


def refuse_undrawable(spec: FigureSpec) -> None:
    r"""Raise UserError for the first text, such as `$\foobar$`, or colour that cannot be drawn.

    Labels, which stand in tables too, must not begin as a formula of a spreadsheet does.

    The message names its key and what sets it: the command line or the figure's file, which selects
    the algorithms whose files may set labels.
    """
    texts = [("figure.title", spec.title, spec.title)]
    for panel in spec.panels:
        path = f"figure.panels.{panel.letter}"
        texts.append((f"{path}.title", panel.title, f"({panel.letter}) {panel.title}"))
        lines = ((k, getattr(panel, k)) for k in ("row", "column"))
        texts += [(f"{path}.{k}", t, in_mathtext(t)) for k, t in lines]
        for curve in panel.curves:
            path = f"figure.curves.{curve.name}"
            parts = ((k, getattr(curve, k)) for k in ("variant", "label", "legend"))
            texts += [(f"{path}.{k}", t, in_mathtext(t)) for k, t in parts]
            if (colour := curve.look.colour) and not is_color_like(colour):
                near = nearest(colour, [*TABLEAU_COLORS, *CSS4_COLORS])
                problem = f"{path}.colour {shown(colour)} is no colour of matplotlib; {near}"
                raise UserError(f"{spec.name}: {problem}")
    if spec.appearance.style:
        try:
            plotting.asked_style(spec.appearance.style)
        except UserError as error:
            raise UserError(f"{spec.name}: {error}") from None
    for name, text, drawn in texts:
        evaluated = name.endswith(".label") and text.startswith(("=", "+", "-", "@"))
        if reason := "a spreadsheet would evaluate it in the table" if evaluated else fault(drawn):
            typed = any(f"{name}.".startswith(f"{change.key}.") for change in spec.changes)
            if typed:
                where = "command line"
            elif spec.name in project.names("figure"):
                where = project.member_file("figure", spec.name)
            else:
                where = "set by its algorithm or from Python"
            problem = f"{name} {shown(text)} cannot be drawn: {reason} ({where})"
            raise UserError(f"{spec.name}: {problem}")


def _drawer(spec: FigureSpec) -> Drawer:
    refuse_undrawable(spec)
    return plotting.drawing_function(spec.paper, spec.draw), plotting.style_digest(
        spec.paper, spec.appearance.style
    )


def write(
    spec: FigureSpec,
    settings: Settings,
    store: Store,
    drawer: Drawer | None = None,
    again: bool = False,
) -> Written:
    """Write the table, pictures, caption and verdicts, and last the sidecar with their digests.

    Files are written with `again`, or if they are not up to date. The store must have all runs.
    Raises UserError if the figure cannot be drawn.
    """
    folder, (draw, style) = settings.folder(spec.name), drawer or _drawer(spec)
    series, claims = summarise(spec, store), about.about(spec, store)
    noted = captions.of_runs(spec, store)
    texts = {"csv": to_csv(series), "txt": captions.caption(spec, noted).encode()}
    verdict = b""
    if claims:
        sentences = about.as_json(claims)
        verdict = to_json({"schema": VERDICT_SCHEMA, "figure": spec.name, "claims": sentences})
    described = sidecar(spec, settings, store, series, noted)
    # A text may depend on more than the specification, such as another figure's reference or the
    # releases of an algorithm. The digest of the texts covers all of it.
    undated = {k: v for k, v in described.items() if k != "provenance"}
    undated["provenance"] = {k: v for k, v in described["provenance"].items() if k != "written"}
    inputs = sha256(to_json(undated))
    for part in (*texts.values(), verdict, repr(spec).encode(), style.encode()):
        inputs.update(sha256(part).hexdigest().encode())
    path = {kind: folder / f"{spec.name}.{kind}" for kind in kinds(spec)}  # a name may have dots
    if not again and _is_up_to_date(path, inputs.hexdigest(), verdict):
        return Written(series, claims, noted, is_drawn=False)
    keywords = f"{command('run', spec, settings)}, revision {revision()}"
    files = {**plotting.render(draw, drawing(spec, series), keywords), **texts}
    described["inputs"] = inputs.hexdigest()
    described["files"] = {kind: sha256(content).hexdigest() for kind, content in files.items()}
    for kind, content in files.items():
        write_atomically(path[kind], content)
    if verdict:
        write_atomically(folder / VERDICT, verdict)
    else:
        (folder / VERDICT).unlink(missing_ok=True)
    write_atomically(path["json"], to_json(described))
    return Written(series, claims, noted, is_drawn=True)


def _is_up_to_date(path: dict[str, Path], inputs: str, verdict: bytes) -> bool:
    # True if the sidecar has the digest of these inputs and no file has changed since.
    try:
        before = json.loads(path["json"].read_bytes())
        written = path["json"].with_name(VERDICT).read_bytes() if verdict else b""
        return (before["inputs"], written) == (inputs, verdict) and all(
            sha256(path[kind].read_bytes()).hexdigest() == digest
            for kind, digest in before["files"].items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def sidecar(
    spec: FigureSpec,
    settings: Settings,
    store: Store,
    series: Sequence[Series],
    noted: Sequence[Statement],
) -> dict[str, Any]:
    """Return the content of the sidecar, without the digests of the files."""
    slopes = {(s.panel, s.label): s.slope for s in series}
    return {
        "schema": FIGURE_SCHEMA,
        "figure": spec.name,
        "paper": spec.paper,
        "title": spec.title,
        "changed_from_its_file": [  # null: absent or deleted
            {"key": c.key, "value": c.value, "file": c.before} for c in spec.changes
        ],
        "command": command("run", spec, settings),
        "runs": spec.runs,
        "seed": spec.seed,
        "centre": spec.centre,
        "spread": spec.spread,
        **({"level": spec.level} if spec.level else {}),
        "data": [data._asdict() for data in spec.data],
        "statements": [s.as_json() for s in (*captions.statements(spec), *noted)],
        "seconds_of_computation": round(sum(map(store.seconds, spec.experiments())), 3),
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


def sources(curve: Curve) -> list[dict[str, Any]]:
    """Return the experiments of a curve as JSON values, one for each swept x.

    Those that have runs have their key and the epsilon that their releases compose to.
    """
    described_sources = []
    for source, x in zip(curve.sources, curve.x or [None] * len(curve.sources), strict=True):
        described = source.description()
        if source.columns:
            spent = composed_budget(source)
            in_json = "infinite" if spent == math.inf else spent
            described = {"key": key(source), **described, "composed_epsilon": in_json}
        described_sources.append({**described, "x": x})
    return described_sources
