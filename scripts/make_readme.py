"""Write generated parts of README.md and pages of docs/: `python scripts/make_readme.py`.

They stand between comments of these files and come from the committed results of claims.
docs/images/small/ has a small picture of every reproduced figure and of every other one that a
report shows, drawn from its committed reference.
"""

import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from textwrap import fill

import yaml
from marked_part import replaced

from dpbandits.checks.comparisons import plural
from dpbandits.cli.listing import SOFTWARE
from dpbandits.config import compose
from dpbandits.drawing import forest, plotting
from dpbandits.factory import produce
from dpbandits.factory.papers import paper
from dpbandits.files import project
from dpbandits.judge import claims_files
from dpbandits.kernel import registry
from dpbandits.site import reports
from dpbandits.site.figures import place_of, thumbnail
from dpbandits.spec.figure import RESULTS, FigureSpec
from dpbandits.tables import references

ROOT = Path(__file__).resolve().parents[1]
SMALL = ROOT / "docs" / "images" / "small"
WIDTH = 300  # of a small picture, in pixels


def figures() -> list[FigureSpec]:
    """Return all figures, sorted by paper and then by the paper's figure numbers."""
    specs = [compose.load(name, [])[0] for name in project.names("figure")]
    return sorted(specs, key=lambda s: place_of(paper(s.paper), s.original, s.name))


def pictured() -> list[FigureSpec]:
    """Return the reproduced figures of reported papers, and our own that reports show."""
    keys = reports.papers()
    names = {spec.name for key in keys for spec in reports.pictures(claims_files.read_paper(key))}
    names |= {spec.name for spec in figures() if spec.paper == RESULTS}
    return [s for s in figures() if (s.original and s.paper in keys) or s.name in names]


def table() -> str:
    """Return the figures of every paper: small pictures, then names and titles."""
    with_picture, lines = {spec.name for spec in pictured()}, list[str]()
    for key, specs in groupby(figures(), lambda spec: spec.paper):
        of, folder = [*specs], "reproducibility"
        short = paper(key).short
        lines += [f"## [{short}]({folder}/{key}.md)" if key in reports.papers() else f"## {short}"]
        small = [f"![{s.name}](images/small/{s.name}.png)" for s in of if s.name in with_picture]
        lines += ["", *small, ""] if small else [""]
        lines += [f"* `{s.name}`: {s.title}{f' ({s.original})' if s.original else ''}" for s in of]
        lines += [""]
    return "\n".join(lines)


def counts() -> str:
    """Return how many algorithms and figures there are, and how many sentences reproduce.

    Figures and tables are counted by the papers' own numbers: Fig. 2 (a) and (b) are one.
    """
    keys = reports.papers()
    names, answering = registry.algorithm_names(), registry.names("identification")
    private, identifying = (
        sum(hasattr(registry.algorithm(name), "guarantee") for name in of)
        for of in (names, answering)
    )
    published = [(spec.paper, spec.original) for spec in pictured() if spec.original]
    numbered = {(key, of.kind, n) for key, of in published for n in of.numbers}
    papers = len({key for key, *_ in numbered})
    lines = (
        f"**{plural(private, 'private algorithm')}** and"
        f" {plural(len(names) - private, 'baseline')} without privacy play for regret;"
        f" {identifying} and {len(answering) - identifying} identify the best arm.",
        f"**{len(numbered)} published figures and tables** of {plural(papers, 'paper')}, counted"
        f" by their own numbers, at their own scale: {plural(len(published), 'picture')} here,"
        " each by one command.",
        reports.total(reports.results(keys)),
    )
    return "".join(f"* {line}\n" for line in lines)


def answers() -> str:
    """Return our own questions with their answers."""
    lines = [
        f"* [{reports.titled(of)[0]}](docs/results/{of.paper.paper}.md)"
        for of in reports.results(reports.questions())
    ]
    return "\n".join(lines) + "\n"


def picture() -> str:
    """Return the forest plot of all papers with its caption, in the words of its legend."""
    alternative = "Sentences of all papers: by which factor each holds or is missed"
    caption = (
        "*Each row is a sentence of a paper, with an interval of 95 %. Left of the line it holds,"
        " with that factor to spare; right of it, it is missed by that factor. Filled circles are"
        f" what the figures draw, open circles {forest.VARIANTS}, of the text or against it. Only"
        " factors are placed: a difference has its two sides in words.*"
    )
    return f"![{alternative}]({reports.PICTURE})\n\n{fill(caption, 100)}\n"


def software() -> str:
    """Return the BibTeX entry of this project, without a revision."""
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    about["author"] = " and ".join(author["name"] for author in about["authors"])
    entry = SOFTWARE.format(**about, revision="").partition(",\n  note")[0]
    return f"```bibtex\n{entry}\n}}\n```\n"


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {
        "answers": answers,
        "counts": counts,
        "picture": picture,
        "software": software,
    },
    "docs/figures.md": {"figures": table},
}


def with_table(file: str) -> str:
    """Return a file's text with its new parts; exit if one of their comments is missing."""
    text = (ROOT / file).read_text("utf-8")
    for name, content in TABLES[file].items():
        text = replaced(text, name, content())
    return text


def small_picture(spec: FigureSpec) -> bytes:
    """Return a figure as a small PNG, drawn from its reference."""
    drawing = produce.drawing(spec, references.read_series(spec, references.PAPER))
    draw = plotting.drawing_function(spec.paper, spec.draw)
    record = references.record(spec.name, references.PAPER) or {}
    label = f"dpbandits run {spec.name}, revision {record['revision']}"
    return thumbnail(plotting.render(draw, drawing, label)["png"], WIDTH)


def main() -> int:
    SMALL.mkdir(exist_ok=True)
    wanted = {SMALL / f"{spec.name}.png": small_picture(spec) for spec in pictured()}
    for path in {*SMALL.glob("*.png")} - {*wanted}:
        path.unlink()
    for path, content in wanted.items():
        path.write_bytes(content)
    for file in TABLES:
        (ROOT / file).write_text(with_table(file), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
