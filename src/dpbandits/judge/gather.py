"""Gathering of the results of a paper's claims: runs until claims are decided, then the table.

The first look takes FIRST runs, each later one four times as many for the claims that are still
inconclusive; where an algorithm decides in every round, as many as a number of rounds allows.
"""

from collections.abc import Iterable, Sequence

from dpbandits.config import compose
from dpbandits.core.errors import UserError, nearest, shown
from dpbandits.core.roots import PACKAGE
from dpbandits.experiments import Experiment
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project, schemas
from dpbandits.files.provenance import provenance
from dpbandits.judge import reader, table
from dpbandits.judge.figures import Figures
from dpbandits.judge.model import Paper
from dpbandits.judge.resampled import Resampler, cells
from dpbandits.judge.verdicts import Judge, Judged, Verdict, combinations
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.missing_runs import complete
from dpbandits.spec.figure import Curve
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
        if (project.home("claims", name) / table.FOLDER).is_relative_to(PACKAGE.folder):
            raise UserError(
                f"results on {name} would change the installed package: gather them in a checkout"
                " of dpbandits, or in the project that has the claims"
            )
        paper, figures = reader.read(name), project.names("figure")
        for claim in paper.claims():
            for figure in {*paper.figures(claim)} - {*figures}:
                file, near = project.member_file("claims", name), nearest(figure, figures)
                raise UserError(f"{file}: {claim}: unknown figure {shown(figure)}; {near}")
    return max((_Gathering(reader.read(name)).gather() for name in names), default=ExitStatus.DONE)


class _Gathering:
    def __init__(self, paper: Paper) -> None:
        self.paper, self.figures = paper, Figures(paper)
        _, self.settings = compose.load(paper.figures()[0], [])
        self.store = Store(self.settings.cache)
        self.runs: dict[Experiment, int] = {}

    def gather(self) -> int:
        several = {
            name: [
                combination
                for combination in combinations(self.paper, self.figures.touched(name))
                if claim.under.items() <= combination.items()
            ]
            for name, claim in self.paper.claims().items()
            if claim.holds or claim.guarantee
        }
        curves = {
            (n, *c.items()): self.figures.needed(n, c) for n, cs in several.items() for c in cs
        }
        touched = {choice for cs in several.values() for c in cs for choice in c}
        for choice in {*self.paper.choices} - touched:
            file = project.member_file("claims", self.paper.paper)
            raise UserError(f"{file}: choices.{choice}: no claim has its roles, words or figures")
        planned = Resampler(None, {})
        for name in self.paper.numbers:
            self.figures.value(name, planned)
        every = [curve for of in (*curves.values(), planned.used) for curve in of]
        for curve in every:
            for cell in cells(curve):
                self.runs[cell] = max(curve.runs, self.runs.get(cell, 0))
        claims = {name: Judged(self.paper, name) for name in self.paper.claims()}
        if not self._played():  # the figures' own runs tell what a run costs
            return ExitStatus.FAILED
        waiting = several
        for look in range(LOOKS):
            needed = [
                c for name, cs in waiting.items() for k in cs for c in curves[name, *k.items()]
            ]
            if not self._raised(every if look == 0 else needed, look) and look:
                break
            if not self._played():
                return ExitStatus.FAILED
            theirs = Resampler(self.store, self.runs, self.paper.runs or 1)
            judge = Judge(self.figures, Resampler(self.store, self.runs), theirs, look)
            for name, combinations_of in waiting.items():
                judge.judge(claims[name], combinations_of)
            waiting = {
                name: [
                    dict(combination)
                    for combination, result in judged.results.items()
                    if result.verdict is Verdict.INCONCLUSIVE
                ]
                for name, judged in claims.items()
            }
        self._write(claims)
        total = f"{len(claims)} claims judged from {sum(self.runs.values()):,} runs"
        print(f"{self.paper.paper}: {total} of {len(self.runs):,} experiments", flush=True)
        return ExitStatus.DONE

    def _raised(self, curves: Iterable[Curve], look: int) -> bool:
        # Raises the numbers of runs for a look; returns whether there are more than before.
        before, wanted = dict(self.runs), {cell for curve in curves for cell in cells(curve)}
        played = [cell for cell in self.runs if isinstance(cell, RegretExperiment)]
        pace: dict[str, float] = {}  # of the fastest experiment: the first one was compiled, too
        for cell in played:
            of_run = self.store.seconds(cell) / max(len(self.store.covered(cell)), 1)
            pace[cell.member] = min(of_run / cell.horizon, pace.get(cell.member, 1.0))
        rounds = max(ROUNDS, SHARED // max(len(wanted), 1)) if look else ROUNDS
        for cell in (cell for cell in played if cell in wanted):
            batched = pace[cell.member] < BATCHED
            runs = FIRST * 4**look if batched else min(FIRST * 4**look, rounds // cell.horizon)
            self.runs[cell] = max(runs, self.runs[cell])
        return self.runs != before

    def _played(self) -> bool:
        title, folder = f"claims of {self.paper.paper}", self.settings.out / "claims"
        return not complete(self.runs, self.settings, title, folder).failures

    def _write(self, claims: dict[str, Judged]) -> None:
        ours = Resampler(self.store, self.runs, resamples=0)
        numbers = {name: self.figures.value(name, ours) for name in self.paper.numbers}
        specs = map(self.figures.spec, self.paper.figures())
        record = {
            "schema": schemas.CLAIMS,
            "paper": self.paper.paper,
            "basis": table.basis(self.paper, specs, {cell.member for cell in self.runs}),
            **provenance(),
        }
        joint = table.largest_sets(claims.values())
        table.write(table.Gathered(self.paper, claims, numbers, joint, record))
