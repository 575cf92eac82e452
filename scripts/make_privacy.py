"""Write the table of docs/privacy.md: `python scripts/make_privacy.py`.

The table is between two comments of the file. It lists the composed and the audited epsilon of
every private algorithm at epsilon = 1, from the committed table of audits.
"""

import math
import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.drawing.formulas import without_tex
from dpbandits.drawing.styles import in_mathtext
from dpbandits.tables import audits

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "privacy.md"
HEAD = ["algorithm", "composed", "audited, action sequence", "audited, single action"]


def table() -> str:
    """Return a row per curve, in the figure's order."""
    rows = []
    for row in audits.read_audits():
        if row.budget_given == audits.EPSILON:
            numbers = (row.composed, row.epsilon, row.one_choice)
            rows.append(
                f"|{without_tex(in_mathtext(row.label))} |{' |'.join(map(_number, numbers))}|"
            )
    return "\n".join([f"|{' |'.join(HEAD)}|", "|---|---:|---:|---:|", *rows, ""])


def _number(number: float | None) -> str:
    if number is None:
        return ""
    return "no bound" if math.isinf(number) else f"{number:.3g}"


def with_table(text: str) -> str:
    """Return the document's text with the new table; exit if the two comments are missing."""
    return replaced(text, "audited", table())


def main() -> int:
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
