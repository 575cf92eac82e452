"""Algorithms and stopping rules of the gallery, described from their sources."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from io import BytesIO
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from dpbandits.config import conf_files
from dpbandits.core import parameters, registry
from dpbandits.core.parameters import reading_name
from dpbandits.core.roots import PACKAGE, source, source_file
from dpbandits.drawing.plotting import style_file
from dpbandits.drawing.styles import Style, style_of
from dpbandits.factory import captions
from dpbandits.factory.captions import Audited
from dpbandits.files import project
from dpbandits.gallery import dark
from dpbandits.gallery.figures import FigurePage
from dpbandits.gallery.texts import first_paragraph
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
class ParameterFile:
    """A file of conf/algorithm/: the values of a paper, as text."""

    name: str
    text: str


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
    module: ModuleType
    fields: tuple[Field, ...]
    values: tuple[ParameterFile, ...]
    uses: tuple[Use, ...]
    sources: tuple[str, ...]  # its own file first
    # Claimed and composed budgets, with a row for each reading that changes them, and the audit, if
    # any.
    budgets: tuple[tuple[Row, Audited | None], ...]
    mark: bytes  # sample of its curves, an SVG

    @property
    def style(self) -> Style:
        """Colour, marker and line of its curves."""
        return style_of(self.name)

    @property
    def dark_colour(self) -> str:
        """Colour of its curves on a dark page."""
        return dark.colour(self.style.colour)

    @property
    def says(self) -> str:
        """First paragraph of its docstring."""
        return first_paragraph(self.module.__doc__)

    @property
    def doc(self) -> str:
        """Docstring of its module."""
        return self.module.__doc__ or ""

    @property
    def play(self) -> str:
        """Docstring of its function `play`, or `halt` for a stopping rule."""
        return getattr(self.module, "halt" if self.rule else "play").__doc__ or ""

    @property
    def releases(self) -> str | None:
        """Docstring of its releases; None if it declares none."""
        declared = getattr(self.module, "releases", None)
        return None if declared is None else inspect.getdoc(declared) or ""

    @property
    def notion(self) -> str:
        """The privacy notion that its paper promises, with its definition, or `Not private`."""
        if self.budgets:
            notion = self.budgets[0][0].claim.notion
            return f"{notion.title}: {notion.definition}"
        return "Not private: no promise"

    @property
    def figures(self) -> tuple[FigurePage, ...]:
        """The figures that use it."""
        return tuple({use.figure.name: use.figure for use in self.uses}.values())


def collect(figures: Sequence[FigurePage]) -> list[Algorithm]:
    """Return every algorithm and stopping rule of the registry, with its uses in the figures."""
    files = [
        (name, conf_files.read_member("algorithm", name), _text(name))
        for name in project.names("algorithm")
    ]
    members = []
    for rule, names in (
        (False, registry.algorithm_names()),
        (True, registry.stopping_rule_names()),
    ):
        for name in names:
            module = registry.stopping_rule(name) if rule else registry.algorithm(name)
            budgets = rows([name]) if hasattr(module, "claim") else []
            key = "rule" if rule else "algorithm"
            members.append(
                Algorithm(
                    name=name,
                    label=getattr(module, "LABEL", name),
                    rule=rule,
                    module=module,
                    fields=_fields(module.Params),
                    values=tuple(
                        ParameterFile(f, text) for f, c, text in files if c.get(key) == name
                    ),
                    uses=tuple(use for figure in figures for use in _uses(figure, name)),
                    sources=_sources(name, rule),
                    budgets=tuple((row, captions.audited(name, row.params)) for row in budgets),
                    mark=_mark(style_of(name)),
                )
            )
    return members


def _text(name: str) -> str:
    return project.find(project.member_file("algorithm", name)).read_text("utf-8").strip()


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


def _sources(name: str, rule: bool) -> tuple[str, ...]:
    own = registry.member("stopping rule" if rule else "algorithm", name).source
    reached = sources((own,))
    others = [
        path
        for path in reached
        if _is_read(path) and path != own and not path.endswith("__init__.py")
    ]
    return (own, *others)


def _is_read(path: str) -> bool:
    root, below = source(path)
    return root is not PACKAGE or below.startswith(READ)


def source_text(path: str) -> str:
    """Return the text of a source file."""
    return source_file(path).read_text("utf-8")


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
