"""Reproducibility reports: a page per paper and one over all, from the committed evidence."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import jinja2

from dpbandits.checks.comparisons import plain
from dpbandits.config import compose
from dpbandits.drawing import forest
from dpbandits.drawing.formulas import plain as without_tex
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.judge import about, claims_files, claims_table
from dpbandits.judge.claims_files import as_list
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.verdicts import Judged, Result, Verdict
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.kernel.roots import found

FOLDER = "docs/reproducibility"
PICTURE = "docs/images/claims.svg"
COLOURS = {
    Verdict.REPRODUCED: "#14733f",
    Verdict.DEPENDS: "#6b35a0",
    Verdict.INCONCLUSIVE: "#5b5e63",
    Verdict.NOT: "#b02a1e",
}
ORDER = [*Verdict].index  # in which verdicts on sentences are counted


def report(names: Sequence[str], gathers: bool) -> int:
    """Write the pages of some papers, or of all, and the page over all; return the exit status.

    With `gathers`, the claims of these papers are judged anew, from as many runs as it takes.
    Raises UserError for an unknown name or results that cannot be read.
    """
    known = papers()
    if not known:
        raise UserError(
            "report: this project has no claims of its own, conf/claims/<paper>.yaml; the reports"
            " of dpbandits are in docs/reproducibility/ of its repository"
        )
    for name in names:
        if name not in known:
            raise UserError(f"{shown(name)} has no claims; {nearest(name, known)}")
    chosen = [name for name in known if name in names or not names]
    if gathers and (status := claims_table.gather(chosen)):
        return status
    for path, content in files(chosen).items():
        write_atomically(project.folder() / path, content, remedy="")
        print(path)
    return 0


def papers() -> list[str]:
    """Return the papers with claims, in their order; in a user's project those of the project."""
    mine, order = found().project, [known.key for known in PAPERS]
    names = [
        name
        for name in claims_files.papers()
        if mine is None or project.home("claims", name) == mine.folder
    ]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def results() -> list[Gathered]:
    """Return the committed results of all papers. Raises UserError if a paper has none."""
    gathered = []
    for name in papers():
        result = claims_table.read(name)
        if result is None:
            file, command = f"{claims_table.FOLDER}/{name}.csv", f"dpbandits report --gather {name}"
            raise UserError(f"{file} does not exist; `{command}` writes it")
        gathered.append(result)
    return gathered


def files(names: Sequence[str]) -> dict[str, bytes]:
    """Return the pages, pictures and joint tables of these papers and of all, by their paths."""
    reports, order, decided = results(), [*COLOURS.values()], dict[str, list[forest.Row]]()
    for of in reports:
        rows = [
            forest.Row(
                f"{without_tex(judged.claim.short)}  {i}",
                COLOURS[judged.verdict],
                *(judged.drawn.estimate, judged.drawn.low, judged.drawn.high),
                [result.estimate for result in judged.results.values()],
            )
            for i, judged in enumerate(of.sentences(), 1)
            if judged.drawn.comparisons  # runs decide it
        ]
        if rows:  # those that hold first, the farthest from turning leading
            rows.sort(key=lambda row: (order.index(row.colour), row.estimate))
            decided[paper(of.paper.paper).short] = rows
    picture = partial(forest.picture, {c: verdict.value for verdict, c in COLOURS.items()})
    shown_here = "![Distance of every sentence from turning](../images/claims.svg)"
    head = ["# Which claims reproduce", "", total(reports), "", shown_here, ""]
    written = {
        f"{FOLDER}/README.md": "\n".join([*head, *headlines(reports, ""), ""]).encode(),
        PICTURE: picture(decided, "Sentences of all papers", named=False),
    }
    for of in reports:
        if (name := of.paper.paper) in names:
            written[f"{FOLDER}/{name}.md"] = page(of).encode()
            written[f"{FOLDER}/{name}.csv"] = claims_table.joint_table(of)
            if (short := paper(name).short) in decided:
                plot = picture({short: decided[short]}, f"Sentences of {short}", named=True)
                written[f"{FOLDER}/{name}.svg"] = plot
    return written


def page(of: Gathered) -> str:
    """Return the page of a paper."""
    sentences = of.sentences()
    numbers = {judged.name: i for i, judged in enumerate(sentences, 1)}
    specs = [compose.load(figure, [])[0] for figure in of.paper.figures()]
    numbered = [(s.original.number, s.name, s) for s in specs if s.original]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpbandits.report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "filled": partial(about.filled, gathered=of),
        "number": numbers.__getitem__,
        "cell": lambda text: " ".join(text.replace("|", "\\|").split()),
        "short": lambda j: without_tex(j.claim.short or j.claim.says or j.claim.quote),
        "text": lambda j: (
            f"“{without_tex(j.claim.quote)}”" if j.claim.quote else without_tex(j.claim.says)
        ),
        "place": lambda judged: f"({judged.claim.section or judged.name})",
        "plain": plain,
    }
    return environment.get_template("report.md").render(
        of=of,
        paper=of.paper,
        cited=paper(of.paper.paper),
        bibtex=paper(of.paper.paper).bibtex,
        originals=[
            s for *_, s in sorted(numbered, key=lambda n: n[:2]) if s.paper == of.paper.paper
        ],
        runs=[r.runs for j in of.claims.values() for r in j.results.values() if r.runs],
        tested=[judged for judged in sentences if judged.results],
        statements=[of.claims[name] for name in of.paper.statements],
        published=[j for name, j in of.claims.items() if _is_about_published(of, name)],
        ours=[of.claims[n] for n in of.paper.ours if not _is_about_published(of, n)],
        drawn={name: next(iter(c.variants)) for name, c in of.paper.choices.items()},
        turned_by=lambda choice: [j.name for j in sentences if choice in j.turned_by()],
        errata_of=lambda name: [
            i for i, e in enumerate(of.paper.errata, 1) if name in as_list(e.statement)
        ],
        verdicts=counted(sorted((judged.verdict for judged in sentences), key=ORDER)),
        **{f.__name__: f for f in (counted, room, variants)},
        **{f.__name__: f for f in (about.factor, about.interval, about.chance, about.in_words)},
    )


def _is_about_published(of: Gathered, name: str) -> bool:
    return name in of.paper.ours and name.startswith("published")


def counted(verdicts: Iterable[Verdict]) -> str:
    """Return the number of every verdict in words, in the order in which they come."""
    words = ", ".join(f"{n} {verdict.value}" for verdict, n in Counter(verdicts).items())
    return words.replace("depends", "depending")


def room(result: Result) -> str:
    """Return the factor between the sides of a statement, or the budgets of a guarantee."""
    if not result.comparisons and result.text:
        spent = "no finite ε" if math.isinf(result.left) else f"ε = {plain(result.left)}"
        return f"composes to {spent}, given {plain(result.right)}"
    if not result.comparisons or not result.is_log:
        return ""
    smallest, typical = (plain(math.exp(-n)) for n in (result.estimate, result.typical))
    return smallest if smallest == typical else f"{smallest}; {typical}"


def variants(judged: Judged) -> tuple[list[tuple[str, Result]], list[Verdict]]:
    """Return the result as drawn and under every other variant alone, equal ones once.

    The second list has the verdicts under combinations that change more than one choice.
    """
    drawn, further = dict(next(iter(judged.results))), list[Verdict]()
    rows: dict[str, tuple[list[str], Result]] = {}
    for combination, result in judged.results.items():
        if sum(drawn[name] != variant for name, variant in combination) > 1:
            further.append(result.verdict)
        else:
            names, _ = rows.setdefault(repr(result), ([], result))
            names.append(about.in_words(dict(combination), drawn))
    return [("; ".join(names), result) for names, result in rows.values()], further


def total(reports: Sequence[Gathered]) -> str:
    """Return how many sentences of how many papers reproduce, in one sentence."""
    sentences = [judged for of in reports for judged in of.sentences()]
    verdicts = counted(sorted((judged.verdict for judged in sentences), key=ORDER))
    return (
        f"Of {len(sentences)} sentences of {len(reports)} papers, **{verdicts}**;"
        f" of {sum(bool(judged.claim.part) for judged in sentences)} only a part is judged."
    )


def headlines(reports: Sequence[Gathered], folder: str) -> Iterator[str]:
    """Yield the table of papers with their counts and headlines."""
    yield from ("| paper | sentences | in short |", "|---|---|---|")
    for of in reports:
        name, text = of.paper.paper, about.filled(of.paper.headline.text, of).replace("|", "\\|")
        verdicts = counted(sorted((judged.verdict for judged in of.sentences()), key=ORDER))
        yield f"| [{paper(name).short}]({folder}{name}.md) | {verdicts} | {text} |"
