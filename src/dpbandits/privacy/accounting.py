"""Tight composition: the smallest epsilon that follows from the declared releases at a delta.

`composed_epsilon` adds the budgets or uses the theorem of Dwork, Rothblum and Vadhan (2010), as the
papers do. Here each release is replaced by the worst pair of distributions that its declaration
allows, and the product of these pairs is evaluated as a whole:

* For delta = 0 the result is the sum, as the worst outcomes of all releases may occur together.
* For k releases of which only (epsilon, delta)-DP is known, the result is the theorem of Kairouz,
  Oh and Viswanath (2015). The worst pair is a coin that shows the true table with odds of e^epsilon
  (or, with probability delta, reveals it with certainty); the number of true coins is binomial.
* For releases with Gaussian noise alone the result is the closed form of Balle and Wang (2018).
  Gaussian noise beside other noise is bounded by zCDP, as in `composed_epsilon`.
* In all other cases the result comes from the privacy loss distributions of dp-accounting, an
  optional dependency. Losses are rounded to a grid so that the result is never less than the true
  epsilon, apart from rounding errors near 1e-15 in delta.

A Laplace release of several statistics is treated as if one reward moved a single statistic by the
whole sensitivity.
"""

import importlib
import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import zip_longest
from types import ModuleType
from typing import Any, NamedTuple

from dpbandits.core.errors import UserError
from dpbandits.privacy.concentrated import gaussian_epsilon
from dpbandits.privacy.releases import (
    Gaussian,
    Laplace,
    Release,
    check_delta,
    composed_epsilon,
    composed_rho,
    readers,
)

# Width of the grid, as a multiple of the root mean square budget of a release. The overstatement
# grows with the square of the width; at a width of 0.1 it is below 0.2 % of epsilon for DP-UCB-INT.
FINENESS = 0.02
MOST_POINTS = 2.0**16  # grid points up to the epsilon of the other theorems; takes seconds
LEAST_DELTA = 1e-12  # below it a convolution by Fourier transforms has no correct digits


class NoAccountant(UserError):
    """Error raised when dp-accounting is needed but not installed."""


class ReleaseGroup(NamedTuple):
    """Group of `times` releases that share a worst pair, with the budget of one of them."""

    is_laplace: bool
    epsilon: float
    delta: float
    times: int


def tight_epsilon(releases: Iterable[Release], delta: float = 0.0) -> float:
    """Return the event-level epsilon of all releases together at this delta.

    It is the largest epsilon over all rewards, and never more than `composed_epsilon`. It is
    infinite if the number of releases is unbounded or their deltas alone exceed this delta. Raises
    TypeError for a release whose mechanism is unknown, ValueError for an invalid delta or release,
    and NoAccountant if dp-accounting is needed but not installed.
    """
    check_delta(delta)
    return max((_of_one_reward(reading, delta) for reading in readers(releases)), default=0.0)


def _of_one_reward(reading: list[Release], delta: float) -> float:
    together = [release._replace(first=1, last=1) for release in reading]
    composed = composed_epsilon(together, delta)
    others = [release for release in reading if not isinstance(release, Gaussian)]
    if not others:
        return min(composed, gaussian_epsilon(composed_rho(together), delta))
    if len(others) < len(reading):
        return composed
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
    groups = tuple(sorted(ReleaseGroup(*key, number) for key, number in times.items()))
    return min(composed, _of_groups(groups, delta, composed))


@cache
def _of_groups(groups: tuple[ReleaseGroup, ...], delta: float, composed: float) -> float:
    if len(groups) == 1 and not groups[0].is_laplace:
        return epsilon_of_equals(groups[0].epsilon, groups[0].delta, groups[0].times, delta)
    if -math.expm1(sum(group.times * _log_without(group.delta) for group in groups)) > delta:
        return math.inf
    if delta < LEAST_DELTA:
        return composed
    if math.isinf(composed):  # the deltas add up to more than `delta`, but jointly cost less
        composed = math.fsum(group.times * group.epsilon for group in groups)
    pld = accountant()
    number = sum(group.times for group in groups)
    squares = math.fsum(group.times * group.epsilon * group.epsilon for group in groups)
    reach = max(composed, max(group.epsilon for group in groups))
    interval = max(FINENESS * math.sqrt(squares / number), reach / MOST_POINTS)
    # Truncated mass counts as infinite loss: at most a millionth of delta in total.
    cut = min(1e-15, 1e-6 * delta / (2.0 * len(groups)))
    pairs = []
    for group in groups:
        pair = (
            pld.from_laplace_mechanism(
                1.0, sensitivity=group.epsilon, value_discretization_interval=interval
            )
            if group.is_laplace
            else _coin(group.epsilon, group.delta, interval)
        )
        pairs.append(pair if group.times == 1 else pair.self_compose(group.times, cut))
    while len(pairs) > 1:  # compose neighbours of similar size, so that most products are small
        pairs = [
            left if right is None else left.compose(right, cut)
            for left, right in zip_longest(pairs[::2], pairs[1::2])
        ]
    return float(pairs[0].get_epsilon_for_delta(delta))


def accountant() -> ModuleType:
    """Return dp-accounting's module of privacy loss distributions.

    Raises NoAccountant if dp-accounting is not installed.
    """
    try:
        return importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError as error:
        raise NoAccountant(
            "the tight composition of unlike releases needs dp-accounting, which is not installed:"
            " .venv/bin/python -m pip install -r requirements-accounting.lock"
        ) from error


def _coin(epsilon: float, delta: float, interval: float) -> Any:
    # As a function of e^x, the delta that the coin needs for an epsilon of x falls linearly between
    # -epsilon and epsilon. The grid points around these two ends, joined by such lines, give the
    # least upper bound on the grid. (from_privacy_parameters rounds up and overstates it more.)
    end = epsilon / interval
    ends = {math.floor(-end), math.ceil(-end), math.floor(end), math.ceil(end)}
    points = sorted(ends if len(ends) > 1 else {*ends, *(point + 1 for point in ends)})
    needed = [delta_of_equals(epsilon, delta, 1, point * interval) for point in points]
    needed[-1] = delta
    pmf = importlib.import_module("dp_accounting.pld.pld_pmf")
    joined = pmf.create_pmf_pessimistic_connect_dots(interval, points, needed)
    return accountant().PrivacyLossDistribution(joined)


# k equal releases --------------------------------------------------------------------------------


def epsilon_of_equals(epsilon: float, delta: float, times: int, allowed: float) -> float:
    """Return the epsilon of `times` releases that are (epsilon, delta)-DP each, at delta `allowed`.

    Kairouz, Oh and Viswanath 2015, Theorem 3.3, also between its points. The bound holds for all
    mechanisms and is attained by some. Accurate to 1e-12 times `times` epsilon; infinite if the
    deltas alone exceed `allowed`.
    """
    if delta_of_equals(epsilon, delta, times, times * epsilon) > allowed:
        return math.inf
    low, high = 0.0, times * epsilon
    while high - low > 1e-12 * times * epsilon:
        middle = (low + high) / 2.0
        if delta_of_equals(epsilon, delta, times, middle) > allowed:
            low = middle
        else:
            high = middle
    return high


def _log_without(delta: float) -> float:
    return math.log1p(-delta) if delta < 1.0 else -math.inf


def delta_of_equals(epsilon: float, delta: float, times: int, at: float) -> float:
    """Return the delta at which `times` releases, each (epsilon, delta)-DP, have epsilon `at`.

    A coin lies with probability q = 1/(1 + e^epsilon), and l lies among k coins have a loss of
    (k - 2 l) epsilon. For delta = 0 the result is x = P[l < m] - e^at P'[l < m], where the loss
    exceeds `at` for l < m, and a coin lies with probability 1 - q under P'. In general it is
    1 - (1 - delta)^k (1 - x).
    """
    from scipy.special import betainc  # imported late: scipy takes long to import

    lie = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    m = min(math.ceil((times - at / epsilon) / 2.0), times + 1) if epsilon > 0.0 else 0
    unrevealed = math.exp(times * _log_without(delta))  # probability that no coin reveals the table
    if m <= 0:
        excess = 0.0
    elif m > times:
        excess = -math.expm1(at) if at < 0.0 else 0.0
    else:
        rare = float(betainc(times - m + 1, m, lie))  # P'[l < m]
        excess = float(betainc(times - m + 1, m, truth))
        excess = max(0.0, excess - math.exp(at + math.log(rare)) if rare > 0.0 else excess)
    return -math.expm1(times * _log_without(delta)) + unrevealed * excess
