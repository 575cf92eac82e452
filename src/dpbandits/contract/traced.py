"""Games in plain Python that record every release: the rewards that it reads, and its noise.

A reward is a `Statistic`: a number with its coefficient in every reward, which sums and multiples
keep. A statistic plus a noise is a release, which is recorded; the sum is an ordinary number.
Everything else that is computed from a statistic (a comparison, a logarithm, an index) depends on
rewards that were not released, and raises `Unreleased`. No algorithm or mechanism reports anything
itself, so what is recorded is what was read.

Only games run this way are traced. Compiled games, and the sources, contain no trace of it.
"""

import math
import operator
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
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
from dpbandits.mechanisms import perturbation

PLAYED = ("dpbandits.algorithms.", "dpbandits.mechanisms.", "dpbandits.kernel.bandit")
# Modules whose frames are below the line of a policy that draws or reads.
BELOW = ("dpbandits.contract.", "dpbandits.mechanisms.", "dpbandits.kernel.")
MOST_RUNS = 1000  # of a statistic


class Unreleased(AssertionError):
    """Error raised when something is computed from rewards without noise."""


class Untraced(Exception):
    """Error raised when something is computed that no sum or multiple of rewards is."""


class Endless(BaseException):
    """Games take too much work in plain Python. No handler of the policy catches it."""


class Run(NamedTuple):
    """Rewards first..last of an arm, all with the same coefficient.

    Rewards are numbered from 1, by the pulls of their arm or by the rounds of the game.
    """

    arm: int
    first: int
    last: int
    factor: float


Reads = tuple[Run, ...]  # increasing and disjoint


def added(first: Reads, second: Reads) -> Reads:
    """Return the coefficients of the sum of two statistics. Raises Endless for too many runs."""
    if not first or not second:
        return first or second
    if second[-1] < first[0]:
        first, second = second, first
    if second[0][:2] <= (first[-1].arm, first[-1].last):  # they overlap, or lie between
        edges: dict[int, set[int]] = {}
        for run in (*first, *second):
            edges.setdefault(run.arm, set()).update((run.first, run.last + 1))
        cuts = {arm: sorted(places) for arm, places in edges.items()}
        pieces: dict[tuple[int, int, int], float] = {}
        for arm, start, last, factor in (*first, *second):
            i = bisect_left(cuts[arm], start)
            while cuts[arm][i] <= last:
                key = arm, cuts[arm][i], cuts[arm][i + 1] - 1
                pieces[key] = pieces.get(key, 0.0) + factor
                i += 1
        joined: Reads = ()
        for key, factor in sorted(pieces.items()):
            joined = _appended(joined, (Run(*key, factor),)) if factor else joined
        return joined
    return _appended(first, second)


def _appended(first: Reads, second: Reads) -> Reads:
    # All of the second lie behind the first.
    if not first:
        return second
    last, run = first[-1], second[0]
    if (last.arm, last.last + 1, last.factor) == (run.arm, run.first, run.factor):
        return (*first[:-1], run._replace(first=last.first), *second[1:])
    if len(first) > MOST_RUNS:
        raise Endless(f"a sum has more than {MOST_RUNS} different coefficients of rewards")
    return first + second


class Recorded(NamedTuple):
    """Release: coefficients of the rewards in its statistic, its noise, and the value released."""

    reads: Reads
    scale: float  # of Laplace or Gaussian noise, or the unit of that of Lemma 15 (wang2024)
    budget: tuple[float, float] | None  # (epsilon, delta) of Lemma 15; None for other noise
    is_gaussian: bool  # whose `scale` is the standard deviation
    draw: int  # number of the noise in `Game.draws`, from 0
    after: int  # rounds played before the release
    value: float
    line: tuple[str, int]  # file and line of the policy


@total_ordering
class Statistic:
    """Number that depends on rewards which no noise covers."""

    __array_ufunc__ = None  # NumPy numbers leave the arithmetic to this class

    def __init__(self, game: "Game", value: float, reads: Reads) -> None:
        self.game, self.value, self.reads = game, value, reads

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise):
            return other + self
        if isinstance(other, Statistic):
            return Statistic(self.game, self.value + other.value, added(self.reads, other.reads))
        return Statistic(self.game, self.value + other, self.reads)

    __radd__ = __add__

    def __mul__(self, factor: Any) -> "Statistic":
        if isinstance(factor, Statistic):
            raise Untraced("rewards are multiplied with rewards")
        factor = float(factor)
        reads = tuple(run._replace(factor=factor * run.factor) for run in self.reads)
        return Statistic(self.game, factor * self.value, reads)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Statistic":
        divisor = float(divisor)
        reads = tuple(run._replace(factor=run.factor / divisor) for run in self.reads)
        return Statistic(self.game, self.value / divisor, reads)

    def __pow__(self, power: Any) -> float:
        raise Untraced("rewards are taken to a power")

    def __rtruediv__(self, dividend: float) -> float:
        return dividend / float(self)

    def __neg__(self) -> "Statistic":
        return -1.0 * self

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __float__(self) -> float:
        if self.game.strict and self.reads:
            run, number = self.reads[0], sum(last - first + 1 for _, first, last, _ in self.reads)
            raise Unreleased(
                f"round {len(self.game.arms) + 1} depends on a sum of {number} rewards"
                f" without noise, among them reward {run.first} of arm {run.arm}"
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

    __index__ = __int__

    def __abs__(self) -> float:
        return abs(float(self))


@total_ordering
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

    def __mul__(self, factor: float) -> "Noise":
        return replace(self, value=factor * self.value, scale=abs(factor) * self.scale)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Noise":
        return (1.0 / divisor) * self

    def __neg__(self) -> "Noise":
        return -1.0 * self

    def __add__(self, other: Any) -> float:
        if isinstance(other, Noise):
            raise Untraced("two noises are added up")
        is_statistic = isinstance(other, Statistic)
        exact, reads = (other.value, other.reads) if is_statistic else (float(other), ())
        is_used, value = self.draw in self.game.used, float(self)
        return exact + value if is_used else self.game.release(exact, reads, self)

    __radd__ = __add__

    def __sub__(self, other: Any) -> float:
        return self + -other

    def __rsub__(self, other: Any) -> float:
        return -self + other

    def __float__(self) -> float:
        # A noise that is known covers nothing.
        if self.draw in self.game.used and self.game.strict:
            round_ = len(self.game.arms) + 1
            raise Unreleased(f"round {round_} uses a noise for a second release")
        self.game.used.add(self.draw)
        return float(self.value)

    def __lt__(self, other: Any) -> bool:
        return float(self) < float(other)

    def __eq__(self, other: object) -> bool:
        return float(self) == other

    def __abs__(self) -> float:
        return abs(float(self))


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
        self.used: set[int] = set()  # numbers of the noises that were added
        self.releases: list[Recorded] = []
        self._noises = chain(noises, repeat(0.0))
        self._uniforms = chain(uniforms, repeat(0.5))
        self._read = [0] * len(table)
        self._own = np.random.default_rng(len(table))  # of draws that are not given

    def reward(self, arm: int, n: int = 1) -> Any:
        """Return the sum of the next n rewards of an arm; only single ones are named by rounds."""
        before = self._read[arm]
        self.arms += [int(arm)] * n
        self._read[arm] += n
        value = float(self.table[arm, before] if n == 1 else self.table[arm, before:][:n].sum())
        if not self.traced or not n:
            return value
        first = len(self.arms) if self.by_round else before + 1
        return Statistic(self, value, (Run(int(arm), first, first + n - 1, 1.0),))

    def laplace(self, loc: Any = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Return a Laplace noise, as a generator does."""
        return self._noises_of(loc, scale, size, False)

    def normal(self, loc: Any = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Return a Gaussian noise, as a generator does."""
        return self._noises_of(loc, scale, size, True)

    def standard_normal(self, size: Any = None) -> Any:
        """Return a Gaussian noise of scale 1, as a generator does.

        In a game that is not traced it is no noise, and the same in every game.
        """
        if self.traced:
            return self.normal(size=size)
        return float(self._own.standard_normal())

    def perturb(self, law: Any) -> Any:
        """Return a noise of Lemma 15 of wang2024; `scale` is then the unit of a reward."""
        return self._noise(1.0, (law.epsilon, law.delta))

    def random(self) -> float:
        """Return a uniform number, as a generator does."""
        return next(self._uniforms)

    def __getattr__(self, name: str) -> Any:
        """Return a method of a generator whose draws are the same in every game."""
        method = getattr(self._own, name)

        def drawn(*arguments: Any) -> Any:
            # A statistic among the arguments would decide a draw.
            return method(*(operator.index(x) if type(x) is int else float(x) for x in arguments))

        return drawn

    def release(self, exact: float, reads: Reads, noise: Noise) -> float:
        """Record a release and return its value."""
        value, after, frame = exact + noise.value, len(self.arms), sys._getframe(1)
        while frame.f_back and str(frame.f_globals.get("__name__")).startswith(BELOW):
            frame = frame.f_back
        line = frame.f_code.co_filename, frame.f_lineno
        kind = noise.budget, noise.is_gaussian
        self.releases.append(Recorded(reads, noise.scale, *kind, noise.draw, after, value, line))
        return value

    def _noises_of(self, loc: Any, scale: float, size: Any, is_gaussian: bool) -> Any:
        if size is not None:
            every = np.empty(size, object)
            for place in np.ndindex(every.shape):
                every[place] = self._noises_of(loc, scale, None, is_gaussian)
            return every
        noise = self._noise(float(scale), is_gaussian=is_gaussian)
        return noise + loc if isinstance(loc, Statistic) or loc != 0.0 else noise

    def _noise(
        self, scale: float, budget: tuple[float, float] | None = None, is_gaussian: bool = False
    ) -> Any:
        self.draws.append((scale, len(self.arms)))
        value = scale * next(self._noises)
        if not self.traced:
            return value
        return Noise(self, value, scale, len(self.draws) - 1, budget, is_gaussian)


class _Whole(np.ndarray):
    # Array of whole numbers, which cannot hold a statistic.

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, Statistic):
            raise Untraced("an array of whole numbers holds rewards; make it an array of floats")
        super().__setitem__(key, value)


class _Arrays:
    # NumPy, except that arrays of floats can hold statistics.

    MADE = ("array", "empty", "full", "ones", "zeros")
    LIKE = tuple(f"{name}_like" for name in MADE[1:])

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if name in (*self.MADE, *self.LIKE):
            return lambda *given, **named: self._made(function, *given, **named)
        return _of_floats(function) if isinstance(function, np.ufunc) else function

    @staticmethod
    def _made(function: Callable[..., np.ndarray], *given: Any, **named: Any) -> np.ndarray:
        array = function(*given, **named)
        if function is np.empty_like and array.dtype == object:
            array[...] = 0.0
        if array.dtype.kind == "f":
            return array.astype(object)
        return array.view(_Whole) if array.dtype.kind in "iu" else array


def _of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    # Objects have no logarithm; a statistic among them is then an error.
    def call(*arguments: Any) -> Any:
        return function(
            *(
                np.asarray(x, float)
                if isinstance(x, np.ndarray) and x.dtype == object
                else float(x)
                if isinstance(x, Statistic | Noise)
                else x
                for x in arguments
            )
        )

    def either(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except (AttributeError, TypeError):
            return call(*arguments, **named)

    return either


@contextmanager
def plain_python(*packages: str) -> Iterator[None]:
    """Let `played` trace: arrays of the algorithms hold objects, and a game supplies the rewards.

    The algorithms that are played must be imported before, also those of other packages, which are
    named by the beginnings of their modules.
    """
    arrays = _Arrays()
    instead = {id(np): arrays, id(perturbation.perturb): _perturb}
    instead |= {id(getattr(np, name)): getattr(arrays, name) for name in arrays.MADE + arrays.LIKE}
    with ExitStack() as patches:
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith((*PLAYED, *packages)):
                for name, value in list(vars(module).items()):
                    if id(value) in instead and module is not perturbation:
                        patches.enter_context(patch.object(module, name, instead[id(value)]))
        for name, function in (("draw", _draw), ("draw_sum", _draw_sum)):
            patches.enter_context(patch.object(core_bandit, name, function))
        patches.enter_context(
            patch.object(core_bandit, "has_closed_sum", lambda law: not law.by_round)
        )
        # The guard of rewards compares them, and tells the policy nothing.
        patches.enter_context(patch.object(core_bandit, "check", lambda bandit, total, n: None))
        yield


def _draw(law: Game, rng: Game, arm: int, t: int) -> Any:
    return law.reward(arm)


def _draw_sum(law: Game, rng: Game, arm: int, n: int) -> Any:
    return law.reward(arm, int(n))


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
    return [
        release for release in game.releases if release.reads and release.after < len(game.arms)
    ]
