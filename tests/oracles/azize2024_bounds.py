"""Bounds of the thesis behind azize2024, from its text alone."""

import math
from collections.abc import Sequence

import jourdan2025_bounds as poster


def adac_ucb_upper_bound(means: Sequence[float], horizon: int, rho: float, beta: float) -> float:
    """Return Theorem 5.6."""
    total, log_t = 0.0, math.log(horizon)
    for mean in means:
        if mean != max(means):
            total += 8 * beta * log_t / (max(means) - mean)
            total += 8 * (beta / rho * log_t) ** 0.5 + 2 * beta / (beta - 3)
    return total


def kl_characteristic_time(means: Sequence[float]) -> float:
    """Return T* of the divergence kl."""
    return poster.characteristic_time(means, math.inf)


def tv_characteristic_time(means: Sequence[float]) -> float:
    """Return T* of the total variation of Bernoulli arms, |x - mu|."""
    return poster.time(means, lambda mean, x: max(0.0, x - mean))


def identification_lower_bound(means: Sequence[float], epsilon: float, risk: float) -> float:
    """Return the larger one of T*_KL and T*_TV/(6 epsilon), times log(1/(3 delta))."""
    both = kl_characteristic_time(means), tv_characteristic_time(means) / 6 / epsilon
    return -math.log(3 * risk) * max(both)


def identification_transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return the epsilon at which both are equal."""
    return (tv_characteristic_time(means) / kl_characteristic_time(means) / 6,)
