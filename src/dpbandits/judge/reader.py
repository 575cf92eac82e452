"""Reading of claims files and of the thresholds; every mistake is one line with file and key."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from dpbandits.config import conf_files
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.files import project
from dpbandits.judge import language
from dpbandits.judge.model import Choice, Claim, Erratum, Number, Paper, Part, as_list

TEMPLATE = re.compile(r"\{([a-z][\w-]*)(?::([^{}]*))?\}")  # a number in a text
THRESHOLDS = "conf/thresholds.yaml"
GROUPS = {
    **{"choices": Choice, "sentences": Claim, "statements": Claim, "ours": Claim},
    **{"numbers": Number, "errata": Erratum},
}


class Threshold(Part, frozen=True):
    """Number that this project gives to a word of the papers."""

    value: float
    reason: str


def papers() -> list[str]:
    """Return the papers that have claims."""
    return project.names("claims")


def thresholds() -> dict[str, Threshold]:
    """Return the numbers that this project gives to words of the papers."""
    content = conf_files.read_yaml(THRESHOLDS)
    return {word: _as(Threshold, content[word], THRESHOLDS, word) for word in content}


def words() -> dict[str, Any]:
    """Return the thresholds by the names that comparisons use."""
    return {word.replace(" ", "_"): each.value for word, each in thresholds().items()}


def read(name: str) -> Paper:
    """Return the claims of a paper. Raises UserError for an invalid file."""
    return _read(project.layers(), name)


@cache
def _read(layers: tuple[Path, ...], name: str) -> Paper:
    file = project.member_file("claims", name)
    content = {**conf_files.read_yaml(file)}
    for group, kind in GROUPS.items():
        entries = content.get(group) or ([] if kind is Erratum else {})
        if isinstance(entries, Mapping):
            content[group] = {k: _as(kind, e, file, f"{group}.{k}") for k, e in entries.items()}
        else:
            content[group] = [_as(kind, e, file, f"erratum {i}") for i, e in enumerate(entries, 1)]
    paper: Paper = _as(Paper, content, file, "")
    for key, problem in _problems(paper):
        raise UserError(f"{file}: {key}: {problem}")
    return paper


def _as(kind: Any, content: Any, file: str, key: str) -> Any:
    try:
        return msgspec.convert(content, kind, from_attributes=True)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$")
        if unknown := re.match("Object contains unknown field `(.*)`", text):
            text = f"unknown key {shown(unknown[1])}; {nearest(unknown[1], _keys(kind))}"
        where = f"{key}{place.rstrip('`')}".removeprefix(".")
        raise UserError(f"{file}: {where}: {text[0].lower()}{text[1:]}") from None


def _keys(kind: Any) -> tuple[str, ...]:
    return getattr(kind, "__struct_encode_fields__", ())


def _problems(paper: Paper) -> Iterator[tuple[str, str]]:
    claims = paper.claims()
    for name, choice in paper.choices.items():
        if bool(choice.role) + bool(choice.word) + bool(choice.statistic or choice.figures) != 1:
            yield f"choices.{name}", "needs exactly one of role, word, statistic, figures"
        if not choice.variants:
            yield f"choices.{name}", "needs variants"
        if choice.statistic and not {*choice.variants.values()} <= {"mean", "median"}:
            yield f"choices.{name}", "its variants must be mean or median"
    told = {name for erratum in paper.errata for name in as_list(erratum.statement)}
    for name, claim in claims.items():
        if not (claim.quote or claim.says):
            yield name, "needs the paper's words in quote, or says"
        if not (
            claim.holds or claim.guarantee or claim.not_testable or claim.status or name in told
        ):
            yield name, "needs holds, guarantee, status or not testable"
        for text in (text for part in claim.parts() for text in part.holds):
            try:
                language.sides(text)
            except UserError as error:
                yield name, str(error)
    named = dict.fromkeys(paper.headline.rests_on, "headline")
    for i, erratum in enumerate(paper.errata, 1):
        named |= dict.fromkeys(as_list(erratum.statement), f"erratum {i}")
    for choice in paper.choices.values():
        named |= {name: "choices" for name in as_list(choice.statistic) if name != "all"}
    for name, place in named.items():
        if name not in claims:
            yield place, f"unknown claim {shown(name)}; {nearest(name, claims)}"
    given = {f"numbers.{name}": number.variants for name, number in paper.numbers.items()}
    given |= {name: claim.under for name, claim in claims.items()}
    for place, chosen in given.items():
        for name, variant in chosen.items():
            if variant not in getattr(paper.choices.get(name), "variants", ()):
                yield place, f"unknown variant {shown(variant)} of {shown(name)}"
    texts = {"headline": paper.headline.text, "method": paper.method}
    texts |= {name: f"{claim.because} {claim.ours}" for name, claim in claims.items()}
    texts |= {f"erratum {i}": each.text for i, each in enumerate(paper.errata, 1)}
    for place, text in texts.items():
        for name, _ in TEMPLATE.findall(text):
            if name not in (*paper.numbers, "paper"):
                yield place, f"unknown number {shown(name)}; {nearest(name, paper.numbers)}"


def missing_quotes(paper: Paper, text: str) -> list[str]:
    """Return the claims whose quote is not in the paper's text; formulas are passed over."""
    whole, missing = _letters(text), []
    for name, claim in paper.claims().items():
        words = re.findall(
            r"[A-Za-z][A-Za-z ,.;:'()-]+", re.sub(r"\$.*?\$|\.{3}", "=", claim.quote)
        )
        if not all(_letters(piece) in whole for piece in words):
            missing.append(name)
    return missing


def _letters(text: str) -> str:
    # Exports of web pages have every formula three times: as symbols, as text and in TeX.
    plain = re.sub(r"\\[a-z]+", "", unicodedata.normalize("NFKC", text).lower())
    return re.sub(r"(.{1,40}?)\1\1", r"\1", re.sub(r"[\W\d_]+", "", plain))
