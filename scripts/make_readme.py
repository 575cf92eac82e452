"""Write the tables of README.md and docs/figures.md: `python scripts/make_readme.py`.

The tables of papers and of figures are between comments of these files; docs/images/ holds one
picture per paper, drawn from the committed references.
"""

import sys
from pathlib import Path

from marked_part import replaced

from dpbandits.config import claims, compose, conf_files
from dpbandits.curves import references
from dpbandits.drawing import plotting
from dpbandits.factory import produce
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.gallery.figures import place_of

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
        where = ", ".join(map(str, filter(None, (paper(spec.paper).short, spec.original))))
        order = PAPERS.index(paper(spec.paper)), place_of(spec.original), name
        rows.append((order, f"| `{name}` | {spec.title} | {where} |"))
    head = ["| figure | title | source |", "|---|---|---|"]
    return "\n".join([*head, *(row for _, row in sorted(rows))]) + "\n"


def headlines() -> str:
    """Return a sentence per paper, on what reproduces, with a link to its report."""
    lines = ["| paper | result |", "|---|---|"]
    for known in PAPERS:
        if known.key in claims.papers():
            link = f"[{known.short}](docs/reproducibility/{known.key}.md)"
            lines.append(f"| {link} | {claims.texts(known.key).text('headline')} |")
    return "\n".join(lines) + "\n"


TABLES = {"README.md": ("papers", headlines), "docs/figures.md": ("figures", table)}


def with_table(file: str) -> str:
    """Return a file's text with its new table; exit if one of the table's comments is missing."""
    name, content = TABLES[file]
    return replaced((ROOT / file).read_text("utf-8"), name, content())


def picture(name: str) -> bytes:
    """Return a figure as PNG, drawn from its reference."""
    spec, _ = compose.load(name, [])
    drawing = produce.drawing(spec, references.read(spec, references.PAPER))
    draw = plotting.drawing_function(spec.paper, spec.draw)
    revision = conf_files.read_yaml(references.source_file(name, references.PAPER))["revision"]
    return plotting.render(draw, drawing, f"dpbandits run {name}, revision {revision}")["png"]


def main() -> int:
    for file in TABLES:
        (ROOT / file).write_text(with_table(file), "utf-8")
    for name in PICTURES:
        (ROOT / "docs" / "images" / f"{name}.png").write_bytes(picture(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
