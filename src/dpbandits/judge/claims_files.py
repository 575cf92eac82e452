"""Claims files, conf/claims/<paper>.yaml, and the thresholds: their schema, as frozen values.

Every mistake in them is one line with file and key.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import msgspec

from dpbandits.config import conf_files
from dpbandits.files import project
from dpbandits.judge import language
from dpbandits.kernel.errors import UserError, nearest, shown

TEMPLATE = re.compile(r"\{([a-z][\w-]*)(?::([^{}]*))?\}")  # a number in a text
THRESHOLDS = "conf/thresholds.yaml"
Names = str | list[str]
In = str | list[str] | dict[str, Names]  # figures, or the panels of each figure
ERRATA = {  # status of an erratum: that of the statements that it concerns
    "misprint": "",
    "gap in a proof": "proof incomplete",
    "false for some parameters": "contradicted",
    "false": "contradicted",
}


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Part of a claims file; unknown keys are refused."""


class Threshold(Part, frozen=True):
    """Number that this project gives to a word of the papers."""

    value: float
    reason: str


class Choice(Part, frozen=True, rename={"opens": "open", "open_in": "open in"}):
    """Choice of a paper, with variants; the first one is of the text, and the figures draw it.

    A variant is of the text if the paper states it for the figure, or states nothing that excludes
    it. Only these decide a verdict; the others may explain one.
    """

    variants: dict[str, Any]
    against: dict[str, Names] = {}  # variants against the text: own statements that they fit
    opens: str = ""  # why the text leaves it open, and what is drawn
    open_in: Names = []  # figures; elsewhere the first variant holds
    role: Names = []  # curves whose overrides the variants are
    figures: Names = []  # or figures
    word: Names = []  # words whose values the variants are
    statistic: Names = []  # claims whose statistic is open, or `all`


class Comparisons(Part, frozen=True, rename={"figures": "in"}):
    """Comparisons in figures, all of which must hold."""

    figures: In
    holds: list[str]


class Claim(Part, frozen=True, rename={"figures": "in", "not_testable": "not testable"}):
    """Sentence, statement (a theorem or a guarantee) or remark of this project."""

    quote: str = ""  # the paper's words
    says: str = ""  # ours
    section: str = ""
    short: str = ""  # the claim in a few words, for tables and pictures
    central: bool = False
    figures: In = []
    holds: list[str | Comparisons] = []
    under: dict[str, str] = {}  # variants of choices without which the claim makes no sense
    guarantee: Names = []  # curves whose releases compose to at most what they are given
    paper: str = ""  # the paper's number
    ours: str = ""  # ours in the same unit, a template
    because: str = ""  # a template
    part: str = ""  # what is judged, if it is only a part of the sentence
    not_testable: str = ""  # why
    status: (  # of a statement that no run decides
        Literal["", "vacuous here", "hypotheses not met", "not computable", "no bound known"]
        | Literal["proof incomplete"]
    ) = ""

    @property
    def words(self) -> str:
        """Return the quotation, with single marks for quotations in it, or what is said instead."""
        within = self.quote.translate({0x201C: "‘", 0x201D: "’"})
        return f"“{within}”" if within else self.says

    def parts(self) -> list[Comparisons]:
        """Return the comparisons with the figures in which they are made."""
        texts = [text for text in self.holds if isinstance(text, str)]
        parts = [part for part in self.holds if isinstance(part, Comparisons)]
        return [Comparisons(figures=self.figures, holds=texts), *parts] if texts else parts


class Erratum(Part, frozen=True):
    """Error of a paper; its status is that of the statements that it concerns."""

    where: str
    status: Literal["misprint", "gap in a proof", "false for some parameters", "false"]
    text: str
    corrected: str = ""
    statement: Names = []


class Number(Part, frozen=True, rename={"figures": "in", "variants": "with"}):
    """Number that texts quote, computed from runs."""

    figures: In
    value: str
    variants: dict[str, str] = {}


class Headline(Part, frozen=True, rename={"rests_on": "rests on"}):
    """First sentences of a report, and the verdicts on which they rest."""

    text: str
    rests_on: dict[str, str] = {}


class Paper(Part, frozen=True):
    """Content of a claims file: on a paper, or on a question of our own, with `ours` alone."""

    paper: str  # its key; of a question, the name of the file
    source: str  # what of the paper was available
    runs: int | None  # of the paper's own experiments; None: not stated
    headline: Headline
    question: str = ""
    method: str = ""
    published: str = ""  # what the paper's own curves tell
    choices: dict[str, Choice] = {}
    excluded: dict[str, str] = {}
    sentences: dict[str, Claim] = {}
    statements: dict[str, Claim] = {}
    ours: dict[str, Claim] = {}
    errata: list[Erratum] = []
    notes: list[str] = []  # details of our implementation that change no verdict
    numbers: dict[str, Number] = {}

    def claims(self) -> dict[str, Claim]:
        """Return all claims by name."""
        return {**self.sentences, **self.statements, **self.ours}

    def figures(self, claim: str = "") -> list[str]:
        """Return the figures of a claim, or of all claims and numbers."""
        claims = [self.claims()[claim]] if claim else [*self.claims().values()]
        scopes: list[In] = [of.figures for of in claims]
        scopes += [part.figures for of in claims for part in of.parts()]
        scopes += [] if claim else [number.figures for number in self.numbers.values()]
        return [*dict.fromkeys(figure for scope in scopes for figure in panels_of(scope))]

    def is_about_published(self, claim: str) -> bool:
        """Return True for an own statement on a published curve."""
        return claim in self.ours and claim.startswith("published")

    def against(self, combination: Mapping[str, str]) -> dict[str, str]:
        """Return the variants of a combination that are against the text, by their choices."""
        against = {name: choice.against for name, choice in self.choices.items()}
        return {c: v for c, v in combination.items() if v in against.get(c, {})}


GROUPS: dict[str, type[Part]] = {
    **dict.fromkeys(("sentences", "statements", "ours"), Claim),
    **{"choices": Choice, "numbers": Number},
}


papers = partial(project.names, "claims")  # those that have claims


def thresholds() -> dict[str, Any]:
    """Return the numbers that this project gives to words, by the names that comparisons use."""
    entries = conf_files.read_yaml(THRESHOLDS).items()
    return {w.replace(" ", "_"): _as(Threshold, of, THRESHOLDS, w).value for w, of in entries}


def read_paper(name: str) -> Paper:
    """Return the claims of a paper. Raises UserError for an invalid file."""
    file = project.member_file("claims", name)
    content = {**conf_files.read_yaml(file)}
    for group, kind in GROUPS.items():
        entries = content[group] = content.get(group) or {}
        if isinstance(entries, Mapping):
            content[group] = {k: _as(kind, e, file, f"{group}.{k}") for k, e in entries.items()}
    errata = enumerate(content.get("errata") or [], 1)
    content["errata"] = [_as(Erratum, entry, file, f"erratum {i}") for i, entry in errata]
    paper: Paper = _as(Paper, content, file, "")
    for key, problem in _problems(paper):
        raise UserError(f"{file}: {key}: {problem}")
    return paper


def naming(figure: str) -> Iterator[Paper]:
    """Yield the claims of the papers whose files name a figure."""
    for name in papers():
        file = project.find(project.member_file("claims", name))
        with suppress(OSError):  # `read_paper` reports it
            if figure.encode() not in file.read_bytes():
                continue
        yield read_paper(name)


def _as(kind: type[Part], content: Any, file: str, key: str) -> Any:
    try:
        return msgspec.convert(content, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        if unknown := re.match("Object contains unknown field `(.*)`", text):
            valid = kind.__struct_encode_fields__
            text = f"unknown key {shown(unknown[1])}; {nearest(unknown[1], valid)}"
        if missing := re.match("Object missing required field `(.*)`", text):
            needed = [f.encode_name for f in msgspec.structs.fields(kind) if f.required]
            text = f"{missing[1]} is missing"
            text += f"; needed are {', '.join(needed)}" * (not path)  # of the part itself
        where = f"{key}{path.rstrip('`')}".removeprefix(".")
        problem = f"{text[0].lower()}{text[1:]}"
        raise UserError(": ".join(filter(None, (file, where, problem)))) from None


def _problems(paper: Paper) -> Iterator[tuple[str, str]]:
    # What the types of the schema cannot say: the key and its problem.
    in_errata = {name for erratum in paper.errata for name in as_list(erratum.statement)}
    for name, choice in paper.choices.items():
        key = f"choices.{name}"
        if bool(choice.role) + bool(choice.word) + bool(choice.statistic or choice.figures) != 1:
            yield key, "needs exactly one of role, word, statistic, figures"
        if not choice.variants:
            yield key, "needs variants"
        if choice.statistic and not {*choice.variants.values()} <= {"mean", "median"}:
            yield key, "its variants must be mean or median"
        if choice.open_in and not (choice.role or choice.figures):
            yield key, "`open in` needs role or figures"
        for figure in sorted({*as_list(choice.open_in)} - {*(figures := paper.figures())}):
            yield f"{key}.open in", f"no claim is about {shown(figure)}; {nearest(figure, figures)}"
        yield from _standing(paper, name, choice)
    for name, claim in paper.claims().items():
        if not (claim.quote or claim.says):
            yield name, "needs the paper's words in quote, or says"
        judged = claim.holds or claim.guarantee or claim.not_testable or claim.status
        if not (judged or name in in_errata):
            yield name, "needs holds, guarantee, status or not testable"
        for text in (text for part in claim.parts() for text in part.holds):
            try:
                language.sides(text)
            except UserError as error:
                yield name, str(error)
    yield from _unknown(paper)


def _unknown(paper: Paper) -> Iterator[tuple[str, str]]:
    # Names that are nowhere defined: the key that has one and the nearest that is.
    claims, errata = paper.claims(), {f"erratum {i}": e for i, e in enumerate(paper.errata, 1)}
    mentions = [("headline", name) for name in paper.headline.rests_on]
    mentions += [(key, name) for key, e in errata.items() for name in as_list(e.statement)]
    mentions += [("choices", n) for c in paper.choices.values() for n in as_list(c.statistic)]
    for key, name in mentions:
        if name not in claims and (key, name) != ("choices", "all"):
            yield key, f"unknown claim {shown(name)}; {nearest(name, claims)}"
    chosen = [(name, claim.under) for name, claim in claims.items()]
    chosen += [(f"numbers.{name}", number.variants) for name, number in paper.numbers.items()]
    for key, variants in chosen:
        for name, variant in variants.items():
            if variant not in getattr(paper.choices.get(name), "variants", ()):
                yield key, f"unknown variant {shown(variant)} of {shown(name)}"
    texts = [("headline", paper.headline.text), ("method", paper.method)]
    texts += [("published", paper.published), *(("notes", note) for note in paper.notes)]
    texts += [(name, f"{claim.because} {claim.ours}") for name, claim in claims.items()]
    texts += [(key, f"{erratum.text} {erratum.corrected}") for key, erratum in errata.items()]
    texts += [(f"excluded.{name}", text) for name, text in paper.excluded.items()]
    texts += [(f"choices.{name}.open", choice.opens) for name, choice in paper.choices.items()]
    for key, text in texts:
        for name, _ in TEMPLATE.findall(text):
            if name not in (*paper.numbers, "paper"):
                yield key, f"unknown number {shown(name)}; {nearest(name, paper.numbers)}"


def _standing(paper: Paper, name: str, choice: Choice) -> Iterator[tuple[str, str]]:
    for variant, fits in choice.against.items():
        key = f"choices.{name}.against"
        if variant not in choice.variants:
            yield key, f"unknown variant {shown(variant)}; {nearest(variant, choice.variants)}"
        elif variant == next(iter(choice.variants)):
            yield key, f"the first variant, {shown(variant)}, must be of the text"
        elif not as_list(fits):
            yield key, f"{shown(variant)} needs own statements on published curves that it fits"
        published = [claim for claim in paper.ours if paper.is_about_published(claim)]
        for claim in {*as_list(fits)} - {*published}:
            unknown = f"unknown statement on a published curve {shown(claim)}"
            yield key, f"{unknown}; {nearest(claim, published)}"


def as_list(names: Names) -> list[str]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def panels_of(figures: In) -> dict[str, list[str]]:
    """Return figures with the letters of their panels; no letters: all panels."""
    if isinstance(figures, dict):
        return {figure: as_list(letters) for figure, letters in figures.items()}
    return {figure: [] for figure in as_list(figures)}
