"""Committed results of a paper's claims: figures/reference/claims/<paper>.csv and .json.

The table has a row for every claim and combination, every number that texts quote and every largest
set of sentences; the record beside it says what they rest on. They are stale when the claims, a
threshold, the experiments of a figure or the golden rows of an algorithm change.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from dpbandits.core.errors import UserError
from dpbandits.files import project
from dpbandits.judge import reader
from dpbandits.judge.model import Paper
from dpbandits.judge.verdicts import Judged, Result, Verdict, combinations
from dpbandits.spec.figure import FigureSpec
from dpbandits.tables import committed
from dpbandits.tables.series import written

FOLDER = "figures/reference/claims"
COLUMNS = ("kind", "name", "combination", *Result.__struct_fields__)
SETS = 6  # largest sets of sentences that are listed
TEXTS = {  # parts of a claims file that no verdict depends on
    *("short", "central", "paper", "ours", "because", "section", "quote", "says", "part", "open"),
    *("source", "headline", "method", "excluded", "errata"),
}


@dataclass(frozen=True)
class Joint:
    """Set of sentences that one implementation was shown to make true."""

    combination: Mapping[str, str]  # of the choices that decide a sentence
    sentences: tuple[str, ...]
    chance: float  # that the paper's own experiments show all of them; nan: unknown


@dataclass(frozen=True)
class Gathered:
    """Results of a paper's claims."""

    paper: Paper
    claims: Mapping[str, Judged]
    numbers: Mapping[str, float] = field(default_factory=dict)
    joint: tuple[Joint, ...] = ()  # the largest sets
    record: Mapping[str, Any] = field(default_factory=dict)

    def sentences(self) -> list[Judged]:
        """Return the sentences of the paper, in the order of the file."""
        return [self.claims[name] for name in self.paper.sentences]


def largest_sets(claims: Iterable[Judged]) -> tuple[Joint, ...]:
    """Return the largest sets of sentences that one implementation was shown to make true."""
    sentences = [judged for judged in claims if judged.is_sentence and judged.results]
    sets: dict[tuple[str, ...], Joint] = {}
    for combination in _combinations(sentences):
        held = [j for j in sentences if j.at(combination).verdict is Verdict.REPRODUCED]
        shown = [s for j in held if (s := j.shown[j.under(combination)]).size]
        chance = (
            float(sum(map(all, zip(*shown, strict=True))) / len(shown[0])) if shown else math.nan
        )
        names = tuple(judged.name for judged in held)
        sets.setdefault(names, Joint(combination, names, chance))
    kept = [joint for names, joint in sets.items() if not any({*names} < {*o} for o in sets)]
    return tuple(sorted(kept, key=lambda joint: -len(joint.sentences))[:SETS])


def joint_table(gathered: Gathered) -> bytes:
    """Return combinations against sentences as CSV: +, - or ? for every sentence."""
    sentences = [judged for judged in gathered.sentences() if judged.results]
    every = _combinations(sentences)
    signs = {Verdict.REPRODUCED: "+", Verdict.NOT: "-"}
    rows = [[signs.get(j.at(c).verdict, "?") for j in sentences] for c in every]
    head = [*(every[0] if every else ()), *(judged.name for judged in sentences), "reproduced"]
    pairs = zip(every, rows, strict=True)
    return written(head, ([*c.values(), *row, row.count("+")] for c, row in pairs))


def _combinations(sentences: list[Judged]) -> list[Mapping[str, str]]:
    # Of the choices that turn a verdict on a sentence.
    if not sentences:
        return []
    turning = {choice for judged in sentences for choice in judged.turned_by()}
    paper = sentences[0].paper
    return combinations(paper, [choice for choice in paper.choices if choice in turning])


def write(gathered: Gathered) -> None:
    """Write the table and its record into the layer that has the paper's claims."""
    rows: list[tuple[str, str, Any, Result]] = [
        ("claim", name, combination, result)
        for name, judged in gathered.claims.items()
        for combination, result in judged.results.items()
    ]
    for name, value in gathered.numbers.items():
        rows.append(("number", name, (), Result(verdict=Verdict.REPRODUCED, left=value)))
    for joint in gathered.joint:
        text, chance = " ".join(joint.sentences), joint.chance
        result = Result(verdict=Verdict.REPRODUCED, text=text, chance=chance)
        rows.append(("joint", "", joint.combination, result))
    name = gathered.paper.paper
    file = project.home("claims", name) / FOLDER / f"{name}.csv"
    committed.write(file, written(COLUMNS, (_row(*row) for row in rows)), gathered.record)
    _read.cache_clear()


def _row(kind: str, name: str, combination: Any, result: Result) -> list[Any]:
    values = msgspec.to_builtins(result, builtin_types=(float,))
    of = (f"{v:.7g}" if isinstance(v, float) else v for v in values.values())
    return [kind, name, json.dumps(dict(combination), ensure_ascii=False), *of]


def read(name: str) -> Gathered | None:
    """Return the committed results of a paper; None if there are none.

    Raises UserError for a table that was changed or cannot be read.
    """
    return _read(project.layers(), name)


@cache
def _read(layers: tuple[Path, ...], name: str) -> Gathered | None:
    paper, file = reader.read(name), project.home("claims", name) / FOLDER / f"{name}.csv"
    remedy = f"`dpbandits report --gather {name}` writes it"
    found = committed.read(file, remedy)
    if found is None:
        return None
    rows, record = found
    try:
        claims = {claim: Judged(paper, claim) for claim in paper.claims()}
        numbers, joint = dict[str, float](), list[Joint]()
        for row in rows:
            result = msgspec.convert(row, Result, strict=False)
            combination = json.loads(row["combination"])
            if row["kind"] == "joint":
                joint.append(Joint(combination, tuple(result.text.split()), result.chance))
            elif row["kind"] == "number":
                numbers[row["name"]] = result.left
            elif row["name"] in claims:  # not of a claim that was removed since
                claims[row["name"]].results[tuple(combination.items())] = result
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise UserError(f"{file} cannot be read: {error}; {remedy}") from None
    return Gathered(paper, claims, numbers, tuple(joint), record)


def basis(paper: Paper, specs: Iterable[FigureSpec], algorithms: Iterable[str]) -> dict[str, str]:
    """Return the digests of what the results of a paper rest on, by the names of the parts."""
    return {
        "the claims": committed.digest(_without_texts(msgspec.to_builtins(paper))),
        "the thresholds": committed.digest(reader.words()),
        **committed.basis(specs, algorithms),
    }


def stale(gathered: Gathered, specs: Iterable[FigureSpec]) -> str:
    """Return what has changed since the results were gathered; '' if nothing.

    `specs` are figures as their files define them. Golden rows are at hand in a checkout alone.
    """
    before: Mapping[str, str] = gathered.record["basis"]
    prefix = "the golden rows of "
    algorithms = [part.removeprefix(prefix) for part in before if part.startswith(prefix)]
    return committed.changed(before, basis(gathered.paper, specs, algorithms))


def _without_texts(content: Any) -> Any:
    if isinstance(content, list):
        return [_without_texts(each) for each in content]
    if not isinstance(content, dict):
        return content
    return {key: _without_texts(each) for key, each in content.items() if key not in TEXTS}
