"""Pictures for dark pages: their colours, and that the printed pictures do not change."""

import math
import re
from io import BytesIO
from itertools import combinations

import pytest
from commands import ROOT
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from dpbandits.drawing import styles
from dpbandits.gallery import dark

STYLES = {**styles.STYLES, **{c: styles.Style(c, "h") for c in styles.SPARE_COLOURS}}
COLOURS = sorted({to_hex(style.colour) for style in STYLES.values()})
CSS = (ROOT / "src" / "dpbandits" / "gallery" / "assets" / "gallery.css").read_text()


def test_contrast_is_that_of_the_guidelines() -> None:
    assert dark.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert dark.contrast("#ffffff", "#000000") == pytest.approx(21)
    assert dark.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert dark.contrast("#ff0000", "#ffffff") == pytest.approx(4.0, abs=0.005)


@pytest.mark.parametrize("name", STYLES)
def test_every_style_is_legible_on_the_dark_sheet(name: str) -> None:
    assert dark.contrast(dark.colour(STYLES[name].colour)) >= dark.LEGIBLE


def oklab(colour: str) -> tuple[float, float, float]:
    """Return a colour in Ottosson's space, where distances are perceptual."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
    )
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    middle = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def test_no_two_colours_come_closer_than_the_closest_two_on_white() -> None:
    on_white = min(math.dist(oklab(a), oklab(b)) for a, b in combinations(COLOURS, 2))
    for a, b in combinations(COLOURS, 2):
        on_dark = math.dist(oklab(dark.colour(a)), oklab(dark.colour(b)))
        assert on_dark >= on_white, (a, b)


def test_greys_are_turned_around_and_legible_colours_stay() -> None:
    assert (dark.colour("black"), dark.colour("white")) == (dark.INK, dark.SHEET)
    greys = [dark.contrast(dark.colour(str(i / 10))) for i in range(11)]
    assert greys == sorted(greys, reverse=True)
    assert dark.colour("#E69F00") == "#e69f00"
    # A colour of a user's own algorithm.
    assert dark.colour("#000080") not in ("#000080", dark.INK)
    assert dark.contrast(dark.colour("#000080")) >= dark.LEGIBLE


def test_the_sheet_and_the_ink_are_those_of_dark_pages() -> None:
    assert re.findall(r"--raised: (#\w+); --ink: (#\w+)", CSS)[:2] == [(dark.SHEET, dark.INK)] * 2


def drawn() -> Figure:
    """Return a figure with all paints: black and coloured ink, a grey grid, white, an inset."""
    figure = Figure()
    figure.suptitle("title")
    ax = figure.subplots()
    ax.grid(color="#e4e4e4")
    ax.plot([1, 2], [1, 2], color="#332288", marker="o", markerfacecolor="white")
    ax.fill_between([1, 2], [1, 2], [2, 3], color="black", alpha=0.2)
    ax.text(1, 1, "note", color="#6b6b6b")
    ax.inset_axes((0.6, 0.1, 0.3, 0.3))
    return figure


def colours(svg: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}(?=[;\"])", svg))


def test_a_dark_picture_is_transparent_and_has_no_colour_of_paper() -> None:
    svg = dark.picture(drawn(), "title", "words").decode()
    assert colours(svg) == {
        *(dark.INK, dark.SHEET, dark.colour("#332288")),
        *(dark.colour("#e4e4e4"), dark.colour("#6b6b6b")),
    }
    assert f'<svg fill="{dark.INK}" ' in svg  # the default fill, for texts
    assert "words" in svg
    assert "<dc:date>" not in svg
    # Painted with the colour of the sheet: only the marker, twice in the file, and the inset.
    figure = drawn()
    (inset,) = figure.axes[0].child_axes
    inset.patch.set_visible(False)
    without = dark.picture(figure, "title", "words").decode()
    fill = f"fill: {dark.SHEET}"
    assert svg.count(fill) == without.count(fill) + 1 == 3


def test_a_dark_picture_leaves_the_figure_as_it_was() -> None:
    figure, hidden = drawn(), drawn()
    hidden.axes[0].patch.set_visible(False)
    for one in (figure, hidden):
        contents = []
        for _ in range(2):
            buffer = BytesIO()
            one.savefig(buffer, format="png")
            contents.append(buffer.getvalue())
            dark.picture(one, "title", "words")
        assert contents[0] == contents[1]


def test_a_figure_that_cannot_be_saved_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = drawn()

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        dark.picture(figure, "title", "words")
    assert figure.patch.get_visible()
    assert figure.axes[0].patch.get_visible()


def test_digits_of_names_are_no_colours() -> None:
    svg = (
        b'<svg x="1"><use xlink:href="#000000" style="stroke: #000000"/><path id="#ffffff"/></svg>'
    )
    assert dark.recoloured(svg).decode() == (
        f'<svg fill="{dark.INK}" x="1"><use xlink:href="#000000" style="stroke: {dark.INK}"/>'
        '<path id="#ffffff"/></svg>'
    )
