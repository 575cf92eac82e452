"""Pages of the gallery: the templates and their contents."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from dpbandits.core import roots
from dpbandits.drawing.formulas import plain
from dpbandits.factory import captions
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.files.provenance import revision
from dpbandits.gallery import dark, folders, origins, rows, texts
from dpbandits.gallery.algorithms import Algorithm, source_text
from dpbandits.gallery.figures import FigurePage
from dpbandits.judge import about, reader
from dpbandits.judge.about import About
from dpbandits.judge.verdicts import Verdict
from dpbandits.run.progress import duration

VERDICTS = {
    Verdict.REPRODUCED: "the curves show what the sentence says",
    Verdict.NOT: "the curves contradict the sentence",
    Verdict.DEPENDS: "implementations that the text admits disagree",
    Verdict.INCONCLUSIVE: "the runs do not decide",
    Verdict.NOT_TESTABLE: "no run decides",
}
ASSETS = ("gallery.css", "gallery.js")


def write(
    folder: Path,
    figures: Sequence[FigurePage],
    algorithms: Sequence[Algorithm],
) -> None:
    """Write every page of the gallery below a folder that has the figures' files."""
    own = files("dpbandits.gallery")
    for name in ASSETS:
        folders.write(folder / "assets" / name, own.joinpath("assets", name).read_bytes())
    for algorithm in algorithms:
        mark = folder / "algorithms" / algorithm.name
        folders.write(mark.with_suffix(".svg"), algorithm.mark)
        folders.write(mark.with_suffix(".dark.svg"), dark.recoloured(algorithm.mark))
    pages = _Pages(folder, figures, algorithms)
    _write_documents(pages)
    pages.write("index.html", "index.html", **_index(figures))
    for i, figure in enumerate(figures):
        pages.write(
            f"figures/{figure.name}.html",
            "figure.html",
            **_figure(figure),
            before=figures[i - 1] if i else None,
            after=figures[i + 1] if i + 1 < len(figures) else None,
        )
    for algorithm in algorithms:
        pages.write(f"algorithms/{algorithm.name}.html", "algorithm.html", algorithm=algorithm)
    for source in sorted({path for algorithm in algorithms for path in algorithm.sources}):
        pages.write(f"sources/{source}.html", "source.html", **_source(source))


def _write_documents(pages: "_Pages") -> None:
    # The deviations, and a report per paper.
    known = {a.name: f"algorithms/{a.name}.html" for a in pages.algorithms}
    known |= {f.name: f"figures/{f.name}.html" for f in pages.figures}
    text = _document("deviations.md")
    content, headings = texts.document(text, known)
    pages.templates.globals["anchors"] = {anchor for _, anchor, _ in headings}
    title = "What papers leave open"
    pages.write("deviations.html", "document.html", content=content, headings=headings, title=title)
    for key in reader.papers():
        content, headings = texts.document(_document(f"reproducibility/{key}.md"), known)
        pages.write(
            f"reproducibility-{key}.html",
            "document.html",
            content=content,
            headings=[heading for heading in headings if heading[0] < 4],
            title=f"Reproducibility of {paper(key).short}",
        )


def _document(name: str) -> str:
    # Links to the report of a paper lead to its page; the gallery has no page of other documents.
    # Comments mark the parts that a script writes; pictures and folds of a report are left out.
    path = project.find(f"docs/{name}")
    if not path.is_file():
        return f"docs/{name} is missing from this project.\n"

    def linked(link: re.Match[str]) -> str:
        text, target = link[1], Path(link[2]).stem
        return f"[{text}](reproducibility-{target}.html)" if target in reader.papers() else text

    shown = re.sub(r"^<!-- [\w -]+ -->\n", "", path.read_text("utf-8"), flags=re.MULTILINE)
    shown = re.sub(r"<summary>(.*?): <b>(.*?)</b></summary>", r"#### \1: \2", shown)
    shown = re.sub(r"\[([^\]]+)\]\((#[\w-]+|\w+\.csv)\)", r"\1", shown)
    shown = re.sub(r"\[?!\[.*?\]\(.*?\)(\]\(.*?\))?|<a id=.*?</a>|</?details.*?>", "", shown)
    return re.sub(r"\[([^\]]+)\]\(([\w./-]+\.md)(?:#[\w-]*)?\)", linked, shown)


def _index(figures: Sequence[FigurePage]) -> dict[str, Any]:
    unknown = [f.paper for f in figures if f.paper not in PAPERS]
    groups = [
        (paper, [f for f in figures if f.paper == paper])
        for paper in (*PAPERS, *dict.fromkeys(unknown))
    ]
    return {
        "changes": list(dict.fromkeys(words for figure in figures for words in figure.changes)),
        "groups": groups,
        "drawn": sum(bool(own) for _, own in groups),
        "totals": [(paper, _totals(own, paper.key), own) for paper, own in groups],
        "total": _totals(figures),
        "origins": origins.in_words(figure.origin for figure in figures),
        "claims": _claims([figure for _, own in groups for figure in own]),
    }


def _other_names(algorithms: Sequence[Algorithm]) -> dict[str, list[str]]:
    # A paper may call an algorithm by the label of another one here.
    names = {algorithm.label for algorithm in algorithms}
    return {
        algorithm.name: sorted(({use.label for use in algorithm.uses} & names) - {algorithm.label})
        for algorithm in algorithms
    }


def _totals(figures: Sequence[FigurePage], paper: str = "") -> dict[str, int]:
    # The number of distinct sentences by verdict, of a paper or of all.
    every = (claim for figure in figures for claim in figure.claims)
    return about.count(claim for claim in every if not paper or claim.judged.paper.paper == paper)


def _claims(figures: Sequence[FigurePage]) -> list[tuple[list[FigurePage], About]]:
    # Every claim once, with the figures that it is about.
    by_id: dict[str, tuple[list[FigurePage], About]] = {}
    for figure in figures:
        for claim in figure.claims:
            by_id.setdefault(claim.judged.id, ([], claim))[0].append(figure)
    return list(by_id.values())


def _figure(figure: FigurePage) -> dict[str, Any]:
    result = figure.result
    return {
        "figure": figure,
        "panels": rows.of_figure(result.spec) if result else [],
        "readings": rows.readings(result.spec) if result else [],
        "runs": captions.runs_of(result.spec) if result else "",
        "statistics": captions.statistics(result.spec) if result else "",
    }


def _source(name: str) -> dict[str, Any]:
    # The file has its path in the repository or the project, and a plugin's that in its package.
    root, below = roots.source(name)
    is_own = root is roots.PACKAGE
    in_project = root == roots.found().project
    return {
        "source": name,
        "file": f"src/dpbandits/{below}" if is_own else below if in_project else name,
        "own": is_own,
        "package": root.package,
        "lines": source_text(name).splitlines(),
    }


class _Pages:
    # The templates and the values available in all of them.

    def __init__(
        self, folder: Path, figures: Sequence[FigurePage], algorithms: Sequence[Algorithm]
    ) -> None:
        self.folder, self.figures, self.algorithms = folder, figures, algorithms
        self.templates = jinja2.Environment(
            loader=jinja2.PackageLoader("dpbandits.gallery"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters |= {
            "maths": texts.maths,
            "plain": plain,
            "label": texts.label,
            "plain_label": texts.plain_label,
            "number": texts.number,
            "budget": texts.budget,
            "cited": texts.cited,
            "docstring": texts.docstring,
            "duration": duration,
        }
        self.templates.globals |= {
            "verdicts": {verdict.value: words for verdict, words in VERDICTS.items()},
            "revision": revision(),
            "figures": figures,
            "algorithms": algorithms,
            "by_name": {algorithm.name: algorithm for algorithm in algorithms},
            "reports": reader.papers(),
            "cited_papers": {
                claim.judged.paper.paper: paper(claim.judged.paper.paper).short
                for figure in figures
                for claim in figure.claims
            },
            "also": _other_names(algorithms),
        }

    def write(self, path: str, template: str, **values: Any) -> None:
        """Write one page; `up` is the path from it to the folder of the gallery."""
        up = "../" * path.count("/")
        context: Mapping[str, Any] = {**values, "up": up, "here": path}
        content = self.templates.get_template(template).render(context)
        folders.write(self.folder / path, content.encode())
