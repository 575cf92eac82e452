"""Pictures for dark pages: transparent, with black ink turned light and every colour legible.

The files for print stay as they are, on white. A page shows one picture or the other by its own
theme: not every browser passes a page's theme on to the media queries inside an SVG.
"""

import re
from io import BytesIO

from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

SHEET, INK = "#1e2125", "#e6e5e1"  # sheet, text of a dark page: --raised, --ink of gallery.css
LEGIBLE = 4.0  # contrast with the sheet: WCAG 2 asks for 3 in graphics, 4.5 in small text

# Mixed with white, these would resemble lighter colours of the figures: they keep their hue.
LIFTED = {
    "#0072b2": "#3490dc",
    "#117733": "#4cc058",
    "#332288": "#8f7df5",
    "#882255": "#e0409a",
}

# matplotlib's notation of colours. It omits `fill` if it is black, the default of SVG.
PAINT = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})\b")


def colour(light: str) -> str:
    """Return the colour, #rrggbb, in which a dark page draws a colour of a picture on white.

    Greys run from INK, for black, to SHEET, for white. The colours in LIFTED have fixed
    replacements. Any other colour is mixed with white until it is legible, and kept if it already
    is.
    """
    light = to_hex(light)
    if light in LIFTED:
        return LIFTED[light]
    red, green, blue = to_rgb(light)
    if red == green == blue:
        return _mixed(INK, SHEET, red)
    mixtures = (_mixed(light, "#ffffff", i / 100) for i in range(101))
    # The contrast ratio of WCAG 2; a colour darker than the sheet is never legible.
    least = LEGIBLE * (_luminance(SHEET) + 0.05) - 0.05
    return next(mixed for mixed in mixtures if _luminance(mixed) >= least)


def picture(figure: Figure, title: str, keywords: str) -> bytes:
    """Return a drawn figure as an SVG for dark pages; the figure itself is left unchanged.

    The backgrounds of the figure and of the panels become transparent. That of an inset stays
    opaque, as it covers what lies below.
    """
    sheets = [figure.patch, *(ax.patch for ax in figure.axes)]
    opaque = [sheet for sheet in sheets if sheet.get_visible()]
    buffer = BytesIO()
    try:
        for sheet in opaque:
            sheet.set_visible(False)
        metadata = {"Title": title, "Keywords": [keywords], "Date": None}
        figure.savefig(buffer, format="svg", metadata=metadata)
    finally:
        for sheet in opaque:
            sheet.set_visible(True)
    return recoloured(buffer.getvalue())


def recoloured(svg: bytes) -> bytes:
    """Return an SVG written by matplotlib with every colour replaced for dark pages."""
    text = PAINT.sub(lambda paint: f"{paint[1]}: {colour(paint[2])}", svg.decode())
    return text.replace("<svg ", f'<svg fill="{INK}" ', 1).encode()


def _mixed(first: str, second: str, share: float) -> str:
    # `share` of the other, from 0 to 1.
    ends = zip(to_rgb(first), to_rgb(second), strict=True)
    red, green, blue = ((1 - share) * a + share * b for a, b in ends)
    return to_hex((red, green, blue))


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
