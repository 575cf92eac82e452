"""Bounds of azize2022, written again from the paper.

A function has the name and the arguments of the package's. Numbers of equations and theorems are
the paper's.
"""

import math
from collections.abc import Sequence

from azize2022 import divergence
from scipy.optimize import brentq

# Lower bounds, stochastic bandits ----------------------------------------------------------------


def minimax_lower_bound(arms: int, horizon: int, epsilon: float) -> float:
    """Return Theorem 2, (3)."""
    return max(1 / 27 * math.sqrt(horizon * (arms - 1)), 1 / 131 * (arms - 1) / epsilon)


def minimax_transitions(arms: int, horizon: int) -> tuple[float, ...]:
    """Return the epsilon at which the terms of (3) are equal."""
    return (27 * (arms - 1) / (131 * math.sqrt(horizon * (arms - 1))),)


def problem_dependent_lower_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    """Return Theorem 3, (4), times log T; for Bernoulli arms t_inf is the gap and d_inf is d."""
    best = max(means)
    terms = [
        (best - mean) / min(divergence(mean, best), 6 * epsilon * (best - mean))
        for mean in means
        if mean < best
    ]
    return math.fsum(terms) * math.log(horizon)


def no_privacy_lower_bound(means: Sequence[float], horizon: int) -> float:
    """Return (4) "without global DP", times log T."""
    best = max(means)
    terms = [(best - mean) / divergence(mean, best) for mean in means if mean < best]
    return math.fsum(terms) * math.log(horizon)


def problem_dependent_transitions(means: Sequence[float]) -> tuple[float, ...]:
    """Return d_inf/(6 t_inf) of every suboptimal arm, where (4) changes its regime."""
    best = max(means)
    ratios = {divergence(mean, best) / (6 * (best - mean)) for mean in means if mean < best}
    return tuple(sorted(ratio for ratio in ratios if math.isfinite(ratio)))


# Lower bounds, linear bandits --------------------------------------------------------------------


def linear_minimax_lower_bound(dimension: int, horizon: int, epsilon: float) -> float:
    """Return Theorem 4, (5)."""
    private = math.exp(-6) / 4 * dimension / epsilon
    return max(math.exp(-2) / 8 * dimension * math.sqrt(horizon), private)


def linear_minimax_transitions(horizon: int) -> tuple[float, ...]:
    """Return 2 exp(-4)/sqrt(T) of the remarks on Theorem 5."""
    return (2 * math.exp(-4) / math.sqrt(horizon),)


def linear_lower_bound(
    actions: Sequence[Sequence[float]], theta: Sequence[float], horizon: int, epsilon: float
) -> float:
    """Return Theorem 5, (6), times log T, in two dimensions.

    alpha(a*) costs nothing. Where it is infinite, only the part x_a of an action across a* counts,
    and H is the number h = sum_a alpha(a) x_a^2. The constraints are x_a^2/h <= limit_a, so h must
    be the largest x_a^2/limit_a; the action with the least Delta_b/x_b^2 provides it.
    """
    needs, gaps, across = plane(actions, theta, epsilon)
    cheapest = min(gaps[a] / across[a] ** 2 for a in needs)
    return math.log(horizon) * max(needs.values()) * cheapest


def linear_transitions(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[float, ...]:
    """Return every Delta_a/(6 rho_a) at which the constraint of a is the one that binds."""
    gaps, rhos = gaps_and_rhos(actions, theta)
    meets = set()
    for a in gaps:
        epsilon = gaps[a] / (6 * rhos[a])
        needs, _, _ = plane(actions, theta, epsilon)
        if a in needs and all(needs[a] > needs[b] for b in needs if b != a):
            meets.add(epsilon)
    return tuple(sorted(meets))


def basis_lower_bound(
    dimension: int, extra: tuple[float, ...], horizon: int, epsilon: float
) -> float:
    """Return Theorem 5, (6), times log T, for theta = e_1, the basis and an action in its plane.

    `extra` has two coordinates at most. Then every e_j with j > 2 is orthogonal to all else, and
    its constraint 1/alpha(e_j) <= limit costs Delta_j/limit = 1/limit.
    """
    actions, theta = basis_and(extra, dimension)
    gaps, rhos = gaps_and_rhos(actions, theta)
    per_log = sum(1 / limit(gaps[j], rhos[j], epsilon) for j in range(2, dimension))
    # The plane of e_1 and e_2, with the limits that hold among all actions.
    across = {1: 1.0, dimension: (*extra, 0.0, 0.0)[1]}
    needs = {a: x**2 / limit(gaps[a], rhos[a], epsilon) for a, x in across.items()}
    per_log += max(needs.values()) * min(gaps[a] / across[a] ** 2 for a in needs if across[a])
    return math.log(horizon) * per_log


def basis_transitions(dimension: int, extra: tuple[float, ...]) -> tuple[float, ...]:
    """Return every Delta_a/(6 rho_a) at which the bound of `basis_lower_bound` has a kink.

    The bound is h(epsilon) in the plane plus 1/limit for every other e_j; between transitions each
    part is constant or proportional to 1/epsilon.
    """
    actions, theta = basis_and(extra, dimension)
    gaps, rhos = gaps_and_rhos(actions, theta)

    def kink(epsilon: float) -> bool:
        # Slopes of the bound against 1/epsilon on both sides.
        value = [basis_lower_bound(dimension, extra, 3, epsilon * (1 + k)) for k in STEPS]
        inverse = [1 / (epsilon * (1 + k)) for k in STEPS]
        left, right = ((value[i + 1] - value[i]) / (inverse[i + 1] - inverse[i]) for i in range(2))
        return abs(left - right) > 1e-6 * max(value)

    meets = {gaps[a] / (6 * rhos[a]) for a in gaps}
    return tuple(sorted(epsilon for epsilon in meets if kink(epsilon)))


STEPS = (-1e-4, 0.0, 1e-4)


def basis_and(extra: Sequence[float], dimension: int) -> tuple[list[list[float]], list[float]]:
    """Return e_1, ..., e_d and `extra`, filled up with zeros, and theta = e_1."""
    basis = [[1.0 if i == j else 0.0 for j in range(dimension)] for i in range(dimension)]
    return [*basis, [*extra, *[0.0] * (dimension - len(extra))]], basis[0]


def gaps_and_rhos(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return Delta_a and rho_a = sum_j |a_j . (a - a*)|/|a_j|^2 of every suboptimal action."""
    values = [dot(a, theta) for a in actions]
    best = values.index(max(values))
    gaps, rhos = {}, {}
    for i, a in enumerate(actions):
        if i != best:
            apart = [x - y for x, y in zip(a, actions[best], strict=True)]
            gaps[i] = values[best] - values[i]
            rhos[i] = sum(abs(dot(b, apart)) / dot(b, b) for b in actions if any(b))
    return gaps, rhos


def plane(
    actions: Sequence[Sequence[float]], theta: Sequence[float], epsilon: float
) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
    """Return x_a^2/limit_a, Delta_a and x_a of every action not parallel to a*, in the plane."""
    gaps, rhos = gaps_and_rhos(actions, theta)
    (best,) = set(range(len(actions))) - set(gaps)
    x, y = actions[best]
    across = {a: (-y * actions[a][0] + x * actions[a][1]) / math.hypot(x, y) for a in gaps}
    across = {a: part for a, part in across.items() if abs(part) > 1e-12}
    needs = {a: part**2 / limit(gaps[a], rhos[a], epsilon) for a, part in across.items()}
    return needs, gaps, across


def limit(gap: float, rho: float, epsilon: float) -> float:
    """Return min{Delta_a^2/2, 3 epsilon rho_a Delta_a}."""
    return min(0.5 * gap**2, 3 * epsilon * rho * gap)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the inner product."""
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


# Upper bounds ------------------------------------------------------------------------------------


def adap_ucb_upper_bound(
    means: Sequence[float], horizon: int, epsilon: float, alpha: float
) -> float:
    """Return Theorem 7."""
    gaps = [max(means) - mean for mean in means if mean < max(means)]
    each = 3 * alpha / (alpha - 3)
    return sum(16 * alpha / min(gap, epsilon) * math.log(horizon) + each for gap in gaps)


def adap_ucb_minimax_upper_bound(
    means: Sequence[float], horizon: int, epsilon: float, alpha: float
) -> float:
    """Return Theorem 12."""
    arms, log_t = len(means), math.log(horizon)
    gaps = [max(means) - mean for mean in means]
    without = 3 * alpha / (alpha - 3) * sum(gaps) + 8 * math.sqrt(alpha * arms * horizon * log_t)
    return without + 16 * alpha * arms * log_t / epsilon


def adap_klucb_upper_bound(
    means: Sequence[float], horizon: int, epsilon: float, alpha: float
) -> float:
    """Return Theorem 8 as its proof has it: 2^(l+1) + 3/2 + alpha/(alpha-3) pulls of each arm a."""
    best = max(means)
    return sum(
        (best - mean)
        * (
            2 ** (first_episode(mean, best, horizon, epsilon, alpha) + 1)
            + 3 / 2
            + alpha / (alpha - 3)
        )
        for mean in means
        if mean < best
    )


def first_episode(mean: float, best: float, horizon: int, epsilon: float, alpha: float) -> int:
    """Return the least l for which some beta satisfies (35) and (36).

    With c = c(beta), (35) is d(mu_a + c Delta_a, mu_1) >= alpha log T/2^l, which holds for small c,
    and (36) is c >= gamma + (1 + alpha) log T/(epsilon Delta_a 2^l). So the least c that (36)
    allows decides.
    """
    gap, log_t, episode = best - mean, math.log(horizon), 0
    while True:
        level = log_t / 2**episode
        if divergence(best, mean) > level:  # otherwise gamma >= 1
            x = brentq(lambda x, goal=level: divergence(x, mean) - goal, mean, best, xtol=1e-15)
            c = (x - mean) / gap + (1 + alpha) * level / (epsilon * gap)
            if c < 1 and divergence(mean + c * gap, best) >= alpha * level:
                return episode
        episode += 1
