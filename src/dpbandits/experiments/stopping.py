"""Stopping rules on streams of samples: the samples that a run uses and its estimate."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpbandits.experiments.experiment import Experiment, Load
from dpbandits.kernel import parameters, randomness, registry
from dpbandits.kernel.compilation import specialised
from dpbandits.kernel.parameters import NonZero, Positive
from dpbandits.kernel.randomness import Role, spelt, stream
from dpbandits.stopping._samples import SampleStream

SAMPLES, FAILURES = "samples", "failures"


class Stream(NamedTuple):
    """Independent samples R or -R with mean mu, as in the lower bound of sajed2019, Theorem 3.4."""

    mean: NonZero  # mu, at most R in magnitude
    radius: Positive = 1.0  # R


@dataclass(frozen=True)
class StoppingExperiment(Experiment):
    """One stopping rule on one stream of samples; every run draws its own samples."""

    member: str  # name of the rule in the registry
    params: Any
    stream: Stream
    seed: int

    columns = 2  # number of samples used, estimate of the mean

    @property
    def roots(self) -> tuple[str, ...]:
        return *super().roots, registry.member("algorithm", self.member).source

    def description(self) -> dict[str, Any]:
        return {
            "rule": self.member,
            "params": parameters.as_json(self.params),
            "stream": parameters.as_json(self.stream),
            "seed": self.seed,
        }

    def streams(self) -> dict[str, dict[str, Any]]:
        # Of the samples; the name of the rule's own stream adds the rule and its parameters.
        samples = {"stream": randomness.plain_fields(self.stream)}
        rule = {"rule": self.member, "params": randomness.plain_fields(self.params)}
        return {"samples": samples, "rule": samples | rule}

    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        start = time.perf_counter()
        names = {purpose: spelt(name) for purpose, name in self.streams().items()}
        play: Any = registry.algorithm(self.member).play
        radius = self.stream.radius
        probability = (1.0 + self.stream.mean / radius) / 2.0
        values = []
        for run in runs:
            rewards = stream(self.seed, Role.REWARDS, run, names["samples"])
            samples = SampleStream(radius, probability, rewards)
            rng = stream(self.seed, Role.POLICY, run, names["rule"])
            play = specialised(play, self.params, samples, rng)  # all runs have the same types
            values.append(play(self.params, samples, rng))
        return np.array(values), np.full(len(values), (time.perf_counter() - start) / len(values))

    def observe(self, shows: str, load: Load, rounds: slice | None = None) -> np.ndarray:
        if shows == SAMPLES:
            return load(slice(1))[:, 0]
        mean = self.stream.mean
        errors = np.abs(load(slice(1, 2))[:, 0] - mean)
        return (errors >= self.params.alpha * abs(mean)).astype(float)

    def samples_at_most(self) -> float:
        """Return a number of samples that a rule of sajed2019 almost never exceeds, for |mu| <= R.

        At this number t, a sum of t mu/2 exceeds the rule's threshold, R sqrt(2 t l) (1 + 1/alpha)
        + l (24 + 4/alpha) R/epsilon. The logarithm l is below 100 for t up to 2^53 and beta down to
        10^-10.
        """
        relative = abs(self.stream.mean) / self.stream.radius
        epsilon = getattr(self.params, "epsilon", math.inf)
        hoeffding = 200.0 * ((1.0 + 1.0 / self.params.alpha) / (relative / 4.0)) ** 2
        return hoeffding + 400.0 * (24.0 + 4.0 / self.params.alpha) / (epsilon * relative)
