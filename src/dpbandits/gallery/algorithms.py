"""Algorithms and stopping rules of the gallery, described from their sources."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from io import BytesIO
from typing import Annotated, Any, get_args, get_origin

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from dpbandits.config import conf_files
from dpbandits.drawing.plotting import style_file
from dpbandits.drawing.styles import Style, style_of
from dpbandits.factory import captions
from dpbandits.factory.captions import Audited
from dpbandits.files import project
from dpbandits.gallery import dark
from dpbandits.gallery.figures import FigurePage
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.parameters import reading_name
from dpbandits.kernel.roots import PACKAGE, source
from dpbandits.privacy.table import Row, rows
from dpbandits.store.key import sources

READ = ("algorithms/", "stopping/", "mechanisms/", "privacy/")  # sources that have pages


@dataclass(frozen=True)
class Field:
    """A parameter of an algorithm."""

    name: str
    words: str  # the values it accepts, or its readings
    readings: bool
    default: Any  # None if it has no default


@dataclass(frozen=True)
class Use:
    """A curve of a figure that plays an algorithm."""

    figure: FigurePage
    label: str
    privacy: tuple[tuple[str, tuple[str, ...]], ...]  # distinct texts; their panels if several
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm or a stopping rule."""

    name: str
    label: str
    rule: bool
    style: Style  # colour, marker and line of its curves
    dark_colour: str  # of its curves on a dark page
    doc: str  # docstring of its module
    says: str  # the first paragraph of it, in one line
    play: str  # docstring of its function `play`, or `halt` for a stopping rule
    releases: str | None  # docstring of its releases; None if it declares none
    fields: tuple[Field, ...]
    values: tuple[tuple[str, str], ...]  # files of conf/algorithm/: names and texts
    uses: tuple[Use, ...]
    figures: tuple[FigurePage, ...]  # that use it
    sources: tuple[str, ...]  # its own file first
    notion: str  # the privacy that its paper promises, with the definition
    # Claimed and composed budgets, with a row for each reading that changes them, and the audit, if
    # any.
    budgets: tuple[tuple[Row, Audited | None], ...]
    mark: bytes  # sample of its curves, an SVG


def collect(figures: Sequence[FigurePage]) -> list[Algorithm]:
    """Return every algorithm and rule of dpbandits, and those of a project that figures use."""
    files: dict[tuple[str, str], list[tuple[str, str]]] = {}  # by what they have values of
    for name in project.names("algorithm"):
        text = project.find(project.member_file("algorithm", name)).read_text("utf-8").strip()
        content = conf_files.read_member("algorithm", name)
        for kind in ("rule", "algorithm"):
            if kind in content:
                files.setdefault((kind, str(content[kind])), []).append((name, text))
    return [
        _describe(name, kind == "rule", files.get((kind, name), ()), figures)
        for kind, names in (
            ("algorithm", registry.algorithm_names()),
            ("rule", registry.stopping_rule_names()),
        )
        for name in names
        if registry.member("stopping rule" if kind == "rule" else kind, name).root is PACKAGE
        or any(_uses(figure, name) for figure in figures)
    ]


def _describe(
    name: str, rule: bool, values: Sequence[tuple[str, str]], figures: Sequence[FigurePage]
) -> Algorithm:
    module = registry.stopping_rule(name) if rule else registry.algorithm(name)
    style, doc = style_of(name), module.__doc__ or ""
    releases = getattr(module, "releases", None)
    uses = tuple(use for figure in figures for use in _uses(figure, name))
    budgets = rows([name]) if hasattr(module, "claim") else []
    notion = "Not private: no promise"
    if budgets:
        promised = budgets[0].claim.notion
        notion = f"{promised.title}: {promised.definition}"
    # Its file and what that reaches: of the package, the folders in READ; of others, everything.
    own = registry.member("stopping rule" if rule else "algorithm", name).source
    reached = [path for path in sources((own,)) if not path.endswith("__init__.py")]
    places = {path: source(path) for path in reached if path != own}
    read = [p for p, (root, at) in places.items() if root is not PACKAGE or at.startswith(READ)]
    return Algorithm(
        name=name,
        label=getattr(module, "LABEL", name),
        rule=rule,
        style=style,
        dark_colour=dark.colour(style.colour),
        doc=doc,
        says=inspect.cleandoc(doc).split("\n\n")[0].replace("\n", " "),
        play=getattr(module, "halt" if rule else "play").__doc__ or "",
        releases=None if releases is None else inspect.getdoc(releases) or "",
        fields=_fields(module.Params),
        values=tuple(values),
        uses=uses,
        figures=tuple({use.figure.name: use.figure for use in uses}.values()),
        sources=(own, *read),
        notion=notion,
        budgets=tuple((row, captions.audited(name, row.params)) for row in budgets),
        mark=_mark(style),
    )


def _fields(params: Any) -> tuple[Field, ...]:
    all_fields = []
    for name, annotation in parameters.fields(params).items():
        constraint = None
        if get_origin(annotation) is Annotated:
            annotation, constraint = get_args(annotation)
        readings = isinstance(annotation, type) and issubclass(annotation, IntEnum)
        if readings:
            words = ", ".join(map(reading_name, annotation))
        else:
            words = constraint.words if constraint else parameters.WORDS.get(annotation, "")
        default = params._field_defaults.get(name)
        default_text = reading_name(default) if isinstance(default, IntEnum) else default
        all_fields.append(Field(name, words, readings, default_text))
    return tuple(all_fields)


def _uses(figure: FigurePage, algorithm: str) -> list[Use]:
    panels = figure.result.spec.panels if figure.result else ()
    privacy: dict[str, dict[str, list[str]]] = {}  # by label and words: the panels
    warnings: dict[str, dict[str, None]] = {}
    for panel in panels:
        for curve in panel.curves:
            first = curve.sources[0]
            if first.member == algorithm:
                of_label = privacy.setdefault(curve.label, {})
                of_label.setdefault(captions.privacy(curve), []).append(panel.letter)
                if warning := captions.warning(curve):
                    warnings.setdefault(curve.label, {})[warning] = None
    uses = []
    for label, panels_by_text in privacy.items():
        only = len(panels_by_text) == 1
        in_panels = tuple((words, () if only else tuple(p)) for words, p in panels_by_text.items())
        uses.append(Use(figure, label, in_panels, tuple(warnings.get(label, ()))))
    return uses


def _mark(style: Style) -> bytes:
    # A short piece of its line with a marker, drawn as in figures.
    with matplotlib.style.context(style_file(), after_reset=True):
        matplotlib.rcParams["svg.hashsalt"] = "mark"
        figure = Figure(figsize=(0.6, 0.2))
        figure.set_layout_engine("none")
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        ax.plot(
            [0, 1, 2],
            [0, 0, 0],
            color=style.colour,
            linestyle=style.line or "",
            linewidth=1.6,
            marker=style.marker,
            markersize=6,
            markevery=[1],
            markerfacecolor="white",
        )
        ax.set_xlim(0.1, 1.9)
        buffer = BytesIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return buffer.getvalue()
