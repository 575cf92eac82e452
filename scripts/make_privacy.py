"""Write the table of docs/privacy.md: `python scripts/make_privacy.py`.

What is claimed, composed and audited of every private algorithm at epsilon = 1, between two
comments of the file. All of it is of the committed reference of the figure `privacy-audit`.
"""

import math
import re
import sys
from pathlib import Path

from dpbandits import config, references
from dpbandits.audit.cell import AuditCell
from dpbandits.audited import EPSILON, FIGURE
from dpbandits.spec import Shown

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "privacy.md"
BETWEEN = re.compile(r"(?<=<!-- audited -->\n).*?(?=<!-- end of audited -->)", re.DOTALL)
HEAD = ["algorithm", "claimed", "composed", "audited, all arms", "audited, one choice"]


def table() -> str:
    """A row per curve, in the order of the figure, and why claims differ from what is composed."""
    spec, _ = config.load(FIGURE, [])
    found = references.find(spec, references.PAPER)
    told: dict[str, dict[Shown, float]] = {}
    cells: dict[str, AuditCell] = {}
    for panel in spec.panels:
        for curve in panel.curves:
            series = found[panel.letter, curve.label]
            at = series.x.tolist().index(EPSILON)
            told.setdefault(curve.label, {})[curve.shows] = float(series.centre[at])
            cell = curve.sources[at]
            assert isinstance(cell, AuditCell)
            cells[curve.label] = cell
    rows, reasons = [], dict[str, list[str]]()
    for label, numbers in told.items():
        claim = cells[label].claim()
        columns = [_told(numbers.get(shown)) for shown in (Shown.CLAIMED, Shown.COMPOSED)]
        audits = [_told(numbers.get(shown)) for shown in (Shown.AUDITED, Shown.ONE_CHOICE)]
        rows.append(f"| {label}, {claim.notion.title} | {' | '.join(columns + audits)} |")
        if not math.isclose(numbers[Shown.CLAIMED], numbers[Shown.COMPOSED], rel_tol=1e-9):
            reasons.setdefault(claim.differs, []).append(label)
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|---:|", *rows, ""]
    lines += ["Where the claim is not what is composed:", ""]
    lines += [f"* {', '.join(labels)}: {why}." for why, labels in reasons.items()]
    return "\n".join(lines) + "\n"


def _told(number: float | None) -> str:
    if number is None:
        return ""
    return "no bound" if math.isinf(number) else f"{number:.3g}"


def with_table(text: str) -> str:
    """The text of the document with the table in its place."""
    if not BETWEEN.search(text):
        raise SystemExit(f"{DOCUMENT.name} has no `<!-- audited -->` ... `<!-- end of audited -->`")
    return BETWEEN.sub(lambda _: table(), text)


def main() -> int:
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
