"""Write the table of docs/privacy.md: `python scripts/make_privacy.py`.

The table is between two comments of the file. It lists the claimed, the composed and the
audited epsilon of every private algorithm at epsilon = 1, from the committed reference of the
figure `privacy-audit`.
"""

import math
import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.audit.designs import ARMS
from dpbandits.factory.captions import EPSILON, audits

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "privacy.md"
HEAD = ["algorithm", "claimed", "composed", "audited, all arms", "audited, one choice"]


def table() -> str:
    """Return a row per curve, in the figure's order, and the reasons why claims differ."""
    rows, reasons = [], dict[str, list[str]]()
    for cell, result in audits().items():
        if result.budget_given != EPSILON:
            continue
        claim = cell.declared("claim")
        composed = cell.subject.composed(ARMS, cell.longest, claim.delta)
        numbers = (claim.epsilon, composed, result.epsilon, result.one_choice)
        rows.append(
            f"| {result.label}, {claim.notion.title} | {' | '.join(map(_number, numbers))} |"
        )
        if not math.isclose(claim.epsilon, composed, rel_tol=1e-9):
            reasons.setdefault(claim.differs, []).append(result.label)
    lines = [f"| {' | '.join(HEAD)} |", "|---|---:|---:|---:|---:|", *rows, ""]
    lines += ["Claims that differ from the composed budget:", ""]
    lines += [f"* {', '.join(labels)}: {why}." for why, labels in reasons.items()]
    return "\n".join(lines) + "\n"


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
