"""Gathering of the results of a paper's claims: runs until claims are decided, then the table.

The first look takes FIRST runs, each later one four times as many for the claims that are still
inconclusive; where an algorithm decides in every round, as many as a number of rounds allows.
"""

from collections.abc import Collection, Mapping, Sequence

from dpbandits.config import compose
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.roots import PACKAGE
from dpbandits.experiments import Experiment
from dpbandits.files import project
from dpbandits.files.atomic import CLAIMS_SCHEMA
from dpbandits.files.provenance import provenance
from dpbandits.judge import claims_files, claims_table
from dpbandits.judge.claims_files import Paper
from dpbandits.judge.resampled import Resampler
from dpbandits.judge.variants import Combination, Figures
from dpbandits.judge.verdicts import Judge, Judged, Verdict, combinations
from dpbandits.run import ExitStatus
from dpbandits.run.runner import complete
from dpbandits.store.blocks import Store

FIRST, LOOKS = 1000, 3  # runs of the first look, and looks at most
BATCHED = 0.4e-9  # seconds a round: an algorithm that decides in every round takes five times that
ROUNDS = 10**8  # rounds of an experiment at a look; at a later look experiments share as many
SHARED = 10**10  # as this, if that is more for each


def gather(names: Sequence[str]) -> int:
    """Judge the claims of papers from as many runs as it takes, and write their tables.

    Returns the exit status: FAILED if runs failed. Raises UserError before any run if the claims
    are part of an installed package.
    """
    for name in names:
        if (project.home("claims", name) / claims_table.FOLDER).is_relative_to(PACKAGE.folder):
            raise UserError(
                f"results on {name} would change the installed package: gather them in a checkout"
                " of dpbandits, or in the project that has the claims"
            )
        paper, figures = claims_files.read(name), project.names("figure")
        for claim in paper.claims():
            for figure in {*paper.figures(claim)} - {*figures}:
                file, near = project.member_file("claims", name), nearest(figure, figures)
                raise UserError(f"{file}: {claim}: unknown figure {shown(figure)}; {near}")
    return max((_gather(claims_files.read(name)) for name in names), default=ExitStatus.DONE)


def _admitted(paper: Paper, figures: Figures) -> dict[str, list[Combination]]:
    # The combinations under which every claim is judged.
    found: dict[str, list[Combination]] = {}
    for name, claim in paper.claims().items():
        if claim.holds or claim.guarantee:
            several = combinations(paper, figures.touched(name))
            found[name] = [c for c in several if claim.under.items() <= c.items()]
    touched = {choice for several in found.values() for c in several for choice in c}
    for choice in {*paper.choices} - touched:
        file = project.member_file("claims", paper.paper)
        raise UserError(f"{file}: choices.{choice}: no claim has its roles, words or figures")
    return found


def _gather(paper: Paper) -> int:
    figures, claims = Figures(paper), {name: Judged(paper, name) for name in paper.claims()}
    waiting = _admitted(paper, figures)
    curves = {(n, *c.items()): figures.needed(n, c) for n, cs in waiting.items() for c in cs}
    planned = Resampler(None, {})
    for name in paper.numbers:
        figures.value(name, planned)
    runs: dict[Experiment, int] = {}
    for curve in (curve for needed in (*curves.values(), planned.used) for curve in needed):
        for cell in curve.played:
            runs[cell] = max(curve.runs, runs.get(cell, 0))
    _, settings = compose.load(paper.figures()[0], [])
    store, folder = Store(settings.cache), settings.out / "claims"

    def played() -> bool:
        title = f"claims of {paper.paper}"
        return not complete(runs, settings, title, folder, store).failures

    if not played():  # the figures' own runs tell what a run costs
        return ExitStatus.FAILED
    wanted = {*runs}
    for look in range(LOOKS):
        more = _more_runs(runs, wanted, store, look)
        if more == runs and look:
            break
        runs = more
        if not played():
            return ExitStatus.FAILED
        theirs = Resampler(store, runs, paper.runs or 1)
        judge, wanted = Judge(figures, Resampler(store, runs), theirs, look), set()
        for name, several in waiting.items():
            judged = judge.judge(claims[name], several)
            waiting[name] = [
                dict(combination)
                for combination, result in judged.results.items()
                if result.verdict is Verdict.INCONCLUSIVE
            ]
            for c in waiting[name]:
                wanted |= {cell for curve in curves[name, *c.items()] for cell in curve.played}
    ours = Resampler(store, runs)
    numbers = {name: figures.value(name, ours) for name in paper.numbers}
    specs, algorithms = map(figures.spec, paper.figures()), {cell.member for cell in runs}
    basis = claims_table.basis(paper, specs, algorithms)
    record = {"schema": CLAIMS_SCHEMA, "paper": paper.paper, "basis": basis, **provenance()}
    joint = claims_table.largest_sets(claims.values())
    claims_table.write(claims_table.Gathered(paper, claims, numbers, joint, record))
    total = f"{len(claims)} claims judged from {sum(runs.values()):,} runs"
    print(f"{paper.paper}: {total} of {len(runs):,} experiments", flush=True)
    return ExitStatus.DONE


def _more_runs(
    runs: Mapping[Experiment, int], wanted: Collection[Experiment], store: Store, look: int
) -> dict[Experiment, int]:
    more = {**runs}
    horizons = {cell: cell.rounds for cell in runs if cell.rounds}
    pace: dict[str, float] = {}  # of the fastest experiment: the first one was compiled, too
    for cell, horizon in horizons.items():
        seconds = store.seconds(cell) / max(len(store.covered(cell)), 1)
        pace[cell.member] = min(seconds / horizon, pace.get(cell.member, 1.0))
    rounds = max(ROUNDS, SHARED // max(len(wanted), 1)) if look else ROUNDS
    for cell in (cell for cell in horizons if cell in wanted):
        batched = pace[cell.member] < BATCHED
        number = FIRST * 4**look if batched else min(FIRST * 4**look, rounds // horizons[cell])
        more[cell] = max(number, runs[cell])
    return more
