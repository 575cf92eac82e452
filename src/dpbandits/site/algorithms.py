"""Algorithms and stopping rules of the site, described from their sources."""

import ast
import inspect
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import cycle, product
from typing import Annotated, Any, get_args, get_origin

from matplotlib.figure import Figure

from dpbandits.drawing.formulas import DRAWING, without_tex
from dpbandits.drawing.plotting import house_style
from dpbandits.drawing.styles import LINES, in_mathtext, style_of, symbol
from dpbandits.experiments import kinds
from dpbandits.factory.papers import BY_KEY
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.parameters import variant_name
from dpbandits.kernel.roots import PACKAGE, discovery
from dpbandits.site.charts import is_wide
from dpbandits.site.figures import FigurePage
from dpbandits.spec.figure import Panel
from dpbandits.tables.audits import Audited, audited
from dpbandits.tables.privacy_table import Row, rows
from dpbandits.tables.series import Series

SHOWN_APART = ("play", "guarantee", "releases")  # functions that are no formula
OTHERS = "#9a9a9a", "#4d4d4d"  # colours of the curves beside an algorithm's own


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of some kind of experiments."""

    name: str
    label: str
    kind: str  # heading of the algorithms of its kind
    doc: str  # docstring of its module
    origin: str  # its paper
    play: str  # docstring of its function `play`
    formulas: tuple[tuple[str, str], ...]  # its other functions and their docstrings
    fields: tuple[tuple[str, str, str, str], ...]  # name, values, default, meaning
    about_fields: str
    needs_horizon: str
    budgets: tuple[tuple[Row, Audited | None], ...]  # a row for each variant that changes them
    figures: tuple[FigurePage, ...]  # that play it
    drawn_in: FigurePage | None  # the figure of its picture
    picture: bytes  # an SVG; empty if no figure with curves plays it
    file: str
    source: str


def collect(figures: Sequence[FigurePage]) -> list[Algorithm]:
    """Return the algorithms and rules of the project, or of dpbandits, and those in figures."""
    mine = discovery().project or PACKAGE
    members = registry.members("algorithm").items()
    described = [
        describe(name, figures)
        for name, member in members
        if member.root == mine or any(name in f.algorithms for f in figures)
    ]
    return sorted(described, key=lambda algorithm: algorithm.kind)


def describe(name: str, figures: Sequence[FigurePage]) -> Algorithm:
    """Return an algorithm with its place in figures."""
    module, member = registry.algorithm(name), registry.member("algorithm", name)
    source = (member.root.folder / member.path).read_text("utf-8")
    doc = inspect.cleandoc(module.__doc__ or "")
    budgets = rows([name], tight=False) if hasattr(module, "guarantee") else []
    horizon = "horizon" in module.Params._fields
    fields = _fields(module.Params)
    by_variant = any("horizon" in values.split(", ") for _, values, *_ in fields)
    uses = tuple(figure for figure in figures if name in figure.algorithms)
    drawn_in, picture = _picture(name, uses)
    return Algorithm(
        name=name,
        label=without_tex(in_mathtext(getattr(module, "LABEL", name))),
        kind=kinds.of_member(name).title,
        doc=doc,
        origin=_origin(doc),
        play=inspect.getdoc(module.play) or "",
        formulas=tuple(_formulas(source)),
        fields=fields,
        about_fields=inspect.getdoc(module.Params) or "",
        needs_horizon="yes" if horizon else "by a variant" if by_variant else "no",
        budgets=tuple((row, audited(name, row.params)) for row in budgets),
        figures=uses,
        drawn_in=drawn_in,
        picture=picture,
        file=member.shown,
        source=source,
    )


def _origin(doc: str) -> str:
    # The paper in the first parentheses of a docstring, or else the first one that it names.
    first = re.search(r"\(([^)]*)\)", doc.partition("\n")[0])
    if first and re.search(r"\d{4}", first[1]):
        return first[1].partition(";")[0]
    return next((key for key in BY_KEY if key in doc), "")


def _formulas(source: str) -> list[tuple[str, str]]:
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    documented = [(node.name, ast.get_docstring(node)) for node in functions]
    return [(name, doc) for name, doc in documented if doc and name not in SHOWN_APART]


def _fields(params: Any) -> tuple[tuple[str, str, str, str], ...]:
    fields = []
    for name, annotation in parameters.fields(params).items():
        parts = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        kind, *constraints = parts
        values, meaning = parameters.WORDS.get(kind, ""), ""
        if isinstance(kind, type) and issubclass(kind, IntEnum):
            values = ", ".join(map(variant_name, kind))
            meaning = (inspect.getdoc(kind) or "").removeprefix("Variant: ")
        elif constraints:
            values = constraints[0].wording
        default = params._field_defaults.get(name, "required")
        default = variant_name(default) if isinstance(default, IntEnum) else str(default)
        fields.append((name, values, default, meaning))
    return tuple(fields)


def _picture(name: str, uses: Sequence[FigurePage]) -> tuple[FigurePage | None, bytes]:
    # The panel with the most other curves, over time if possible, of the first figure that has it.
    best: tuple[tuple[bool, int], FigurePage, str, list[tuple[Series, bool]]] | None = None
    for figure in uses:
        series = {(s.panel, s.label): s for s in (figure.result.series if figure.result else ())}
        for panel in figure.result.spec.panels if figure.result else ():
            curves = [(series.get((panel.letter, c.label)), c) for c in panel.curves]
            lines = [(s, c.sources[0].member == name) for s, c in curves if s and len(s.x) > 1]
            rank = bool(lines) and lines[0][0].over == "t", min(len(lines), 6)
            if any(is_subject for _, is_subject in lines) and (best is None or rank > best[0]):
                parts = (figure.heading, panel.row, panel.column, panel.title)
                heading = ", ".join(filter(None, parts))
                best = rank, figure, f"{heading}{_budget(panel, name, heading)}", lines
    return (best[1], _draw(name, *best[2:])) if best else (next(iter(uses), None), b"")


def _budget(panel: Panel, name: str, heading: str) -> str:
    # The epsilon of an algorithm in a panel over time whose heading does not say it.
    source = next(c.sources[0] for c in panel.curves if c.sources[0].member == name)
    epsilon = kinds.words(source).settings.get("epsilon")
    is_told = r"\epsilon" in heading or panel.curves[0].over != "t"
    return "" if is_told or epsilon is None else rf", $\epsilon = {epsilon:g}$"


def _draw(name: str, title: str, curves: Sequence[tuple[Series, bool]]) -> bytes:
    settings = {"svg.hashsalt": name, "axes.formatter.use_mathtext": True}
    with DRAWING, house_style(None, settings):
        figure = Figure(figsize=(6.75, 2.6))
        figure.set_layout_engine("none")  # which costs more time than the rest
        ax = figure.add_axes((0.09, 0.16, 0.58, 0.74))
        mine, others = (cycle(product(c, LINES)) for c in ([style_of(name).colour], OTHERS))
        for series, is_subject in sorted(curves, key=lambda curve: curve[1]):
            colour, line = next(mine if is_subject else others)
            look: dict[str, Any] = {"lw": 1.8 if is_subject else 1.0, "ls": line}
            label = in_mathtext(series.legend)
            ax.plot(series.x, series.centre, color=colour, label=label, **look)
            if is_subject:
                ax.fill_between(series.x, series.low, series.high, color=colour, alpha=0.15, lw=0)
        over = curves[0][0].over
        if over != "t" and is_wide([x for series, _ in curves for x in series.x]):
            ax.set_xscale("log")
        if any((series.centre > 0).any() for series, _ in curves):
            ax.set_yscale("log", nonpositive="mask")
        ax.set_xlabel("Round $t$" if over == "t" else symbol(over))
        shows = curves[0][0].shows
        ax.set_ylabel(shows.over_time if over == "t" else shows.label)
        ax.set_title(title, loc="left")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=7)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return buffer.getvalue()
