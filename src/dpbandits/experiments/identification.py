"""Identification of the best arm with fixed confidence: pulls until the answer, and the answer."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import randomness, registry
from dpbandits.kernel.answers import NO_ANSWER, UNDECIDED
from dpbandits.kernel.bandit import NO_REWARD, Bandit, new_bandit
from dpbandits.kernel.compilation import specialised
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.randomness import Role, spelt, stream

TIME, COMPLETED, WRONG, IS_UNDECIDED, PULLS = (
    "stopping-time",
    "completed-phases",
    "wrong",
    "undecided",
    "pulls",
)
COLUMNS = TIME, "answer", COMPLETED  # of a run; the pulls of each arm follow


@dataclass(frozen=True)
class IdentificationExperiment(Experiment):
    """One algorithm on one instance, up to its answer or the limit of rounds.

    A run that reaches the limit without an answer is undecided: the limit is stored as its time,
    and every quantity until the answer is observed as infinite. Raises UserError for an instance
    without a unique best arm, and for a limit below the number of arms.
    """

    member: str  # name of the algorithm in the registry
    params: Any
    environment: str  # name in the registry
    instance: Any  # the environment's Params
    limit: int  # of rounds
    seed: int
    # Arm (from 0) whose pulls are plotted; those of all arms are kept: it changes no run.
    pulls_of: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Check the means, the limit and the range of the rewards."""
        if problem := registry.unmet(self.member, self.environment, self.instance, False):
            raise UserError(f"{self.member}: its {problem}")
        gaps = registry.environment(self.environment).gaps(self.instance)
        if gaps is None:
            raise UserError(f"{self.member}: {self.environment} has no means, so no best arm")
        best = [str(arm + 1) for arm in np.flatnonzero(gaps == 0)]
        if len(best) > 1:
            problem = f"arms {', '.join(best)} of {self.environment} have the largest mean"
            raise UserError(f"{self.member} identifies a unique best arm, but {problem}")
        if self.limit < gaps.size:
            problem = f"limit must be at least {gaps.size}, the number of arms, got {self.limit}"
            raise UserError(f"{self.member}: {problem}")

    @cached_property
    def columns(self) -> int:
        return len(COLUMNS) + registry.environment(self.environment).arms(self.instance)

    @property
    def roots(self) -> tuple[str, ...]:
        members = (("algorithm", self.member), ("environment", self.environment))
        return *super().roots, *(registry.member(group, name).source for group, name in members)

    def description(self) -> dict[str, Any]:
        return {
            "identifies": self.member,
            "params": randomness.plain_fields(self.params, described=True),
            "environment": self.environment,
            "instance": randomness.plain_fields(self.instance, described=True),
            "limit": self.limit,
            "seed": self.seed,
        }

    def streams(self) -> dict[str, dict[str, Any]]:
        # As in games of regret, algorithms that make the same pulls receive the same rewards. The
        # limit is part of no name: a shorter run is the beginning of a longer one.
        instance = randomness.plain_fields(self.instance)
        game = {"environment": self.environment, "instance": instance}
        params = randomness.plain_fields(self.params)
        return {"game": game, "policy": game | {"identifies": self.member, "params": params}}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        policy: Any = registry.algorithm(self.member).play
        values, times = [], [time.perf_counter()]
        for run in runs:
            bandit, rng = self.game(run)
            policy = specialised(policy, self.params, bandit, rng)  # all runs have the same types
            completed = policy(self.params, bandit, rng)
            self.check(bandit)
            used = bandit.clock[0]  # without phases every pull is completed
            completed = used if completed is None else completed
            values.append([used, bandit.answer[0], completed, *bandit.pulls])
            times.append(time.perf_counter())
        return np.array(values, float), np.diff(times)

    def game(self, run: int, per_round: bool = False) -> tuple[Bandit, np.random.Generator]:
        """Return the bandit of a run at round 0, and the policy's stream."""
        names = {purpose: spelt(name) for purpose, name in self.streams().items()}
        before = partial(stream, self.seed, Role.TABLE, run, names["game"])
        environment = registry.environment(self.environment)
        law, arms, _ = environment.game(self.instance, self.limit, before)
        rewards = stream(self.seed, Role.REWARDS, run, names["game"])
        bandit = new_bandit(law, arms, self.limit, np.array([]), rewards, per_round)
        return bandit, stream(self.seed, Role.POLICY, run, names["policy"])

    def check(self, bandit: Bandit) -> None:
        """Raise RuntimeError for a run that cannot count."""
        problem = ""
        if bandit.clock[2] == NO_ANSWER:
            problem = "answered twice, or with an arm that does not exist"
        elif bandit.clock[2] == NO_REWARD:
            problem = f"got a reward of {self.environment} that is out of its range"
        elif bandit.clock[2]:
            problem = "pulled an arm or rounds that do not exist"
        elif bandit.answer[0] == UNDECIDED and bandit.clock[0] < self.limit:
            problem = f"stopped after {bandit.clock[0]} rounds of {self.limit} without an answer"
        if problem:
            raise RuntimeError(f"{self.member} {problem}")

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        answers = load(slice(1, 2))[:, 0].astype(int)
        is_undecided = answers == UNDECIDED
        columns = {name: COLUMNS.index(name) for name in (TIME, COMPLETED)}
        columns[PULLS] = len(COLUMNS) + (self.pulls_of or 0)
        if (column := columns.get(shows)) is not None:
            return np.where(is_undecided, math.inf, load(slice(column, column + 1))[:, 0])
        if shows == IS_UNDECIDED:
            return is_undecided.astype(float)
        gaps = registry.environment(self.environment).gaps(self.instance)
        assert gaps is not None
        return (~is_undecided & (gaps[answers] > 0)).astype(float)
