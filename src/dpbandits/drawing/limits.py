"""Limits and tick labels of axes, derived from the data drawn."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatterSciNotation

from dpbandits.curves.series import Series
from dpbandits.drawing.plotting import PanelDrawing

SETTLED = 0.02  # of the horizon: before it, a curve over linear time is nearly vertical


def over_time(ax: Axes, panel: PanelDrawing) -> None:
    """Set limits for linear time and logarithmic regret from the curves of a panel.

    x begins at 0; y begins at the decade below the lowest curve after the first 2 % of the rounds.
    """
    settled = [_extent(s, s.x >= SETTLED * s.x[-1]) for s in panel.series]
    lowest = min((values.min() for values in settled if values.size), default=1.0)
    highest = max((_extent(s).max(initial=lowest) for s in panel.series), default=10.0)
    last = max((s.x[-1] for s in panel.series), default=1.0)
    # Set as data limits, so that axes that share limits cover the data of all their panels.
    ax.ignore_existing_data_limits = True
    ax.update_datalim([(0, 10 ** math.floor(math.log10(lowest))), (last, highest)])
    ax.margins(x=0, y=0.05)


def over_parameter(ax: Axes, panel: PanelDrawing) -> None:
    """Set limits for a logarithmic parameter and the values over it from the curves of a panel.

    Dots where the regimes of a bound meet are ignored: they may lie far from the swept values.
    """
    swept = [series for series in panel.series if series.style != "transition"] or panel.series
    x = np.concatenate([series.x for series in swept] or [np.array([])])
    y = np.concatenate([_extent(series) for series in swept] or [np.array([])])
    ax.ignore_existing_data_limits = True
    if x[x > 0].size and y.size:
        ax.update_datalim([(x[x > 0].min(), y.min()), (x.max(), y.max())])


def ends(series: Series, logarithmic: bool) -> list[np.ndarray]:
    """Return the lower and upper ends of a band, nan where the axis limits may leave them out.

    Both arrays have the shape of `series.x`, float64. On a logarithmic axis, where mean - std may
    come near 0, a lower end counts only if it is at least a tenth of its curve.
    """
    if not logarithmic:
        return [series.low, series.high]
    near = (series.low > 0) & (series.low >= series.centre / 10)
    return [np.where(near, series.low, np.nan), np.where(series.high > 0, series.high, np.nan)]


def _extent(series: Series, part: Any = slice(None)) -> np.ndarray:
    # Values of part of a curve and of its band that the limits of a logarithmic axis must include.
    values = np.concatenate([y[part] for y in (series.centre, *ends(series, True))])
    return values[np.isfinite(values) & (values > 0)]


class BetweenDecades(LogFormatterSciNotation):
    """Formatter that also labels ticks between decades if at most one decade is in view.

    It writes such labels as 20, not as 2 x 10^1.
    """

    def __init__(self) -> None:
        super().__init__(minor_thresholds=(1, 0.6))

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick."""
        text = super().__call__(x, pos)
        return f"{x:g}" if text and 0.001 <= x < 10_000 else text
