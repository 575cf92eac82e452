"""A reproduced figure has nothing that its original does not have, unless it is annotated."""

from functools import cache
from typing import Any, NamedTuple

import matplotlib.style
import pytest
from composed import load
from drawn_tables import artist_id, lines_by_id
from matplotlib.figure import Figure
from reference_pictures import insets

from dpbandits.curves import references
from dpbandits.drawing.plotting import drawing_function, style_file
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("in_checkout")]

INSETS = ("adap-headline", "adap-c1", "adap-c2", "adap-c3", "adap-c4")
TABLES = ("dpucb-2arms", "dpucb-10arms")
TEXTS = ("ftpl-delta-sweep", "ftpl-epsilon-sweep", "ftpl-gauss-cdf", "exp3-switching")


class Drawn(NamedTuple):
    """A figure as it is composed, and its picture."""

    spec: FigureSpec
    picture: Figure


@cache
def drawn(name: str, *overrides: str) -> Drawn:
    """Return a figure drawn from its reference."""
    spec, _ = load(name, overrides)
    drawing = produce.drawing(spec, references.read(spec, references.PAPER))
    with matplotlib.style.context(style_file(), after_reset=True):
        return Drawn(spec, drawing_function(spec.paper, spec.draw)(drawing))


def annotated(name: str) -> Figure:
    """Return the annotated picture."""
    return drawn(name, "figure.annotated=true").picture


@pytest.mark.parametrize("name", [*INSETS, *TABLES, *TEXTS])
def test_insets_tables_and_texts_are_annotations(name: str) -> None:
    picture = drawn(name).picture
    assert insets(picture) == []
    assert not any(ax.tables or ax.texts for ax in picture.axes)
    assert bool(insets(annotated(name))) == (name in INSETS)
    assert any(ax.tables for ax in annotated(name).axes) == (name in TABLES)
    assert any(ax.texts for ax in annotated(name).axes) == (name in TEXTS)


def test_curves_that_the_original_does_not_have_are_marked_and_only_annotations_have_them() -> None:
    marked = 0
    for name in project.names("figure"):
        spec = load(name, [])[0]
        assert spec.annotated == (spec.original is None)
        hidden = {
            (panel.letter, curve.label)
            for panel in spec.panels
            for curve in panel.curves
            if curve not in spec.drawn(panel)
        }
        marked += bool(hidden)
        if hidden and name != "lower-bounds":
            ids = set(map(artist_id, hidden))
            assert not ids & lines_by_id(drawn(name).picture).keys()
            assert ids <= lines_by_id(annotated(name)).keys()
    assert marked == 8


def test_figure_4_of_wang2024_has_its_four_curves_with_standard_deviations() -> None:
    spec = drawn("ftpl-approx-dp").spec
    assert (spec.centre, spec.spread) == ("mean", "std")
    labels = ["DP-FTPL-Gauss", "DP-FTPL-Beta", "DP-FTPL-New", "DP-UCB-INT"]
    assert all([curve.label for curve in panel.curves] == labels for panel in spec.panels)


def test_figures_of_our_own_break_ties_at_random_and_originals_by_the_order_of_the_arms() -> None:
    for name in set(project.names("figure")) - {"privacy-audit"}:
        spec = load(name, [])[0]
        for panel in spec.panels:
            for curve in panel.curves:
                params: list[Any] = [getattr(cell, "params", None) for cell in curve.sources]
                ties = {each.ties.name for each in params if hasattr(each, "ties")}
                usual = "FIRST" if spec.original else "RANDOM"
                assert ties <= {usual} or curve.reading == "the first arm at ties", (name, curve)
