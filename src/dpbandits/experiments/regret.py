"""Algorithms on bandits: regret at checkpoints, or pulls of an arm."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments._clipped import Clipped
from dpbandits.environments._realised import realised
from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import linear, randomness, registry
from dpbandits.kernel.bandit import NO_PULL, Bandit, new_bandit
from dpbandits.kernel.compilation import specialised
from dpbandits.kernel.environment import WITHIN
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.randomness import Role, spelt, stream

PER_LOG, LOST, WORST = "regret-per-log-t", "lost", "worst-regret"
TAIL = 0.01  # of the runs: the worst ones
MOST_ACTIONS = 256  # of which arms without features have as many dimensions


class Regret(Enum):
    """Regret of a run on arms that have means. That on a table of gains is always realised."""

    PSEUDO = "pseudo"  # sum of the gaps of the pulled arms
    REALISED = "realised"  # t mu* minus the received rewards


@dataclass(frozen=True)
class RegretExperiment(Experiment):
    """One algorithm on one instance.

    Raises UserError if the horizon in `params` differs from the experiment's.
    """

    member: str  # name of the algorithm in the registry
    params: NamedTuple
    environment: str  # name in the registry
    instance: NamedTuple  # the environment's Params
    horizon: int  # T, rounds
    grid: Grid | tuple[int, ...]  # or the rounds themselves
    seed: int
    pulls_of: int | None = None  # record the pulls of this arm (from 0) instead of the regret
    regret: Regret = Regret.PSEUDO
    # Rewards, to the range that the algorithm's releases assume; False also plays a game that does
    # not meet what they assume, without a guarantee.
    clipped: bool | None = None

    def __post_init__(self) -> None:
        """Check the horizon, what releases assume of the game, and who can play it."""
        horizon = getattr(self.params, "horizon", self.horizon)
        if horizon != self.horizon:
            game = f"the game has {self.horizon} rounds"
            raise UserError(f"{self.member}: the parameter horizon is {horizon}, but {game}")
        family = registry.environment(self.environment)
        is_linear = registry.is_linear(self.member)
        if self.clipped is not False and self.unmet:
            remedy = "" if self.clipped else "`clipped: true` clips them, "
            remedy += "`clipped: false` plays without a guarantee"
            raise UserError(f"{self.member}: its {self.unmet}; {remedy}")
        if family.actions(self.instance)[1] and not is_linear:
            problem = f"{self.environment} draws its actions anew in every round"
            raise UserError(f"{self.member} looks at no features, but {problem}")
        if is_linear and family.arms(self.instance) > MOST_ACTIONS:
            problem = f"{self.member} looks at the features of at most {MOST_ACTIONS} actions"
            raise UserError(f"{problem}, got {family.arms(self.instance)}")
        if self.regret is Regret.REALISED and family.RANGE != WITHIN:
            raise UserError(f"{self.environment}: realised regret is for rewards in [0, 1]")

    @property
    def unmet(self) -> str:
        """Why the game does not meet what the releases assume; "" if it does."""
        game = self.member, self.environment, self.instance
        return registry.unmet(*game, bool(self.clipped))

    @cached_property
    def columns(self) -> int:
        return len(self.checkpoints())

    @property
    def roots(self) -> tuple[str, ...]:
        members = (("algorithm", self.member), ("environment", self.environment))
        sources = (registry.member(group, name).source for group, name in members)
        return *super().roots, *sources, *filter(None, [registry.scheme_source(self.member)])

    @property
    def grows(self) -> bool:
        environment = registry.environment(self.environment)
        is_pseudo = self.regret is Regret.PSEUDO and not environment.table
        return self.pulls_of is not None or (is_pseudo and environment.is_of_package)

    def checkpoints(self) -> np.ndarray:
        return checkpoints(self.horizon, self.grid)

    def description(self) -> dict[str, Any]:
        recorded: dict[str, Any] = {} if self.pulls_of is None else {"pulls_of": self.pulls_of}
        if self.regret is Regret.REALISED:
            recorded["regret"] = self.regret.value
        if self.clipped:
            recorded["clipped"] = True
        return {
            **recorded,
            "algorithm": self.member,
            "params": randomness.plain_fields(self.params, described=True),
            "environment": self.environment,
            "instance": randomness.plain_fields(self.instance, described=True),
            "horizon": self.horizon,
            "grid": self.grid.value if isinstance(self.grid, Grid) else list(self.grid),
            "seed": self.seed,
        }

    def streams(self) -> dict[str, dict[str, Any]]:
        # The environment names the stream of the rewards and that of a table of gains or of means:
        # all algorithms play the same ones, and receive the same rewards as long as they make the
        # same pulls. The name of the policy's stream adds the algorithm and its parameters. The
        # horizon is part of no name.
        instance = randomness.plain_fields(self.instance)
        game = {"environment": self.environment, "instance": instance}
        params = randomness.plain_fields(self.params)
        params.pop("horizon", None)
        return {"game": game, "policy": game | {"algorithm": self.member, "params": params}}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        # The first run of a process includes compilation.
        game, curves, times = Game(self), [], [time.perf_counter()]
        for run in runs:
            curves.append(game.play(run).curve)
            times.append(time.perf_counter())
        return np.array(curves), np.diff(times)

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        if rounds is not None:
            return load(rounds)
        last = load(slice(-1, None))[:, 0]
        if shows == PER_LOG:
            return last / np.log(self.horizon)
        if shows == LOST:
            gaps = registry.environment(self.environment).gaps(self.instance)
            assert gaps is not None  # the kind refuses other games
            return (last >= 0.5 * self.horizon * gaps[gaps > 0].min()).astype(float)
        if shows == WORST:
            # The mean over runs is the conditional value at risk; a run is its effect on it
            # (Rockafellar and Uryasev 2000).
            least = np.quantile(last, 1 - TAIL, method="inverted_cdf")
            return least + np.maximum(last - least, 0.0) / TAIL
        return last


def scheme(algorithm: str, params: Any) -> Any:
    """Return the kernel of fast/ that plays an algorithm with these parameters, or None."""
    source = registry.scheme_source(algorithm)
    if source is None:
        return None
    module: Any = import_module("dpbandits." + source.removesuffix(".py").replace("/", "."))
    return module.play if not hasattr(module, "covers") or module.covers(params) else None


class Game:
    """Game of an experiment, prepared for any number of runs, with its streams and the run's."""

    def __init__(self, experiment: RegretExperiment) -> None:
        self.experiment = experiment
        self.environment = registry.environment(experiment.environment)
        self.names = {purpose: spelt(name) for purpose, name in experiment.streams().items()}
        self.checkpoints = experiment.checkpoints()
        self.definition = registry.algorithm(experiment.member).play
        self.policy = scheme(experiment.member, experiment.params) or self.definition
        self.compiled: dict[bool, Any] = {}  # by `per_round`: all runs have the same types

    def play(
        self, run: int, per_round: bool = False, around: Callable[[Any], Any] = lambda law: law
    ) -> Bandit:
        """Play one run to the horizon and return the bandit with its ledger.

        A game `per_round` is played by the definition, every reward drawn by itself. `around`
        wraps the law of the rewards, in the same way for all runs of the game. Raises
        RuntimeError if the policy does not stop at the horizon.
        """
        experiment, name = self.experiment, self.names["game"]
        before = partial(stream, experiment.seed, Role.TABLE, run, name)
        law, arms, means = self.environment.game(experiment.instance, experiment.horizon, before)
        if experiment.regret is Regret.REALISED and not self.environment.table:
            law = realised(law, means, stream(experiment.seed, Role.ORDER, run, name))
        features = linear.of_game(law, arms, registry.is_linear(experiment.member))
        within, assumed = self.environment.RANGE, registry.assumed_range(experiment.member)
        if experiment.clipped:
            law, within = Clipped(law, *within, *assumed), assumed
        rewards = stream(experiment.seed, Role.REWARDS, run, name)
        pulls_of = -1 if experiment.pulls_of is None else experiment.pulls_of
        game = around(law), arms, experiment.horizon, self.checkpoints, rewards, per_round, pulls_of
        bandit = new_bandit(*game, within=within)._replace(features=features)
        rng = stream(experiment.seed, Role.POLICY, run, self.names["policy"])
        if per_round not in self.compiled:
            policy = self.definition if per_round else self.policy
            self.compiled[per_round] = specialised(policy, experiment.params, bandit, rng)
        self.compiled[per_round](experiment.params, bandit, rng)
        if bandit.clock[2] == NO_PULL:
            raise RuntimeError(f"{experiment.member} pulled an arm or rounds that do not exist")
        if bandit.clock[2]:
            low, high = within
            problem = f"drew a reward outside [{low:g}, {high:g}]"
            raise RuntimeError(f"{experiment.environment} {problem}")
        if (played := bandit.clock[0]) != experiment.horizon:
            raise RuntimeError(
                f"{experiment.member} played {played} rounds of {experiment.horizon}"
            )
        return bandit


def play_run(experiment: RegretExperiment, run: int, per_round: bool = False) -> Bandit:
    """Play one run of an experiment, as `Game.play` does."""
    return Game(experiment).play(run, per_round)
