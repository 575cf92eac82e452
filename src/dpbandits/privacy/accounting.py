"""The smallest epsilon that follows from the declared releases, at a delta.

`composed_epsilon` adds up or uses the theorem of Dwork, Rothblum and Vadhan (2010), as the papers
do. Here every release is the worst pair of distributions that what is declared of it allows, and
their product is looked at as a whole:

* delta = 0: the sum. The worst outcome of each release may come about at once.
* k releases that are each (epsilon, delta)-DP and nothing else is known of: the theorem of Kairouz,
  Oh and Viswanath (2015). The worst pair is a coin that tells the truth with odds of e^epsilon (or,
  with probability delta, everything), and how many of k coins tell it is binomial.
* all else: the privacy loss distributions of the accountant dp-accounting, which is an optional
  dependency. Losses are rounded to a grid so that the result is never less than the truth, but for
  rounding errors near 1e-15 in delta.

A Laplace release of several statistics counts as if one reward moved one of them by all of the
sensitivity.
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
from dpbandits.privacy.releases import (
    Laplace,
    Release,
    check_delta,
    composed_epsilon,
    readers,
)

# The width of the grid, in root mean square budgets of a release. What it overstates goes with its
# square; at a tenth it is less than 0.2 % of epsilon for DP-UCB-INT.
FINENESS = 0.02
MOST_POINTS = 2.0**16  # of the grid, up to the epsilon of the other theorems; for seconds
LEAST_DELTA = 1e-12  # of the accountant: below, a convolution by Fourier transforms has no digits


class NoAccountant(UserError):
    """dp-accounting is needed and not installed."""


class Part(NamedTuple):
    """Releases with one worst pair: how many there are, and what is known of one."""

    is_laplace: bool
    epsilon: float
    delta: float
    times: int


def tight_epsilon(releases: Iterable[Release], delta: float = 0.0) -> float:
    """The event-level epsilon of all releases together, at this delta: the largest of a reward.

    Never more than `composed_epsilon`. Infinite where nothing bounds how many releases there are,
    or where their deltas alone are more than this delta. Raises TypeError for a release whose
    mechanism is unknown, NoAccountant where there is none and one is needed.
    """
    check_delta(delta)
    largest = 0.0
    for reading in readers(releases):
        largest = max(largest, _of_one_reward(reading, delta))
    return largest


def _of_one_reward(reading: list[Release], delta: float) -> float:
    composed = composed_epsilon(_with_one_reward(reading), delta)
    times: Counter[tuple[bool, float, float]] = Counter()
    for release in reading:
        if release.epsilon > 0.0 or release.delta > 0.0:
            if math.isinf(release.times):
                return math.inf
            # Equal but for the last digits is equal, and no less than it was.
            epsilon = float(f"{release.epsilon * (1.0 + 1e-11):.12g}")
            key = isinstance(release, Laplace), epsilon, release.delta
            times[key] += math.ceil(release.times)
    parts = tuple(sorted(Part(*key, number) for key, number in times.items()))
    if not parts or (delta == 0.0 and math.isfinite(composed)):
        return composed
    return min(composed, _of_parts(parts, delta, composed))


def _with_one_reward(reading: list[Release]) -> list[Release]:
    # As if they read the first reward and no other one.
    return [release._replace(first=1, last=1) for release in reading]


@cache
def _of_parts(parts: tuple[Part, ...], delta: float, composed: float) -> float:
    if len(parts) == 1 and not parts[0].is_laplace:
        return epsilon_of_equals(parts[0].epsilon, parts[0].delta, parts[0].times, delta)
    if -math.expm1(sum(part.times * _log_without(part.delta) for part in parts)) > delta:
        return math.inf
    if delta < LEAST_DELTA:
        return composed
    if math.isinf(composed):  # their deltas add up to more, and come about together less often
        composed = math.fsum(part.times * part.epsilon for part in parts)
    return _accounted(parts, delta, composed)


def _log_without(delta: float) -> float:
    return math.log1p(-delta) if delta < 1.0 else -math.inf


# k equal releases --------------------------------------------------------------------------------


def epsilon_of_equals(epsilon: float, delta: float, times: int, allowed: float) -> float:
    """The epsilon of `times` releases that are (epsilon, delta)-DP each, at the delta `allowed`.

    Kairouz, Oh and Viswanath 2015, Theorem 3.3, between its points too; no mechanisms do worse, and
    some do as badly. To 1e-12 of times epsilon.
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


def delta_of_equals(epsilon: float, delta: float, times: int, at: float) -> float:
    """The delta at which `times` releases that are (epsilon, delta)-DP each are `at`-DP.

    A coin lies with probability q = 1/(1 + e^epsilon), and l lies of k coins have a loss of
    (k - 2 l) epsilon: P[l < m] - e^at P'[l < m], where these exceed `at` for l < m and under P' a
    coin lies with probability 1 - q.
    """
    from scipy.special import betainc  # late: it takes long to import

    lie = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    truth = 1.0 / (1.0 + math.exp(-epsilon))
    m = min(math.ceil((times - at / epsilon) / 2.0), times + 1) if epsilon > 0.0 else 0
    known = math.exp(times * _log_without(delta))  # that none of them tells everything
    if m <= 0:
        told = 0.0
    elif m > times:
        told = -math.expm1(at) if at < 0.0 else 0.0
    else:
        rare = float(betainc(times - m + 1, m, lie))  # P'[l < m]
        told = float(betainc(times - m + 1, m, truth))
        told = max(0.0, told - math.exp(at + math.log(rare)) if rare > 0.0 else told)
    return -math.expm1(times * _log_without(delta)) + known * told


# The accountant ----------------------------------------------------------------------------------


def accountant() -> ModuleType:
    """The privacy loss distributions of dp-accounting; NoAccountant where it is not installed."""
    try:
        return importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError as error:
        raise NoAccountant(
            "the tight composition of unlike releases needs dp-accounting, which is not installed:"
            " .venv/bin/python -m pip install -r requirements-accounting.lock"
        ) from error


def grid(parts: Iterable[Part], reach: float) -> float:
    """The interval between two losses of the grid, for an epsilon of `reach` at the most."""
    parts = list(parts)
    number = sum(part.times for part in parts)
    squares = math.fsum(part.times * part.epsilon * part.epsilon for part in parts)
    return max(FINENESS * math.sqrt(squares / number), reach / MOST_POINTS)


def _accounted(parts: tuple[Part, ...], delta: float, composed: float) -> float:
    interval = grid(parts, max(composed, max(part.epsilon for part in parts)))
    # All that is cut off goes to infinity: a millionth of delta.
    cut = min(1e-15, 1e-6 * delta / (2.0 * len(parts)))
    pairs = [_pair(part, interval, cut) for part in parts]
    while len(pairs) > 1:  # each with one of like size, so that all stay small for long
        pairs = [
            one if other is None else one.compose(other, cut)
            for one, other in zip_longest(pairs[::2], pairs[1::2])
        ]
    return float(pairs[0].get_epsilon_for_delta(delta))


def _pair(part: Part, interval: float, cut: float) -> Any:
    # The worst pair of all releases of a part, on the grid.
    pld = accountant()
    if part.is_laplace:
        one = pld.from_laplace_mechanism(
            1.0, sensitivity=part.epsilon, value_discretization_interval=interval
        )
    else:
        one = _coin(part.epsilon, part.delta, interval)
    return one if part.times == 1 else one.self_compose(part.times, cut)


def _coin(epsilon: float, delta: float, interval: float) -> Any:
    # The delta that the coin needs for an epsilon of x falls with a slope that is linear in e^x
    # between -epsilon and epsilon: points of the grid around either, joined by such lines, are the
    # least that is above it. (Rounded up, as from_privacy_parameters does it, it is further above.)
    at = epsilon / interval
    ends = {math.floor(-at), math.ceil(-at), math.floor(at), math.ceil(at)}
    points = sorted(ends if len(ends) > 1 else {*ends, *(end + 1 for end in ends)})
    needed = [delta_of_equals(epsilon, delta, 1, point * interval) for point in points]
    needed[-1] = delta
    pmf = importlib.import_module("dp_accounting.pld.pld_pmf")
    joined = pmf.create_pmf_pessimistic_connect_dots(interval, points, needed)
    return accountant().PrivacyLossDistribution(joined)
