"""Simulation of a bandit cell: the regret curves of its runs."""

import time
from importlib import import_module
from typing import Any

import numpy as np

from dpbandits.core import randomness, registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.environments._realised import realised
from dpbandits.experiments.regret import Regret, RegretExperiment


def named_environment(cell: RegretExperiment) -> dict[str, Any]:
    """Return the JSON key of an environment's random streams."""
    return {
        "environment": cell.environment,
        "instance": randomness.plain_fields(cell.instance),
    }


def scheme(algorithm: str, params: Any) -> Any:
    """Return the kernel of fast/ that plays an algorithm with these parameters, or None."""
    source = registry.scheme(algorithm)
    if source is None:
        return None
    module: Any = import_module("dpbandits." + source.removesuffix(".py").replace("/", "."))
    return module.play if not hasattr(module, "covers") or module.covers(params) else None


class Game:
    """Game of a cell, prepared for any number of runs.

    The seed, the run and the environment name the stream of the rewards and that of a table of
    gains: all algorithms play the same table, and receive the same rewards as long as they make the
    same pulls. The name of the policy's stream adds the algorithm and its parameters. The horizon
    is part of no name.
    """

    def __init__(self, cell: RegretExperiment) -> None:
        self.cell = cell
        self.environment = registry.environment(cell.environment)
        params = randomness.plain_fields(cell.params)
        params.pop("horizon", None)
        environment = named_environment(cell)
        self.environment_name = spelt(environment)
        self.policy_name = spelt(environment | {"algorithm": cell.member, "params": params})
        self.checkpoints = cell.checkpoints()
        self.definition = registry.algorithm(cell.member).play
        self.policy = scheme(cell.member, cell.params) or self.definition
        self.compiled: dict[bool, Any] = {}  # by `per_round`: all runs have the same types

    def play(self, run: int, per_round: bool = False) -> Bandit:
        """Play one run to the horizon and return the bandit with its ledger.

        A game `per_round` is played by the definition, every reward drawn by itself. Raises
        RuntimeError if the policy does not stop at the horizon.
        """
        cell, environment = self.cell, self.environment
        if hasattr(environment, "table"):
            drawn = stream(cell.seed, Role.TABLE, run, self.environment_name)
            law = environment.table(cell.instance, cell.horizon, drawn)
        else:
            law = environment.law(cell.instance)
            if cell.regret is Regret.REALISED:
                order = stream(cell.seed, Role.ORDER, run, self.environment_name)
                law = realised(law, cell.instance.means, order)  # type: ignore[attr-defined]
        bandit = new_bandit(
            law,
            environment.arms(cell.instance),
            cell.horizon,
            self.checkpoints,
            stream(cell.seed, Role.REWARDS, run, self.environment_name),
            per_round,
            -1 if cell.pulls_of is None else cell.pulls_of,
        )
        rng = stream(cell.seed, Role.POLICY, run, self.policy_name)
        if per_round not in self.compiled:
            policy = self.definition if per_round else self.policy
            self.compiled[per_round] = specialised(policy, cell.params, bandit, rng)
        self.compiled[per_round](cell.params, bandit, rng)
        if bandit.clock[0] != cell.horizon:
            played = f"played {bandit.clock[0]} rounds of {cell.horizon}"
            raise RuntimeError(f"{cell.member} {played}")
        return bandit


def play_run(cell: RegretExperiment, run: int, per_round: bool = False) -> Bandit:
    """Play one run of a cell, as `Game.play` does."""
    return Game(cell).play(run, per_round)


def simulate(cell: RegretExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
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
