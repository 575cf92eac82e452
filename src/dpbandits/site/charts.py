"""Interactive charts of Vega-Lite, one for every panel of a figure, made with Altair.

assets/charts.js shows them: it chooses the panel, hides curves and bands, and sets the scales.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpbandits.drawing.formulas import without_tex
from dpbandits.drawing.plotting import PanelDrawing
from dpbandits.drawing.styles import in_mathtext, style_of_curve
from dpbandits.tables.series import Series

MOST = 150  # points of a curve
FEW = 30  # points of a curve that are drawn as dots
DASHES = {"-": [1, 0], "--": [6, 3], ":": [1, 3], "-.": [6, 3, 1, 3]}


def of_panel(panel: PanelDrawing, figure: Figure, centre: str) -> dict[str, Any] | None:
    """Return the chart of a panel with its heading and scales; None if it has no points.

    Scales, names of axes and looks of curves are those of the drawn figure, where it has them.
    """
    lines = {str(line.get_gid()): (ax, line) for ax in reversed(figure.axes) for line in ax.lines}
    curves = [(without_tex(in_mathtext(s.legend)), s, lines.get(s.artist_id)) for s in panel.series]
    points = [point for label, series, _ in curves for point in _points(label, series)]
    if not points:
        return None
    axes = next((pair[0] for *_, pair in curves if pair), None)
    first = panel.series[0]
    names = {"x": first.over, "y": f"{centre} ({first.shows.meaning})"}
    log = {name: is_wide([point[name] for point in points]) for name in names}
    if axes is not None:
        names |= {n: name for n in names if (name := _axis_name(n, axes, figure))}
        log = {n: getattr(axes, f"get_{n}scale")() == "log" for n in names}
    looks = {label: _colour_and_dash(series, pair and pair[1]) for label, series, pair in curves}
    heading = without_tex(", ".join(filter(None, (panel.row, panel.column, panel.title))))
    return {
        "heading": f"({panel.letter}) {heading}".strip(),
        "log": log,
        "bands": any("low" in point for point in points),
        "curves": {label: colour for label, (colour, _) in looks.items()},
        "chart": _chart(points, names, looks, centre),
    }


def _axis_name(name: str, axes: Axes, figure: Figure) -> str:
    # Panels that share the name of an axis write it beside one of them only.
    labels = [getattr(ax, f"get_{name}label")() for ax in (axes, *figure.axes)]
    return without_tex(next(filter(None, labels), ""))


def is_wide(numbers: Sequence[float]) -> bool:
    """Return True if a logarithmic axis suits these numbers."""
    return min(numbers) > 0 and max(numbers) > 30 * min(numbers)


def _colour_and_dash(series: Series, line: Line2D | None) -> tuple[str, list[int]]:
    style = style_of_curve(series)
    colour, dash = (line.get_color(), line.get_linestyle()) if line else (style.colour, style.line)
    return to_hex(colour), DASHES.get(str(dash), [1, 0])


def _points(label: str, series: Series) -> list[dict[str, Any]]:
    indices = np.flatnonzero(np.isfinite(series.x) & np.isfinite(series.centre))
    if len(indices) > MOST:
        indices = indices[np.linspace(0, len(indices) - 1, MOST).round().astype(int)]
    points = []
    for i in indices:
        numbers = {"x": series.x[i], "y": series.centre[i]}
        if series.low[i] < series.high[i] and np.isfinite([series.low[i], series.high[i]]).all():
            numbers |= {"low": series.low[i], "high": series.high[i]}
        points.append({"curve": label} | {k: float(f"{n:.7g}") for k, n in numbers.items()})
    return points


def _chart(
    points: list[dict[str, Any]],
    names: dict[str, str],
    looks: dict[str, tuple[str, list[int]]],
    centre: str,
) -> dict[str, Any]:
    # Layers: bands, lines, and points with their values, of which the nearest one is shown.
    shown, bands = alt.param("shown", value=[*looks]), alt.param("bands", value=True)
    near = alt.selection_point("near", nearest=True, on="pointermove", empty=False)
    zoom = alt.selection_interval("zoom", bind="scales", zoom="wheel![event.ctrlKey]")
    colours, dashes = zip(*looks.values(), strict=True)
    scale, dash_scale = (alt.Scale(domain=[*looks], range=[*r]) for r in (colours, dashes))
    shown_values = {"x": names["x"], "y": centre, "low": "band from", "high": "to"}
    given = {k: name for k, name in shown_values.items() if any(k in point for point in points)}
    # A cell around a point has the point as `datum.datum`.
    point = "(datum.datum || datum)"
    texts = [f"{json.dumps(n)}: format({point}.{k}, ',.5~r')" for k, n in given.items()]
    values = alt.value(alt.expr(f"{{title: {point}.curve, {', '.join(texts)}}}"))
    is_dotted = len(points) <= FEW * len(looks)
    base = (
        alt.Chart(alt.Data(values=points), width="container", height=380)
        .transform_filter(f"indexof({shown.name}, datum.curve) >= 0")
        .encode(
            x=alt.X("x:Q").title(names["x"]),
            y=alt.Y("y:Q").title(names["y"]),
            color=alt.Color("curve:N", scale=scale, legend=None),
        )
    )
    visible = alt.when(near).then(alt.value(1)).otherwise(alt.value(0.8 if is_dotted else 0))
    layers = [
        base.mark_area(opacity=alt.expr(f"{bands.name} ? 0.15 : 0")).encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=1.6).encode(
            strokeDash=alt.StrokeDash("curve:N", scale=dash_scale, legend=None)
        ),
        base.mark_point(filled=True, size=45)
        .encode(opacity=visible, tooltip=values)
        .add_params(near, zoom),
    ]
    chart = alt.layer(*(layers if "low" in given else layers[1:]))
    return chart.add_params(shown, bands).to_dict()
