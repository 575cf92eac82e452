"""Write the tables of docs/deviations.md: `python scripts/make_deviations.py`.

scripts/deviations.yaml has a table per section: rows of what, reading and effect. Two kinds of
reference in braces are filled in, so that no number of a run is written by hand:

    {readings-tossou2016 efgh dp-ucb-split}     the last means of a curve, by figure, panels and
                                                curve, from the committed evidence; a fourth word
                                                is another statistic (median)
    {tossou2016/int-best}                       the verdict on a claim, linked to its report
"""

import re
import sys
from functools import cache
from pathlib import Path

import yaml
from marked_part import replaced

from dpbandits.checks.comparisons import plain
from dpbandits.checks.verdicts import ClaimResult
from dpbandits.factory import judged_claims
from dpbandits.report.pages import WORDS

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "deviations.md"
ROWS = ROOT / "scripts" / "deviations.yaml"
REFERENCE = re.compile(r"\{([^{}]+)\}")


def with_tables(text: str) -> str:
    """Return the document's text with new tables; exit if a table's comments are missing."""
    for section, rows in yaml.safe_load(ROWS.read_text("utf-8")).items():
        lines = ["| what | reading | effect |", "|---|---|---|"]
        lines += [f"| {' | '.join(map(filled, row))} |" for row in rows]
        text = replaced(text, section, "\n".join(lines) + "\n")
    return text


def filled(cell: str) -> str:
    """Return the text of a cell with its references filled in."""
    return REFERENCE.sub(lambda match: _value(match[1]), cell).replace("|", r"\|")


def _value(reference: str) -> str:
    if "/" in reference:
        paper, name = reference.split("/")
        words = WORDS[_results(paper)[name].verdict]
        return f"[`{name}`](reproducibility/{paper}.md#{name}) {words}"
    figure, panels, curve, *statistic = reference.split()
    lines = judged_claims.committed(figure)
    if lines is None:
        raise SystemExit(f"{figure} has no committed evidence, which {{{reference}}} needs")
    ends = [line for panel in panels for line in lines[panel][curve]]
    name = statistic[0] if statistic else "mean"
    numbers = [plain(line.statistic(len(line.all_x) - 1, name)) for line in ends]
    return " · ".join(numbers)


@cache
def _results(paper: str) -> dict[str, ClaimResult]:
    return {result.claim.name: result for result in judged_claims.of_paper(paper)}


def main() -> int:
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
