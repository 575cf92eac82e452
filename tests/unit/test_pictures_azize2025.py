"""Means in the pictures of azize2025, beside the medians that are their lines."""

import numpy as np
import pytest
from drawn_tables import artist_id, drawn, lines_by_id, points, table

pytestmark = pytest.mark.long

FIGURES = ["dpklucb-c1", "dpklucb-c2", "dpklucb-c3", "dpklucb-c4"]


@pytest.mark.parametrize("figure", [*FIGURES, "dpklucb-epsilon"])
def test_every_played_curve_is_a_median_with_hollow_dots_at_its_means(figure: str) -> None:
    picture, _ = drawn(figure)
    lines = lines_by_id(picture)
    for curve, columns in table(figure).items():
        ((ax, line),) = lines[artist_id(curve)]
        assert np.array_equal(columns["centre"], columns["median"])
        part = slice(None) if figure.endswith("epsilon") else slice(-1, None)
        expected = np.column_stack([columns["x"], columns["mean"]])[part]
        dots = [
            other
            for other in ax.lines
            if not other.get_gid()
            and other.get_color() == line.get_color()
            and np.array_equal(points(other), expected)
        ]
        assert len(dots) == (1 if columns["runs"][0] else 0), curve
