"""Write the table of figures in README.md and its pictures: `python scripts/make_readme.py`.

The table, with the verdicts on the claims, is between two comments of the file; docs/images/ holds
one picture per paper. Both are made from the committed references.
"""

import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.checks import verdicts
from dpbandits.config import compose, conf_files
from dpbandits.curves import references
from dpbandits.drawing import plotting
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.gallery.figures import place_of
from dpbandits.gallery.papers import PAPERS, paper

ROOT = Path(__file__).resolve().parents[1]
PICTURES = (  # one per paper; the first is the picture at the top of README.md
    *("adap-ksweep", "dpucb-2arms", "exp3-switching", "dpse-epsilon", "adap-headline"),
    "ftpl-approx-dp",
)


def table() -> str:
    """Return the table of figures, sorted by paper and then by the paper's figure numbers."""
    rows = []
    for name in project.names("figure"):
        spec, _ = compose.load(name, [])
        counted = verdicts.count(verdicts.evaluate(spec, references.read(spec, references.PAPER)))
        counts = ", ".join(f"{word}: {number}" for word, number in counted.items())
        where = ", ".join(map(str, filter(None, (paper(spec.paper).short, spec.original))))
        order = PAPERS.index(paper(spec.paper)), place_of(spec.original), name
        rows.append((order, f"| `{name}` | {spec.title} | {where} | {counts} |"))
    head = ["| figure | title | source | claims |", "|---|---|---|---|"]
    return "\n".join([*head, *(row for _, row in sorted(rows))]) + "\n"


def with_table(text: str) -> str:
    """Return README.md's text with the new table; exit if the two comments are missing."""
    return replaced(text, "figures", table())


def picture(name: str) -> bytes:
    """Return a figure as PNG, drawn from its reference."""
    spec, _ = compose.load(name, [])
    drawing = produce.drawing(spec, references.read(spec, references.PAPER))
    draw = plotting.drawing_function(spec.paper, spec.draw)
    revision = conf_files.read_yaml(references.source_file(name, references.PAPER))["revision"]
    return plotting.render(draw, drawing, f"dpbandits run {name}, revision {revision}")["png"]


def main() -> int:
    file = ROOT / "README.md"
    file.write_text(with_table(file.read_text("utf-8")), "utf-8")
    for name in PICTURES:
        (ROOT / "docs" / "images" / f"{name}.png").write_bytes(picture(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
