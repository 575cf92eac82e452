"""Simulation of a bandit cell: the regret curves of its runs.

Sixteen runs of an algorithm `IN_LANES` on tables of gains are played in step (core/lanes.py). They
have the same bits as single runs.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import Cell
from dpbandits.cells.kinds import AnyCell
from dpbandits.cells.shared_tables import TooLarge, environment_name, tables
from dpbandits.core import randomness, registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.core.lane_ir import in_lanes
from dpbandits.core.lanes import lane_stream, lane_streams
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.vector_constants import RUNS
from dpbandits.environments._lane_tables import LaneBandit, lane_bandit
from dpbandits.environments._pulls import PullsOf


class Game:
    """Game of a cell, prepared for any number of runs.

    The seed, the run and the environment name the stream of the rewards and that of a table of
    gains: all algorithms play the same table, and receive the same rewards as long as they make the
    same pulls and none of them plays a block (mechanisms/leader_runs.py). The name of the policy's
    stream adds the algorithm and its parameters. The horizon is part of no name.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.environment = registry.environment(cell.environment)
        params = randomness.plain_fields(cell.params)
        params.pop("horizon", None)
        instance = randomness.plain_fields(cell.instance)
        of_environment = {"environment": cell.environment, "instance": instance}
        self.environment_name = environment_name(cell)
        self.policy_name = spelt(of_environment | {"algorithm": cell.algorithm, "params": params})
        self.checkpoints = cell.checkpoints()
        self.policy = self.sixteen = registry.algorithm(cell.algorithm).play

    def play(self, run: int, per_round: bool = False) -> Bandit:
        """Play one run to the horizon and return the bandit with its ledger.

        Raises RuntimeError if the policy does not stop at the horizon.
        """
        cell, environment = self.cell, self.environment
        if hasattr(environment, "table"):
            drawn = stream(cell.seed, Role.TABLE, run, self.environment_name)
            law = environment.table(cell.instance, cell.horizon, drawn)
        else:
            law = environment.law(cell.instance)
        bandit = new_bandit(
            law if cell.pulls_of is None else PullsOf(law, cell.pulls_of),
            environment.arms(cell.instance),
            cell.horizon,
            self.checkpoints,
            stream(cell.seed, Role.REWARDS, run, self.environment_name),
            per_round,
        )
        rng: Any = self.policy_stream(run)
        if cell.in_lanes and not per_round:
            rng = lane_stream(rng)
        # The types of the arguments are the same in all runs: numba need not look at them again.
        self.policy = specialised(self.policy, cell.params, bandit, rng)
        self.policy(cell.params, bandit, rng)
        self._check_rounds(bandit)
        return bandit

    def policy_stream(self, run: int) -> np.random.Generator:
        """Return the stream of the policy's draws in one run."""
        return stream(self.cell.seed, Role.POLICY, run, self.policy_name)

    def play_in_lanes(self, runs: range) -> np.ndarray:
        """Play at most sixteen runs of one block in step; return curves, (runs, checkpoints).

        Raises TooLarge if the tables of the block do not fit into memory.
        """
        shared = tables(self.cell, runs)
        idle = [runs[-1]] * (RUNS - len(runs))
        table_of = shared.table_of[[run % RUNS for run in (*runs, *idle)]]
        bandit = lane_bandit(shared.gains, table_of, shared.feedback, self.checkpoints)
        streams = lane_streams([self.policy_stream(run) for run in runs])
        self.sixteen = specialised(self.sixteen, self.cell.params, bandit, streams)
        self.sixteen(self.cell.params, bandit, streams)
        self._check_rounds(bandit)
        curves: np.ndarray = (shared.best[:, table_of] - bandit.curve).T[: len(runs)]
        return curves

    def _check_rounds(self, bandit: Bandit | LaneBandit) -> None:
        played = int(bandit.clock[0])
        if played != self.cell.horizon:
            raise RuntimeError(
                f"{self.cell.algorithm} played {played} rounds of {self.cell.horizon}"
            )


def play_run(cell: Cell, run: int, per_round: bool = False) -> Bandit:
    """Play one run of a cell, as `Game.play` does."""
    return Game(cell).play(run, per_round)


def simulate(cell: Cell, runs: range) -> tuple[np.ndarray, np.ndarray]:
    """Return the regret of the runs at the checkpoints, and the seconds that each run took.

    The regret (or the pulls of arm `cell.pulls_of`) is float64 of shape (runs, checkpoints), the
    seconds are float64 of shape (runs,). A row depends only on the number of its run, not on the
    other runs or their order. The first run of a process includes compilation.
    """
    game = Game(cell)
    curves = np.empty((len(runs), len(game.checkpoints)))
    seconds = np.empty(len(runs))
    for step in _steps(cell, runs):
        start = time.perf_counter()
        rows = slice(step.start - runs.start, step.stop - runs.start)
        curves[rows] = _play(game, step)
        seconds[rows] = (time.perf_counter() - start) / len(step)
    return curves, seconds


def _play(game: Game, runs: range) -> np.ndarray | list[np.ndarray]:
    if len(runs) > 1:
        with suppress(TooLarge):
            return game.play_in_lanes(runs)
    return [game.play(run).curve for run in runs]


def _steps(cell: Cell, runs: range) -> Iterator[range]:
    # Yields the runs that are played in step: those of a block, or single runs.
    most = runs_in_step(cell) if in_lanes() else 1
    while runs:
        together = most - runs[0] % most
        yield runs[:together]
        runs = runs[together:]


def runs_in_step(cell: AnyCell) -> int:
    """Return how many runs of a cell are played in one kernel."""
    return RUNS if isinstance(cell, Cell) and cell.in_lanes else 1
