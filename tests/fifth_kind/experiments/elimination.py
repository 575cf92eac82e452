"""Elimination of all arms but one: rounds until the last arm, and that arm."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import randomness, registry
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.compilation import specialised
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.randomness import Role, spelt, stream

TIME, MISSED = "rounds-needed", "missed"


@dataclass(frozen=True)
class EliminationExperiment(Experiment):
    """One algorithm on one instance, up to the last arm or the most rounds."""

    member: str
    params: Any
    environment: str
    instance: Any
    most_rounds: int
    seed: int

    columns = 2  # rounds played, last arm; -1: none

    def __post_init__(self) -> None:
        """Check what the releases assume of the game."""
        if problem := registry.unmet(self.member, self.environment, self.instance, False):
            raise UserError(f"{self.member}: its {problem}")

    @property
    def roots(self) -> tuple[str, ...]:
        policy = registry.member("algorithm", self.member).source
        return *super().roots, policy, registry.member("environment", self.environment).source

    def description(self) -> dict[str, Any]:
        return {
            "eliminates": self.member,
            "params": randomness.plain_fields(self.params, described=True),
            "environment": self.environment,
            "instance": randomness.plain_fields(self.instance, described=True),
            "most_rounds": self.most_rounds,
            "seed": self.seed,
        }

    def streams(self) -> dict[str, dict[str, Any]]:
        instance = randomness.plain_fields(self.instance)
        game = {"environment": self.environment, "instance": instance}
        params = randomness.plain_fields(self.params)
        return {"game": game, "policy": game | {"eliminates": self.member, "params": params}}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        names = {purpose: spelt(name) for purpose, name in self.streams().items()}
        environment = registry.environment(self.environment)
        policy: Any = registry.algorithm(self.member).play
        values, times = [], [time.perf_counter()]
        for run in runs:
            before = partial(stream, self.seed, Role.TABLE, run, names["game"])
            law, arms, _ = environment.game(self.instance, self.most_rounds, before)
            rewards = stream(self.seed, Role.REWARDS, run, names["game"])
            within = environment.RANGE
            bandit = new_bandit(law, arms, self.most_rounds, np.array([]), rewards, within=within)
            rng = stream(self.seed, Role.POLICY, run, names["policy"])
            policy = specialised(policy, self.params, bandit, rng)
            policy(self.params, bandit, rng)
            if bandit.clock[2]:
                raise RuntimeError(f"{self.member}: a pull or a reward that there is not")
            values.append([bandit.clock[0], bandit.answer[0]])
            times.append(time.perf_counter())
        return np.array(values, float), np.diff(times)

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        if shows == TIME:
            return load(slice(1))[:, 0]
        gaps = registry.environment(self.environment).gaps(self.instance)
        last = load(slice(1, 2))[:, 0].astype(int)
        return np.array([float(arm < 0 or gaps[arm] > 0) for arm in last])
