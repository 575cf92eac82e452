"""Write the table of thresholds of docs/verdicts.md: `python scripts/make_thresholds.py`."""

import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.config import conf_files
from dpbandits.drawing.formulas import without_tex
from dpbandits.judge import claims_files

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "verdicts.md"


def with_table(text: str) -> str:
    """Return the document's text with the new table; exit if its comments are missing."""
    lines = ["|word |number |reason|", "|---|---:|---|"]
    for word, threshold in conf_files.read_yaml(claims_files.THRESHOLDS).items():
        lines.append(f"|{word} |{threshold['value']:.4g} |{without_tex(threshold['reason'])}|")
    return replaced(text, "thresholds", "\n".join(lines) + "\n")


def main() -> int:
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
