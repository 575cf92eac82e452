"""Lower and upper bounds of azize2022 on the regret, and the transitions between privacy regimes.

Regret is in units of reward. `means`: one per arm of a Bernoulli bandit; `arms`: their number K;
`horizon`: T, rounds; `epsilon`: the budget of global DP; logarithms are natural. An asymptotic
bound of the paper, a limit of Reg_T / log T, is returned times log T. Linear bandits have Gaussian
noise of variance 1. The functions raise UserError if a theorem does not apply.
"""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from dpbandits.core.errors import UserError
from dpbandits.core.kl import bernoulli_kl
from dpbandits.core.parameters import Constraint, Positive
from dpbandits.theory._klucb_episode import length_of_episode
from dpbandits.theory._structural_gap import limits_of, linear_instance, structural_gap

Dimension = Annotated[int, Constraint(lambda d: 2 <= d <= 100, "a whole number from 2 to 100")]

# Stochastic bandits ------------------------------------------------------------------------------


def minimax_lower_bound(arms: int, horizon: int, epsilon: Positive) -> float:
    """Return Theorem 2, (3): max{sqrt(T(K-1))/27, (K-1)/(131 epsilon)}; K > 1, T >= K - 1."""
    if arms < 2 or horizon < arms - 1:
        raise UserError(f"Theorem 2 is for T >= K - 1 >= 1, got K = {arms} and T = {horizon}")
    return max(math.sqrt(horizon * (arms - 1)) / 27.0, (arms - 1) / (131.0 * epsilon))


def minimax_transitions(arms: int, horizon: int) -> tuple[float, ...]:
    """Return the epsilon at which the terms of Theorem 2 are equal: (27/131) sqrt((K-1)/T).

    Deviation: the paper writes 131/27, at which its two terms differ by a factor (131/27)^2 = 23.5.
    """
    return (27.0 / 131.0 * math.sqrt((arms - 1) / horizon),)


def problem_dependent_lower_bound(means: Sequence[float], horizon: int, epsilon: Positive) -> float:
    """Return Theorem 3 times log T: log T sum_a Delta_a / min(d(mu_a, mu*), 6 epsilon Delta_a).

    For Bernoulli arms t_inf is the gap. Asymptotic: the theorem bounds the limit of Reg_T / log T.
    A best mean of 1 makes d infinite, which leaves the private term alone.
    """
    best = max(means)
    total = 0.0
    for mean in means:
        if gap := best - mean:
            total += gap / min(bernoulli_kl(mean, best), 6.0 * epsilon * gap)
    return math.log(horizon) * total


def no_privacy_lower_bound(means: Sequence[float], horizon: int) -> float:
    """Return Theorem 3 without its private term (Lai and Robbins): log T sum_a Delta_a/d."""
    return problem_dependent_lower_bound(means, horizon, math.inf)


def problem_dependent_transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return every epsilon at which an arm's two terms in Theorem 3 are equal, sorted.

    That is d(mu_a, mu*)/(6 Delta_a), where it is finite.
    """
    best = max(means)
    meet = {bernoulli_kl(mean, best) / (6.0 * (best - mean)) for mean in means if mean < best}
    return tuple(sorted(epsilon for epsilon in meet if epsilon < math.inf))


# Linear bandits ----------------------------------------------------------------------------------


def linear_minimax_lower_bound(dimension: Dimension, horizon: int, epsilon: Positive) -> float:
    """Return Theorem 4, (5): max{e^-2 d sqrt(T)/8, e^-6 d/(4 epsilon)}; actions are [-1, 1]^d."""
    without = math.exp(-2.0) / 8.0 * dimension * math.sqrt(horizon)
    return max(without, math.exp(-6.0) / 4.0 * dimension / epsilon)


def linear_minimax_transitions(horizon: int) -> tuple[float, ...]:
    """Return the epsilon at which the terms of Theorem 4 are equal: 2 e^-4 / sqrt(T)."""
    return (2.0 * math.exp(-4.0) / math.sqrt(horizon),)


def linear_lower_bound(
    actions: Sequence[Sequence[float]], theta: Sequence[float], horizon: int, epsilon: Positive
) -> float:
    """Return Theorem 5, (6), times log T.

    log T inf sum_a alpha(a) Delta_a, alpha >= 0, subject to |a|^2_{H^-1} <= min{Delta_a^2/2,
    3 epsilon rho_a Delta_a} for every a with Delta_a > 0; H = sum_a alpha(a) a a^T. Asymptotic, as
    Theorem 3 is. `actions`: shape (actions, dimensions); `theta`: shape (dimensions,). The relative
    accuracy is 1e-8; raises ArithmeticError if it is not reached, UserError unless the actions span
    the space and the best one is unique.
    """
    matrix, best, gaps, rhos = linear_instance(actions, theta)
    limits = limits_of(gaps, rhos, epsilon)
    return math.log(horizon) * structural_gap(matrix, best, gaps, limits)


def linear_transitions(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[float, ...]:
    """Return every epsilon at which an action changes its regime in the bound of Theorem 5.

    That is Delta_a/(6 rho_a), at which the two limits of the action are equal, provided that its
    constraint binds there; a slack constraint does not affect the bound. Sorted; arguments and
    errors as for `linear_lower_bound`.
    """
    matrix, best, gaps, rhos = linear_instance(actions, theta)
    transitions = set()
    for a in range(len(matrix)):
        if a == best:
            continue
        epsilon = float(gaps[a] / (6.0 * rhos[a]))
        limits = limits_of(gaps, rhos, epsilon)
        value = structural_gap(matrix, best, gaps, limits)
        limits[a] = math.inf
        if structural_gap(matrix, best, gaps, limits) < value * (1.0 - 1e-6):
            transitions.add(epsilon)
    return tuple(sorted(transitions))


def basis_lower_bound(
    dimension: Dimension, extra: tuple[float, ...], horizon: int, epsilon: Positive
) -> float:
    """Return Theorem 5 times log T for theta = e_1 and the actions e_1, ..., e_d and `extra`.

    `extra`: the first coordinates, at most d, of one more action; its other coordinates are 0.
    """
    actions = _basis_and(extra, dimension)
    return linear_lower_bound(actions, actions[0], horizon, epsilon)


def basis_transitions(dimension: Dimension, extra: tuple[float, ...]) -> tuple[float, ...]:
    """Return the transitions of `basis_lower_bound`, as `linear_transitions` does."""
    actions = _basis_and(extra, dimension)
    return linear_transitions(actions, actions[0])


def _basis_and(extra: Sequence[float], dimension: int) -> list[list[float]]:
    if len(extra) > dimension:
        raise UserError(f"Theorem 5: an action of {len(extra)} coordinates in {dimension}")
    return [*np.eye(dimension).tolist(), [*extra, *[0.0] * (dimension - len(extra))]]


# Upper bounds ------------------------------------------------------------------------------------


def adap_ucb_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive, alpha: Positive
) -> float:
    """Return Theorem 7, for alpha > 3, summed over the suboptimal arms:

    sum_a (16 alpha log T / min{Delta_a, epsilon} + 3 alpha/(alpha-3)).
    """
    _check(alpha, "Theorem 7")
    best = max(means)
    return sum(
        16.0 * alpha * math.log(horizon) / min(best - mean, epsilon) + 3.0 * alpha / (alpha - 3.0)
        for mean in means
        if mean < best
    )


def adap_ucb_minimax_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive, alpha: Positive
) -> float:
    """Return Theorem 12 (E.4), for alpha > 3:

    8 sqrt(alpha K T log T) + 16 alpha K log T / epsilon + 3 alpha/(alpha-3) sum_a Delta_a.
    """
    _check(alpha, "Theorem 12")
    log_t, best = math.log(horizon), max(means)
    return (
        8.0 * math.sqrt(alpha * len(means) * horizon * log_t)
        + 16.0 * alpha * len(means) * log_t / epsilon
        + 3.0 * alpha / (alpha - 3.0) * sum(best - mean for mean in means)
    )


def adap_klucb_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive, alpha: Positive
) -> float:
    """Return Theorem 8 in the form that its proof gives, for alpha > 3.

    sum_a Delta_a (2^(l+1) + 3/2 + alpha/(alpha-3)) over the suboptimal arms, where l is the first
    episode, of 2^l rewards, for which some beta satisfies (35) and (36).
    Deviation: the paper prints C_1(alpha) and C_2, which stand for an infimum over beta and are not
    constants: the infimum depends on the means and epsilon.
    """
    _check(alpha, "Theorem 8")
    best = max(means)
    return sum(
        (best - mean)
        * (
            2.0 * length_of_episode(mean, best, horizon, epsilon, alpha)
            + 1.5
            + alpha / (alpha - 3.0)
        )
        for mean in means
        if mean < best
    )


def _check(alpha: float, theorem: str) -> None:
    if not alpha > 3.0:
        raise UserError(f"{theorem} is for alpha > 3, got {alpha:g}")
