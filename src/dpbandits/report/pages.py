"""Pages of the reports, in Markdown: one per paper (templates/report.md) and one over all."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import jinja2

from dpbandits.checks.comparisons import plain
from dpbandits.config import compose
from dpbandits.drawing.formulas import plain as without_tex
from dpbandits.factory.papers import paper
from dpbandits.judge import texts
from dpbandits.judge.model import as_list
from dpbandits.judge.table import Gathered
from dpbandits.judge.verdicts import Judged, Result, Verdict
from dpbandits.spec.figure import FigureSpec


def counts(reports: Iterable[Gathered]) -> Counter[Verdict]:
    """Return the number of sentences by verdict, in the order of Verdict."""
    found = Counter(judged.verdict for of in reports for judged in of.sentences())
    return Counter({verdict: found[verdict] for verdict in Verdict if found[verdict]})


def in_part(reports: Iterable[Gathered]) -> int:
    """Return the number of sentences of which only a part is judged."""
    return sum(bool(judged.claim.part) for of in reports for judged in of.sentences())


def counted(numbers: Mapping[Verdict, int]) -> str:
    """Return counts of verdicts in words."""
    words = ", ".join(f"{number} {verdict.value}" for verdict, number in numbers.items())
    return words.replace("depends", "depending")


def of_paper(of: Gathered) -> str:
    """Return the page of a paper."""
    sentences = of.sentences()
    numbers = {judged.name: i for i, judged in enumerate(sentences, 1)}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpbandits.report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "filled": partial(texts.filled, gathered=of),
        "number": numbers.__getitem__,
        "cell": lambda text: " ".join(text.replace("|", "\\|").split()),
        "short": lambda j: without_tex(j.claim.short or j.claim.says or j.claim.quote),
        "text": _text,
        "place": lambda judged: f"({judged.claim.section or judged.name})",
        "plain": plain,
    }
    return environment.get_template("report.md").render(
        of=of,
        paper=of.paper,
        cited=paper(of.paper.paper),
        bibtex=paper(of.paper.paper).bibtex,
        originals=_originals(of),
        runs=[r.runs for j in of.claims.values() for r in j.results.values() if r.runs],
        tested=[judged for judged in sentences if judged.results],
        statements=[of.claims[name] for name in of.paper.statements],
        ours=[of.claims[name] for name in of.paper.ours],
        drawn={name: next(iter(c.variants)) for name, c in of.paper.choices.items()},
        turned_by=lambda choice: [j.name for j in sentences if choice in j.turned_by()],
        errata_of=lambda name: [
            i for i, e in enumerate(of.paper.errata, 1) if name in as_list(e.statement)
        ],
        **{f.__name__: f for f in (counts, in_part, counted, room, variants, further)},
        **{f.__name__: f for f in (texts.factor, texts.interval, texts.chance, texts.in_words)},
    )


def _text(judged: Judged) -> str:
    claim = judged.claim
    return f"“{without_tex(claim.quote)}”" if claim.quote else without_tex(claim.says)


def _originals(of: Gathered) -> list[FigureSpec]:
    specs = [compose.load(figure, [])[0] for figure in of.paper.figures()]
    numbered = [(s.original.number, s.name, s) for s in specs if s.original]
    return [s for _, _, s in sorted(numbered, key=lambda n: n[:2]) if s.paper == of.paper.paper]


def room(result: Result) -> str:
    """Return the factor between the sides of a statement, or the budgets of a guarantee."""
    if not result.comparisons and result.text:
        spent = "no finite ε" if math.isinf(result.left) else f"ε = {plain(result.left)}"
        return f"composes to {spent}, given {plain(result.right)}"
    if not result.comparisons or not result.is_log:
        return ""
    smallest, typical = (plain(math.exp(-n)) for n in (result.estimate, result.typical))
    return smallest if smallest == typical else f"{smallest}; {typical}"


def variants(judged: Judged) -> Iterator[tuple[str, Result]]:
    """Yield the result as drawn, and under every other variant alone; equal ones once."""
    drawn, rows = dict(next(iter(judged.results))), dict[str, tuple[list[str], Result]]()
    for combination, result in judged.results.items():
        if _changes(combination, drawn) <= 1:
            names, _ = rows.setdefault(repr(result), ([], result))
            names.append(texts.in_words(dict(combination), drawn))
    yield from (("; ".join(names), result) for names, result in rows.values())


def further(judged: Judged) -> Counter[Verdict]:
    """Return the verdicts under combinations that change more than one choice."""
    drawn = dict(next(iter(judged.results)))
    return Counter(r.verdict for c, r in judged.results.items() if _changes(c, drawn) > 1)


def _changes(combination: Iterable[tuple[str, str]], drawn: Mapping[str, str]) -> int:
    return sum(drawn[name] != variant for name, variant in combination)


def index(reports: Sequence[Gathered]) -> str:
    """Return the page over all papers."""
    picture = "![Distance of every sentence from turning](../images/claims.svg)"
    head = ["# Which claims reproduce", "", total(reports), "", picture, ""]
    return "\n".join([*head, *headlines(reports, ""), ""])


def total(reports: Sequence[Gathered]) -> str:
    """Return how many sentences of how many papers reproduce, in one sentence."""
    numbers = counts(reports)
    return (
        f"Of {numbers.total()} sentences of {len(reports)} papers, **{counted(numbers)}**;"
        f" of {in_part(reports)} only a part is judged."
    )


def headlines(reports: Sequence[Gathered], folder: str) -> Iterator[str]:
    """Yield the table of papers with their counts and headlines."""
    yield from ("| paper | sentences | in short |", "|---|---|---|")
    for of in reports:
        name, text = of.paper.paper, texts.filled(of.paper.headline.text, of).replace("|", "\\|")
        link = f"[{paper(name).short}]({folder}{name}.md)"
        yield f"| {link} | {counted(counts([of]))} | {text} |"
