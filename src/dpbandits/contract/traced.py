"""Games in plain Python that record every release: the rewards that it reads, and its noise.

A reward is a `Statistic`: a number with how far every reward can move it, which sums and multiples
follow. A statistic plus a noise is a release, which is recorded; the sum is an ordinary number.
Everything else that is computed from a statistic (a comparison, a logarithm, an index) depends on
rewards that were not released, and raises `Unreleased`. No algorithm or mechanism reports anything
itself, so what is recorded is what was read.

Only games run this way are traced. Compiled games, and the sources, contain no trace of it.
"""

import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, repeat
from math import trunc
from operator import eq, floordiv, ge, gt, le, lt, mod, ne, truediv
from types import ModuleType
from typing import Any, NamedTuple, NoReturn
from unittest.mock import patch

import numpy as np

from dpbandits.kernel import bandit as core_bandit
from dpbandits.kernel.answers import UNDECIDED
from dpbandits.kernel.bandit import new_bandit
from dpbandits.kernel.environment import WITHIN
from dpbandits.mechanisms import perturbation
from dpbandits.privacy.releases import Gaussian, Laplace

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
    """Rewards first..last of an arm, each of which moves a statistic by as much.

    The factor is their coefficient times the width of the range that the algorithm assumes. Rewards
    are numbered from 1, by the pulls of their arm or by the rounds of the game.
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


class Number:
    """Number of a game. Whatever is no sum or multiple of it uses its value: `float`."""

    __array_ufunc__ = None  # NumPy numbers and arrays leave the arithmetic to this class

    def __neg__(self: Any) -> Any:
        return self * -1.0

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other


COMPARED, DIVIDED = (lt, le, gt, ge, eq, ne), (truediv, floordiv, mod, divmod, pow)
for _use in (*COMPARED, *DIVIDED, abs, bool, hash, int, round, trunc):
    setattr(Number, f"__{_use.__name__}__", lambda x, *y, use=_use: use(float(x), *y))
for _use in DIVIDED:
    setattr(Number, f"__r{_use.__name__}__", lambda x, y, use=_use: use(y, float(x)))


def by_element(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let the second number of an operation be an array."""

    def applied(number: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return np.frompyfunc(lambda x: operation(number, x), 1, 1)(other)
        return operation(number, other)

    return applied


class Statistic(Number):
    """Number that depends on rewards which no noise covers.

    Rewards of which it is no linear function have an infinite coefficient.
    """

    def __init__(self, game: "Game", value: float, reads: Reads) -> None:
        self.game, self.value, self.reads = game, value, reads

    @by_element
    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise):
            return other + self
        if isinstance(other, Statistic):
            return Statistic(self.game, self.value + other.value, added(self.reads, other.reads))
        return Statistic(self.game, self.value + other, self.reads)

    @by_element
    def __mul__(self, factor: Any) -> "Statistic":
        if isinstance(factor, Statistic):
            both = added(self._times(math.inf), factor._times(math.inf))
            return Statistic(self.game, self.value * factor.value, both)
        return Statistic(self.game, self.value * float(factor), self._times(float(factor)))

    @by_element
    def __truediv__(self, divisor: Any) -> "Statistic":
        divisor = float(divisor)
        return Statistic(self.game, self.value / divisor, self._times(1.0 / divisor))

    def __pow__(self, power: float) -> "Statistic":
        return Statistic(self.game, self.value ** float(power), self._times(math.inf))

    __radd__, __rmul__ = __add__, __mul__

    def __float__(self) -> float:
        if self.game.strict and self.reads:
            run, number = self.reads[0], sum(last - first + 1 for _, first, last, _ in self.reads)
            self.game.refuse(
                f"depends on a sum of {number} rewards without noise, among them reward"
                f" {run.first} of arm {run.arm}"
            )
        return float(self.value)

    def _times(self, factor: float) -> Reads:
        return tuple(run._replace(factor=factor * run.factor) for run in self.reads)


@dataclass(eq=False)
class Noise(Number):
    """Noise before it is added. It covers one statistic; a second use is an error."""

    game: "Game"
    value: float
    law: Any  # Laplace, Gaussian, or (epsilon, delta) of Lemma 15 (wang2024)
    scale: float  # of a Laplace law, Gaussian standard deviation, or the unit of Lemma 15
    draw: int  # number of the noise in `Game.draws`, from 0

    @by_element
    def __mul__(self, factor: Any) -> "Noise":
        factor = float(factor)
        return replace(self, value=factor * self.value, scale=abs(factor) * self.scale)

    def __truediv__(self, divisor: Any) -> "Noise":
        return self * (1.0 / divisor)

    @by_element
    def __add__(self, other: Any) -> Any:
        if isinstance(other, Noise):  # the larger one covers, the other is known
            larger, smaller = (self, other) if self.scale >= other.scale else (other, self)
            is_gaussian = self.law is other.law is Gaussian
            scale = math.hypot(self.scale, other.scale) if is_gaussian else larger.scale
            return replace(larger, value=larger.value + float(smaller), scale=scale)
        is_statistic = isinstance(other, Statistic)
        exact, reads = (other.value, other.reads) if is_statistic else (float(other), ())
        is_used, value = self.draw in self.game.used, float(self)
        return exact + value if is_used else self.game.release(exact, reads, self)

    __radd__, __rmul__ = __add__, __mul__

    def __float__(self) -> float:
        # A noise that is known covers nothing.
        if self.draw in self.game.used and self.game.strict:
            self.game.refuse("uses a noise for a second release")
        self.game.used.add(self.draw)
        return float(self.value)


class Recorded(NamedTuple):
    """Release: how far every reward moves its statistic, and its noise."""

    reads: Reads
    noise: Noise
    after: int  # rounds played before the release
    line: tuple[str, int]  # file and line of the policy


class Game:
    """Bandit's law and policy's generator of one game, and the record of that game.

    Pull i of arm a gives `table[a, i - 1]`, as a share of the range that the algorithm assumes;
    noises (in units of their scale) and uniforms are given. A game that is not `traced` computes
    with floats. A game that is not `strict` continues where something depends on rewards that were
    not released, or a noise is added twice.
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
        self.ended = 0  # 1 after an answer, which is a choice too
        self.low, self.width = 0.0, 1.0  # of the range of rewards, which `played` sets
        self.refused: Unreleased | None = None
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
        value = self.low * n + self.width * value
        if not self.traced or not n:
            return value
        first = len(self.arms) if self.by_round else before + 1
        return Statistic(self, value, (Run(int(arm), first, first + n - 1, self.width),))

    def laplace(self, loc: Any = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Return a Laplace noise, as a generator does."""
        return self._noise(Laplace, loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Return a Gaussian noise, as a generator does."""
        return self._noise(Gaussian, loc, scale, size)

    def standard_normal(self, size: Any = None) -> Any:
        """Return a Gaussian noise of scale 1, as a generator does."""
        return self.normal(size=size)

    def perturb(self, law: Any) -> Any:
        """Return a noise of Lemma 15 of wang2024; `scale` is then the unit of a reward."""
        return self._noise((law.epsilon, law.delta))

    def random(self, size: Any = None) -> Any:
        """Return a uniform number, as a generator does."""
        return next(self._uniforms) if size is None else _filled(size, self.random)

    def __getattr__(self, name: str) -> Any:
        """Return a method of a generator whose draws are the same in every game."""
        method = getattr(self._own, name)

        def drawn(*arguments: Any, **named: Any) -> Any:
            # A statistic among the arguments would decide a draw.
            numbers = {key: _plain(value) for key, value in named.items()}
            return method(*map(_plain, arguments), **numbers)

        return drawn

    def release(self, exact: float, reads: Reads, noise: Noise) -> float:
        """Record a release and return its value. Raises Untraced for a product of rewards."""
        if not all(math.isfinite(run.factor) for run in reads):
            raise Untraced("noise is added to a product of rewards")
        frame = sys._getframe(1)
        while frame.f_back and str(frame.f_globals.get("__name__")).startswith(BELOW):
            frame = frame.f_back
        line = frame.f_code.co_filename, frame.f_lineno
        self.releases.append(Recorded(reads, noise, len(self.arms), line))
        return exact + noise.value

    def refuse(self, use: str) -> NoReturn:
        """Raise Unreleased, also at the end of the game: a policy may handle errors."""
        self.refused = self.refused or Unreleased(f"round {len(self.arms) + 1} {use}")
        raise self.refused

    def _noise(self, law: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        if size is not None:
            return _filled(size, lambda: self._noise(law, loc, scale))
        self.draws.append((float(scale), len(self.arms)))
        value = float(scale) * next(self._noises)
        if self.traced:
            noise: Any = Noise(self, value, law, float(scale), len(self.draws) - 1)
            return noise + loc if isinstance(loc, Number) or loc != 0.0 else noise
        return value + loc


def _filled(size: Any, draw: Callable[[], Any]) -> np.ndarray:
    array = np.empty(size, object)
    for i in np.ndindex(array.shape):
        array[i] = draw()
    return array


def _plain(value: Any) -> Any:
    # Arrays of objects have no logarithm, and a generator takes no object.
    array = np.asarray(value)
    return array.astype(float)[()] if array.dtype == object else value


class _Whole(np.ndarray):
    # Array of whole numbers, which cannot hold a statistic.

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, Statistic):
            raise Untraced("an array of whole numbers holds rewards; make it an array of floats")
        super().__setitem__(key, value)


class _Arrays:
    # NumPy, except that its arrays of floats can hold statistics.

    WHOLE = ("array", "empty", "full", "ones", "zeros")

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if not callable(function) or isinstance(function, type):
            return function
        is_whole = name.removesuffix("_like") in self.WHOLE

        def call(*given: Any, **named: Any) -> Any:
            try:
                result = function(*given, **named)
            except (AttributeError, TypeError):
                result = function(*map(_plain, given), **named)
            return _holding(result, is_whole) if isinstance(result, np.ndarray) else result

        return call


def _holding(array: np.ndarray, is_whole: bool) -> np.ndarray:
    # The same array for the statistics of a policy.
    if array.dtype.kind == "f":
        return array.astype(object)
    if array.dtype == object:  # None, of empty_like
        array[np.reshape([x is None for x in array.flat], array.shape)] = 0.0
    return array.view(_Whole) if is_whole and array.dtype.kind in "iu" else array


@contextmanager
def plain_python(*packages: str) -> Iterator[None]:
    """Let `played` trace: arrays of the algorithms hold objects, and a game supplies the rewards.

    The algorithms that are played must be imported before, also those of other packages, which are
    named by the beginnings of their modules.
    """
    arrays = _Arrays()
    instead = {id(value): getattr(arrays, name) for name, value in vars(np).items()}
    instead[id(np)] = arrays
    instead[id(perturbation.perturb)] = lambda law, rng: rng.perturb(law)
    game: dict[str, Any] = {
        "draw": lambda law, rng, arm, t: law.reward(arm),
        "draw_sum": lambda law, rng, arm, n: law.reward(arm, int(n)),
        "has_closed_sum": lambda law: not law.by_round,
        "check": lambda *_: None,  # the guard of rewards compares them, and tells nothing
    }
    with ExitStack() as patches:
        for module_name, module in list(sys.modules.items()):
            if module_name.startswith((*PLAYED, *packages)) and module is not perturbation:
                for name, value in list(vars(module).items()):
                    if instead.get(id(value), value) is not value:
                        patches.enter_context(patch.object(module, name, instead[id(value)]))
        patches.enter_context(patch.multiple(core_bandit, None, **game))
        yield


def played(
    module: ModuleType | Any, params: Any, rounds: int, game: Game, per_round: bool = True
) -> Game:
    """Play `rounds` rounds of an algorithm, within `plain_python`, and return the game.

    The actions of linear algorithms have norm 1 and are oblique: every component of a sum of a r
    reads rewards of all arms. They have two dimensions, or three if their number is odd.
    """
    arms = len(game.table)
    law: Any = game
    game.low, high = getattr(module, "RANGE", WITHIN)
    game.width = high - game.low
    unused = np.random.default_rng(0)
    bandit = new_bandit(law, arms, rounds, np.empty(0, np.int64), unused, per_round)
    if getattr(module, "LINEAR", False):
        # A seed with which no nearly optimal design of twelve actions is exact, fine or rough.
        actions = np.random.default_rng([6, arms]).normal(size=(arms, 2 + arms % 2))
        norms = np.linalg.norm(actions, axis=1, keepdims=True)
        bandit = bandit._replace(features=actions / norms)
    play: Callable[..., None] = getattr(module.play, "py_func", module.play)
    play(params, bandit, game)
    if game.refused:
        raise game.refused
    game.ended = int(bandit.answer[0] != UNDECIDED)
    assert len(game.arms) == rounds or game.ended
    return game


def cost_of(release: Recorded, moved: float) -> float:
    """Return the budget that hides a move of the released statistic: of its noise by as much.

    It is the epsilon of Laplace noise, that of Lemma 15 for a move by one unit, and the rho of
    Gaussian noise: the Rényi divergence of order alpha between N(0, s^2) and N(x, s^2) is
    alpha x^2/(2 s^2).
    """
    noise = release.noise
    units = abs(moved) / noise.scale if noise.scale else math.inf
    if noise.law is Gaussian:
        return units * units / 2.0
    return units * (1.0 if noise.law is Laplace else noise.law[0])


def of_choices(game: Game) -> list[Recorded]:
    """Return the releases that a choice, of an arm or an answer, follows and that read a reward."""
    choices = len(game.arms) + game.ended
    return [release for release in game.releases if release.reads and release.after < choices]
