"""Reader of how a curve is drawn and named in the legend."""

import re

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.config.section import Section
from dpbandits.core import registry
from dpbandits.core.errors import shown
from dpbandits.spec.figure import Bound, StyleOverride

MARKERS = ("o", "s", "^", "v", "<", ">", "D", "d", "p", "P", "*", "h", "x", "+", "|", "")
LINES = ("-", "--", "-.", ":", "")
COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


def read_look(curve: Section) -> StyleOverride:
    """Return colour, marker and line of a curve. Raises UserError for an invalid one."""
    look = {key: curve.get(key) for key in ("colour", "marker", "line")}
    for key in look:
        curve.text(key)
    if look["colour"] is not None and not COLOUR.fullmatch(look["colour"]):
        raise curve.error(f" must be like '#0072B2', got {shown(look['colour'])}", "colour")
    for key, valid in (("marker", MARKERS), ("line", LINES)):
        if look[key] is not None:
            curve.choice(key, valid)
    return StyleOverride(**look)


def legend_of(label: str, source: AnyCell | Bound, figure: Section) -> str:
    """Return the label, with the input budget of a private algorithm if the figure asks for it."""
    wanted = figure.checked(bool, "input_privacy", default=False)
    if not wanted or not isinstance(source, Cell) or "epsilon" not in source.params._fields:
        return label
    module = registry.algorithm(source.algorithm)
    input_epsilon = getattr(module, "input_epsilon", lambda params: params.epsilon)
    return f"{label} ({_in_formulas(input_epsilon(source.params))})"


def _in_formulas(value: float) -> str:
    # Three digits; very small and large values with a power of ten: 0.00396, 4.63 10^-5.
    mantissa, _, power = f"{value:.3g}".partition("e")
    return rf"${mantissa} \cdot 10^{{{int(power)}}}$" if power else mantissa
