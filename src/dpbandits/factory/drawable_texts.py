"""Check that matplotlib can draw all texts of a figure, before anything is computed.

A title such as `$\\foobar$` would otherwise end the command after all runs were played.
"""

from dpbandits.core.errors import UserError, shown
from dpbandits.drawing.formulas import fault
from dpbandits.drawing.styles import in_mathtext
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec


def refuse_undrawable(spec: FigureSpec) -> None:
    """Raise UserError for the first text of a figure that matplotlib cannot draw.

    The message names its key and what sets it: the command line or the figure's file, which selects
    the algorithms whose files may set labels.
    """
    texts = [("figure.title", spec.title, spec.title)]
    for panel in spec.panels:
        path = f"figure.panels.{panel.letter}"
        texts.append((f"{path}.title", panel.title, f"({panel.letter}) {panel.title}"))
        lines = ((k, getattr(panel, k)) for k in ("row", "column"))
        texts += [(f"{path}.{k}", t, in_mathtext(t)) for k, t in lines]
        for curve in panel.curves:
            path = f"figure.curves.{curve.name}"
            parts = ((k, getattr(curve, k)) for k in ("reading", "label", "legend"))
            texts += [(f"{path}.{k}", t, in_mathtext(t)) for k, t in parts]
    for key, text, drawn in texts:
        if reason := fault(drawn):
            typed = any(f"{key}.".startswith(f"{change.key}.") for change in spec.changes)
            where = "set by its algorithm or from Python"
            if typed or spec.name in project.names("figure"):
                where = "command line" if typed else project.member_file("figure", spec.name)
            raise UserError(f"{spec.name}: {key} {shown(text)} cannot be drawn: {reason} ({where})")
