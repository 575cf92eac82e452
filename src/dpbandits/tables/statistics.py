"""Statistics over the runs of a curve.

`values` is float64 of shape (runs, ...), runs >= 1, and a statistic reduces axis 0: it returns
float64 of shape (...).
"""

import math
from collections.abc import Callable
from itertools import count

import numpy as np

GROUPS = 24  # groups of the median of means, tossou2017 section 4
LEVEL = 0.95  # of confidence intervals, if none is asked for


def standard_deviation(values: np.ndarray) -> np.ndarray:
    """Return the sample standard deviation (divisor runs - 1); 0 for a single run.

    nan where a run is infinite.
    """
    with np.errstate(invalid="ignore"):
        return np.std(values, axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])


def quantile(values: np.ndarray, q: float) -> np.ndarray:
    """Return a quantile, linear between the runs; infinite if one of the two runs is infinite."""
    with np.errstate(invalid="ignore"):  # beside inf numpy has nan
        between = np.quantile(values, q, axis=0)
    lower, upper = (np.quantile(values, q, axis=0, method=m) for m in ("lower", "higher"))
    return np.where((lower == upper) | np.isinf(upper), upper, between)


def median_of_means(values: np.ndarray) -> np.ndarray:
    """Return the median of the means of GROUPS contiguous groups of runs (tossou2017, section 4).

    Group sizes are equal, or differ by one run. With fewer runs every run is a group.
    """
    return np.median(means_of_groups(values), axis=0)


def means_of_groups(values: np.ndarray) -> np.ndarray:
    """Return the means of the groups of `median_of_means`, float64 of shape (groups, ...)."""
    parts = np.array_split(values, min(GROUPS, len(values)), axis=0)
    return np.array([part.mean(axis=0) for part in parts])


def interval_of_mean(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Student's t interval for the mean; nan for a single run.

    It takes the mean of the runs as normal: few runs of a skewed quantity have a wider one.
    """
    error = standard_deviation(values) / math.sqrt(len(values))
    half = student(len(values), level) * error
    return values.mean(axis=0) - half, values.mean(axis=0) + half


def student(runs: int, level: float) -> float:
    """Return half of Student's t interval for a mean, in its standard errors; nan for one run."""
    from scipy.special import stdtrit  # late: a command first checks memory and variables

    return float(stdtrit(runs - 1, (1 + level) / 2))


def interval_of_median(values: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return two order statistics between which the median lies in `level` of all samples, or more.

    They are x_(j) and x_(n + 1 - j) for the largest j with P(B < j) <= (1 - level)/2, where B, the
    number of runs below the median, is binomial (n, 1/2). nan if there are fewer than `fewest`.
    """
    from scipy.special import bdtr

    n = len(values)
    j = int(np.sum(bdtr(np.arange((n + 1) // 2), n, 0.5) <= (1 - level) / 2))
    if j == 0:
        return np.full(values.shape[1:], np.nan), np.full(values.shape[1:], np.nan)
    ordered = np.sort(values, axis=0)
    return ordered[j - 1], ordered[n - j]


def interval_of_share(
    count: float | np.ndarray, runs: int, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of Clopper and Pearson for a probability.

    `count` of the runs had the outcome, a number or float64 of any shape.
    """
    from scipy.special import betaincinv  # late: a command first checks memory and variables

    tail, k = (1 - level) / 2, np.asarray(count, float)
    # Without such runs, or without others, an end is 0 or 1; there 1 stands for a parameter of 0.
    low = np.where(k > 0, betaincinv(np.maximum(k, 1.0), runs - k + 1, tail), 0.0)
    high = np.where(k < runs, betaincinv(k + 1, np.maximum(runs - k, 1.0), 1 - tail), 1.0)
    return low, high


def fewest(centre: str, level: float) -> int:
    """Return the least number of runs that have a confidence interval of this centre."""
    if centre == "mean":
        return 2
    return next(n for n in count(2) if 0.5**n <= (1 - level) / 2)


def lacking(centre: str, level: float, runs: int, label: str) -> str:
    """Return why a curve of so many runs has no confidence interval; "" if it has one."""
    if runs >= (needed := fewest(centre, level)):
        return ""
    return f"an interval of the {centre} at {level:g} needs {needed} runs, {label} has {runs}"


def gini_mean_difference(values: np.ndarray) -> np.ndarray:
    """Return E|X - X'| over pairs of different runs: 2/(N(N-1)) sum_j (2j - N - 1) x_(j).

    0 for fewer than two runs. Deviation: tossou2017 prints the sum without the factor 2/(N(N-1));
    that sum grows like N^2 and measures no deviation.
    """
    n = len(values)
    if n < 2:
        return np.zeros(values.shape[1:])
    # The same sum over the spacings x_(j+1) - x_(j), each straddled by j (N - j) pairs of runs. No
    # term is negative, so equal values give exactly 0.
    j = np.arange(1.0, n)
    spacings = np.diff(np.sort(values, axis=0), axis=0)
    return np.tensordot(j * (n - j), spacings, axes=1) * (2.0 / (n * (n - 1)))


def one_sided_gini(values: np.ndarray, centre: np.ndarray, sign: int) -> np.ndarray:
    """Return the Gini mean difference of the values strictly beyond `centre` (tossou2017).

    These are the larger ones for sign = 1, the smaller ones for sign = -1. `centre` has the shape
    (...) of one run; each column is treated by itself.
    """
    columns = values.reshape(len(values), -1).T
    centres = np.broadcast_to(centre, values.shape[1:]).reshape(-1)
    pairs = zip(columns, centres, strict=True)
    ginis = [gini_mean_difference(column[sign * column > sign * c]) for column, c in pairs]
    return np.array(ginis).reshape(values.shape[1:])


CENTRES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda values: np.mean(values, axis=0),
    "median": lambda values: np.median(values, axis=0),
    "median-of-means": median_of_means,
}

Spread = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

# Each returns the lower and the upper end of the band or bars around the centre, of which
# confidence intervals need the name (`band`). The words of a caption for a centre and a spread are
# in factory/captions.py.
SPREADS: dict[str, Spread] = {
    "none": lambda values, centre: (centre, centre),
    "std": lambda values, centre: (
        centre - (deviation := standard_deviation(values)),
        centre + deviation,
    ),
    "standard-error": lambda values, centre: (
        centre - (error := standard_deviation(values) / np.sqrt(len(values))),
        centre + error,
    ),
    "quartiles": lambda values, _: (
        quantile(values, 0.25),
        quantile(values, 0.75),
    ),
    "nine-tenths": lambda values, _: (
        quantile(values, 0.05),
        quantile(values, 0.95),
    ),
    "gini": lambda values, centre: (
        centre - one_sided_gini(values, centre, -1),
        centre + one_sided_gini(values, centre, 1),
    ),
}

CONFIDENCE = "confidence"
INTERVALS: dict[str, Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]] = {
    "mean": interval_of_mean,
    "median": interval_of_median,
    "median-of-means": lambda values, level: interval_of_median(means_of_groups(values), level),
}
SPREAD_NAMES = (*SPREADS, CONFIDENCE)


def band(
    values: np.ndarray, centre: str, spread: str, level: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the centre of a name with the lower and the upper end of its band of a name.

    `level` is that of confidence intervals; None: LEVEL.
    """
    line = CENTRES[centre](values)
    if spread == CONFIDENCE:
        return line, *INTERVALS[centre](values, level or LEVEL)
    return line, *SPREADS[spread](values, line)


def power_law(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the least-squares slope of log y against log x, and by how much the line misses.

    `x`, `y`: positive, float64 of shape (x,). The miss is the largest factor between y and the
    line.
    """
    x, y = np.log(x), np.log(y)
    slope = float(np.polyfit(x, y, 1)[0])
    rest = y - slope * x
    return slope, math.exp(np.abs(rest - rest.mean()).max())
