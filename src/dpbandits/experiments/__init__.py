"""Kinds of experiment, one a module: what a kind knows about itself is asked of it, never guessed.

An experiment is a frozen value that holds everything that affects its numbers; with the number of
a run it names every random draw. It holds nothing else: not the number of runs, figure or colour.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any, Literal

import numpy as np

from dpbandits.experiments.checkpoints import Grid, checkpoints
from dpbandits.kernel import registry
from dpbandits.privacy.notions import DELTA
from dpbandits.privacy.releases import composed_epsilon

Load = Callable[[slice], np.ndarray]  # columns of a block: float64 of shape (runs, columns)
Naming = Callable[[str, Any], str]  # text for a law and its parameters; without a law, for means


class Quantity(Enum):
    """Quantity that a curve plots."""

    REGRET = "regret"  # regret of a run (or its pulls of one arm), or the value of a bound
    PER_LOG = "regret-per-log-t"  # the same divided by log T; only over a sweep
    EXTRA = "extra-regret"  # regret of a run minus that of the counterpart in the same run
    PRICE = "price-of-privacy"  # the mean of this over the mean regret of the counterpart
    SAMPLES = "samples"  # samples that a stopping rule used
    FAILURES = "failures"  # 1 if a rule's estimate is alpha |mu| or more away from mu, else 0
    CLAIMED = "claimed"  # epsilon that the paper claims
    COMPOSED = "composed"  # epsilon that the declared releases compose to, at the same delta
    AUDITED = "audited"  # lower bound on the privacy loss of all choices, by an audit
    ONE_CHOICE = "audited-choice"  # the same of a single choice, if the claim is for single ones


class Experiment(ABC):
    """What the rest of the package asks of an experiment. A kind is a frozen dataclass.

    The answers given here are those of a kind without arms, claims or a curve over time. A kind
    sets attributes in its class or, where its fields decide, in `__post_init__`, through `vars`
    since it is frozen. It has no docstring of its own where it answers as described here.
    """

    libraries: tuple[str, ...] = ("numba", "numpy")  # whose versions may change the numbers
    columns: int  # values of a run; 0 for a formula, which is evaluated without runs
    member: str  # name of the algorithm, rule or function
    family: str  # kind of this member in the registry
    params: Any  # its Params; () for a formula
    seed: int  # root of every random stream
    name: str  # in one line, for progress and error messages
    members: tuple[tuple[str, str], ...] = ()  # kind and name of each file that the registry finds
    files: tuple[str, ...] = ()  # the other source files among its `roots`
    unit = "run"  # what a caption counts
    spends = True  # a caption says what its releases compose to
    exact: tuple[Quantity, ...] = ()  # quantities that need no runs
    bandit: tuple[str, Any] | None = None  # name of the environment and its Params
    rounds: int | None = None  # of every run, if known before
    grid: Grid | tuple[int, ...]  # of a curve over these rounds
    grows = False  # the values of a run are at least 0 and never decrease
    later: tuple[str, ...] = ()  # parts of the description that affect no early round of a curve
    named: tuple[str, Any] | None = None  # law and parameters of the game that captions name
    phrase = ""  # on the game for captions, without the horizon, where they name no law
    game: dict[str, Any]  # values of the game by their names, for tables
    settings: dict[str, Any]  # values of its parameters that are not part of the game
    arguments: dict[str, Any]  # what a function of theory/ may be given of it
    declaring: tuple[Any, ...] = ()  # arguments of `releases`, `claim` and `warning` of its file

    @property
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others; the registry imports some of them by name."""
        return *(registry.member(kind, name).source for kind, name in self.members), *self.files

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """Return it as JSON values; descriptions are equal if and only if experiments are."""

    def law(self, over_time: bool) -> dict[str, Any]:
        """Return the part of the description on which the law of its numbers depends."""
        without = "seed", "grid", *(self.later if over_time else ())
        return {k: v for k, v in self.description().items() if k not in without}

    def streams(self) -> dict[str, Any]:
        """Return the part of the description that names its random streams."""
        return self.description()

    @abstractmethod
    def play(self, runs: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of runs, float64 (runs, columns), and the seconds of each, (runs,).

        A row depends only on the number of its run, not on the other runs or their order.
        """

    def checkpoints(self) -> np.ndarray:
        """Return the rounds of a curve over time, int64; none if there is no such curve."""
        if self.rounds is None:
            return np.array([], np.int64)
        return checkpoints(self.rounds, self.grid)

    @abstractmethod
    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        """Return a quantity of every run, (runs,), or at some checkpoints, (runs, checkpoints).

        `load` returns columns of the runs' values. An exact quantity has one row.
        """

    def setting(self, naming: Naming) -> str:
        """Return a phrase on the game for captions, without the horizon; "" if there is none."""
        return naming(*self.named) if self.named else self.phrase

    def gaps(self) -> np.ndarray | None:
        """Return the gaps of the arms; None if there are no arms with means."""
        if self.bandit is None:
            return None
        environment, instance = self.bandit
        law = getattr(registry.environment(environment), "law", None)
        return np.asarray(law(instance).gaps) if law else None

    def largest_regret(self, rounds: int) -> float:
        """Return the largest possible regret of a run."""
        if self.bandit is None:
            return math.inf
        if (gaps := self.gaps()) is not None:
            return float(gaps.max()) * rounds
        environment, instance = self.bandit
        return float(registry.environment(environment).largest_regret(instance, rounds))

    def declared(self, what: Literal["releases", "claim", "warning"]) -> Any:
        """Return what the member's file declares, None if it has no such function.

        These are the releases that the algorithm makes, the paper's privacy claim (`Guarantee`)
        and, unless it is None too, a warning for readers of its curve.
        """
        found = {"algorithm": registry.algorithm, "stopping rule": registry.stopping_rule}
        find = found.get(self.family)
        declare = getattr(find(self.member), what, None) if find else None
        return declare(*self.declaring) if declare else None


@cache
def budget(experiment: Experiment) -> float | None:
    """Return the epsilon that declared releases compose to; None if there are none.

    The delta is that of `delta_of`. The result is math.inf if the number of releases is unbounded,
    or if their deltas add up to more than this delta.
    """
    releases = experiment.declared("releases")
    return None if releases is None else composed_epsilon(releases, delta_of(experiment))


def given(experiment: Experiment) -> float:
    """Return the epsilon given to a private experiment; for zCDP the one that its rho implies."""
    values, claim = experiment.params._asdict(), experiment.declared("claim")
    if claim is None:
        return float(values["epsilon"])
    return claim.notion.epsilon(float(values[claim.notion.budget]), delta_of(experiment))


def delta_of(experiment: Experiment) -> float:
    """Return the delta of an experiment's parameters, 0 without one; for zCDP the usual one."""
    claim = experiment.declared("claim")
    if claim and claim.notion.needs_delta:
        return DELTA
    return float(getattr(experiment.params, "delta", 0.0))


def in_words(values: dict[str, Any]) -> str:
    """Return `name=value` for all values."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
