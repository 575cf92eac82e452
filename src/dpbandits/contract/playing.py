"""Checks of how an algorithm plays: horizon, bits, laws, and what it reads of the bandit."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from dpbandits.audit.subject import Subject
from dpbandits.contract.outcome import Broken, NotApplicable, reason
from dpbandits.core import parameters, registry
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment, play_run

# Instances on which choices are close, so that outcomes vary between runs.
INSTANCES = ((0.5, 0.5), (0.6, 0.46), (0.75, 0.5, 0.4))
HORIZON = 4000
SHORTER = 700  # horizon whose curve must be the beginning of that of HORIZON
RUNS = 400  # of each mode and instance
FALSE_ALARMS = 1e-4  # of the whole check of laws, by Bonferroni over its comparisons
FEW = 50  # distinct values up to which a sample is compared by its counts
PLAIN = ((0.62, 0.5, 0.55), 1500, 3)  # means, horizon and run of the game in plain Python


def cell(
    subject: Subject, means: tuple[float, ...], horizon: int, grid: Grid = Grid.LOG
) -> RegretExperiment:
    """Return the cell of an algorithm on Bernoulli arms."""
    params, instance = subject.params(horizon), bernoulli.Params(means)
    return RegretExperiment(subject.algorithm, params, "bernoulli", instance, horizon, grid, seed=1)


def every_round(subject: Subject) -> str:
    """Check that the policy plays exactly to the horizon, from one round per arm on."""
    games = [
        (means, horizon, per_round)
        for means in ((0.3, 0.6), (0.3, 0.6, 0.5), (0.5,) * 7)
        for horizon in (len(means), len(means) + 1, 3 * len(means) + 2, 100, 1000)
        for per_round in (False, True)
    ]
    for means, horizon, per_round in games:
        where = f"K = {len(means)}, T = {horizon}"
        try:
            bandit = play_run(cell(subject, means, horizon, Grid.END), 0, per_round)
        except Exception as error:
            usual = (
                "`play` must compile and pull until `playing(bandit)` is false, also if the game"
                " ends within its first phase; decorate helpers with `inlined` of"
                " dpbandits.core.kernel, and give `pull_many` ints"
            )
            raise Broken(f"{where}: {reason(error, subject.algorithm)}", usual) from error
        if int(bandit.pulls.sum()) != horizon or bandit.pulls.min() < 0:
            raise Broken(
                f"{where}: {bandit.pulls.sum()} pulls",
                "`play` must not write to the bandit; `pull`, `pull_many` and `pull_each`"
                " count pulls",
            )
    return f"{len(games)} games of between K and 1,000 rounds, 2 to 7 arms"


def same_bits(subject: Subject) -> str:
    """Check that a run has the same bits alone, alongside other runs and a second time."""
    for means in INSTANCES:
        run_alone_and_together(cell(subject, means, HORIZON))
    return f"8 runs on {len(INSTANCES)} instances, in 4 ways each"


def run_alone_and_together(played: RegretExperiment) -> None:
    """Play eight runs of a cell in four ways. Raises Broken if they differ in a bit."""
    together, _ = played.play(range(8))
    again, _ = played.play(range(8))
    alone = np.array([played.play(range(run, run + 1))[0][0] for run in range(7, -1, -1)])
    parts = np.vstack([played.play(range(0, 3))[0], played.play(range(3, 8))[0]])
    for curves in (again, alone[::-1], parts):
        if not np.array_equal(together, curves):
            run = int(np.flatnonzero((together != curves).any(axis=1))[0])
            raise Broken(
                f"run {run} of {played.name} ends at {together[run, -1]:g} and at"
                f" {curves[run, -1]:g}",
                "draw every random number from `rng`, the argument of `play`, never from"
                " np.random; keep no state outside `play`",
            )


def prefix(subject: Subject) -> str:
    """Check that an anytime algorithm makes the same choices for every horizon."""
    if "horizon" in parameters.fields(registry.algorithm(subject.algorithm).Params):
        raise NotApplicable("Params have a field `horizon`")
    compared = 0
    for means in INSTANCES:
        cells = [cell(subject, means, horizon) for horizon in (HORIZON, SHORTER)]
        common = np.intersect1d(cells[0].checkpoints(), cells[1].checkpoints())
        for run in range(5):
            long, short = (play_run(c, run).curve[np.isin(c.checkpoints(), common)] for c in cells)
            compared += common.size
            if not np.array_equal(long, short):
                first = int(common[np.flatnonzero(long != short)[0]])
                raise Broken(
                    f"run {run} on means {means} differs from round {first} on, for T ="
                    f" {SHORTER} and {HORIZON}",
                    "give Params a field `horizon: Rounds` if the algorithm uses T, or use"
                    " neither `rounds_left` nor `bandit.horizon` for a decision",
                )
    return f"{compared} values of regret equal at T = {SHORTER} and {HORIZON:,}"


def same_law(subject: Subject) -> str:
    """Check that batched and single pulls follow the same distribution."""
    samples = []
    for means in INSTANCES:
        played = cell(subject, means, HORIZON, Grid.END)
        batched = outcomes(played, range(RUNS), per_round=False)
        samples.append((means, batched, outcomes(played, range(RUNS, 2 * RUNS), per_round=True)))
    return equal_laws(samples)


def outcomes(played: RegretExperiment, runs: range, per_round: bool) -> np.ndarray:
    """Return the final regret and the pulls of each arm, float64 of shape (runs, 1 + arms)."""
    bandits = (play_run(played, run, per_round) for run in runs)
    return np.array([[bandit.curve[-1], *bandit.pulls] for bandit in bandits])


def equal_laws(samples: Sequence[tuple[tuple[float, ...], np.ndarray, np.ndarray]]) -> str:
    """Compare pairs of outcomes, each with the means of its instance, column by column.

    Raises Broken with a probability below FALSE_ALARMS if both of each pair have one law.
    """
    comparisons = sum(1 + len(means) for means, _, _ in samples)
    least, where = min(
        (
            p_value(batched[:, column], single[:, column]),
            f"{f'the pulls of arm {column}' if column else 'the final regret'} on means {means}",
        )
        for means, batched, single in samples
        for column in range(1 + len(means))
    )
    numbers = (
        f"{comparisons} two-sample tests of {len(samples[0][1])} runs, least p-value"
        f" {least:.2g} ({where}); the limit is {FALSE_ALARMS / comparisons:.1g}"
    )
    if least < FALSE_ALARMS / comparisons:
        raise Broken(
            numbers,
            "decisions inside a batch must not depend on its rewards; use what `pull_many` returns"
            " only after the batch, and read the clock with `rounds_played`",
        )
    vary = any(len(np.unique(batched, axis=0)) > 1 for _, batched, _ in samples)
    return numbers if vary else f"{numbers}; all outcomes are alike, no power"


def p_value(first: np.ndarray, second: np.ndarray) -> float:
    """Return the probability, under one law, of samples that differ at least as much as these.

    Few distinct values: chi-squared test on their counts, with rare values pooled (the
    Kolmogorov-Smirnov test has no power there). Many: Kolmogorov-Smirnov test. A single value in
    both samples gives 1.
    """
    values = np.unique(np.concatenate([first, second]))
    if values.size > FEW:
        with warnings.catch_warnings():
            # If p is nearly 1, scipy cannot compute it exactly and takes the asymptotic value.
            warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")
            return float(stats.ks_2samp(first, second).pvalue)
    counts = np.array([[np.sum(sample == v) for v in values] for sample in (first, second)])
    rare = counts.sum(axis=0) < 10
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


# Plain Python -------------------------------------------------------------------------------------


def same_bits_in_python(subject: Subject) -> str:
    """Check that plain Python gives the bits of compiled code, in both modes."""
    means, horizon, run = PLAIN
    played = cell(subject, means, horizon)
    interpreted = in_plain_python(subject)["outcomes"]
    error = next((each["error"] for each in interpreted if "error" in each), "")
    if error or interpreted != [outcome(played, run, mode) for mode in (False, True)]:
        rounding = (
            "write math.log, x * x and loops in place of np.log, x**2 and np.sum, which round"
            " differently; do not divide by zero; draw random numbers from `rng` alone"
        )
        raise Broken(
            error or f"run {run} on means {means}, T = {horizon}, has other pulls or regrets",
            rounding,
        )
    return f"2 games of {horizon:,} rounds, bit for bit"


def only_rewards(subject: Subject) -> str:
    """Check that the policy reads no field of the bandit, on a law that has no means."""
    answer = in_plain_python(subject)
    fields = ", ".join(f"bandit.{name}" for name in answer["fields"])
    if fields or answer["error"]:
        read = " and ".join(filter(None, [fields and f"`play` reads {fields}", answer["error"]]))
        raise Broken(
            f"on a law without means: {read}",
            "use the functions of dpbandits.core.bandit, and nothing else of the bandit",
        )
    return f"{PLAIN[1]:,} rounds on a law without means and gaps"


def outcome(played: RegretExperiment, run: int, per_round: bool) -> dict[str, Any]:
    """Return the pulls and the exact curve of one run, or the error."""
    try:
        bandit = play_run(played, run, per_round)
    except Exception as error:
        return {"error": reason(error, played.algorithm)}
    curve = [float(value).hex() for value in bandit.curve]
    return {"pulls": bandit.pulls.tolist(), "curve": curve}


@cache
def in_plain_python(subject: Subject) -> dict[str, Any]:
    """Return what a process without the compiler writes (plain.py).

    Raises Broken with the last line of its error if it fails.
    """
    settings = {name: value for name, value in subject.settings if value is not None}
    done = subprocess.run(
        [sys.executable, "-m", "dpbandits.contract.plain"],
        input=json.dumps({"name": subject.algorithm, "settings": settings}),
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        error = (done.stderr.strip() or f"status {done.returncode}").splitlines()[-1]
        raise Broken(error, "make it run without the compiler, NUMBA_DISABLE_JIT=1")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
