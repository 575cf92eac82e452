"""Two curves of a panel differ to every eye: in colour, or by a marker or a line."""

from itertools import combinations

import numpy as np
import pytest
from composed import load
from matplotlib.colors import to_rgb

from dpbandits.drawing.styles import style_of_curve
from dpbandits.files import project

pytestmark = pytest.mark.usefixtures("in_checkout")

ENOUGH = 10.0  # difference in CIELAB, and in its lightness
# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
DEFICIENCIES = {
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def linear(colour: str) -> np.ndarray:
    """Return linear RGB, shape (3,)."""
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Return CIELAB of linear RGB under D65; both have shape (3,)."""
    xyz = np.array(XYZ) @ rgb / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def differ(one: str, other: str) -> bool:
    """Return whether two colours differ for either deficiency, and in grey."""
    a, b = linear(one), linear(other)
    seen = [np.clip(np.array([m @ a, m @ b]), 0, 1) for m in map(np.array, DEFICIENCIES.values())]
    distances = [float(np.linalg.norm(lab(x) - lab(y))) for x, y in seen]
    return min(*distances, abs(lab(a)[0] - lab(b)[0])) >= ENOUGH


def test_known_colours_are_as_far_apart_as_they_are() -> None:
    assert not differ("#009E73", "#CC6677")  # alike for deuteranopes
    assert not differ("#009E73", "#D55E00")  # alike in grey
    assert differ("#009E73", "#332288")


@pytest.mark.parametrize("name", project.names("figure"))
def test_two_algorithms_of_a_panel_differ_in_colour_or_by_marker_or_line(name: str) -> None:
    # Curves of one algorithm have lines of their own.
    for panel in load(name, ["figure.annotated=true"])[0].panels:
        looks = {curve.style: style_of_curve(curve) for curve in panel.curves}
        for (one, a), (other, b) in combinations(looks.items(), 2):
            apart = (a.marker, a.line) != (b.marker, b.line)
            assert apart or differ(a.colour, b.colour), (panel.letter, one, other)
