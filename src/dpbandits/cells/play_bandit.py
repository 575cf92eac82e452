"""Simulation of a bandit cell: the regret curves of its runs.

Runs are played one by one, in place (one bandit and two generators for all of them), or, for an
algorithm `IN_LANES`, sixteen in step (core/lanes.py). The bits are the same.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from dpbandits.cells.bandit_cell import Cell, Regret
from dpbandits.cells.shared_tables import TooLarge, named_environment, tables
from dpbandits.core import randomness, registry
from dpbandits.core.bandit import Bandit, new_bandit
from dpbandits.core.kernel import specialised
from dpbandits.core.lane_ir import in_lanes
from dpbandits.core.lanes import lane_stream, lane_streams
from dpbandits.core.many_runs import play_many
from dpbandits.core.randomness import Role, spelt, stream
from dpbandits.core.stream_states import memory, pcg64_states
from dpbandits.core.vector_constants import RUNS
from dpbandits.environments._lane_tables import lane_bandit
from dpbandits.environments._pulls import PullsOf
from dpbandits.environments._realised import realised

# The loop over runs is compiled for a policy that plays a run in less than QUICK seconds, once it
# has played as many runs as make up for the compilation.
QUICK, MANY = 1e-3, 2000
_played = Counter[str]()  # quick runs of an algorithm in this process


class Game:
    """Game of a cell, prepared for any number of runs.

    The seed, the run and the environment name the stream of the rewards and that of a table of
    gains: all algorithms play the same table, and receive the same rewards as long as they make the
    same pulls and none of them plays a block (mechanisms/leader_runs.py) or in lanes. The name of
    the policy's stream adds the algorithm and its parameters. The horizon is part of no name.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.environment = registry.environment(cell.environment)
        params = randomness.plain_fields(cell.params)
        params.pop("horizon", None)
        of_environment = named_environment(cell)
        self.environment_name = spelt(of_environment)
        self.policy_name = spelt(of_environment | {"algorithm": cell.algorithm, "params": params})
        self.checkpoints = cell.checkpoints()
        self.policy = registry.algorithm(cell.algorithm).play
        self.specialised: dict[type, Callable[..., Any]] = {}  # by the class of its streams

    def play(self, run: int, per_round: bool = False) -> Bandit:
        """Play one run to the horizon and return the bandit with its ledger.

        Raises RuntimeError if the policy does not stop at the horizon.
        """
        bandit = self._bandit(run, per_round)
        rng: Any = self.policy_stream(run)
        if self.cell.has_lane_streams and not per_round:
            rng = lane_stream(rng)
        self._specialise(bandit, rng)(self.cell.params, bandit, rng)
        self._check_rounds(bandit.clock[0])
        return bandit

    def curves(self, runs: range) -> np.ndarray | Sequence[np.ndarray]:
        """Play some runs, at most those of a block if in lanes; return their curves.

        Raises RuntimeError if the policy does not stop at the horizon.
        """
        if self.cell.in_lanes:
            if in_lanes():
                with suppress(TooLarge):
                    return self._play_in_lanes(runs)
        elif not (self.cell.has_lane_streams or hasattr(self.environment, "table")):
            played = self._play_in_place(runs) if self.cell.regret is Regret.PSEUDO else None
            if played is not None:
                return played
        return [self.play(run).curve for run in runs]

    def _bandit(self, run: int, per_round: bool = False) -> Bandit:
        cell, environment = self.cell, self.environment
        if hasattr(environment, "table"):
            drawn = stream(cell.seed, Role.TABLE, run, self.environment_name)
            law = environment.table(cell.instance, cell.horizon, drawn)
        else:
            law = environment.law(cell.instance)
            if cell.regret is Regret.REALISED:
                order = stream(cell.seed, Role.ORDER, run, self.environment_name)
                law = realised(law, cell.instance.means, order)  # type: ignore[attr-defined]
        rewards: Any = self._rewards(run)
        if cell.has_lane_streams and not (per_round or hasattr(environment, "table")):
            rewards = lane_stream(rewards)
        return new_bandit(
            law if cell.pulls_of is None else PullsOf(law, cell.pulls_of),
            environment.arms(cell.instance),
            cell.horizon,
            self.checkpoints,
            rewards,
            per_round,
        )

    def _specialise(self, bandit: Any, rng: Any) -> Any:
        # Of one class of streams, the types of the arguments are the same in all runs: numba need
        # not look at them again.
        if type(rng) not in self.specialised:
            self.specialised[type(rng)] = specialised(self.policy, self.cell.params, bandit, rng)
        return self.specialised[type(rng)]

    def _play_in_place(self, runs: range) -> np.ndarray | None:
        # Returns None if the generators' memory is not laid out as expected.
        cell = self.cell
        bandit, rng = self._bandit(runs[0]), self.policy_stream(runs[0])
        rewards, own = memory(bandit.rng), memory(rng)
        if rewards is None or own is None:
            return None
        streams = (Role.REWARDS, self.environment_name), (Role.POLICY, self.policy_name)
        states = [pcg64_states(cell.seed, role, runs, name) for role, name in streams]
        in_kernel = len(runs) > 1 and _played[cell.algorithm] >= MANY
        in_kernel = in_kernel and cell.algorithm not in registry.NOT_STORED
        policy = self.policy if in_kernel else self._specialise(bandit, rng)
        curves, rounds = play_many(
            policy, cell.params, bandit, rng, (rewards, own), np.stack(states, axis=1), in_kernel
        )
        self._check_rounds(rounds)
        return curves

    def _rewards(self, run: int) -> np.random.Generator:
        return stream(self.cell.seed, Role.REWARDS, run, self.environment_name)

    def policy_stream(self, run: int) -> np.random.Generator:
        """Return the stream of the policy's draws in one run."""
        return stream(self.cell.seed, Role.POLICY, run, self.policy_name)

    def _play_in_lanes(self, runs: range) -> np.ndarray:
        # Raises TooLarge if the tables of the block do not fit into memory.
        if not hasattr(self.environment, "table"):
            rewards = lane_streams([self._rewards(run) for run in runs])
            arms = self.environment.in_step(self.cell.instance, rewards, self.checkpoints)
            return self._curves_of_lanes(arms, runs)
        shared = tables(self.cell, runs)
        idle = [runs[-1]] * (RUNS - len(runs))
        table_of = shared.table_of[[run % RUNS for run in (*runs, *idle)]]
        bandit = lane_bandit(shared.gains, table_of, shared.feedback, self.checkpoints)
        gains: np.ndarray = self._curves_of_lanes(bandit, runs)
        best: np.ndarray = shared.best[:, table_of].T[: len(runs)]
        return best - gains

    def _curves_of_lanes(self, bandit: Any, runs: range) -> np.ndarray:
        # Play sixteen runs in step; return the curves of these runs, the first lanes.
        streams = lane_streams([self.policy_stream(run) for run in runs])
        self._specialise(bandit, streams)(self.cell.params, bandit, streams)
        self._check_rounds(bandit.clock[0])
        curves: np.ndarray = bandit.curve.T[: len(runs)]
        return curves

    def _check_rounds(self, played: int) -> None:
        cell = self.cell
        if played != cell.horizon:
            raise RuntimeError(f"{cell.algorithm} played {played} rounds of {cell.horizon}")


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
    for part in _parts(cell, runs):
        start = time.perf_counter()
        rows = slice(part.start - runs.start, part.stop - runs.start)
        curves[rows] = game.curves(part)
        seconds[rows] = each = (time.perf_counter() - start) / len(part)
        _played[cell.algorithm] += len(part) if each < QUICK else 0
    return curves, seconds


def _parts(cell: Cell, runs: range) -> Iterator[range]:
    # Yields the runs that are played together: those of a block, or the first run, which may have
    # to be compiled, and all others.
    step = cell.runs_in_step
    part = runs[: step - runs.start % step]
    while part:
        yield part
        runs = runs[len(part) :]
        part = runs[:step] if step > 1 else runs
