"""Releases that traced games record, against those that their algorithm declares."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from dpbandits.contract.traced import Game, Reads, Recorded, added, cost_of, of_choices
from dpbandits.privacy.releases import ApproximateDP, Gaussian, Laplace, Release

SLACK = 1.0 + 1e-9  # for rounded sums


class Undeclared(AssertionError):
    """Error raised for a release that no declaration allows, or a declaration without a release."""

    def __init__(self, problem: str, recorded: Recorded | None = None) -> None:
        super().__init__(problem)
        self.recorded = recorded


class Load:
    """Sum of weights over the rewards of an arm, which are added by increasing first reward."""

    def __init__(self) -> None:
        self._total = 0.0
        self._ends: list[tuple[int, float]] = []  # heap of the last rewards, with the weights

    def at(self, reward: int) -> float:
        """Return the load of a reward that is not before any that was asked for."""
        while self._ends and self._ends[0][0] < reward:
            self._total -= heappop(self._ends)[1]
        self._total = self._total if self._ends else 0.0
        return self._total

    def add(self, last: int, weight: float) -> None:
        """Add a weight from the reward that was asked for to the last one."""
        heappush(self._ends, (last, weight))
        self._total += weight


@dataclass(eq=False)
class Match:
    """Declared release, and the recorded releases that it allows."""

    declared: Any
    recorded: list[Recorded] = field(default_factory=list)
    load: Load = field(default_factory=Load)

    @property
    def most(self) -> float:
        """Largest sum of moves of one reward."""
        sensitivity = getattr(self.declared, "sensitivity", 1.0)
        return float(sensitivity * self.declared.times * SLACK)


def most_spent(game: Game) -> float:
    """Return the largest budget that a reward spends on all releases that precede a choice.

    It is epsilon, or rho for Gaussian noise; an algorithm has noise of one of the two kinds.
    """
    load, largest, before = Load(), 0.0, -1
    parts = ((run, release) for release in of_choices(game) for run in release.reads)
    for (arm, first, last, factor), release in sorted(parts, key=lambda part: part[0][:2]):
        load, before = (load if arm == before else Load()), arm
        largest = max(largest, load.at(first) + (cost := cost_of(release, factor)))
        load.add(last, cost)
    return largest


def by_arm(game: Game) -> Iterator[Recorded]:
    """Yield the releases that precede a choice; of several arms, only Gaussian ones.

    Gaussian releases after the same round with noise of the same scale are the components of a
    vector. Each of its arms yields one release, which a reward moves by the L2 norm of its moves.
    """
    vectors: dict[tuple[int, str], list[Recorded]] = {}
    for release in of_choices(game):
        if release.noise.law is Gaussian:
            key = release.after, f"{release.noise.scale:.9g}"
            vectors.setdefault(key, []).append(release)
        else:
            yield release
    for first, *others in vectors.values():
        squares: Reads = ()
        for component in (first, *others):
            reads = (run._replace(factor=run.factor**2) for run in component.reads)
            squares = added(squares, tuple(run for run in reads if run.factor))
        norms = [run._replace(factor=math.sqrt(run.factor)) for run in squares]
        for arm in sorted({run.arm for run in norms}):
            yield first._replace(reads=tuple(run for run in norms if run.arm == arm))


def matched(game: Game, declared: Iterable[Release], *, rescaled: bool = False) -> list[Match]:
    """Return the releases of a game, each assigned to one declared release.

    A recorded release reads rewards of one arm (`by_arm`), has the declared noise, and reads only
    rewards first..last. All recorded releases of one declaration together move by at most
    `sensitivity` times `times` for every single reward. Raises Undeclared if that is impossible.

    `rescaled` is for declarations that divide statistics by their scale before they are added up.
    """
    matches = [Match(one) for one in sorted(declared, key=lambda one: (one.arm, one.last))]
    alike: dict[Any, list[Match]] = {}  # by arm and noise, in order of their last rewards
    for match in matches:
        alike.setdefault(_noise(match.declared.arm, match.declared, rescaled), []).append(match)
    made = [(*window(release), release) for release in by_arm(game)]
    for arm, first, last, recorded in sorted(made, key=lambda release: release[:3]):
        every = alike.get(_noise(arm, recorded.noise, rescaled), [])
        factor = max(abs(run.factor) for run in recorded.reads)
        start = bisect_left(every, last, key=lambda match: match.declared.last)
        for match in every[start:] if recorded.noise.scale > 0.0 else ():
            unit = getattr(match.declared, "scale", 1.0)  # of the declared sensitivity
            moved = factor * (unit / recorded.noise.scale)
            if match.declared.first <= first and match.load.at(first) + moved <= match.most:
                match.load.add(last, moved)
                match.recorded.append(recorded)
                break
        else:
            raise Undeclared(
                f"after round {recorded.after}: no declaration allows a release of rewards"
                f" {first} to {last} of arm {arm} with noise of scale"
                f" {recorded.noise.scale:.6g}, which one of them moves by up to {factor:.6g}",
                recorded,
            )
    return matches


def _noise(arm: int, noise: Any, rescaled: bool) -> tuple[Any, ...]:
    # Arm and noise of a declaration or a drawn noise; equal where they differ only by rounding.
    law = getattr(noise, "law", type(noise))
    if law in (Laplace, Gaussian):
        return arm, law, "" if rescaled else f"{noise.scale:.9g}"
    budget = (noise.epsilon, noise.delta) if law is ApproximateDP else law
    return arm, ApproximateDP, *(f"{part:.9g}" for part in budget)


def not_made(game: Game, matches: Iterable[Match]) -> list[Release]:
    """Return the declared releases that were not made though their arm was pulled beyond them."""
    pulls = [game.arms.count(arm) for arm in range(len(game.table))]
    every = [match.declared for match in matches if not match.recorded]
    return [release for release in every if release.last < pulls[release.arm]]


def window(release: Recorded) -> tuple[int, int, int]:
    """Return the arm, the first and the last reward of a release."""
    arms = {run.arm for run in release.reads}
    if len(arms) != 1:
        problem = f"after round {release.after}: one release reads the arms {sorted(arms)}"
        raise Undeclared(problem, release)
    return arms.pop(), release.reads[0].first, release.reads[-1].last
