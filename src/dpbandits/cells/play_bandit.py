"""Simulation of a bandit cell: the regret curves of its runs."""

import time

import numpy as np

from dpbandits.cells.bandit_cell import Cell
from dpbandits.core import randomness, registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.core.randomness import Role, spelt, stream
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
        instance = randomness.plain_fields(cell.instance)
        params = randomness.plain_fields(cell.params)
        params.pop("horizon", None)
        of_environment = {"environment": cell.environment, "instance": instance}
        self.environment_name = spelt(of_environment)
        self.policy_name = spelt(of_environment | {"algorithm": cell.algorithm, "params": params})
        self.checkpoints = cell.checkpoints()
        self.policy = registry.algorithm(cell.algorithm).play

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
        rng = stream(cell.seed, Role.POLICY, run, self.policy_name)
        # The types of the arguments are the same in all runs: numba need not look at them again.
        self.policy = specialised(self.policy, cell.params, bandit, rng)
        self.policy(cell.params, bandit, rng)
        played = int(bandit.clock[0])
        if played != cell.horizon:
            raise RuntimeError(f"{cell.algorithm} played {played} rounds of {cell.horizon}")
        return bandit


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
    for row, run in enumerate(runs):
        start = time.perf_counter()
        curves[row] = game.play(run).curve
        seconds[row] = time.perf_counter() - start
    return curves, seconds
