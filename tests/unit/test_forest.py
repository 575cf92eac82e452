"""Forest plots place factors alone, and every row has words."""

import math

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from toy_paper import Toy, near, paper, said

from dpbandits.drawing import forest
from dpbandits.drawing.plotting import style_file
from dpbandits.judge.claims_table import Gathered
from dpbandits.site import reports

pytestmark = pytest.mark.usefixtures("in_checkout")


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> Gathered:
    """Results of a sentence with a factor under one variant alone, and of one without any."""
    made = Toy(monkeypatch)
    for name, value, alpha in (("a", 1.0, 1), ("a", 3.0, 2), ("a", -1.0, 3), ("b", 2.0, 1)):
        made.add(name, near(value, noise=0.001), alpha)
    variants = {"one": {}, "two": {"alpha": 2}, "negative": {"alpha": 3}}
    claims = {
        "factor": said("a <= b", short="a is smaller"),
        "difference": said("0 * a <= b", short="nothing is smaller"),
    }
    of = paper(claims, choices={"alpha": {"role": "a", "variants": variants}})
    return Gathered(of, made.judge(of))


def drawn(rows: list[forest.Row], named: bool = True) -> Figure:
    with matplotlib.style.context(style_file(), after_reset=True):
        return forest.plot({}, {"toy": rows}, named)


def test_only_factors_have_a_place_and_differences_have_their_sides_in_words(
    gathered: Gathered,
) -> None:
    rows = reports.rows(gathered)
    for named in (True, False):
        (axes,) = drawn(rows, named).axes
        circles = [line for line in axes.lines if line.get_marker() == "o"]
        places = {
            (round(float(x), 2), c.get_markerfacecolor())
            for c in circles
            for x in np.asarray(c.get_xdata())
        }
        # a/b is 1/2 as drawn, 3/2 under another variant; -1 against 2, or 0 against 2, is no factor
        filled, hollow = round(math.log(1 / 2), 2), round(math.log(3 / 2), 2)
        colour = next(row.colour for row in rows if not row.difference)
        assert places == {(filled, colour), (filled, "none"), (hollow, "none")}
        (text,) = axes.texts
        assert text.get_text() == "difference: 0 against 2"


def test_every_row_of_every_paper_has_words() -> None:
    for of in reports.results(reports.papers()):
        for judged in of.sentences():
            assert judged.claim.short or not judged.results, judged.id
