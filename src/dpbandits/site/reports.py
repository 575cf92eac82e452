"""Reproducibility reports: a page per paper and one over all, from the committed evidence."""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jinja2

from dpbandits.checks.comparisons import plural, readable
from dpbandits.config import compose
from dpbandits.drawing import forest
from dpbandits.drawing.formulas import without_tex
from dpbandits.factory import captions
from dpbandits.factory.papers import PAPERS, paper
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.judge import about, claims_files, claims_table
from dpbandits.judge.claims_files import Paper, as_list
from dpbandits.judge.claims_table import Gathered, Joint
from dpbandits.judge.verdicts import Judged, Result, Verdict
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.kernel.roots import discovery
from dpbandits.spec.figure import FigureSpec

FOLDER, ANSWERS = "docs/reproducibility", "docs/results"
PICTURE = "docs/images/claims.svg"
COLOURS = {
    Verdict.REPRODUCED: "#14733f",
    Verdict.EXPLAINED: "#a35a00",
    Verdict.DEPENDS: "#6b35a0",
    Verdict.INCONCLUSIVE: "#5b5e63",
    Verdict.NOT: "#b02a1e",
}
UNSURE = 0.05  # a chance nearer to 0 or 1 is that of the verdict
ORDER = [*Verdict].index  # in which verdicts on sentences are counted


def report(names: Sequence[str], gathers: bool) -> int:
    """Write the pages of some papers, or of all, and the page over all; return the exit status.

    With `gathers`, the claims of these papers are judged anew, from as many runs as it takes.
    Raises UserError for an unknown name, results that cannot be read, or a variant that does not
    fit the published curves named as its reason.
    """
    available = [*papers(), *questions()]
    if not available:
        raise UserError(
            "report: this project has no claims of its own, conf/claims/<paper>.yaml; the reports"
            " of dpbandits are in docs/reproducibility/ of its repository"
        )
    for name in names:
        if name not in available:
            raise UserError(f"{shown(name)} has no claims; {nearest(name, available)}")
    chosen = [name for name in available if name in names or not names]
    if gathers and (status := claims_table.gather(chosen)):
        return status
    for path, content in files(chosen).items():
        write_atomically(project.folder() / path, content, remedy="")
        print(path)
    return 0


def papers() -> list[str]:
    """Return the papers with claims, in their order; in a user's project those of the project."""
    return [name for name in _with_claims() if not claims_files.read_paper(name).question]


def questions() -> list[str]:
    """Return the questions of our own that figures answer; in a project those of the project."""
    return [name for name in _with_claims() if claims_files.read_paper(name).question]


def _with_claims() -> list[str]:
    mine, order = discovery().project, [entry.key for entry in PAPERS]
    names = [
        name
        for name in claims_files.papers()
        if mine is None or project.home("claims", name) == mine.folder
    ]
    return sorted(names, key=lambda name: order.index(name) if name in order else len(order))


def results(names: Iterable[str]) -> list[Gathered]:
    """Return the committed results of papers or questions.

    Raises UserError if one has none, or a variant that does not fit the published curves named
    as its reason.
    """
    gathered = []
    for name in names:
        result = claims_table.read_results(name)
        if result is None:
            file, command = f"{claims_table.FOLDER}/{name}.csv", f"dpbandits report --gather {name}"
            raise UserError(f"{file} does not exist; `{command}` writes it")
        for line in claims_table.misfits(result):
            raise UserError(line)
        gathered.append(result)
    return gathered


def files(names: Sequence[str]) -> dict[str, bytes]:
    """Return the pages, pictures and joint tables of these papers and of all, by their paths."""
    reports = results(papers())
    decided = {paper(of.paper.paper).short: entries for of in reports if (entries := rows(of))}
    picture = partial(forest.picture, {c: verdict.value for verdict, c in COLOURS.items()})
    written = {
        f"{FOLDER}/README.md": index(reports).encode(),
        PICTURE: picture(decided, "Sentences of all papers", labelled=False),
    }
    for of in results(name for name in questions() if name in names):
        written[f"{ANSWERS}/{of.paper.paper}.md"] = answer(of).encode()
    for of in reports:
        if (name := of.paper.paper) in names:
            for spec in pictures(of.paper) if discovery().project else ():
                if picture_of := drawn_picture(spec.name):
                    written[f"{FOLDER}/{spec.name}.png"] = picture_of
            written[f"{FOLDER}/{name}.md"] = page(of).encode()
            written[f"{FOLDER}/{name}.csv"] = claims_table.joint_table(of)
            if (short := paper(name).short) in decided:
                plot = picture({short: decided[short]}, f"Sentences of {short}", labelled=True)
                written[f"{FOLDER}/{name}.svg"] = plot
    return written


def rows(of: Gathered) -> list[forest.Row]:
    """Return the rows of a paper's forest plot, a sentence each, as far as runs decide it.

    Those that hold come first, the farthest from turning leading.
    """
    order, forest_rows = [*COLOURS.values()], list[forest.Row]()
    for i, judged in enumerate(of.sentences(), 1):
        if (result := judged.drawn).comparisons:
            placed = (r for r in judged.results.values() if r.comparisons and r.is_log)
            factors = sorted({round(r.estimate, 2) for r in placed})  # 1 % apart: one circle
            label = f"{without_tex(judged.claim.short)}  {i}"
            ends = result.estimate, result.low, result.high
            sides = (
                "" if result.is_log else f"{readable(result.left)} against {readable(result.right)}"
            )
            forest_rows.append(forest.Row(label, COLOURS[judged.verdict], *ends, factors, sides))
    return sorted(forest_rows, key=lambda row: (order.index(row.colour), row.estimate))


def index(reports: Sequence[Gathered]) -> str:
    """Return the page over all papers."""
    names = {"total": total(reports), "headlines": headlines(reports)}
    return _rendered("reports.md", {}, **names, is_own=discovery().project is not None)


def answer(of: Gathered) -> str:
    """Return the page of a question: its title is the answer."""
    title, text = titled(of)
    specs = [compose.load(figure, [])[0] for figure in of.paper.figures()]
    filters = {
        "filled": partial(about.filled, gathered=of),
        "cell": lambda text: " ".join(text.replace("|", "\\|").split()),
    }
    names: dict[str, Any] = {"title": title, "text": text, "specs": specs}
    names |= {"of": of, "ratio": ratio, "verdict_of": verdict_of, "shown_as": shown_as}
    return captions.with_papers(_rendered("answer.md", filters, **names))


def page(of: Gathered) -> str:
    """Return the page of a paper."""
    sentences = of.sentences()
    numbers = {judged.name: i for i, judged in enumerate(sentences, 1)}
    with_errata = {name for erratum in of.paper.errata for name in as_list(erratum.statement)}
    filters = {
        "filled": partial(about.filled, gathered=of),
        "number": numbers.__getitem__,
        "cell": lambda text: " ".join(text.replace("|", "\\|").split()),
        "quoted": partial(quoted, numbers=numbers),
        "here": partial(here, of=of),
        "notes": partial(notes, of=of),
        "concerned": lambda names: [of.claims[name] for name in as_list(names)],
    }
    return _rendered(
        "report.md",
        filters,
        of=of,
        paper=of.paper,
        cited=(cited := paper(of.paper.paper)),
        venue=found_venue[1]
        if (found_venue := re.search(r"\((.*[A-Z].*)\)$", cited.venue))
        else cited.venue,
        pictures=[shown_as(spec) for spec in pictures(of.paper)],
        runs=[r.runs for j in of.claims.values() for r in j.results.values() if r.runs],
        is_tested=any(judged.results for judged in sentences),
        statements=[of.claims[n] for n in of.paper.statements if n not in with_errata],
        published=[of.claims[n] for n in of.paper.ours if of.paper.is_about_published(n)],
        ours=[of.claims[n] for n in of.paper.ours if not of.paper.is_about_published(n)],
        letters=letters(of.paper),
        turned_by=lambda choice: [j.name for j in sentences if choice in j.turned_by()],
        together=together(of, numbers),
        **{f.__name__: f for f in (opening, ratio, slack, verdict_of)},
    )


def _rendered(template: str, filters: Mapping[str, Any], **names: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpbandits.site"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Texts of claims are Markdown, without HTML.
        finalize=lambda shown: re.sub("<(?=[A-Za-z/!?])", "&lt;", str(shown)),
    )
    environment.filters |= filters
    return environment.get_template(template).render(names).rstrip() + "\n"


def pictures(of: Paper) -> list[FigureSpec]:
    """Return the figures of a paper that its page shows; our own if it has none."""
    specs = [compose.load(figure, [])[0] for figure in of.figures()]
    mine = [spec for spec in specs if spec.paper == of.paper]
    originals = [(s.original.number, s.name, s) for s in mine if s.original]
    return [spec for *_, spec in sorted(originals, key=lambda original: original[:2])] or mine


def titled(of: Gathered) -> tuple[str, str]:
    """Return the first sentence of a headline as a title, and the rest."""
    first, *rest = opening(about.filled(of.paper.headline.text, of))
    return first.rstrip("."), " ".join(rest)


def opening(text: str) -> list[str]:
    """Return the first sentence of a headline, and the rest if there is any."""
    return re.split(r"(?<=\.) (?=[A-Z\"])", text, maxsplit=1)


def shown_as(spec: FigureSpec) -> str:
    """Return the small picture of a figure; in a project, the one that was drawn, or its title."""
    title = str(spec.original or spec.title)
    if discovery().project is None:
        return f"[![{title}](../images/small/{spec.name}.png)](../figures.md)"
    drawn = f"![{title}]({spec.name}.png)" if drawn_picture(spec.name) else title
    return f"{drawn} (`dpbandits run {spec.name}`)"


def drawn_picture(figure: str) -> bytes | None:
    """Return the picture that `dpbandits run` has drawn of a figure; None without one."""
    file = compose.load(figure, [])[1].folder(figure) / f"{figure}.png"
    return file.read_bytes() if file.is_file() else None


def counted(verdicts: Iterable[Verdict]) -> str:
    """Return the number of every verdict in words, in the order in which they come."""
    text = ", ".join(f"{n} {brief(verdict)}" for verdict, n in Counter(verdicts).items())
    return text.replace("depends", "depending")


def brief(verdict: Verdict) -> str:
    """Return a verdict as tables have it."""
    return verdict.value.partition(" on ")[0]


def verdict_of(judged: Judged) -> str:
    """Return the verdict on a claim and the share of the text's combinations that reproduce it.

    A statement on a published curve has the variants that fit; an explained sentence the variants
    that explain it and how many of the combinations with them do.
    """
    if judged.paper.is_about_published(judged.name):
        return judged.status
    results = judged.of_the_text.values()
    held = sum(result.verdict is Verdict.REPRODUCED for result in results)
    share = f" {held}/{len(results)}" if len(results) > 1 else ""
    if (why := judged.explanation) and judged.verdict is Verdict.EXPLAINED:
        part = f", in {why.holds} of {why.of} cases" if why.of > 1 else ""
        share = f" by {' and '.join(why.variants.values())}{part}"
    return f"**{brief(judged.verdict)}**{share}{', in part' if judged.claim.part else ''}"


def quoted(judged: Judged, numbers: Mapping[str, int], placed: bool = True) -> str:
    """Return the words of a claim and their place; of a quotation judged twice, which part."""
    claim, sentences = judged.claim, judged.paper.sentences
    same = [numbers[n] for n in sentences if claim.quote and sentences[n].quote == claim.quote]
    if judged.name in numbers and numbers[judged.name] > same[0]:
        return f"{without_tex(claim.short or claim.part)} (in sentence {same[0]})"
    text = without_tex(claim.words)
    text += f" ({location})" if placed and (location := _location(judged)) else ""
    return f"{text}: {without_tex(claim.short or claim.part)}" if len(same) > 1 else text


def _location(judged: Judged) -> str:
    # Where a claim stands; a theorem without a section has its number in its name.
    section = judged.claim.section.replace("section ", "§").replace("appendix ", "")
    if numbered := re.match(r"([a-z]+)-([\d-]*\d)", judged.name) if not section else None:
        return f"{numbered[1].title()} {numbered[2].replace('-', '.')}"
    return re.sub(r"(\d) (?:to|and) (\d)", r"\1–\2", section) if "Figs. " in section else section


def here(judged: Judged, of: Gathered) -> str:
    """Return what our runs say to a sentence, and the paper's number."""
    claim, result = judged.claim, judged.drawn
    text = about.filled(claim.ours, of)
    if not text and result.comparisons and result.is_log:
        text = f"{readable(result.left)} against {readable(result.right)}"
    return f"{text} (paper: {claim.paper})" if claim.paper else text


def slack(result: Result) -> str:
    """Return the factor between the sides of a statement, or the budgets of a guarantee."""
    if not result.comparisons and result.text:
        spent = "no finite ε" if math.isinf(result.left) else f"ε = {readable(result.left)}"
        return f"{spent}, given {readable(result.right)}"
    if not result.comparisons or not result.is_log:
        return ""
    smallest, typical = (readable(math.exp(-n)) for n in (result.estimate, result.typical))
    return smallest if smallest == typical else f"{smallest}; {typical}"


def ratio(result: Result) -> str:
    """Return the factor between the two sides with its interval, or what has no factor."""
    return "equal" if result.equal and result.low == result.high else about.interval(result)


def notes(judged: Judged, of: Gathered) -> str:
    """Return why a sentence has its verdict: what decides it, and which variants change it."""
    claim, result = judged.claim, judged.drawn
    untested = claim.not_testable[:1].upper() + claim.not_testable[1:]
    parts = [about.filled(text, of) for text in (claim.because, untested) if text]
    if claim.part:
        parts.append(f"Judged: {claim.part}")
    if result.text:
        panel = f" ({result.panel})" if result.panel else ""
        parts.append(f"`{result.text}`, {result.figure}{panel}{about_variants(judged)}")
    return " ".join(f"{part.rstrip('.')}." for part in parts)


def about_variants(judged: Judged) -> str:
    """Return the variants, each alone, that change the verdict."""
    as_drawn, alone = dict(next(iter(judged.results))), list[tuple[str, str, Result]]()
    for combination, result in judged.results.items():
        if len(changed := [pair for pair in combination if pair not in as_drawn.items()]) == 1:
            alone.append((*changed[0], result))
    text = ""
    for verdict in sorted({r.verdict for *_, r in alone} - {judged.drawn.verdict}, key=ORDER):
        for is_against in (False, True):
            others = [
                variant
                for variant in alone
                if variant[2].verdict is verdict
                and bool(judged.paper.against(dict([variant[:2]]))) is is_against
            ]
            standing = " against the text" if is_against else ""
            if others:
                text += f"; **{brief(verdict)}**{standing} with {_by_letter(judged.paper, others)}"
    if UNSURE < judged.drawn.chance < 1 - UNSURE:
        text += f"; chance {about.chance(judged.drawn.chance)}"
    return text


def together(of: Gathered, numbers: Mapping[str, int]) -> str:
    """Return the largest sets of sentences that one implementation was shown to make true.

    The first is of the text, the second has variants against it that published curves fit.
    """
    tested = [judged.name for judged in of.sentences() if judged.results]
    joints = {bool(of.paper.against(joint.combination)): joint for joint in reversed(of.joint)}
    if len(tested) < 2 or not joints:
        return ""
    texts = [_largest(of, joints[k], tested, numbers) for k in sorted(joints)]
    text = ". With variants that published curves fit, ".join(texts)
    return text[0].upper() + text[1:]


def _largest(of: Gathered, most: Joint, tested: Sequence[str], numbers: Mapping[str, int]) -> str:
    missing = ", ".join(str(numbers[name]) for name in tested if name not in most.sentences)
    variants = [
        f"{letter}: {most.combination[name]}"
        for name, letter in letters(of.paper).items()
        if most.combination.get(name, first := next(iter(of.paper.choices[name].variants))) != first
    ]
    text = "the best choices make" if variants else "the choices as drawn make"
    text += f" {len(most.sentences)} of {len(tested)} sentences true"
    text += f" (all but {missing})" * bool(missing) + f": {'; '.join(variants)}" * bool(variants)
    return text + (f" (chance {about.chance(most.chance)})" if most.chance < 1 - UNSURE else "")


def letters(paper: Paper) -> dict[str, str]:
    """Return the letters by which a page refers to choices."""
    return dict(zip(paper.choices, string.ascii_uppercase, strict=False))


def _by_letter(paper: Paper, variants: Iterable[tuple[str, str, Result]]) -> str:
    # Variants with their numbers, by the letter of the choice.
    by_letter: dict[str, list[str]] = {}
    for choice, variant, result in variants:
        number = readable(math.exp(result.estimate)) if result.is_log else readable(result.left)
        by_letter.setdefault(letters(paper)[choice], []).append(f"{variant} ({number})")
    return "; ".join(f"{letter}: {', '.join(numbered)}" for letter, numbered in by_letter.items())


def total(reports: Sequence[Gathered]) -> str:
    """Return how many sentences of how many papers reproduce; those without do not count."""
    sentences = [judged for of in reports for judged in of.sentences()]
    papers_with = sum(bool(of.sentences()) for of in reports)
    verdicts = counted(sorted((judged.verdict for judged in sentences), key=ORDER))
    verdicts = verdicts.replace("depending", "depending on what the text leaves open")
    verdicts = verdicts.replace("explained", "explained by what published curves fit")
    number = f"{plural(len(sentences), 'sentence')} of {plural(papers_with, 'paper')}"
    return (
        f"Of {number}, **{verdicts}**;"
        f" of {sum(bool(judged.claim.part) for judged in sentences)} only a part is judged."
    )


def headlines(reports: Sequence[Gathered]) -> Iterator[str]:
    """Yield the table of papers: a column for every verdict, and the headline's first sentence."""
    counts = [Counter(judged.verdict for judged in of.sentences()) for of in reports]
    columns = sorted({verdict for count in counts for verdict in count}, key=ORDER)
    yield f"|paper |{' |'.join(map(brief, columns))} |in short|"
    yield "|---|" + "---:|" * len(columns) + "---|"
    for of, count in zip(reports, counts, strict=True):
        name, text = of.paper.paper, about.filled(of.paper.headline.text, of).replace("|", "\\|")
        cells = " |".join(str(count[verdict] or "") for verdict in columns)
        yield f"|[{paper(name).short}]({name}.md) |{cells} |{opening(text)[0]}|"
