"""Outcomes that no run has shown: how far they could move a mean.

Runs that end alike have a standard error of 0, which says nothing about rare outcomes. By the rule
of three, n runs miss an outcome of probability 3/n with probability (1 - 3/n)^n, at most 5 %.
"""

import numpy as np

FEW = 0.1  # share of distinct outcomes below which runs count as few
RULE_OF_THREE = 3.0


def outcomes(final: np.ndarray) -> int:
    """Return the number of distinct regrets at the horizon; `final` has shape (runs,)."""
    return len(np.unique(final))


def are_few(distinct: int, runs: int) -> bool:
    """Return True if at most a tenth of the runs are distinct, or if all of them are alike."""
    return distinct <= max(1.0, FEW * runs)


def probability(runs: int) -> float:
    """Return the probability up to which an outcome may be unseen, with a confidence of 95 %."""
    return min(1.0, RULE_OF_THREE / runs)


def possible_means(mean: float, distinct: int, runs: int, largest: float) -> tuple[float, float]:
    """Return the smallest and the largest mean that an unseen outcome leaves possible.

    Both are the mean if the runs have many distinct outcomes. Otherwise an outcome that no run has
    shown could have no regret, or `largest`, that of a run that always pulls the worst arm.
    """
    if not are_few(distinct, runs):
        return mean, mean
    share = probability(runs)
    return mean - share * max(mean, 0.0), mean + share * max(largest - mean, 0.0)
