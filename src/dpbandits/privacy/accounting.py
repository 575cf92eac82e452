"""Tight composition: the smallest epsilon that follows from the declared releases at a delta.

Each release is replaced by the worst pair of distributions that its declaration allows, and the
product of these pairs is evaluated as a whole:

* For delta = 0 the result is the sum, as the worst outcomes of all releases may occur together.
* For k releases of which only (epsilon, delta)-DP is known, the result is the theorem of Kairouz,
  Oh and Viswanath (2015). The worst pair is a coin that shows the true table with odds of e^epsilon
  (or, with probability delta, reveals it with certainty); the number of true coins is binomial.
* For Gaussian noise alone the result is the closed form of Balle and Wang (2018). Gaussian noise
  beside other noise is left to `composed_epsilon`.
* In all other cases the result comes from the privacy loss distributions of dp-accounting, an
  optional dependency, on a grid that never gives less than the true epsilon, apart from rounding
  errors near 1e-15 in delta. A Laplace release of several statistics counts as one of a single
  statistic that one reward moves by the whole sensitivity.
"""

import importlib
import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from types import ModuleType
from typing import Any

import numpy as np
from scipy.special import betainc

from dpbandits.kernel.errors import UserError, installing
from dpbandits.privacy.releases import (
    Gaussian,
    Laplace,
    Release,
    composed_epsilon,
    composed_rho,
    gaussian_epsilon,
    least,
    readers,
)

# Width of the grid, as a multiple of the root mean square budget of a release. The overstatement
# grows with the square of the width; at a width of 0.1 it is below 0.2 % of epsilon for DP-UCB-INT.
FINENESS = 0.02
MOST_POINTS = 2.0**16  # grid points up to the epsilon of the other theorems; takes seconds
ROUNDING = 1e-12  # relative, of a ratio of two probabilities
LEAST_DELTA = 1e-12  # below it a convolution by Fourier transforms has no correct digits

# Releases that share a worst pair: True for Laplace noise, epsilon and delta of one, their number.
Group = tuple[bool, float, float, int]


class NotComputed(UserError):
    """Reason why there is no tight epsilon."""


def tight_epsilon(releases: Iterable[Release], delta: float = 0.0) -> float:
    """Return the event-level epsilon of all releases together at this delta.

    It is never more than `composed_epsilon`, and infinite if the number of releases is unbounded or
    their deltas alone exceed this delta. Raises errors as `composed_epsilon` does, and NotComputed
    for Gaussian noise beside other noise, and where dp-accounting is needed but is not installed
    or, below LEAST_DELTA, cannot answer.
    """
    composed_epsilon((), delta)  # raises for an invalid delta
    return max((_together(reading, delta) for reading in readers(releases)), default=0.0)


def _together(reading: list[Release], delta: float) -> float:
    # The releases of `reading` read a common reward.
    reading = [release._replace(first=1, last=1) for release in reading]
    composed = composed_epsilon(reading, delta)
    others = [release for release in reading if not isinstance(release, Gaussian)]
    if not others:
        return min(composed, gaussian_epsilon(composed_rho(reading), delta))
    if len(others) < len(reading):
        raise NotComputed("not computed for Gaussian noise beside other noise")
    times: Counter[tuple[bool, float, float]] = Counter()
    for release in others:
        if release.epsilon > 0.0 or release.delta > 0.0:
            if math.isinf(release.times):
                return math.inf
            # Budgets that agree up to the last digits become equal; none becomes smaller.
            epsilon = float(f"{release.epsilon * (1.0 + 1e-11):.12g}")
            key = isinstance(release, Laplace), epsilon, release.delta
            times[key] += math.ceil(release.times)
    if not times or (delta == 0.0 and math.isfinite(composed)):
        return composed
    groups = tuple(sorted((*key, number) for key, number in times.items()))
    return min(composed, _from_worst_pairs(groups, delta, composed))


@cache
def _from_worst_pairs(groups: tuple[Group, ...], delta: float, composed: float) -> float:
    if len(groups) == 1 and not groups[0][0]:
        return epsilon_of_equals(*groups[0][1:], delta)
    if -math.expm1(sum(times * _log_without(lost) for _, _, lost, times in groups)) > delta:
        return math.inf
    if delta < LEAST_DELTA:
        raise NotComputed(f"not computed: below {LEAST_DELTA:g} a delta has no correct digits here")
    if math.isinf(composed):  # the deltas add up to more than `delta`, but jointly cost less
        composed = math.fsum(times * epsilon for _, epsilon, _, times in groups)
    try:
        pld = importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError as error:
        raise NotComputed(
            f"not computed without dp-accounting: {installing('accounting')}"
        ) from error
    squares = math.fsum(times * epsilon * epsilon for _, epsilon, _, times in groups)
    root_mean_square = math.sqrt(squares / sum(times for *_, times in groups))
    reach = max(composed, max(epsilon for _, epsilon, _, _ in groups))
    interval = max(FINENESS * root_mean_square, reach / MOST_POINTS)
    # Truncated mass counts as infinite loss: at most a millionth of delta in total.
    cut = min(1e-15, 1e-6 * delta / (2.0 * len(groups)))
    pairs = []
    for is_laplace, epsilon, lost, times in groups:
        if is_laplace:
            pair = pld.from_laplace_mechanism(
                1.0, sensitivity=epsilon, value_discretization_interval=interval
            )
        else:
            pair = _coin(pld, epsilon, lost, interval)
        pairs.append(pair if times == 1 else pair.self_compose(times, cut))
    while len(pairs) > 1:  # compose neighbours of similar size, so that most products are small
        pairs = [
            left if right is None else left.compose(right, cut)
            for left, right in zip_longest(pairs[::2], pairs[1::2])
        ]
    return float(pairs[0].get_epsilon_for_delta(delta))


def _coin(pld: ModuleType, epsilon: float, delta: float, interval: float) -> Any:
    # As a function of e^x, the delta that the coin needs for an epsilon of x falls linearly between
    # -epsilon and epsilon. The grid points around these two ends, joined by such lines, give the
    # least upper bound on the grid. (from_privacy_parameters rounds up and overstates it more.)
    end = epsilon / interval
    ends = {math.floor(-end), math.ceil(-end), math.floor(end), math.ceil(end)}
    points = sorted(ends if len(ends) > 1 else {*ends, *(point + 1 for point in ends)})
    needed = [delta_of_equals(epsilon, delta, 1, point * interval) for point in points]
    needed[-1] = delta
    pmf = importlib.import_module("dp_accounting.pld.pld_pmf")
    return pld.PrivacyLossDistribution(
        pmf.create_pmf_pessimistic_connect_dots(interval, points, needed)
    )


def epsilon_between(log_p: np.ndarray, log_q: np.ndarray, delta: float) -> float:
    """Return the least epsilon at which two laws are (epsilon, delta)-close; inf if there is none.

    `log_p` and `log_q`, of one shape, are log-probabilities of the same outcomes.
    """

    def is_close(epsilon: float) -> bool:
        for first, second in ((log_p, log_q), (log_q, log_p)):
            above = first > second + epsilon
            p, q = first[above], second[above]
            # The sum of max(0, p - e^epsilon q): the smallest delta at this epsilon.
            if np.sum(-np.exp(p) * np.expm1(epsilon + q - p)) > delta:
                return False
        return True

    possible = np.isfinite(log_p) & np.isfinite(log_q)
    largest = np.abs(log_p[possible] - log_q[possible]).max(initial=0.0) * (1.0 + ROUNDING)
    return least(is_close, float(largest)) if is_close(largest) else math.inf


def epsilon_of_equals(epsilon: float, delta: float, times: int, allowed: float) -> float:
    """Return the epsilon of `times` releases that are (epsilon, delta)-DP each, at delta `allowed`.

    Kairouz, Oh and Viswanath 2015, Theorem 3.3, also between its points. The bound holds for all
    mechanisms and is attained by some. Infinite if the deltas alone exceed `allowed`.
    """
    most = times * epsilon
    if delta_of_equals(epsilon, delta, times, most) > allowed:
        return math.inf
    return least(lambda total: delta_of_equals(epsilon, delta, times, total) <= allowed, most)


def _log_without(delta: float) -> float:
    return math.log1p(-delta) if delta < 1.0 else -math.inf


def delta_of_equals(epsilon: float, delta: float, times: int, total: float) -> float:
    """Return the delta at which `times` releases, each (epsilon, delta)-DP, have epsilon `total`.

    A coin lies with probability q = 1/(1 + e^epsilon), and l lies among k coins have a loss of
    (k - 2 l) epsilon. For delta = 0 the result is x = P[l < m] - e^total P'[l < m], where the loss
    exceeds `total` for l < m, and a coin lies with probability 1 - q under P'. In general it is
    1 - (1 - delta)^k (1 - x).
    """
    lie = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    m = min(math.ceil((times - total / epsilon) / 2.0), times + 1) if epsilon > 0.0 else 0
    unrevealed = math.exp(times * _log_without(delta))  # probability that no coin reveals the table
    if m <= 0:
        excess = 0.0
    elif m > times:
        excess = -math.expm1(total) if total < 0.0 else 0.0
    else:
        rare = float(betainc(times - m + 1, m, lie))  # P'[l < m]
        excess = float(betainc(times - m + 1, m, truth))
        excess = max(0.0, excess - math.exp(total + math.log(rare)) if rare > 0.0 else excess)
    return -math.expm1(times * _log_without(delta)) + unrevealed * excess
