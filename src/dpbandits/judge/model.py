"""Claims of a paper, conf/claims/<paper>.yaml, as frozen values: the schema of the file."""

from typing import Any, Literal

import msgspec

Names = str | list[str]
In = str | list[str] | dict[str, Names]  # figures, or the panels of each figure
ERRATA = {  # status of an erratum: that of the statements that it concerns
    "misprint": "",
    "gap in a proof": "proof incomplete",
    "false in a corner": "contradicted",
    "false": "contradicted",
}


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Part of a claims file; unknown keys are refused."""


class Choice(Part, frozen=True, rename={"opens": "open"}):
    """What a paper leaves open; the first variant is the one that the figures draw."""

    variants: dict[str, Any]
    opens: str = ""  # why the text leaves it open, and what is drawn
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

    def parts(self) -> list[Comparisons]:
        """Return the comparisons with the figures in which they are made."""
        own = [text for text in self.holds if isinstance(text, str)]
        parts = [part for part in self.holds if isinstance(part, Comparisons)]
        return [Comparisons(figures=self.figures, holds=own), *parts] if own else parts


class Erratum(Part, frozen=True):
    """Error of a paper; its status is that of the statements that it concerns."""

    where: str
    status: Literal["misprint", "gap in a proof", "false in a corner", "false"]
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
    """Content of a claims file."""

    paper: str
    source: str  # what of the paper was available
    runs: int | None  # of the paper's own experiments; None: not stated
    headline: Headline
    method: str = ""
    choices: dict[str, Choice] = {}
    excluded: dict[str, str] = {}
    sentences: dict[str, Claim] = {}
    statements: dict[str, Claim] = {}
    ours: dict[str, Claim] = {}
    errata: list[Erratum] = []
    numbers: dict[str, Number] = {}

    def claims(self) -> dict[str, Claim]:
        """Return all claims by name."""
        return {**self.sentences, **self.statements, **self.ours}

    def figures(self, claim: str = "") -> list[str]:
        """Return the figures of a claim, or of all claims and numbers."""
        claims = [self.claims()[claim]] if claim else [*self.claims().values()]
        places: list[In] = [of.figures for of in claims]
        places += [part.figures for of in claims for part in of.parts()]
        places += [] if claim else [number.figures for number in self.numbers.values()]
        return [*dict.fromkeys(figure for place in places for figure in panels_of(place))]


def as_list(names: Names) -> list[str]:
    """Return one name or several as a list."""
    return [names] if isinstance(names, str) else list(names)


def panels_of(figures: In) -> dict[str, list[str]]:
    """Return figures with the letters of their panels; no letters: all panels."""
    if isinstance(figures, dict):
        return {figure: as_list(letters) for figure, letters in figures.items()}
    return {figure: [] for figure in as_list(figures)}
