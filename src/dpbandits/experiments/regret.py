"""Algorithms on bandits: regret at checkpoints, or pulls of an arm."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from dpbandits.environments._realised import realised
from dpbandits.experiments import Experiment, Load, Quantity, in_words
from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.kernel import parameters, randomness, registry
from dpbandits.kernel.bandit import NO_PULL, Bandit, new_bandit
from dpbandits.kernel.compilation import specialised
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.parameters import reading_name
from dpbandits.kernel.randomness import Role, spelt, stream
from dpbandits.kernel.roots import PACKAGE


class Regret(Enum):
    """Regret of a run on arms that have means. That on a table of gains is always realised."""

    PSEUDO = "pseudo"  # sum of the gaps of the pulled arms
    REALISED = "realised"  # t mu* minus the received rewards


@dataclass(frozen=True)
class RegretExperiment(Experiment):
    """One algorithm on one environment.

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

    family = "algorithm"

    def __post_init__(self) -> None:
        horizon = getattr(self.params, "horizon", self.horizon)
        if horizon != self.horizon:
            game = f"the game has {self.horizon} rounds"
            raise UserError(f"{self.member}: the parameter horizon is {horizon}, but {game}")
        environment = registry.environment(self.environment)
        arms, kind = environment.arms(self.instance), getattr(self.instance, "kind", None)
        law = self.environment if kind is None else f"{reading_name(kind)} adversary"
        recorded, in_name = dict[str, Any](), ""
        if self.pulls_of is not None:
            recorded["pulls of arm"] = self.pulls_of + 1
            in_name = f", pulls of arm {self.pulls_of + 1}"
        if self.regret is Regret.REALISED:
            recorded["regret"] = "realised"
            in_name += ", realised regret"
        is_pseudo = self.regret is Regret.PSEUDO and not hasattr(environment, "table")
        is_of_package = getattr(environment, "__name__", "").partition(".")[0] == PACKAGE.package
        # Over time, a shorter game may be the start of a longer one: the horizon affects the first
        # rounds only as a parameter of the algorithm, or of a table of gains.
        ahead = "horizon" in self.params._fields or hasattr(environment, "table")
        params, instance = parameters.plain(self.params), parameters.plain(self.instance)
        game_of_theory = {"arms": arms, "horizon": self.horizon}
        vars(self).update(
            name=f"{self.member}({in_words(params)}) on {law} K={arms} T={self.horizon}{in_name}",
            columns=len(checkpoints(self.horizon, self.grid)),
            members=(("algorithm", self.member), ("law", self.environment)),
            files=(*filter(None, [registry.scheme(self.member)]), "experiments/regret.py"),
            bandit=(self.environment, self.instance),
            named=(self.environment, self.instance),
            rounds=self.horizon,
            grows=self.pulls_of is not None or (is_pseudo and is_of_package),
            later=() if ahead else ("horizon",),
            game={"law": self.environment, **instance, "horizon": self.horizon, **recorded},
            settings={k: v for k, v in params.items() if k != "horizon"},
            arguments={**self.instance._asdict(), **self.params._asdict(), **game_of_theory},
            declaring=(self.params, arms, self.horizon),
        )

    def description(self) -> dict[str, Any]:
        recorded: dict[str, Any] = {} if self.pulls_of is None else {"pulls_of": self.pulls_of}
        if self.regret is Regret.REALISED:
            recorded["regret"] = self.regret.value
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

    def streams(self) -> dict[str, Any]:
        described = self.description()
        environment = registry.environment(self.environment)
        if hasattr(environment, "table") or hasattr(environment, "drawn"):  # all its games share it
            return {key: described[key] for key in ("environment", "instance", "seed")}
        described["params"].pop("horizon", None)
        return {k: v for k, v in described.items() if k not in ("horizon", "grid", "pulls_of")}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        # The first run of a process includes compilation.
        game, curves, times = Game(self), [], [time.perf_counter()]
        for run in runs:
            curves.append(game.play(run).curve)
            times.append(time.perf_counter())
        return np.array(curves), np.diff(times)

    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        if rounds is not None:
            return load(rounds)
        last = load(slice(-1, None))[:, 0]
        return last / np.log(self.horizon) if shows is Quantity.PER_LOG else last


def scheme(algorithm: str, params: Any) -> Any:
    """Return the kernel of fast/ that plays an algorithm with these parameters, or None."""
    source = registry.scheme(algorithm)
    if source is None:
        return None
    module: Any = import_module("dpbandits." + source.removesuffix(".py").replace("/", "."))
    return module.play if not hasattr(module, "covers") or module.covers(params) else None


class Game:
    """Game of an experiment, prepared for any number of runs.

    The seed, the run and the environment name the stream of the rewards and that of a table of
    gains or of means: all algorithms play the same ones, and receive the same rewards as long as
    they make the same pulls. The name of the policy's stream adds the algorithm and its parameters.
    The horizon is part of no name.
    """

    def __init__(self, experiment: RegretExperiment) -> None:
        self.experiment = experiment
        self.environment = registry.environment(experiment.environment)
        params = randomness.plain_fields(experiment.params)
        params.pop("horizon", None)
        instance = randomness.plain_fields(experiment.instance)
        environment = {"environment": experiment.environment, "instance": instance}
        self.environment_name = spelt(environment)
        self.policy_name = spelt(environment | {"algorithm": experiment.member, "params": params})
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
        experiment, environment, name = self.experiment, self.environment, self.environment_name
        instance: Any = experiment.instance
        before = partial(stream, experiment.seed, Role.TABLE, run, name)
        if hasattr(environment, "drawn"):
            environment, instance = environment.drawn(instance, before())
        if hasattr(environment, "table"):
            law = environment.table(instance, experiment.horizon, before())
        else:
            law = environment.law(instance)
            if experiment.regret is Regret.REALISED:
                order = stream(experiment.seed, Role.ORDER, run, name)
                law = realised(law, instance.means, order)
        arms = environment.arms(instance)
        rewards = stream(experiment.seed, Role.REWARDS, run, name)
        counted = -1 if experiment.pulls_of is None else experiment.pulls_of
        game = around(law), arms, experiment.horizon, self.checkpoints, rewards, per_round, counted
        bandit = new_bandit(*game)
        rng = stream(experiment.seed, Role.POLICY, run, self.policy_name)
        if per_round not in self.compiled:
            policy = self.definition if per_round else self.policy
            self.compiled[per_round] = specialised(policy, experiment.params, bandit, rng)
        self.compiled[per_round](experiment.params, bandit, rng)
        if bandit.clock[2] == NO_PULL:
            raise RuntimeError(f"{experiment.member} pulled an arm or rounds that do not exist")
        if bandit.clock[2]:
            raise RuntimeError(f"{experiment.environment} drew a reward outside [0, 1]")
        if (played := bandit.clock[0]) != experiment.horizon:
            raise RuntimeError(
                f"{experiment.member} played {played} rounds of {experiment.horizon}"
            )
        return bandit


def play_run(experiment: RegretExperiment, run: int, per_round: bool = False) -> Bandit:
    """Play one run of an experiment, as `Game.play` does."""
    return Game(experiment).play(run, per_round)
