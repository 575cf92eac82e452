"""One cell, some runs -> their regret curves. The only place where a policy meets its bandit."""

import time

import numpy as np

from dpbandits.cells.bandit_cell import Cell
from dpbandits.core import randomness, registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.environments._pulls import PullsOf


def play_run(cell: Cell, run: int, per_round: bool = False) -> Bandit:
    """Play one run to the horizon; returns the bandit with its ledger.

    The rewards' stream is named by the seed, the run and the environment, so that algorithms meet
    the same rewards as far as they pull alike, and that of a table of gains too, so that all of
    them meet the same table; the policy's also by the algorithm and its parameters. The horizon
    names none.
    """
    environment = registry.environment(cell.environment)
    instance, params = randomness.plain_fields(cell.instance), randomness.plain_fields(cell.params)
    params.pop("horizon", None)
    of_environment = {"environment": cell.environment, "instance": instance}
    of_policy = of_environment | {"algorithm": cell.algorithm, "params": params}
    if hasattr(environment, "table"):
        drawn = stream(cell.seed, Role.TABLE, run, spelt(of_environment))
        law = environment.table(cell.instance, cell.horizon, drawn)
    else:
        law = environment.law(cell.instance)
    bandit = new_bandit(
        law if cell.pulls_of is None else PullsOf(law, cell.pulls_of),
        environment.arms(cell.instance),
        cell.horizon,
        cell.checkpoints(),
        stream(cell.seed, Role.REWARDS, run, spelt(of_environment)),
        per_round,
    )
    rng = stream(cell.seed, Role.POLICY, run, spelt(of_policy))
    registry.algorithm(cell.algorithm).play(cell.params, bandit, rng)
    played = int(bandit.clock[0])
    if played != cell.horizon:
        raise RuntimeError(f"{cell.algorithm} played {played} rounds of {cell.horizon}")
    return bandit


def simulate(cell: Cell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """The regret of runs, or an arm's pulls, at the checkpoints; the seconds of each run.

    float64 of shape (runs, checkpoints), and (runs,). A run's row depends on its number alone: not
    on the runs beside it, nor on their order. The first run of a process includes the compilation.
    """
    curves = np.empty((len(runs), len(cell.checkpoints())))
    seconds = np.empty(len(runs))
    for row, run in enumerate(runs):
        start = time.perf_counter()
        curves[row] = play_run(cell, run).curve
        seconds[row] = time.perf_counter() - start
    return curves, seconds
