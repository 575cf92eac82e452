"""Releases as data, and the budget that they compose to.

Neighbours are two tables of rewards that differ in one entry, the i-th reward of one arm. A release
declares which rewards of which arm it reads, how far one of them can move the released statistic
(the sensitivity), and the noise. The budgets of releases that read a common reward add up or, if a
delta > 0 is allowed, compose by the theorem of Dwork, Rothblum and Vadhan (2010). Releases of
disjoint rewards compose in parallel: the largest budget counts. Where one of the releases has
Gaussian noise, their rho (zCDP) add up.
"""

import math
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from dpbandits.privacy.concentrated import epsilon_of_rho


class Laplace(NamedTuple):
    """Statistics of an arm's rewards first..last (1-based, inclusive), plus Lap(scale) each.

    The samples that a stopping rule reads count as the rewards of one arm.

    `sensitivity` is the L1 norm of the change in all these statistics that one reward can cause:
    1/m for a mean over m rewards, 1 for sums over disjoint blocks. There are `times` such releases,
    each with its own noise; `times` is infinite if their number is unbounded.
    """

    arm: int
    first: int
    last: float  # infinite if unbounded
    sensitivity: float
    scale: float
    times: float = 1

    @property
    def delta(self) -> float:
        """Pure DP needs none."""
        return 0.0

    @property
    def epsilon(self) -> float:
        """Pure-DP budget of one such release alone."""
        return self.sensitivity / self.scale

    @property
    def is_sound(self) -> bool:
        """True if the sensitivity and the noise are valid."""
        return self.sensitivity >= 0 and self.scale > 0


class Gaussian(NamedTuple):
    """Statistics of an arm's rewards first..last (1-based, inclusive), plus N(0, scale²) each.

    `sensitivity` is the L2 norm of the change in all these statistics that one reward can cause.
    There are `times` such releases. The budget is rho; an epsilon needs a delta.
    """

    arm: int
    first: int
    last: float  # infinite if unbounded
    sensitivity: float
    scale: float  # standard deviation
    times: float = 1

    @property
    def delta(self) -> float:
        """zCDP has none."""
        return 0.0

    @property
    def rho(self) -> float:
        """zCDP budget of one such release alone: Bun and Steinke 2016, Proposition 1.6."""
        return 0.5 * (self.sensitivity / self.scale) ** 2

    @property
    def is_sound(self) -> bool:
        """True if the sensitivity and the noise are valid."""
        return self.sensitivity >= 0 and self.scale > 0


class SparseVector(NamedTuple):
    """Number of the first of many queries at a threshold; the queries read rewards first..last.

    `sensitivity` is how far one reward can move any single query. The threshold has one noise
    Lap(threshold_scale), and every query its own noise Lap(query_scale). The budget is that of Lyu,
    Su and Li (2017, Algorithm 1) for one answer: it charges the sensitivity to the threshold and
    twice the sensitivity to the released query.
    """

    arm: int
    first: int
    last: float  # infinite if unbounded
    sensitivity: float
    threshold_scale: float
    query_scale: float
    times: float = 1

    @property
    def delta(self) -> float:
        """Pure DP needs none."""
        return 0.0

    @property
    def epsilon(self) -> float:
        """Pure-DP budget of the answer alone."""
        return self.sensitivity / self.threshold_scale + 2.0 * self.sensitivity / self.query_scale

    @property
    def is_sound(self) -> bool:
        """True if the sensitivity and both noises are valid."""
        return self.sensitivity >= 0 and self.threshold_scale > 0 and self.query_scale > 0


class ApproximateDP(NamedTuple):
    """Statistic of rewards first..last whose mechanism alone makes it (epsilon, delta)-DP.

    The noise is not declared; the budget proved for the mechanism is declared and composed.
    """

    arm: int
    first: int
    last: float  # infinite if unbounded
    epsilon: float
    delta: float
    times: float = 1

    @property
    def is_sound(self) -> bool:
        """True if epsilon and delta are valid."""
        return self.epsilon >= 0 and 0 <= self.delta <= 1


Release = Laplace | Gaussian | SparseVector | ApproximateDP


def composed_epsilon(releases: Iterable[Release], delta: float = 0.0) -> float:
    """Return the event-level epsilon of all releases together at this delta.

    It is the largest epsilon over all rewards, and infinite if the deltas of the releases alone add
    up to more than this delta. Raises TypeError for a release whose mechanism is unknown (nothing
    is approximated) and ValueError for an invalid delta or release.
    """
    check_delta(delta)
    return max((_of_one_reward(reading, delta) for reading in readers(releases)), default=0.0)


def composed_rho(releases: Iterable[Release]) -> float:
    """Return the rho of all releases together: the largest sum of theirs over all rewards.

    It is infinite if a release without Gaussian noise needs a delta. Raises TypeError for a release
    whose mechanism is unknown and ValueError for an invalid one.
    """
    return max(
        (
            math.inf if any(release.delta for release in reading) else _rho_of_one_reward(reading)
            for reading in readers(releases)
        ),
        default=0.0,
    )


def check_delta(delta: float) -> None:
    """Raise ValueError unless delta is in [0, 1]."""
    if not 0.0 <= delta <= 1.0:
        raise ValueError(f"delta must be in [0, 1], got {delta}")


def readers(releases: Iterable[Release]) -> Iterator[list[Release]]:
    """Yield the releases that read a common reward, for every reward that may be the worst one.

    The releases that read any other reward are a subset of one of these lists. Raises TypeError for
    a release whose mechanism is unknown and ValueError for one with invalid fields.
    """
    of_arm: dict[int, list[Release]] = {}
    for release in releases:
        if not isinstance(release, Release):
            raise TypeError(f"unknown release {release!r}: its budget cannot be composed")
        sound = release.is_sound and release.times >= 1
        if not (sound and 1 <= release.first <= release.last):
            raise ValueError(f"not a release of rewards first..last: {release!r}")
        of_arm.setdefault(release.arm, []).append(release)
    for own in of_arm.values():
        own.sort(key=lambda release: release.first)
        reading: list[tuple[float, int]] = []  # heap of (last, number), the first to end on top
        for number, release in enumerate(own):
            while reading and reading[0][0] < release.first:
                heappop(reading)
            heappush(reading, (release.last, number))
            # If the next release begins before any of these ends, more releases read its first
            # reward.
            if number + 1 == len(own) or own[number + 1].first > reading[0][0]:
                yield [own[n] for _, n in reading]


def _of_one_reward(reading: list[Release], delta: float) -> float:
    # The deltas of the releases add up. The rest of the allowed delta goes to zCDP, if there is
    # Gaussian noise, or else to the smaller of two compositions, which hold for unequal budgets:
    #     sum eps_i  and  sum eps_i (e^eps_i - 1) + sqrt(2 log(1/delta) sum eps_i^2).
    left = delta - _added((release.delta, release.times) for release in reading)
    if left < 0.0:
        return math.inf
    others = [release for release in reading if not isinstance(release, Gaussian)]
    if len(others) < len(reading):
        return epsilon_of_rho(_rho_of_one_reward(reading), left)
    parts = [(release.epsilon, release.times) for release in others]
    added = _added(parts)
    # Beyond 700 the exponential overflows, and its bound is never the smaller one.
    if left == 0.0 or added == math.inf or max(epsilon for epsilon, _ in parts) > 700.0:
        return added
    drift = math.fsum(times * epsilon * math.expm1(epsilon) for epsilon, times in parts)
    squares = math.fsum(times * epsilon * epsilon for epsilon, times in parts)
    return min(added, drift + math.sqrt(-2.0 * math.log(left) * squares))


def _rho_of_one_reward(reading: list[Release]) -> float:
    # The deltas of ApproximateDP are charged to delta by the caller.
    return _added((_rho(release), release.times) for release in reading)


def _rho(release: Release) -> float:
    # epsilon-DP is epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
    if isinstance(release, Gaussian):
        return release.rho
    return 0.5 * release.epsilon * release.epsilon


def _added(parts: Iterable[tuple[float, float]]) -> float:
    # A zero part adds nothing, even if it occurs infinitely often.
    return math.fsum(times * part for part, times in parts if part > 0.0)
