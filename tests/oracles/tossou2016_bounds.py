"""Upper bounds of tossou2016, written from the paper's text alone.

t is the number of rounds; logarithms are natural. This file imports nothing from dpbandits.
"""

import math
from collections.abc import Sequence

from scipy.special import zeta


def gaps(means: Sequence[float]) -> list[float]:
    """Return Delta_a of the arms with mu_a < mu_*."""
    return [max(means) - mean for mean in means if mean < max(means)]


def theorem_3_2_printed(means: Sequence[float], t: int, epsilon: float, lambda_0: float) -> float:
    """Return (3.1) for one lambda_0."""
    b = math.sqrt(8) / (epsilon * (1 - lambda_0)) * math.log(4 * t**4)
    first = sum(
        max(b * (math.log(b) + 7), 8 / (lambda_0**2 * gap) * math.log(t)) for gap in gaps(means)
    )
    return first + sum(gap + 2 * math.pi**2 * gap / 3 for gap in gaps(means))


def theorem_3_2_proved(gap: float, t: int, epsilon: float, lambda_0: float) -> float:
    """Return (A.15) times the gap of one arm, with B as it follows from (A.12).

    (1 - lambda_0) Delta > 2 h_n and h_n = sqrt(8)/epsilon ln(4 t^4) (ln n + 1)/n give n >= B ln n
    + B for B = 2 sqrt(8)/(epsilon (1 - lambda_0) Delta) ln(4 t^4).
    """
    b = 2 * math.sqrt(8) / (epsilon * (1 - lambda_0) * gap) * math.log(4 * t**4)
    pulls = max(b * (math.log(b) + 7), 8 / (lambda_0**2 * gap**2) * math.log(t))
    return gap * (1 + pulls + 2 * math.pi**2 / 3)


def theorem_3_3(means: Sequence[float], t: int, epsilon: float) -> float:
    """Return the bound of DP-UCB as printed."""
    c = 56 * (2 + math.sqrt(3.5)) * math.sqrt(math.log(t)) / epsilon
    return sum(
        gap * max(c**2 * (math.log(c) + 7) ** 2, 8 / gap**2 * math.log(t))
        + gap
        + 4 * gap * float(zeta(1.5))
        for gap in gaps(means)
    )


def theorem_3_5(means: Sequence[float], t: int, first_release: int) -> float:
    """Return the bound of DP-UCB-INT; f_0 is its first release count."""
    return sum(
        gap * (first_release + 8 / gap**2 * math.log(t) + 1 + 4 * float(zeta(1.5)))
        for gap in gaps(means)
    )
