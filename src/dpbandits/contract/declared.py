"""Releases that traced games record, against those that their algorithm declares."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

from dpbandits.contract.traced import Game, Recorded, cost_of, of_choices
from dpbandits.privacy.releases import ApproximateDP, Gaussian, Laplace, Release

SLACK = 1.0 + 1e-9  # for rounded sums
SAME = 1e-12  # relative tolerance: scales that differ only by rounding are equal


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


def matched(game: Game, declared: Iterable[Release], *, rescaled: bool = False) -> list[Match]:
    """Return the releases of a game, each assigned to one declared release.

    A recorded release reads rewards of one arm, has the declared noise, and reads only rewards
    first..last. All recorded releases of one declaration together move by at most `sensitivity`
    times `times` for every single reward. Raises Undeclared if that is impossible.

    `rescaled` is for declarations that divide statistics by their scale before they are added up.
    """
    matches = [Match(one) for one in sorted(declared, key=lambda one: (one.arm, one.last))]
    alike: dict[Any, list[Match]] = {}  # by arm and kind of noise, in order of the scales
    for match in sorted(matches, key=lambda match: _scale(match.declared)):
        alike.setdefault((match.declared.arm, type(match.declared)), []).append(match)
    made = [(*window(release), release) for release in of_choices(game)]
    for arm, first, last, recorded in sorted(made, key=lambda release: release[:3]):
        for match, moved in _candidates(recorded, alike, arm, rescaled):
            within = match.declared.first <= first <= last <= match.declared.last
            if within and match.load.at(first) + moved <= match.most:
                match.load.add(last, moved)
                match.recorded.append(recorded)
                break
        else:
            raise Undeclared(
                f"after round {recorded.after}: no declaration allows a release of rewards"
                f" {first} to {last} of arm {arm} with noise of scale {recorded.scale:.6g} and"
                f" factors up to {_factor(recorded):.6g}",
                recorded,
            )
    return matches


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


def _candidates(
    recorded: Recorded, alike: dict[Any, list[Match]], arm: int, rescaled: bool
) -> Iterator[tuple[Match, float]]:
    # Declarations with this noise, and how far a reward moves the statistic, in their unit.
    if recorded.scale <= 0.0:
        return
    if recorded.budget is not None:
        for match in alike.get((arm, ApproximateDP), ()):
            (epsilon, delta), declared = recorded.budget, match.declared
            if math.isclose(epsilon, declared.epsilon, rel_tol=SAME) and math.isclose(
                delta, declared.delta, rel_tol=SAME
            ):
                yield match, _factor(recorded) / recorded.scale
        return
    every = alike.get((arm, Gaussian if recorded.is_gaussian else Laplace), [])
    start, end = 0, len(every)
    if not rescaled:
        scales = (recorded.scale * (1.0 - SAME), recorded.scale * (1.0 + SAME))
        start = bisect_left(every, scales[0], key=lambda match: _scale(match.declared))
        end = bisect_right(every, scales[1], key=lambda match: _scale(match.declared))
    for match in every[start:end]:
        yield match, _factor(recorded) * (match.declared.scale / recorded.scale)


def _scale(declared: Release) -> float:
    return declared.scale if isinstance(declared, Laplace | Gaussian) else 0.0


def _factor(recorded: Recorded) -> float:
    return max(abs(run.factor) for run in recorded.reads)
