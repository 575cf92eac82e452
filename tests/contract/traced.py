"""Games in plain Python that record every release: the rewards that it reads, and its noise.

A reward is a `Statistic`: a number with its coefficient in every reward, which sums and multiples
keep. A statistic plus a noise is a release, which is recorded; the sum is an ordinary number.
Everything else that is computed from a statistic (a comparison, a logarithm, an index) depends on
rewards that were not released, and raises `Unreleased`. No algorithm or mechanism reports anything
itself, so what is recorded is what was read.

Only games run this way are traced. Compiled games, and the sources, contain no trace of it.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import total_ordering
from itertools import chain, repeat
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from dpbandits.kernel import bandit as core_bandit
from dpbandits.kernel.bandit import new_bandit
from dpbandits.privacy.releases import ApproximateDP, Gaussian, Laplace, Release

PLAYED = ("dpbandits.algorithms.", "dpbandits.mechanisms.", "dpbandits.kernel.bandit")
Reward = tuple[int, int]  # arm, and number of the pull (or of the round) from 1


class Unreleased(AssertionError):
    """Error raised when something is computed from rewards without noise."""


class Recorded(NamedTuple):
    """Release: coefficients of the rewards in its statistic, its noise, and the value released."""

    reads: dict[Reward, float]
    scale: float  # of Laplace or Gaussian noise, or the unit of that of Lemma 15 (wang2024)
    budget: tuple[float, float] | None  # (epsilon, delta) of Lemma 15; None for other noise
    is_gaussian: bool  # whose `scale` is the standard deviation
    draw: int  # number of the noise in `Game.draws`, from 0
    after: int  # rounds played before the release
    value: float


@total_ordering
class Statistic:
    """Number that depends on rewards which no noise covers."""

    __array_ufunc__ = None  # NumPy numbers leave the arithmetic to this class

    def __init__(self, game: "Game", value: float, reads: dict[Reward, float]) -> None:
        self.game, self.value, self.reads = game, value, reads

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise):
            return other + self
        if isinstance(other, Statistic):
            reads = dict(self.reads)
            for reward, factor in other.reads.items():
                reads[reward] = reads.get(reward, 0.0) + factor
            return Statistic(self.game, self.value + other.value, reads)
        return Statistic(self.game, self.value + other, self.reads)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> "Statistic":
        factor = float(factor)  # of a statistic: a product is no sum of rewards
        reads = {reward: factor * own for reward, own in self.reads.items()}
        return Statistic(self.game, factor * self.value, reads)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Statistic":
        divisor = float(divisor)
        reads = {reward: own / divisor for reward, own in self.reads.items()}
        return Statistic(self.game, self.value / divisor, reads)

    def __rtruediv__(self, dividend: float) -> float:
        return dividend / float(self)

    def __neg__(self) -> "Statistic":
        return -1.0 * self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __float__(self) -> float:
        if self.game.strict:
            arm, number = min(self.reads)
            raise Unreleased(
                f"round {len(self.game.arms) + 1} depends on a sum of {len(self.reads)} rewards"
                f" without noise, among them reward {number} of arm {arm}"
            )
        return float(self.value)

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __eq__(self, other: object) -> bool:
        return float(self) == other

    def __hash__(self) -> int:
        return hash(float(self))

    def __bool__(self) -> bool:
        return bool(float(self))

    def __int__(self) -> int:
        return int(float(self))

    def __abs__(self) -> float:
        return abs(float(self))


@dataclass(eq=False)
class Noise:
    """Noise before it is added. It covers one statistic; a second use is an error."""

    __array_ufunc__ = None  # no annotation: not a field

    game: "Game"
    value: float
    scale: float
    draw: int
    budget: tuple[float, float] | None
    is_gaussian: bool
    is_used: bool = False

    def __mul__(self, factor: float) -> "Noise":
        return replace(self, value=factor * self.value, scale=abs(factor) * self.scale)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Noise":
        return (1.0 / divisor) * self

    def __add__(self, other: Any) -> float:
        exact, reads = (
            (other.value, other.reads) if isinstance(other, Statistic) else (float(other), {})
        )
        if self.is_used:
            if self.game.strict:
                round_ = len(self.game.arms) + 1
                raise Unreleased(f"round {round_} uses a noise for a second release")
            return exact + self.value
        self.is_used = True
        return self.game.release(exact, reads, self)

    __radd__ = __add__


class Game:
    """Bandit's law and policy's generator of one game, and the record of that game.

    Pull i of arm a gives `table[a, i - 1]`; noises (in units of their scale) and uniforms are
    given. A game that is not `traced` computes with floats. A game that is not `strict` continues
    where something depends on rewards that were not released, or a noise is added twice.
    """

    def __init__(
        self,
        table: np.ndarray,
        noises: Iterable[float],
        uniforms: Iterable[float],
        *,
        traced: bool = True,
        strict: bool = True,
        by_round: bool = False,
    ) -> None:
        self.table, self.traced, self.strict, self.by_round = table, traced, strict, by_round
        self.arms: list[int] = []  # arm of every round
        self.draws: list[tuple[float, int]] = []  # scale and rounds played, of every noise
        self.releases: list[Recorded] = []
        self._noises = chain(noises, repeat(0.0))
        self._uniforms = chain(uniforms, repeat(0.5))
        self._read = [0] * len(table)
        self._own = np.random.default_rng(len(table))  # of draws that are not given

    def reward(self, arm: int) -> Any:
        """Return the next reward of an arm."""
        self.arms.append(int(arm))
        self._read[arm] += 1
        value = float(self.table[arm, self._read[arm] - 1])
        if not self.traced:
            return value
        number = len(self.arms) if self.by_round else self._read[arm]
        return Statistic(self, value, {(int(arm), number): 1.0})

    def laplace(self, location: float, scale: float) -> Any:
        """Return a Laplace noise, as a generator does."""
        assert location == 0.0
        return self._noise(scale)

    def normal(self, location: float, scale: float) -> Any:
        """Return a Gaussian noise, as a generator does."""
        assert location == 0.0
        return self._noise(scale, is_gaussian=True)

    def perturb(self, law: Any) -> Any:
        """Return a noise of Lemma 15 of wang2024; `scale` is then the unit of a reward."""
        return self._noise(1.0, (law.epsilon, law.delta))

    def random(self) -> float:
        """Return a uniform number, as a generator does."""
        return next(self._uniforms)

    def beta(self, a: Any, b: Any) -> float:
        """Return a draw of Beta(a, b), the same in every game with the same parameters."""
        return float(self._own.beta(float(a), float(b)))

    def standard_exponential(self) -> float:
        """Return an exponential number, the same in every game."""
        return float(self._own.standard_exponential())

    def standard_normal(self) -> float:
        """Return a normal number that is no noise of a release, the same in every game."""
        return float(self._own.standard_normal())

    def release(self, exact: float, reads: dict[Reward, float], noise: Noise) -> float:
        """Record a release and return its value."""
        value, after = exact + noise.value, len(self.arms)
        kind = noise.budget, noise.is_gaussian
        release = Recorded(reads, noise.scale, *kind, noise.draw, after, value)
        self.releases.append(release)
        return value

    def _noise(
        self, scale: float, budget: tuple[float, float] | None = None, is_gaussian: bool = False
    ) -> Any:
        self.draws.append((scale, len(self.arms)))
        value = scale * next(self._noises)
        if not self.traced:
            return value
        return Noise(self, value, scale, len(self.draws) - 1, budget, is_gaussian)


class _Arrays:
    # NumPy, except that arrays of floats can hold statistics.

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def empty(self, shape: Any, dtype: Any = None) -> np.ndarray:
        return self.full(shape, 0.0) if dtype is None else np.empty(shape, dtype)

    def zeros(self, shape: Any, dtype: Any = None) -> np.ndarray:
        return self.full(shape, 0.0) if dtype is None else np.zeros(shape, dtype)

    def full(self, shape: Any, value: Any) -> np.ndarray:
        return np.full(shape, value, object if isinstance(value, float) else None)


@contextmanager
def plain_python() -> Iterator[None]:
    """Let `played` trace: arrays of the algorithms hold objects, and a game supplies the rewards.

    The algorithms that a test plays must be imported before.
    """
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if not name.startswith(PLAYED):
                continue
            if getattr(module, "np", None) is np:
                patches.enter_context(patch.object(module, "np", _Arrays()))
            if name.startswith("dpbandits.algorithms.") and hasattr(module, "perturb"):
                patches.enter_context(patch.object(module, "perturb", _perturb))
        patches.enter_context(patch.object(core_bandit, "draw", _draw))
        # The guard of rewards compares them, and tells the policy nothing.
        patches.enter_context(patch.object(core_bandit, "check", lambda bandit, total, n: None))
        yield


def _draw(law: Game, rng: Game, arm: int, t: int) -> Any:
    return law.reward(arm)


def _perturb(law: Any, rng: Game) -> Any:
    return rng.perturb(law)


def played(
    module: ModuleType | Any, params: Any, rounds: int, game: Game, per_round: bool = True
) -> Game:
    """Play `rounds` rounds of an algorithm, within `plain_python`, and return the game."""
    arms = len(game.table)
    law: Any = game
    unused = np.random.default_rng(0)
    bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), unused, per_round)
    play: Callable[..., None] = getattr(module.play, "py_func", module.play)
    play(params, bandit, game)
    assert len(game.arms) == rounds
    return game


# Recorded releases against the declared ones -----------------------------------------------------


def spent(game: Game) -> dict[Reward, float]:
    """Return the budget that each reward spends on all releases that precede a choice.

    It is epsilon, or rho for Gaussian noise; an algorithm has noise of one of the two kinds.
    """
    total: dict[Reward, float] = {}
    for release in of_choices(game):
        for reward, factor in release.reads.items():
            total[reward] = total.get(reward, 0.0) + cost_of(release, factor)
    return total


def cost_of(release: Recorded, moved: float) -> float:
    """Return the budget that hides a move of the released statistic: of its noise by as much.

    It is the epsilon of Laplace noise, that of Lemma 15 for a move by one unit, and the rho of
    Gaussian noise: the Rényi divergence of order alpha between N(0, s^2) and N(x, s^2) is
    alpha x^2/(2 s^2).
    """
    units = abs(moved) / release.scale if release.scale else math.inf
    if release.is_gaussian:
        return units * units / 2.0
    return units * (release.budget[0] if release.budget else 1.0)


def of_choices(game: Game) -> list[Recorded]:
    """Return the releases that a choice follows and that read a reward."""
    return [one for one in game.releases if one.reads and one.after < len(game.arms)]


SLACK = 1.0 + 1e-9  # for rounded sums


class Undeclared(AssertionError):
    """Error raised for a release that no declaration allows, or a declaration without a release."""


class Match(NamedTuple):
    """Declared release, and the recorded releases that it allows."""

    declared: Release
    recorded: list[Recorded]


def matched(
    game: Game, declared: Iterable[Release], *, rescaled: bool = False, complete: bool = True
) -> list[Match]:
    """Return the releases of a game, each assigned to one declared release.

    A recorded release reads rewards of one arm, has the declared noise, and reads only rewards
    first..last. All recorded releases of one declaration together move by at most `sensitivity`
    times `times` for every single reward. Raises Undeclared if that is impossible. If the
    declaration is `complete`, also raises if an arm was pulled beyond the rewards first..last and
    nothing was recorded for them.

    `rescaled` is for declarations that divide statistics by their scale before they are added up.
    """
    matches = [Match(one, []) for one in sorted(declared, key=lambda one: (one.arm, one.last))]
    loads: list[dict[Reward, float]] = [{} for _ in matches]
    made = [(*window(one), one) for one in of_choices(game)]
    for arm, first, last, recorded in sorted(made, key=lambda one: one[:3]):
        for match, load in zip(matches, loads, strict=True):
            moves = _moves(recorded, match.declared, rescaled)
            if moves is None or match.declared.arm != arm:
                continue
            if not match.declared.first <= first <= last <= match.declared.last:
                continue
            most = _sensitivity(match.declared) * match.declared.times * SLACK
            if all(load.get(reward, 0.0) + moved <= most for reward, moved in moves.items()):
                for reward, moved in moves.items():
                    load[reward] = load.get(reward, 0.0) + moved
                match.recorded.append(recorded)
                break
        else:
            raise Undeclared(
                f"after round {recorded.after}: no declaration allows a release of rewards"
                f" {first} to {last} of arm {arm} with noise of scale {recorded.scale:.6g} and"
                f" factors up to {max(map(abs, recorded.reads.values())):.6g}"
            )
    for match in matches if complete else []:
        if not match.recorded and match.declared.last < game.arms.count(match.declared.arm):
            raise Undeclared(f"declared but not released: {match.declared}")
    return matches


def window(release: Recorded) -> tuple[int, int, int]:
    """Return the arm, the first and the last reward of a release."""
    arms = {arm for arm, _ in release.reads}
    if len(arms) != 1:
        raise Undeclared(f"after round {release.after}: one release reads the arms {sorted(arms)}")
    numbers = [number for _, number in release.reads]
    return arms.pop(), min(numbers), max(numbers)


def _moves(recorded: Recorded, declared: Any, rescaled: bool) -> dict[Reward, float] | None:
    # How far every reward moves the statistic, in the unit of the declaration; None if the noise is
    # of another kind or scale.
    if isinstance(declared, ApproximateDP):
        if recorded.budget is None or not _equal(
            recorded.budget, (declared.epsilon, declared.delta)
        ):
            return None
        factor = 1.0 / recorded.scale if recorded.scale else math.inf
    elif (
        isinstance(declared, Gaussian if recorded.is_gaussian else Laplace)
        and recorded.budget is None
        and recorded.scale > 0.0
    ):
        if not (rescaled or _equal([recorded.scale], [declared.scale])):
            return None
        factor = declared.scale / recorded.scale
    else:
        return None
    return {reward: factor * abs(own) for reward, own in recorded.reads.items()}


def _sensitivity(declared: Release) -> float:
    return 1.0 if isinstance(declared, ApproximateDP) else declared.sensitivity


def _equal(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(first, second, strict=True))
