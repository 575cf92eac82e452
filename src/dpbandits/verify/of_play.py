"""Checks of how an algorithm plays: horizon, bits, laws."""

import itertools

import numpy as np

from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.cells.play_bandit import play_run, simulate
from dpbandits.verify import compile_errors
from dpbandits.verify.result import Result, failed, not_applicable, passed, reason
from dpbandits.verify.same_law import p_value
from dpbandits.verify.subject import Subject

# Instances on which choices are close, so that outcomes vary between runs.
INSTANCES = ((0.5, 0.5), (0.6, 0.46), (0.75, 0.5, 0.4))
HORIZON = 4000
RUNS = 400  # of each mode and instance
FALSE_ALARMS = 1e-4  # of the whole check of laws, by Bonferroni over its comparisons


def every_round(check: str, subject: Subject) -> Result:
    """Check that the policy plays exactly to the horizon, from one round per arm on."""
    games = 0
    for means in ((0.3, 0.6), (0.3, 0.6, 0.5), (0.5,) * 7):
        arms = len(means)
        for horizon in (arms, arms + 1, 3 * arms + 2, 100, 1000):
            for per_round in (False, True):
                try:
                    bandit = play_run(subject.cell(means, horizon, Grid.END), 0, per_round)
                except Exception as error:
                    usual = (
                        "`play` must compile and pull until `playing(bandit)` is false, also if"
                        " the game ends within its first phase; the bandit cuts off batches"
                        " beyond the horizon"
                    )
                    return failed(
                        check,
                        f"K = {arms}, T = {horizon}: {reason(error)}",
                        compile_errors.remedy(error, subject, usual),
                    )
                if int(bandit.pulls.sum()) != horizon or bandit.pulls.min() < 0:
                    return failed(
                        check,
                        f"K = {arms}, T = {horizon}: {bandit.pulls.sum()} pulls",
                        "`play` must not write to the bandit; `pull`, `pull_many` and `pull_each`"
                        " count pulls",
                    )
                games += 1
    return passed(check, f"{games} games of between K and 1,000 rounds, 2 to 7 arms")


def same_bits(check: str, subject: Subject) -> Result:
    """Check that a run has the same bits alone, alongside other runs and a second time."""
    for means in INSTANCES:
        cell = subject.cell(means, HORIZON)
        together, _ = simulate(cell, range(8))
        again, _ = simulate(cell, range(8))
        alone = np.array([simulate(cell, range(run, run + 1))[0][0] for run in range(7, -1, -1)])
        other = np.vstack([simulate(cell, range(0, 3))[0], simulate(cell, range(3, 8))[0]])
        for curves in (again, alone[::-1], other):
            if not np.array_equal(together, curves):
                run = int(np.flatnonzero((together != curves).any(axis=1))[0])
                return failed(
                    check,
                    f"run {run} on means {means} ends at {together[run, -1]:g} and at"
                    f" {curves[run, -1]:g}",
                    "draw every random number from `rng`, the argument of `play`, never from"
                    " np.random; keep no state outside `play`",
                )
    return passed(check, f"8 runs on {len(INSTANCES)} instances, in 4 ways each")


def same_law(check: str, subject: Subject) -> Result:
    """Check that batched and single pulls follow the same distribution."""
    comparisons = sum(1 + len(means) for means in INSTANCES)
    least, where, spread = 1.0, "", 0
    for means in INSTANCES:
        cell = subject.cell(means, HORIZON, Grid.END)
        batched, single = (
            np.array([_outcome(cell, run, mode) for run in runs])
            for mode, runs in ((False, range(RUNS)), (True, range(RUNS, 2 * RUNS)))
        )
        spread += len(np.unique(batched, axis=0)) > 1
        for column in range(batched.shape[1]):
            p = p_value(batched[:, column], single[:, column])
            if p < least:
                least = p
                what = "the final regret" if column == 0 else f"the pulls of arm {column}"
                where = f"{what} on means {means}"
    numbers = (
        f"{comparisons} two-sample tests of {RUNS} runs, least p-value {least:.2g} ({where});"
        f" the limit is {FALSE_ALARMS / comparisons:.1g}"
    )
    if least < FALSE_ALARMS / comparisons:
        return failed(
            check,
            numbers,
            "decisions inside a batch must not depend on its rewards; use what `pull_many` returns"
            " only after the batch, and read the clock with `rounds_played`",
        )
    return passed(check, numbers if spread else f"{numbers}; all outcomes are alike, no power")


def _outcome(cell: Cell, run: int, per_round: bool) -> list[float]:
    bandit = play_run(cell, run, per_round)
    return [float(bandit.curve[-1]), *map(float, bandit.pulls)]


def prefix(check: str, subject: Subject) -> Result:
    """Check that an algorithm without the horizon plays alike whatever the horizon is."""
    if subject.knows_horizon:
        return not_applicable(check, "Params have a field `horizon`")
    compared = 0
    for means, run in itertools.product(INSTANCES, range(4)):
        cells = [subject.cell(means, horizon) for horizon in (HORIZON, 700)]
        common = np.intersect1d(cells[0].checkpoints(), cells[1].checkpoints())
        curves = [play_run(c, run).curve[np.isin(c.checkpoints(), common)] for c in cells]
        compared += common.size
        if not np.array_equal(curves[0], curves[1]):
            at = int(common[np.flatnonzero(curves[0] != curves[1])[0]])
            return failed(
                check,
                f"run {run} on means {means} differs from round {at} on, for T = 700 and {HORIZON}",
                "give Params a field `horizon: Rounds` if the algorithm uses T, or use neither"
                " `rounds_left` nor `bandit.horizon` for a decision",
            )
    return passed(check, f"{compared} values of regret equal at T = 700 and {HORIZON:,}")
