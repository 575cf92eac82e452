"""Results of a paper's claims: runs until they are decided, then a table and its record.

The first stage takes FIRST runs, each later one four times as many for the claims that are still
inconclusive; where an algorithm decides in every round, as many as a number of rounds allows.

The table, figures/reference/claims/<paper>.csv, has a row for every claim and combination, every
number that texts quote and every largest set of sentences; the record beside it says what they rest
on. They are stale when the claims, a threshold, the experiments of a figure or the golden rows of
an algorithm change.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import msgspec
import numpy as np

from dpbandits.checks.comparisons import plural
from dpbandits.config import compose
from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.files import project
from dpbandits.files.atomic import CLAIMS_SCHEMA, check_writable
from dpbandits.files.provenance import provenance
from dpbandits.judge import claims_files
from dpbandits.judge.claims_files import Paper, as_list
from dpbandits.judge.resampled import Planner, Resampler
from dpbandits.judge.variants import Combination, Figures
from dpbandits.judge.verdicts import Judge, Judged, Key, Result, Verdict, combinations
from dpbandits.kernel.errors import UserError, nearest, shown
from dpbandits.kernel.roots import PACKAGE
from dpbandits.run import ExitStatus
from dpbandits.run.runner import complete
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store
from dpbandits.tables import references
from dpbandits.tables.series import written
from dpbandits.tables.statistics import quantile

FOLDER = "figures/reference/claims"
COLUMNS = ("kind", "name", "combination", *Result.__struct_fields__)
SETS = 6  # largest sets of sentences that are listed
GOLDEN = "the golden rows of "
TEXTS = {  # parts of a claims file that no verdict depends on
    *("short", "central", "paper", "ours", "because", "section", "quote", "says", "part", "open"),
    *("source", "headline", "question", "method", "published", "excluded", "errata", "notes"),
}
FIRST, STAGES = 1000, 3  # runs of the first stage, and stages at most
BATCHED = 1.5e-9  # seconds a round; a batched algorithm takes 1e-9 at most, with T = 10^6
ROUNDS = 10**8  # rounds of an experiment at a stage; at a later one experiments share as many
SHARED = 10**10  # as this, if that is more for each


@dataclass(frozen=True)
class Joint:
    """Set of sentences that one implementation was shown to make true."""

    combination: Combination  # of the choices that decide a sentence
    sentences: tuple[str, ...]
    chance: float  # that the paper's own experiments show all of them; nan: unknown


@dataclass(frozen=True)
class Gathered:
    """Results of a paper's claims."""

    paper: Paper
    claims: Mapping[str, Judged]
    numbers: Mapping[str, float] = field(default_factory=dict)
    joint: tuple[Joint, ...] = ()  # the largest sets: of the text, then with what fits
    record: Mapping[str, Any] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # of numbers' intervals

    def sentences(self) -> list[Judged]:
        """Return the sentences of the paper, in the order of the file."""
        return [self.claims[name] for name in self.paper.sentences]


def gather(names: Sequence[str]) -> int:
    """Judge the claims of papers from as many runs as it takes, and write their tables.

    Returns the exit status: FAILED if runs failed. Raises UserError before any run if the claims
    are part of an installed package or their folder cannot be written.
    """
    for name in names:
        folder = project.home("claims", name) / FOLDER
        if folder.is_relative_to(PACKAGE.folder):
            raise UserError(
                f"results on {name} would change the installed package: gather them in a checkout"
                " of dpbandits, or in the project that has the claims"
            )
        check_writable(folder, remedy="")
        paper, figures = claims_files.read_paper(name), project.names("figure")
        for claim in paper.claims():
            for figure in {*paper.figures(claim)} - {*figures}:
                file, near = project.member_file("claims", name), nearest(figure, figures)
                raise UserError(f"{file}: {claim}: unknown figure {shown(figure)}; {near}")
    return max((_gather(claims_files.read_paper(name)) for name in names), default=ExitStatus.DONE)


def _admitted(paper: Paper, figures: Figures) -> dict[str, list[Combination]]:
    # The combinations under which every claim is judged.
    admitted: dict[str, list[Combination]] = {}
    for name, claim in paper.claims().items():
        if claim.holds or claim.guarantee:
            several = combinations(paper, figures.touched(name))
            admitted[name] = [c for c in several if claim.under.items() <= c.items()]
    touched = {choice for several in admitted.values() for c in several for choice in c}
    for choice in {*paper.choices} - touched:
        file = project.member_file("claims", paper.paper)
        raise UserError(f"{file}: choices.{choice}: no claim has its roles, words or figures")
    return admitted


def _gather(paper: Paper) -> int:
    figures, claims = Figures(paper), {name: Judged(paper, name) for name in paper.claims()}
    waiting = _admitted(paper, figures)
    curves = {(n, *c.items()): figures.needed(n, c) for n, cs in waiting.items() for c in cs}
    planned = Planner()
    for name in paper.numbers:
        figures.value(name, planned)
    runs: dict[Experiment, int] = {}
    for curve in (curve for needed in (*curves.values(), planned.used) for curve in needed):
        for experiment in curve.played:
            runs[experiment] = max(curve.runs, runs.get(experiment, 0))
    _, settings = compose.load(paper.figures()[0], [])
    store, wanted = Store(settings.cache), {*runs}
    title, folder = f"claims of {paper.paper}", settings.out / "claims"
    # The figures' runs tell what a run costs.
    if complete(runs, settings, title, folder, store).failures:
        return ExitStatus.FAILED
    for stage in range(STAGES):
        more = _more_runs(runs, wanted, store, stage)
        if more == runs and stage:
            break
        runs = more
        if complete(runs, settings, title, folder, store).failures:
            return ExitStatus.FAILED
        theirs = Resampler(store, runs, paper.runs or 1)
        judge, wanted = Judge(figures, Resampler(store, runs), theirs, stage), set()
        for name, several in waiting.items():
            judged = judge.judge(claims[name], several)
            undecided = [
                dict(combination)
                for combination, result in judged.results.items()
                if result.verdict is Verdict.INCONCLUSIVE
            ]
            waiting[name] = several if undecided else []
            for curve in (curve for c in undecided for curve in curves[name, *c.items()]):
                wanted |= {*curve.played}
    ours = Resampler(store, runs)
    values = {name: figures.value(name, ours) for name in paper.numbers}
    numbers = {name: float(of[0]) for name, of in values.items()}
    ends = {n: (float(quantile(v, 0.025)), float(quantile(v, 0.975))) for n, v in values.items()}
    rests_on = basis(
        paper, map(figures.spec, paper.figures()), {experiment.member for experiment in runs}
    )
    record = {"schema": CLAIMS_SCHEMA, "paper": paper.paper, "basis": rests_on, **provenance()}
    joint = [largest_sets(claims.values(), only_text=only) for only in (True, False)]
    write(Gathered(paper, claims, numbers, (*joint[0], *joint[1]), record, ends))
    total = f"{plural(len(claims), 'claim')} judged from {sum(runs.values()):,} runs"
    print(f"{paper.paper}: {total} of {len(runs):,} experiments", flush=True)
    return ExitStatus.DONE


def _more_runs(
    runs: Mapping[Experiment, int], wanted: Collection[Experiment], store: Store, stage: int
) -> dict[Experiment, int]:
    more = {**runs}
    horizons = {e: rounds for e in runs if (rounds := kinds.words(e).rounds)}
    paces: dict[str, list[float]] = {}
    for experiment, horizon in horizons.items():
        seconds = store.seconds(experiment) / max(len(store.covered(experiment)), 1)
        paces.setdefault(experiment.member, []).append(seconds / horizon)
    # The first experiment was compiled, too, and some end in a start phase that takes no time.
    pace = {member: median(measured) for member, measured in paces.items()}
    rounds = max(ROUNDS, SHARED // max(len(wanted), 1)) if stage else ROUNDS
    for experiment in (experiment for experiment in horizons if experiment in wanted):
        number = FIRST * 4**stage
        if pace[experiment.member] >= BATCHED:
            number = min(number, rounds // horizons[experiment])
        more[experiment] = max(number, runs[experiment])
    return more


def largest_sets(claims: Iterable[Judged], only_text: bool) -> tuple[Joint, ...]:
    """Return the largest sets of sentences that one implementation was shown to make true.

    With `only_text` the implementation is of the text; otherwise it has a variant against it.
    """
    sentences = [j for j in claims if j.name in j.paper.sentences and j.results]
    sets: dict[tuple[str, ...], Joint] = {}
    for combination in _deciding(sentences):
        if only_text is bool(combination and sentences[0].paper.against(combination)):
            continue
        keys = [(judged, judged.key(combination)) for judged in sentences]
        held = [(j, key) for j, key in keys if j.results[key].verdict is Verdict.REPRODUCED]
        shown = [j.shown[key] for j, key in held if j.shown[key].size]
        chance = float(np.all(shown, axis=0).mean()) if shown else math.nan
        names = tuple(judged.name for judged, _ in held)
        sets.setdefault(names, Joint(combination, names, chance))
    kept = [joint for names, joint in sets.items() if not any({*names} < {*o} for o in sets)]
    return tuple(sorted(kept, key=lambda joint: -len(joint.sentences))[:SETS])


def joint_table(gathered: Gathered) -> bytes:
    """Return combinations against sentences as CSV: +, - or ? for every sentence.

    Those of the text come first, then those with a variant that a published curve fits against it.
    """
    sentences = [judged for judged in gathered.sentences() if judged.results]
    choices, rows = [*next(iter(_deciding(sentences)), ())], []
    every = sorted(_deciding(sentences), key=lambda c: bool(gathered.paper.against(c)))
    for combination in every:
        verdicts = [judged.results[judged.key(combination)].verdict for judged in sentences]
        signs = [{Verdict.REPRODUCED: "+", Verdict.NOT: "-"}.get(v, "?") for v in verdicts]
        standing = "fits" if gathered.paper.against(combination) else "text"
        rows.append([standing, *combination.values(), *signs, signs.count("+")])
    names = (judged.name for judged in sentences)
    return written(["standing", *choices, *names, "reproduced"], rows)


def _deciding(sentences: Sequence[Judged]) -> list[Combination]:
    # Combinations of the choices that turn a verdict on a sentence.
    if not sentences:
        return []
    turning = {choice for judged in sentences for choice in judged.turned_by()}
    paper = sentences[0].paper
    return combinations(paper, [choice for choice in paper.choices if choice in turning])


def misfits(gathered: Gathered) -> Iterator[str]:
    """Yield a line for every statement that `against` names and that its variant does not fit."""
    for name, choice in gathered.paper.choices.items():
        for variant, fits in choice.against.items():
            for claim in as_list(fits):
                judged, paper = gathered.claims[claim], gathered.paper.paper
                where = f"{project.member_file('claims', paper)}: choices.{name}.against"
                if not any((name, variant) in key for key in judged.results):
                    anew = f"`dpbandits report --gather {paper}`"
                    yield f"{where}: {claim} is not yet judged with {shown(variant)}: {anew}"
                elif (name, variant) not in judged.fitting:
                    yield f"{where}: {shown(variant)} does not fit {claim} with all else as drawn"


def write(gathered: Gathered) -> None:
    """Write the table and its record into the layer that has the paper's claims."""
    reproduced, entries = Verdict.REPRODUCED, list[tuple[str, str, Any, Result]]()
    for name, judged in gathered.claims.items():
        first: Key = ()  # the first combination; the others are written as they differ from it
        for key, result in judged.results.items():
            entries.append(("claim", name, [pair for pair in key if pair not in first], result))
            first = first or key
    for name, value in gathered.numbers.items():
        low, high = gathered.ends.get(name, (math.nan, math.nan))
        result = Result(verdict=reproduced, left=value, low=low, high=high)
        entries.append(("number", name, (), result))
    for joint in gathered.joint:
        result = Result(verdict=reproduced, text=" ".join(joint.sentences), chance=joint.chance)
        entries.append(("joint", "", joint.combination, result))
    rows = []
    for kind, name, combination, result in entries:
        values = msgspec.to_builtins(result, builtin_types=(float,)).values()
        numbers = (f"{v:.7g}" if isinstance(v, float) else v for v in values)
        rows.append([kind, name, json.dumps(dict(combination), ensure_ascii=False), *numbers])
    name = gathered.paper.paper
    file = project.home("claims", name) / FOLDER / f"{name}.csv"
    references.commit(file, written(COLUMNS, rows), gathered.record)


def read_results(name: str) -> Gathered | None:
    """Return the committed results of a paper; None if there are none.

    Raises UserError for a table that was changed or cannot be read.
    """
    paper = claims_files.read_paper(name)
    file = project.home("claims", name) / FOLDER / f"{name}.csv"
    remedy = f"`dpbandits report --gather {name}` writes it"
    if (table := references.committed(file, remedy)) is None:
        return None
    rows, record = table
    claims = {claim: Judged(paper, claim) for claim in paper.claims()}
    numbers, ends, joint = dict[str, float](), dict[str, tuple[float, float]](), list[Joint]()
    try:
        for row in rows:
            result = msgspec.convert(row, Result, strict=False)
            combination = json.loads(row["combination"])
            if row["kind"] == "joint":
                joint.append(Joint(combination, tuple(result.text.split()), result.chance))
            elif row["kind"] == "number":
                numbers[row["name"]], ends[row["name"]] = result.left, (result.low, result.high)
            elif row["name"] in claims:  # not of a claim that was removed since
                results = claims[row["name"]].results
                first = dict(next(iter(results), ()))
                results[tuple((first | combination).items())] = result
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise UserError(f"{file} cannot be read: {error}; {remedy}") from None
    return Gathered(paper, claims, numbers, tuple(joint), record, ends)


def basis(paper: Paper, specs: Iterable[FigureSpec], algorithms: Iterable[str]) -> dict[str, str]:
    """Return the digests of what the results of a paper rest on, by the names of the parts."""
    text = json.dumps(msgspec.to_builtins(paper))
    judged = json.loads(text, object_hook=lambda d: {k: d[k] for k in d if k not in TEXTS})
    return {
        "the claims": references.digest(judged),
        "the thresholds": references.digest(claims_files.thresholds()),
        **references.basis(specs, algorithms),
    }


def stale(gathered: Gathered, specs: Iterable[FigureSpec]) -> str:
    """Return what has changed since the results were gathered; '' if nothing.

    `specs` are figures as their files define them. Golden rows are at hand in a checkout alone.
    """
    before: Mapping[str, str] = gathered.record["basis"]
    algorithms = [part.removeprefix(GOLDEN) for part in before if part.startswith(GOLDEN)]
    return references.changed(before, basis(gathered.paper, specs, algorithms))
