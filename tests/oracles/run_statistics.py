"""Every statistic of a table, from its definition: plain sums over plain lists.

Sources: tossou2017, section 4 (median of means, Gini mean difference) and textbooks. This file
imports nothing from dpbandits.
"""

import math
from collections.abc import Sequence

GROUPS = 24  # a_0 of tossou2017: "we set the number of groups to 24"


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def standard_deviation(values: Sequence[float]) -> float:
    """Return the root of the squared deviations' sum over n - 1; 0 for a single value."""
    if len(values) == 1:
        return 0.0
    centre = mean(values)
    return math.sqrt(math.fsum((x - centre) ** 2 for x in values) / (len(values) - 1))


def quantile(values: Sequence[float], q: float) -> float:
    """Return the value at position q (n - 1) of the ordered values, linear between neighbours."""
    ordered = sorted(values)
    position = q * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def median(values: Sequence[float]) -> float:
    return quantile(values, 0.5)


def median_of_means(values: Sequence[float]) -> float:
    """Return the median of the means of 24 groups of consecutive runs, as equal as possible.

    The first groups are larger by one run where 24 does not divide their number; fewer runs than 24
    are groups of one.
    """
    return median(group_means(values))


def group_means(values: Sequence[float]) -> list[float]:
    groups, means, start = min(GROUPS, len(values)), list[float](), 0
    for group in range(groups):
        size = len(values) // groups + (1 if group < len(values) % groups else 0)
        means.append(mean(values[start : start + size]))
        start += size
    return means


def gini_mean_difference(values: Sequence[float]) -> float:
    """Return the mean of |x - y| over all pairs of different runs; 0 for fewer than two runs."""
    pairs = [abs(x - y) for i, x in enumerate(values) for j, y in enumerate(values) if i != j]
    return mean(pairs) if pairs else 0.0


CENTRES = {"mean": mean, "median": median, "median-of-means": median_of_means}


T_975 = {6: 2.446912, 25: 2.059539, 30: 2.042272}  # of Student's t by degrees of freedom: tables


def interval_of_median(values: Sequence[float]) -> tuple[float, float]:
    """Return x_(j), x_(n+1-j) for the largest j for which at most 1/40 of 2^n outcomes have j - 1
    runs or fewer below the median.
    """
    ordered, n = sorted(values), len(values)
    outcomes = [sum(math.comb(n, k) for k in range(j)) for j in range(n // 2 + 1)]
    j = max(j for j, number in enumerate(outcomes) if 40 * number <= 2**n)
    return ordered[j - 1], ordered[n - j]


def ends(
    values: Sequence[float], centre: float, spread: str, name: str = "mean"
) -> tuple[float, float]:
    """Return the lower and the upper end of what is drawn around a centre of a name.

    Confidence intervals are those at 95 %.
    """
    if spread == "confidence" and name == "mean":
        half = T_975[len(values) - 1] * standard_deviation(values) / math.sqrt(len(values))
        return centre - half, centre + half
    if spread == "confidence":
        return interval_of_median(values if name == "median" else group_means(values))
    if spread == "quartiles":
        return quantile(values, 0.25), quantile(values, 0.75)
    if spread == "nine-tenths":
        return quantile(values, 0.05), quantile(values, 0.95)
    below, above = {
        "none": (0.0, 0.0),
        "std": (standard_deviation(values),) * 2,
        "standard-error": (standard_deviation(values) / math.sqrt(len(values)),) * 2,
        "gini": (
            gini_mean_difference([x for x in values if x < centre]),
            gini_mean_difference([x for x in values if x > centre]),
        ),
    }[spread]
    return centre - below, centre + above


def row(values: Sequence[float], centre: str, spread: str) -> dict[str, float]:
    """Return the row of a table for the values of all runs at one x."""
    middle = CENTRES[centre](values)
    low, high = ends(values, middle, spread, centre)
    return {
        "mean": mean(values),
        "std": standard_deviation(values),
        "median": median(values),
        "min": min(values),
        "max": max(values),
        "centre": middle,
        "low": low,
        "high": high,
    }


def power_law(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return the exponent that fits log y to log x by least squares, and the largest missed factor.

    Points that are not positive are left out.
    """
    logs = [(math.log(a), math.log(b)) for a, b in zip(x, y, strict=True) if a > 0 and b > 0]
    u, v = mean([a for a, _ in logs]), mean([b for _, b in logs])
    exponent = math.fsum((a - u) * (b - v) for a, b in logs)
    exponent /= math.fsum((a - u) ** 2 for a, _ in logs)
    return exponent, math.exp(max(abs(b - v - exponent * (a - u)) for a, b in logs))
