"""Thin lines in the pictures of azize2025: the medians of the played curves."""

import numpy as np
import pytest
from drawn_tables import artist_id, drawn, lines_by_id, points, table

pytestmark = pytest.mark.long

FIGURES = ["dpklucb-c1", "dpklucb-c2", "dpklucb-c3", "dpklucb-c4"]


@pytest.mark.parametrize("figure", [*FIGURES, "dpklucb-epsilon", "readings-azize2025"])
def test_every_played_curve_has_a_thin_line_through_its_medians(figure: str) -> None:
    picture, _ = drawn(figure)
    lines = lines_by_id(picture)
    for curve, columns in table(figure).items():
        ((ax, line),) = lines[artist_id(curve)]
        expected = np.column_stack([columns["x"], columns["median"]])
        medians = [
            other
            for other in ax.lines
            if not other.get_gid()
            and other.get_color() == line.get_color()
            and np.array_equal(points(other), expected)
        ]
        assert len(medians) == (1 if columns["runs"][0] else 0), curve
