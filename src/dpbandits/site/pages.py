"""Pages of the site in Markdown: the documentation's own, and those that templates generate."""

import html
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from textwrap import dedent
from typing import Any

import jinja2
import vl_convert
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky import get_reusable_executor

from dpbandits.drawing.formulas import number, without_tex
from dpbandits.factory.papers import BY_KEY, OURS, PAPERS
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.judge import about, claims_table
from dpbandits.kernel.roots import discovery
from dpbandits.run.progress import reported
from dpbandits.site import algorithms, home, reports
from dpbandits.site.figures import FigurePage, place_of, show

# A generated list, between comments of a page that the documentation may have.
LIST = "# {1}\n\n<!-- {0} -->\n<!-- end of {0} -->\n"
# A small picture of a figure in a document, with a link to the page of all figures.
SMALL = re.compile(r"(images/small/([\w.-]+)\.png[^)]*\)\]\()([./]*)figures\.md\)")
RAW = re.compile(r"\[raw table\]\([./]+figures/reference/([\w-]+)\.csv\)")  # a link in a document
SHOWN = re.compile(r"<!-- figure ([\w-]+) -->")  # in a document: the picture of a figure
SQUARES = re.compile(r"<!-- squares ([\w-]+) -->")  # in a report: its verdicts
NAMED = re.compile(r"(?m)^\|([^|(]+?)(?= [|(])")  # first cell of a row, without parameters
SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~^$&]|^([-+=:!?]|\d+[.)])+")
# What Markdown drops or takes as the end of a line.
CONTROLS = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def write(docs: Path, names: Sequence[str], overrides: tuple[str, ...]) -> list[FigurePage]:
    """Write the documentation and all generated pages below `docs`; return the figures."""
    mine = discovery().project
    folder = mine.folder if mine else project.layers()[-1]
    # What an installed package has of the documentation lacks the pages that it links to.
    if (folder / "docs").is_dir() and (mine or (folder / "mkdocs.yml").is_file()):
        shutil.copytree(folder / "docs", docs)
    figures = _in_parallel(
        [delayed(show)(name, docs / "figures", overrides) for name in names]
        + [delayed(execute)(notebook) for notebook in docs.rglob("*.ipynb")]
    )
    figures.sort(key=lambda page: place_of(page.paper, page.original, page.name))
    described = algorithms.collect(figures)
    for asset in files("dpbandits.site").joinpath("assets").iterdir():
        write_atomically(docs / "assets" / asset.name, asset.read_bytes(), remedy="")
    vega = vl_convert.javascript_bundle().encode()
    write_atomically(docs / "assets" / "vega.js", vega, remedy="")
    for algorithm in described:
        if algorithm.picture:
            file = docs / "algorithms" / f"{algorithm.name}.svg"
            write_atomically(file, algorithm.picture, remedy="")
    for path, content in _generated(docs, figures, described).items():
        write_atomically(docs / path, content.encode(), remedy="")
    return figures


def _in_parallel(tasks: Sequence[Any]) -> list[FigurePage]:
    # The figures that tasks return; no worker outlives them, also if a signal ends the command.
    done = list[FigurePage | None]()
    workers = Parallel(max(1, min(len(tasks), cpu_count())), return_as="generator_unordered")
    try:
        with reported(lambda _: f"site: {len(done)} of {len(tasks)} figures and notebooks"):
            for page in workers(tasks):
                done.append(page)
    finally:
        get_reusable_executor().shutdown(wait=False, kill_workers=True)
    return [page for page in done if page]


def execute(notebook: Path) -> None:
    """Replace a notebook by a page of Markdown with its results, pictures included."""
    from nbconvert import MarkdownExporter
    from nbconvert.preprocessors import ExecutePreprocessor

    quiet = ["--log-level=ERROR"]
    player = ExecutePreprocessor(startup_timeout=300, timeout=None, extra_arguments=quiet)
    exporter = MarkdownExporter(preprocessors=[player])
    body, _ = exporter.from_filename(str(notebook))
    write_atomically(notebook.with_suffix(".md"), body.encode(), remedy="")
    notebook.unlink()


def navigation(nav: Sequence[Any], docs: Path, figures: Sequence[FigurePage]) -> list[Any]:
    """Return a menu with the pages of figures and algorithms below those of the lists."""
    papers: dict[str, list[str]] = {}
    for figure in figures:
        papers.setdefault(figure.paper.short, []).append(f"figures/{figure.name}.md")
    below: dict[str, list[Any]] = {
        "figures.md": [{html.escape(paper): paths} for paper, paths in papers.items()],
        "algorithms.md": sorted(f"algorithms/{p.name}" for p in docs.glob("algorithms/*.md")),
    }
    pairs = [next(iter(item.items())) for item in nav]
    return [{title: [page, *below[page]] if str(page) in below else page} for title, page in pairs]


def _generated(
    docs: Path, figures: Sequence[FigurePage], described: Sequence[algorithms.Algorithm]
) -> dict[str, str]:
    # The text of every page that is not copied as it is, by its path.
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("dpbandits.site"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "text": as_text,
        "said": said,
        "fenced": fenced,
        "cell": cell,
        "plain": without_tex,
        "number": number,
    }
    templates.globals |= {
        "reports": [path.stem for path in (docs / "reproducibility").glob("*.md")],
        "labels": {algorithm.name: algorithm.label for algorithm in described},
        "count": about.count,
    }
    papers = dict.fromkeys((*PAPERS, *(figure.paper for figure in figures)))
    groups = [(paper, [f for f in figures if f.paper == paper]) for paper in papers]
    links = {a.label: f"|[{as_text(a.label)}](algorithms/{a.name}.md)" for a in described}
    pages = {}
    for path in sorted(docs.rglob("*.md")):
        name = path.relative_to(docs).as_posix()
        page = _linked(path.read_text("utf-8"), name, figures)
        pages[name] = _coloured(page) if name.startswith("reproducibility/") else page
    if board := pages.get("leaderboard.md"):
        pages["leaderboard.md"] = NAMED.sub(lambda row: links.get(row[1], row[0]), board)
    keys = pages.get("configuration.md", "")
    documented = re.findall(r"(?m)^### (\S+)", keys)
    for name in ("figures", "algorithms"):
        part = templates.get_template(f"{name}.md").render(groups=groups, algorithms=described)
        page = pages.get(f"{name}.md", LIST.format(name, name.title()))
        pages[f"{name}.md"] = _filled(page, name, part)
    if not discovery().project and (docs / "reproducibility").is_dir():
        variables = home.variables(docs, [figure.name for figure in figures])
        pages["index.md"] = templates.get_template("home.md").render(variables)
    pages.setdefault("index.md", pages["figures.md"])
    for kind, members in (("figure", figures), ("algorithm", described)):
        template = templates.get_template(f"{kind}.md")
        for member in members:
            pages[f"{kind}s/{member.name}.md"] = template.render(
                {kind: member, "documented": documented, "meanings": _meanings(keys, member.name)}
            )
    return pages


def _meanings(keys: str, name: str) -> Mapping[str, str]:
    # The meanings of an algorithm's parameters on the page of keys: shared ones, then its own.
    sections = re.split(r"(?m)^##+ ", keys)
    meant = [part for part in sections if part.startswith(("Shared parameters\n", f"{name}\n"))]
    found = re.findall(r"(?m)^\* `(\w+)`: ([^;\n]*)", "".join(meant))
    return defaultdict(str, found)


def _filled(page: str, name: str, part: str) -> str:
    between = rf"(?<=<!-- {name} -->\n).*?(?=<!-- end of {name} -->)"
    return re.sub(between, lambda _: f"{part}\n", page, flags=re.DOTALL)


def _linked(page: str, name: str, figures: Sequence[FigurePage]) -> str:
    # Small pictures of figures lead to their pages; a comment stands for a picture.
    linked = {figure.name for figure in figures if figure.files}
    folder = "../" * name.count("/") + "figures/{0}"
    shown = f"[![{{0}}]({folder}/{{0}}.svg)]({folder}.md){{{{ .sheet }}}}\n"
    page = SMALL.sub(lambda m: f"{m[1]}{m[3]}figures/{m[2]}.md)" if m[2] in linked else m[0], page)
    page = SHOWN.sub(lambda m: shown.format(m[1]) if m[1] in linked else "", page)
    table = "[raw table](../figures/{0}/{0}.csv)"
    page = RAW.sub(lambda m: table.format(m[1]) if m[1] in linked else "raw table", page)
    return SQUARES.sub(_squares, page)


def _squares(mark: re.Match[str]) -> str:
    # The squares of a paper, if its results are committed.
    results = claims_table.read_results(mark[1])
    return f'<p class="squares">{home.squares(results)}</p>' if results else ""


def _coloured(report: str) -> str:
    # A report whose verdicts have the colours and signs of squares; a column's head is its sign.
    for verdict, sign in home.SIGNS.items():
        words, name = reports.brief(verdict), home.kind(verdict)
        square = f'|<i class="q {name}" title="{words}">{sign}</i> |'
        report = report.replace(f"**{words}**", f'<span class="verdict {name}">**{words}**</span>')
        report = report.replace(f"|{words} |", square)
    return report


def as_text(value: Any) -> str:
    """Return words as Markdown that shows them as they are, in one line."""
    return _escaped(" ".join(str(value).split()))


def said(prose: str) -> str:
    """Return the prose of a docstring as Markdown: `code` stays, keys of papers are citations."""
    keys = "|".join(key for key in BY_KEY if key not in OURS)
    blocks = []
    for block in re.split(r"\n\s*\n", prose.strip()):
        parts = re.split(rf"(`[^`]+`|\b(?:{keys})\b)", " ".join(block.split()))
        for i, part in enumerate(parts):  # every second one is code or a key
            is_code = i % 2 and part.startswith("`")
            parts[i] = BY_KEY[part].short if part in BY_KEY else part if is_code else _escaped(part)
        blocks.append(fenced(dedent(block)) if block.startswith("    ") else "".join(parts))
    return "\n\n".join(blocks)


def fenced(source: str, language: str = "") -> str:
    """Return a source as a block of code that no line of it can end."""
    source = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", source)
    fence = "~" * (3 + max(map(len, re.findall("~+", source)), default=0))
    return f"{fence}{language}\n{source}\n{fence}"


def cell(prose: str) -> str:
    """Return the prose of a docstring for the cell of a table."""
    return said(" ".join(prose.split())).replace("|", "&#124;")


def _escaped(text: str) -> str:
    return SPECIAL.sub(lambda match: "".join(f"&#{ord(c)};" for c in match[0]), text)
