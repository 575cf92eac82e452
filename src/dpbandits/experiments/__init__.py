"""Kinds of experiment, one a module: what a kind knows about itself is asked of it, never guessed.

An experiment is a frozen value that holds everything that affects its numbers; with the number of
a run it names every random draw. It holds nothing else: not the number of runs, figure or colour.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache
from typing import Any

import numpy as np

from dpbandits.core import parameters
from dpbandits.privacy.notions import DELTA, Guarantee
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

    The answers given here are those of a kind without arms, claims or a curve over time. A kind has
    no docstring of its own where it answers as described here.
    """

    libraries: tuple[str, ...] = ("numba", "numpy")  # whose versions may change the numbers
    columns: int  # values of a run; 0 for a formula, which is evaluated without runs
    member: str  # name of the algorithm, rule or function
    family: str  # kind of this member in the registry
    params: Any  # its Params; () for a formula
    seed: int  # root of every random stream
    unit = "run"  # what a caption counts
    spends = True  # a caption says what its releases compose to
    bandit: tuple[str, Any] | None = None  # name of the environment and its Params
    rounds: int | None = None  # of every run, if known before

    @property
    @abstractmethod
    def name(self) -> str:
        """One-line description for progress and error messages."""

    @property
    @abstractmethod
    def roots(self) -> tuple[str, ...]:
        """Source files that import all others; the registry imports some of them by name."""

    @abstractmethod
    def description(self) -> dict[str, Any]:
        """Return it as JSON values; descriptions are equal if and only if experiments are."""

    def law(self, over_time: bool) -> dict[str, Any]:
        """Return the part of the description on which the law of its numbers depends."""
        return {k: v for k, v in self.description().items() if k not in ("seed", "grid")}

    def streams(self) -> dict[str, Any]:
        """Return the part of the description that names its random streams."""
        return self.description()

    @abstractmethod
    def play(self, runs: range) -> tuple[np.ndarray, np.ndarray]:
        """Return the values of runs, float64 (runs, columns), and the seconds of each, (runs,).

        A row depends only on the number of its run, not on the other runs or their order.
        """

    def is_exact(self, shows: Quantity) -> bool:
        """Return whether a quantity needs no runs."""
        return not self.columns

    def checkpoints(self) -> np.ndarray:
        """Return the rounds of a curve over time, int64; none if there is no such curve."""
        return np.array([], np.int64)

    @abstractmethod
    def observe(self, shows: Quantity, load: Load, rounds: slice | None = None) -> np.ndarray:
        """Return a quantity of every run, (runs,), or at some checkpoints, (runs, checkpoints).

        `load` returns columns of the runs' values. An exact quantity has one row.
        """

    def game(self) -> dict[str, Any]:
        """Return the values of the game by their names, for tables."""
        return {}

    @abstractmethod
    def setting(self, naming: Naming) -> str:
        """Return a phrase on the game for captions, without the horizon; "" if there is none."""

    def settings(self) -> dict[str, Any]:
        """Return the values of its parameters that are not part of the game."""
        return {k: v for k, v in parameters.plain(self.params).items() if k != "horizon"}

    def arguments(self) -> dict[str, Any]:
        """Return what a function of theory/ may be given of it."""
        return dict(self.params._asdict())

    def gaps(self) -> np.ndarray | None:
        """Return the gaps of the arms; None if there are no arms with means."""
        return None

    def largest_regret(self, rounds: int) -> float:
        """Return the largest possible regret of a run."""
        return math.inf

    def releases(self) -> Iterable[Any] | None:
        """Return the releases that the algorithm declares; None if it declares none."""
        return self.declared("releases")

    def claim(self) -> Guarantee | None:
        """Return the paper's privacy claim; None if there is none."""
        return self.declared("claim")

    def warning(self) -> str | None:
        """Return a warning for readers of its curve; None if there is none."""
        return self.declared("warning")

    def declared(self, what: str) -> Any:
        """Return the result of a function of the member's file, None if it has no such function."""
        return None

    def input_epsilon(self) -> float | None:
        """Return the budget that a private algorithm spends on its input; None for others."""
        return None


@cache
def budget(cell: Experiment) -> float | None:
    """Return the epsilon that a cell's declared releases compose to; None if it declares none.

    The delta is that of `delta_of`. The result is math.inf if the number of releases is unbounded,
    or if their deltas add up to more than this delta.
    """
    releases = cell.releases()
    return None if releases is None else composed_epsilon(releases, delta_of(cell))


def given(cell: Experiment) -> float:
    """Return the epsilon given to a private cell; for zCDP the one that its rho implies."""
    values, claim = cell.params._asdict(), cell.claim()
    if claim is None:
        return float(values["epsilon"])
    return claim.notion.epsilon(float(values[claim.notion.budget]), delta_of(cell))


def delta_of(cell: Experiment) -> float:
    """Return the delta of a cell's parameters, 0 without one; for zCDP the usual one."""
    claim = cell.claim()
    if claim and claim.notion.needs_delta:
        return DELTA
    return float(getattr(cell.params, "delta", 0.0))


def in_words(values: dict[str, Any]) -> str:
    """Return `name=value` for all values."""
    return ", ".join(f"{name}={value}" for name, value in values.items())
