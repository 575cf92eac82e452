"""Pages of the gallery: the templates and their contents."""

import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from dpbandits.drawing.formulas import plain
from dpbandits.drawing.styles import in_mathtext
from dpbandits.factory import captions
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.files.provenance import revision
from dpbandits.gallery import dark, folders, origins, rows, texts
from dpbandits.gallery.algorithms import Algorithm
from dpbandits.gallery.figures import FigurePage
from dpbandits.judge import about, claims_files
from dpbandits.judge.about import About
from dpbandits.judge.verdicts import Verdict
from dpbandits.kernel import roots
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
    templates = _templates(figures, algorithms)
    for path, template, values in _pages(figures, algorithms):
        up = "../" * path.count("/")  # from the page to the folder of the gallery
        content = templates.get_template(template).render(values, up=up, here=path)
        folders.write(folder / path, content.encode())


def _pages(
    figures: Sequence[FigurePage], algorithms: Sequence[Algorithm]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    # The path, the template and the contents of every page.
    yield "index.html", "index.html", _index(figures)
    known = {a.name: f"algorithms/{a.name}.html" for a in algorithms}
    known |= {f.name: f"figures/{f.name}.html" for f in figures}
    content, headings = texts.document(_document("deviations.md"), known)
    title = "What papers leave open"
    described: dict[str, Any] = {"content": content, "headings": headings, "title": title}
    yield "deviations.html", "document.html", described
    anchors = {anchor for _, anchor, _ in headings}
    for key in claims_files.papers():
        content, headings = texts.document(_document(f"reproducibility/{key}.md"), known)
        headings = [heading for heading in headings if heading[0] < 4]
        title = f"Reproducibility of {paper(key).short}"
        described = {"content": content, "headings": headings, "title": title}
        yield f"reproducibility-{key}.html", "document.html", described
    for before, figure, after in zip([None, *figures], figures, [*figures[1:], None], strict=False):
        spec = figure.result and figure.result.spec
        described = {
            "figure": figure,
            "before": before,
            "after": after,
            "panels": rows.of_figure(spec) if spec else [],
            "readings": rows.readings(spec) if spec else [],
            "runs": captions.runs_of(spec) if spec else "",
            "statistics": captions.statistics(spec) if spec else "",
            "anchors": anchors,
        }
        yield f"figures/{figure.name}.html", "figure.html", described
    for algorithm in algorithms:
        yield f"algorithms/{algorithm.name}.html", "algorithm.html", {"algorithm": algorithm}
    for name in sorted({path for algorithm in algorithms for path in algorithm.sources}):
        root, below = roots.source(name)
        # The file has its path in the repository or the project, a plugin's that in its package.
        is_own, in_project = root is roots.PACKAGE, root == roots.found().project
        described = {
            "source": name,
            "file": f"src/dpbandits/{below}" if is_own else below if in_project else name,
            "own": is_own,
            "package": root.package,
            "lines": (root.folder / below).read_text("utf-8").splitlines(),
        }
        yield f"sources/{name}.html", "source.html", described


def _document(name: str) -> str:
    # Links to the report of a paper lead to its page; the gallery has no page of other documents.
    # Comments mark the parts that a script writes; pictures and folds of a report are left out.
    path = project.find(f"docs/{name}")
    if not path.is_file():
        return f"docs/{name} is missing from this project.\n"
    shown = re.sub(r"^<!-- [\w -]+ -->\n", "", path.read_text("utf-8"), flags=re.MULTILINE)
    shown = re.sub(r"<summary>(.*?): <b>(.*?)</b></summary>", r"#### \1: \2", shown)
    shown = re.sub(r"\[([^\]]+)\]\((#[\w-]+|\w+\.csv)\)", r"\1", shown)
    shown = re.sub(r"\[?!\[.*?\]\(.*?\)(\]\(.*?\))?|<a id=.*?</a>|</?details.*?>", "", shown)
    reports = "|".join(claims_files.papers())
    link = rf"\[([^\]]+)\]\((?:[\w./-]*/)?({reports})\.md(?:#[\w-]*)?\)"
    shown = re.sub(link, r"[\1](reproducibility-\2.html)", shown)
    return re.sub(r"\[([^\]]+)\]\([\w./-]+\.md(?:#[\w-]*)?\)", r"\1", shown)


def _index(figures: Sequence[FigurePage]) -> dict[str, Any]:
    unknown = [f.paper for f in figures if f.paper not in PAPERS]
    groups = {
        paper: [f for f in figures if f.paper == paper]
        for paper in (*PAPERS, *dict.fromkeys(unknown))
    }
    totals = []  # the number of distinct sentences by verdict, of a paper in its own figures
    for of, own in groups.items():
        claims = (claim for figure in own for claim in figure.claims)
        totals.append((of, about.count(c for c in claims if c.judged.paper.paper == of.key), own))
    by_id: dict[str, tuple[list[FigurePage], About]] = {}  # once, with the figures it is about
    for figure in (figure for own in groups.values() for figure in own):
        for claim in figure.claims:
            by_id.setdefault(claim.judged.id, ([], claim))[0].append(figure)
    return {
        "changes": list(dict.fromkeys(words for figure in figures for words in figure.changes)),
        "groups": [*groups.items()],
        "drawn": sum(map(bool, groups.values())),
        "totals": totals,
        "total": about.count(claim for figure in figures for claim in figure.claims),
        "origins": origins.in_words(figure.origin for figure in figures),
        "claims": [*by_id.values()],
    }


def _templates(
    figures: Sequence[FigurePage], algorithms: Sequence[Algorithm]
) -> jinja2.Environment:
    # The templates and the values available in all of them.
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("dpbandits.gallery"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "maths": texts.maths,
        "in_mathtext": in_mathtext,
        "plain": plain,
        "number": texts.number,
        "budget": texts.budget,
        "cited": texts.cited,
        "docstring": texts.docstring,
        "duration": duration,
    }
    cited = {claim.judged.paper.paper for figure in figures for claim in figure.claims}
    labels = {algorithm.label for algorithm in algorithms}
    templates.globals |= {
        "verdicts": {verdict.value: words for verdict, words in VERDICTS.items()},
        "revision": revision(),
        "figures": figures,
        "algorithms": algorithms,
        "by_name": {algorithm.name: algorithm for algorithm in algorithms},
        "reports": claims_files.papers(),
        "cited_papers": {key: paper(key).short for key in cited},
        # A paper may call an algorithm by the label of another one here.
        "also": {
            a.name: sorted(({u.label for u in a.uses} & labels) - {a.label}) for a in algorithms
        },
    }
    return templates
