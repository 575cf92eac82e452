"""Releases as data, and the budget that they compose to.

Neighbours are two tables of rewards that differ in one entry, the i-th reward of one arm. A release
declares which rewards of which arm it reads, how far one of them can move the released statistic
(the sensitivity), and the noise. The budgets of releases that read a common reward add up or, if a
delta > 0 is allowed, compose by the theorem of Dwork, Rothblum and Vadhan (2010). Releases of
disjoint rewards compose in parallel: the largest budget counts. Where one of the releases has
Gaussian noise, their rho add up.

A mechanism is rho-zCDP (zero-concentrated DP; Bun and Steinke 2016) if the Rényi divergence of
every order alpha > 1 between its outputs on neighbouring tables is at most rho alpha. The rho of
releases that read a common reward add up, also if later ones depend on earlier ones (Lemma 1.7).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np

ORDERS = (1e-9, 1e9)  # of alpha - 1, among which the best is searched


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
    def epsilon(self) -> float:
        """Pure-DP budget of one such release alone."""
        return self.sensitivity / self.scale

    @property
    def delta(self) -> float:
        """Delta of one such release alone: the noise is declared, and needs none."""
        return 0.0


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
    def rho(self) -> float:
        """zCDP budget of one such release alone: Bun and Steinke 2016, Proposition 1.6."""
        return 0.5 * (self.sensitivity / self.scale) ** 2

    @property
    def delta(self) -> float:
        """Delta of one such release alone: the noise is declared, and needs none."""
        return 0.0


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
    def epsilon(self) -> float:
        """Pure-DP budget of the answer alone."""
        return self.sensitivity / self.threshold_scale + 2.0 * self.sensitivity / self.query_scale

    @property
    def delta(self) -> float:
        """Delta of one such release alone: the noise is declared, and needs none."""
        return 0.0


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


Release = Laplace | Gaussian | SparseVector | ApproximateDP


def composed_epsilon(releases: Iterable[Release], delta: float = 0.0) -> float:
    """Return the event-level epsilon of all releases together at this delta.

    It is the largest epsilon over all rewards, and infinite if the deltas of the releases alone add
    up to more than this delta. Raises TypeError for a release whose mechanism is unknown (nothing
    is approximated) and ValueError for an invalid delta or release.
    """
    if not 0.0 <= delta <= 1.0:
        raise ValueError(f"delta must be in [0, 1], got {delta}")
    return max((_together(reading, delta) for reading in readers(releases)), default=0.0)


def _together(reading: list[Release], delta: float) -> float:
    # The deltas of the releases add up. The rest of the allowed delta goes to zCDP, if there is
    # Gaussian noise, or else to the smaller of two compositions, which hold for unequal budgets:
    #     sum eps_i  and  sum eps_i (e^eps_i - 1) + sqrt(2 log(1/delta) sum eps_i^2).
    left = delta - _added((release.delta, release.times) for release in reading)
    if left < 0.0:
        return math.inf
    parts = [(r.epsilon, r.times) for r in reading if not isinstance(r, Gaussian)]
    if len(parts) < len(reading):
        return epsilon_of_rho(_rho(reading), left)
    added = _added(parts)
    # Beyond 700 the exponential overflows, and its bound is never the smaller one.
    if left == 0.0 or added == math.inf or max(epsilon for epsilon, _ in parts) > 700.0:
        return added
    drift = math.fsum(times * epsilon * math.expm1(epsilon) for epsilon, times in parts)
    squares = math.fsum(times * epsilon * epsilon for epsilon, times in parts)
    return min(added, drift + math.sqrt(-2.0 * math.log(left) * squares))


def composed_rho(releases: Iterable[Release]) -> float:
    """Return the rho of all releases together: the largest sum of theirs over all rewards.

    It is infinite if a release without Gaussian noise needs a delta. Raises as `readers` does.
    """
    sums = (
        math.inf if any(release.delta for release in reading) else _rho(reading)
        for reading in readers(releases)
    )
    return max(sums, default=0.0)


def _rho(reading: list[Release]) -> float:
    # epsilon-DP is epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 1.4).
    return _added(
        (r.rho if isinstance(r, Gaussian) else 0.5 * r.epsilon * r.epsilon, r.times)
        for r in reading
    )


def _added(parts: Iterable[tuple[float, float]]) -> float:
    # A zero part adds nothing, even if it occurs infinitely often.
    return math.fsum(times * part for part, times in parts if part > 0.0)


def is_sound(release: Release) -> bool:
    """Return True if the sensitivity and the noise, or the declared budget, are valid."""
    given = release._asdict()
    scales = [value for name, value in given.items() if name.endswith("scale")]
    sizes = [value for name, value in given.items() if name in ("sensitivity", "epsilon")]
    noisy = all(scale > 0 for scale in scales)
    return noisy and all(size >= 0 for size in sizes) and 0 <= release.delta <= 1


def readers(releases: Iterable[Release]) -> Iterator[list[Release]]:
    """Yield the releases that read a common reward, for every reward that may be the worst one.

    The releases that read any other reward are a subset of one of these lists. Raises TypeError for
    a release whose mechanism is unknown and ValueError for one with invalid fields.
    """
    by_arm: dict[int, list[Release]] = {}
    for release in releases:
        if not isinstance(release, Release):
            raise TypeError(f"unknown release {release!r}: its budget cannot be composed")
        ordered = 1 <= release.first <= release.last
        if not (is_sound(release) and ordered and release.times >= 1):
            raise ValueError(f"not a release of rewards first..last: {release!r}")
        by_arm.setdefault(release.arm, []).append(release)
    for declared in by_arm.values():
        declared.sort(key=lambda release: release.first)
        reading: list[tuple[float, int]] = []  # heap of (last, number), the first to end on top
        for number, release in enumerate(declared):
            while reading and reading[0][0] < release.first:
                heappop(reading)
            heappush(reading, (release.last, number))
            # If the next release begins before any of these ends, more releases read its first
            # reward.
            if number + 1 == len(declared) or declared[number + 1].first > reading[0][0]:
                yield [declared[n] for _, n in reading]


# zCDP as (epsilon, delta)-DP ---------------------------------------------------------------------


def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return an epsilon such that every rho-zCDP mechanism is (epsilon, delta)-DP.

    The bound of Canonne, Kamath and Steinke (2020, Proposition 12) at its best order alpha. It is
    less than rho + 2 sqrt(rho log(1/delta)) (Bun and Steinke 2016, Proposition 1.3), and infinite
    at delta = 0 unless rho = 0.
    """
    if rho == 0.0 or delta >= 1.0:
        return 0.0
    if delta <= 0.0 or math.isinf(rho):
        return math.inf
    from scipy.optimize import minimize_scalar  # imported late: scipy takes long to import

    def bound(log_less: float) -> float:
        less = math.exp(log_less)  # alpha - 1
        # log(1 - 1/alpha) and log(1/(alpha delta)), with alpha = 1 + less
        gained = math.log(less) - math.log1p(less)
        return rho * (1.0 + less) + gained - (math.log1p(less) + math.log(delta)) / less

    low, high = map(math.log, ORDERS)
    minimum = minimize_scalar(bound, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    classical = rho + 2.0 * math.sqrt(-rho * math.log(delta))
    return max(0.0, min(float(minimum.fun), classical))


def gaussian_delta(rho: float, epsilon: float) -> float:
    """Return the least delta at which Gaussian releases of rho in total are (epsilon, delta)-DP.

    Balle and Wang 2018, Theorem 8, with mu = sqrt(2 rho) standard deviations between the means.
    Composed Gaussian releases lose what one of their total rho does (Dong, Roth and Su 2022,
    Corollary 3.3).
    """
    from scipy.special import erfcx, log_ndtr  # imported late: scipy takes long to import

    mu = math.sqrt(2.0 * rho)
    if mu == 0.0:
        return 0.0
    low = epsilon / mu - mu / 2.0
    more = math.exp(float(log_ndtr(-low)))  # P[X > low], X ~ N(0, 1)
    if 1e-3 < mu < 1e3:
        return max(0.0, more - math.exp(epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))))

    def mills(x: Any) -> Any:  # P[X > x] over the density at x
        return math.sqrt(math.pi / 2.0) * erfcx(x / math.sqrt(2.0))

    density = math.exp(-low * low / 2.0) / math.sqrt(2.0 * math.pi)
    if mu > 1.0:  # the exponent above has lost its digits
        return max(0.0, more - density * float(mills(low + mu)))
    # Nearly equal terms: density times the integral of the derivative of their Mills ratios.
    places, weights = np.polynomial.legendre.leggauss(20)
    x = low + mu * (places + 1.0) / 2.0
    return density * float(weights @ (1.0 - x * mills(x))) * mu / 2.0


def gaussian_epsilon(rho: float, delta: float) -> float:
    """Return the least epsilon at which Gaussian releases of rho are (epsilon, delta)-DP."""
    high = epsilon_of_rho(rho, delta)
    if math.isinf(high):
        return high
    return least(lambda epsilon: gaussian_delta(rho, epsilon) <= delta, high)


def rho_of_gaussian(epsilon: float, delta: float) -> float:
    """Return the largest rho at which Gaussian releases are (epsilon, delta)-DP; 0 < delta < 1."""
    high = 1.0
    while gaussian_delta(high, epsilon) <= delta:
        high *= 2.0
    return least(lambda rho: gaussian_delta(rho, epsilon) > delta, high)


def least(holds: Callable[[float], bool], high: float) -> float:
    """Return the least number of [0, high] from which on a monotone condition holds."""
    low = 0.0
    if holds(low):
        return low
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
