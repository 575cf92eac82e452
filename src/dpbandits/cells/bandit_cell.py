"""Cells, the units of computation: one algorithm on one environment over one horizon.

A cell holds everything that affects a curve, and with the number of the run it names every random
draw. It holds nothing else: not the number of runs, the figure or the colour. A stopping rule on a
stream of samples is a separate kind of cell.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core import parameters, registry
from dpbandits.core.errors import UserError
from dpbandits.core.parameters import NonZero, Positive, reading_name
from dpbandits.privacy.notions import Guarantee


class Grid(Enum):
    """Rounds at which the regret is recorded. Every grid ends at the horizon."""

    LOG = "log"  # 24 rounds per decade from round 1, the same for all horizons; logarithmic axis
    LINEAR = "linear"  # 200 equal steps, the first one refined as in LOG; linear axis
    END = "end"  # only the horizon; for figures whose x is a parameter


class Regret(Enum):
    """Regret of a run on arms that have means. That on a table of gains is always realised."""

    PSEUDO = "pseudo"  # sum of the gaps of the pulled arms
    REALISED = "realised"  # t mu* minus the received rewards


@dataclass(frozen=True)
class RegretExperiment:
    """One algorithm on one environment.

    Raises UserError if the horizon in `params` differs from the cell's.
    """

    algorithm: str  # name in the registry
    params: NamedTuple  # the algorithm's Params
    environment: str  # name in the registry
    instance: NamedTuple  # the environment's Params
    horizon: int  # T, rounds
    grid: Grid
    seed: int  # root of every random stream
    pulls_of: int | None = None  # record the pulls of this arm (from 0) instead of the regret
    regret: Regret = Regret.PSEUDO

    libraries = ("numba", "numpy")  # whose versions may change the numbers

    def __post_init__(self) -> None:
        horizon = getattr(self.params, "horizon", self.horizon)
        if horizon != self.horizon:
            raise UserError(
                f"{self.algorithm}: the parameter horizon is {horizon}, but the game has"
                f" {self.horizon} rounds"
            )

    @property
    def name(self) -> str:
        """One-line description for progress and error messages."""
        kind = getattr(self.instance, "kind", None)
        environment = self.environment if kind is None else f"{reading_name(kind)} adversary"
        law = f"{environment} K={self._arms} T={self.horizon}"
        recorded = "" if self.pulls_of is None else f", pulls of arm {self.pulls_of + 1}"
        if self.regret is Regret.REALISED:
            recorded += ", realised regret"
        return f"{self.algorithm}({_in_words(self.params)}) on {law}{recorded}"

    @property
    def member(self) -> str:
        """Name of the algorithm in the registry."""
        return self.algorithm

    @property
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others; the registry imports all but the last by name."""
        scheme = registry.scheme(self.algorithm)
        return (
            registry.member("algorithm", self.algorithm).source,
            registry.member("law", self.environment).source,
            *((scheme,) if scheme else ()),
            "experiments/regret.py",
        )

    @property
    def columns(self) -> int:
        """Number of values per run: one per checkpoint."""
        return len(self.checkpoints())

    @property
    def _arms(self) -> int:
        arms: int = registry.environment(self.environment).arms(self.instance)
        return arms

    def description(self) -> dict[str, Any]:
        """Return the cell as JSON values; descriptions are equal if and only if the cells are."""
        recorded: dict[str, Any] = {} if self.pulls_of is None else {"pulls_of": self.pulls_of}
        if self.regret is Regret.REALISED:
            recorded["regret"] = self.regret.value
        return {
            **recorded,
            "algorithm": self.algorithm,
            "params": parameters.plain(self.params),
            "environment": self.environment,
            "instance": parameters.plain(self.instance),
            "horizon": self.horizon,
            "grid": self.grid.value,
            "seed": self.seed,
        }

    def checkpoints(self) -> np.ndarray:
        """Return the rounds at which the regret is recorded: increasing, int64, (checkpoints,)."""
        return checkpoints(self.horizon, self.grid)

    def releases(self) -> Iterable[Any] | None:
        """Return the releases that the algorithm declares; None if it declares none."""
        module = registry.algorithm(self.algorithm)
        if not hasattr(module, "releases"):
            return None
        declared: Iterable[Any] = module.releases(self.params, self._arms, self.horizon)
        return declared

    def claim(self) -> Guarantee | None:
        """Return the paper's privacy claim; None if the algorithm is not private."""
        promise = getattr(registry.algorithm(self.algorithm), "claim", None)
        return promise(self.params, self._arms, self.horizon) if promise else None

    def warning(self) -> str | None:
        """Return a warning for readers of the cell's curve; None if there is none."""
        warn = getattr(registry.algorithm(self.algorithm), "warning", None)
        return warn(self.params, self._arms, self.horizon) if warn else None


class Stream(NamedTuple):
    """Independent samples R or -R with mean mu, as in the lower bound of sajed2019, Theorem 3.4."""

    mean: NonZero  # mu, at most R in magnitude
    radius: Positive = 1.0  # R


@dataclass(frozen=True)
class StoppingExperiment:
    """One stopping rule on one law of samples; every run draws its own samples."""

    rule: str  # name in the registry
    params: Any  # the rule's Params
    stream: Stream
    seed: int  # root of every random stream

    columns = 2  # values per run: number of samples used, estimate of the mean
    libraries = ("numba", "numpy")

    @property
    def name(self) -> str:
        """One-line description for progress and error messages."""
        return f"{self.rule}({_in_words(self.params)}) on samples of {_in_words(self.stream)}"

    @property
    def member(self) -> str:
        """Name of the rule in the registry."""
        return self.rule

    @property
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others; the registry imports the first by its name."""
        return registry.member("stopping rule", self.rule).source, "experiments/stopping.py"

    def description(self) -> dict[str, Any]:
        """Return the cell as JSON values; descriptions are equal if and only if the cells are."""
        return {
            "rule": self.rule,
            "params": parameters.plain(self.params),
            "stream": parameters.plain(self.stream),
            "seed": self.seed,
        }

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

    def releases(self) -> Iterable[Any] | None:
        """Return the releases that the rule declares; None if it declares none."""
        module = registry.stopping_rule(self.rule)
        if not hasattr(module, "releases"):
            return None
        declared: Iterable[Any] = module.releases(self.params, self.stream.radius)
        return declared

    def claim(self) -> Guarantee | None:
        """Return the paper's privacy claim; None if the rule is not private."""
        promise = getattr(registry.stopping_rule(self.rule), "claim", None)
        return promise(self.params, self.stream.radius) if promise else None


def _in_words(params: NamedTuple) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.plain(params).items())


def checkpoints(horizon: int, grid: Grid) -> np.ndarray:
    """Return the rounds of a grid up to the horizon: increasing, int64, shape (checkpoints,).

    The rounds of LOG are the same for all horizons, except for the last one, so that runs of an
    anytime policy over different horizons can be compared at their common rounds.
    """
    if grid is Grid.END:
        return np.array([horizon], np.int64)
    decades = math.ceil(24 * math.log10(horizon)) + 1
    logarithmic = [round(10 ** (k / 24)) for k in range(decades)]
    rounds = {n for n in logarithmic if n <= horizon} | {horizon}
    if grid is Grid.LINEAR:
        steps = {horizon * k // 200 for k in range(1, 201)} - {0}
        rounds = {n for n in rounds if n <= min(steps)} | steps
    return np.array(sorted(rounds), np.int64)
