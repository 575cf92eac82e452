"""Trial of the texts of a picture with matplotlib, before anything is computed.

A title such as `$\foobar$` would otherwise end the command after all runs were played.
"""

from collections.abc import Iterator

from dpbandits.config import conf_files
from dpbandits.core.errors import UserError, shown
from dpbandits.drawing import mathtext
from dpbandits.drawing.styles import in_mathtext
from dpbandits.files import project
from dpbandits.spec.figure import FigureSpec


def refuse_undrawable(spec: FigureSpec) -> None:
    """Raise UserError for the first text of a figure that matplotlib cannot draw.

    The message names its key and the file, or the command line, that sets it.
    """
    for key, text, drawn in _texts(spec):
        if fault := mathtext.fault(drawn):
            where = _origin(spec, key)
            raise UserError(f"{spec.name}: {key} {shown(text)} cannot be drawn: {fault} ({where})")


def _texts(spec: FigureSpec) -> Iterator[tuple[str, str, str]]:
    # Key, text, and the text as the drawing functions write it.
    yield "figure.title", spec.title, spec.title
    for panel in spec.panels:
        path = f"figure.panels.{panel.letter}"
        yield f"{path}.title", panel.title, f"({panel.letter}) {panel.title}"
        for name in ("row", "column"):
            text = getattr(panel, name)
            yield f"{path}.{name}", text, in_mathtext(text)
        for curve in panel.curves:
            for name in ("reading", "label", "legend"):
                text = getattr(curve, name)
                yield f"figure.curves.{curve.name}.{name}", text, in_mathtext(text)


def _origin(spec: FigureSpec, key: str) -> str:
    # `command line`, or the file that sets the key; a label may come from the curve's algorithm.
    if any(key == change.key or key.startswith(f"{change.key}.") for change in spec.changes):
        return "command line"
    parts = key.split(".")
    if spec.name not in project.names("figure"):  # described on the command line (cli/compare.py)
        return "set by its algorithm"
    if parts[1] == "curves":
        curves = conf_files.read_member("figure", spec.name).get("curves") or {}
        if parts[-1] not in (curves.get(parts[2]) or {}):
            return "set by its algorithm"
    return project.member_file("figure", spec.name)
