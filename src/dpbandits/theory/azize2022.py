"""Lower and upper bounds of azize2022 on the regret, and the transitions between privacy regimes.

Regret is in units of reward. `means`: one per arm of a Bernoulli bandit; `arms`: their number K;
`horizon`: T, rounds; `epsilon`: the budget of global DP; logarithms are natural. An asymptotic
bound of the paper, a limit of Reg_T / log T, is returned times log T. Linear bandits have Gaussian
noise of variance 1. The functions raise UserError if a theorem does not apply.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

import numpy as np

from dpbandits.kernel.errors import UserError
from dpbandits.kernel.kl import bernoulli_kl
from dpbandits.kernel.parameters import Constraint, Positive

ACCURACY = 1e-8  # relative, of a convex program's value; certified by bounds on both sides
PROGRAMS = 200  # linear programs at most; 2 to 30 in practice
TOLERANCES = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)
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
    return math.log(horizon) * sum(
        gap / min(bernoulli_kl(mean, best), 6.0 * epsilon * gap)
        for mean in means
        if (gap := best - mean)
    )


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
    Theorem 3 is. `actions`: shape (actions, dimensions), which must span the space and have one
    best; `theta`: shape (dimensions,). Relative accuracy 1e-8, or ArithmeticError.
    """
    arms, gaps, rhos = _linear_instance(actions, theta)
    limits = np.minimum(0.5 * gaps * gaps, 3.0 * epsilon * rhos * gaps)
    return math.log(horizon) * _structural_gap(arms, gaps, limits)


def linear_transitions(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[float, ...]:
    """Return every epsilon at which an action changes its regime in the bound of Theorem 5.

    That is Delta_a/(6 rho_a), at which the two limits of the action are equal, if its constraint
    binds there. Sorted; arguments as for `linear_lower_bound`.
    """
    arms, gaps, rhos = _linear_instance(actions, theta)
    transitions = set()
    for a in range(len(arms)):
        epsilon = float(gaps[a] / (6.0 * rhos[a]))
        limits = np.minimum(0.5 * gaps * gaps, 3.0 * epsilon * rhos * gaps)
        value = _structural_gap(arms, gaps, limits)
        limits[a] = math.inf
        if _structural_gap(arms, gaps, limits) < value * (1.0 - 1e-6):
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


def _linear_instance(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # The parts of all actions but a* that are orthogonal to a*, as rows, with their Delta_a and
    # rho_a = sum_j |a_j . (a - a*)| / |a_j|^2 over the actions a_j != 0.
    matrix = np.array(actions, dtype=float)
    values = matrix @ np.array(theta, dtype=float)
    best = int(np.argmax(values))
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise UserError("Theorem 5 is for actions that span the space")
    if np.sum(values == values[best]) > 1:
        raise UserError("Theorem 5 is for a unique best action")
    norms = (matrix**2).sum(axis=1)
    terms = np.abs((matrix - matrix[best]) @ matrix[norms > 0].T) / norms[norms > 0]
    rhos = np.array([math.fsum(row) for row in terms])  # the same in any order of the actions
    basis = np.eye(matrix.shape[1])  # of the orthogonal complement of a*, as columns
    if matrix[best].any():
        basis = np.linalg.svd(matrix[best][None, :])[2][1:].T
    rest = [a for a in range(len(matrix)) if a != best]
    return matrix[rest] @ basis, (values[best] - values)[rest], rhos[rest]


def _structural_gap(arms: np.ndarray, gaps: np.ndarray, limits: np.ndarray) -> float:
    """Return inf sum_a alpha(a) Delta_a subject to |a|^2_{H^-1} <= limit_a for every a but a*.

    Arguments as from `_linear_instance`; a limit is positive, and inf for an action without one.

    Two observations reduce the convex program to small linear ones. First, alpha(a*) costs nothing,
    so the infimum is the limit as alpha(a*) goes to infinity, where only parts orthogonal to a*
    count. Second, for u = a/sqrt(limit_a) the constraint is min {v . H v: u . v = 1} >= 1, because
    the minimum is 1/|u|^2_{H^-1}. Equivalently sum_b alpha(b) (b . v)^2 >= 1 for every v with
    u . v = 1, which is linear in alpha. The minimiser v = H^-1 u/|u|^2_{H^-1} is added as a cut
    until no constraint is violated. Each program bounds the value from below; its solution, scaled
    until feasible, bounds it from above.
    """
    from scipy.optimize import linprog  # imported late: slow, and no other bound needs it

    limited = [i for i in range(len(arms)) if arms[i].any() and limits[i] < math.inf]
    wanted = [arms[i] / math.sqrt(limits[i]) for i in limited]
    if not wanted:
        return 0.0
    # With |u| <= 1 the solution is of order 1, whatever the limits are.
    scale = max(float(u @ u) for u in wanted)
    wanted = [u / math.sqrt(scale) for u in wanted]
    cuts = [((arms @ u) / (u @ u)) ** 2 for u in wanted]
    for _ in range(PROGRAMS):
        solved = linprog(gaps, -np.array(cuts), -np.ones(len(cuts)), options=TOLERANCES)
        if solved.status != 0:
            break
        # A small weight on every action, because H would be singular in the first rounds.
        weights = solved.x + 1e-12 * max(solved.x)
        inverse = np.linalg.inv((arms.T * weights) @ arms)
        # H is ill-conditioned, but any v with u . v = 1 is a valid cut, whatever the inverse is.
        directions = [inverse @ u / (u @ (inverse @ u)) for u in wanted]
        added = [(arms @ direction) ** 2 for direction in directions]
        cuts += added
        upper = float(gaps @ weights) / min(float(weights @ cut) for cut in added)
        if upper - float(solved.fun) <= ACCURACY * upper:
            return scale * upper
    raise ArithmeticError(f"Theorem 5: no solution to {ACCURACY:g} after {PROGRAMS} programs")


# Upper bounds ------------------------------------------------------------------------------------


def adap_ucb_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive, alpha: Positive
) -> float:
    """Return Theorem 7: sum_a (16 alpha log T / min{Delta_a, epsilon} + 3 alpha/(alpha-3)).

    The sum is over the suboptimal arms; alpha > 3.
    """
    _check(alpha, "Theorem 7")
    per_log, finite = 16.0 * alpha * math.log(horizon), 3.0 * alpha / (alpha - 3.0)
    return sum(per_log / min(max(means) - m, epsilon) + finite for m in means if m < max(means))


def adap_ucb_minimax_upper_bound(
    means: Sequence[float], horizon: int, epsilon: Positive, alpha: Positive
) -> float:
    """Return Theorem 12 (E.4), for alpha > 3:

    8 sqrt(alpha K T log T) + 16 alpha K log T / epsilon + 3 alpha/(alpha-3) sum_a Delta_a.
    """
    _check(alpha, "Theorem 12")
    log_t, finite = math.log(horizon), 3.0 * alpha / (alpha - 3.0)
    noise = 16.0 * alpha * len(means) * log_t / epsilon
    sampling = 8.0 * math.sqrt(alpha * len(means) * horizon * log_t)
    return sampling + noise + finite * sum(max(means) - mean for mean in means)


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
    best, finite = max(means), 1.5 + alpha / (alpha - 3.0)
    return sum(
        (best - mean) * (2.0 * _first_episode(mean, best, horizon, epsilon, alpha) + finite)
        for mean in means
        if mean < best
    )


@lru_cache(2**16)  # a sentence about four figures is judged with each of them
def _first_episode(mean: float, best: float, horizon: int, epsilon: float, alpha: float) -> float:
    # 2^l, the rewards of the first episode for which some beta satisfies (35) and (36).
    # c(beta) grows with beta, so the best beta is the largest one in (35). Then mu_a + c Delta_a is
    # the x below mu* with d(x, mu*) = alpha log T / 2^l, and mu_a + gamma Delta_a is the y above
    # mu_a with d(y, mu_a) = log T / 2^l. (36) becomes x - (1 + alpha) log T / (epsilon 2^l) >= y:
    # the left side is above mu_a and has at least the divergence log T / 2^l from it.
    divergence, rewards = bernoulli_kl(mean, best), 1.0
    while True:
        level = math.log(horizon) / rewards
        if alpha * level < divergence:  # otherwise x is not above mu_a
            left = _below(best, alpha * level) - (1.0 + alpha) * level / epsilon
            if left >= mean and bernoulli_kl(left, mean) >= level:
                return rewards
        rewards *= 2.0


def _below(best: float, level: float) -> float:
    # Returns min {x in [0, best]: d(x, best) <= level}; 1 - x to the last digit.
    low, high = 1.0 - best, 1.0
    while low < (middle := 0.5 * (low + high)) < high:
        if bernoulli_kl(middle, 1.0 - best) <= level:
            low = middle
        else:
            high = middle
    return 1.0 - low


def _check(alpha: float, theorem: str) -> None:
    if not alpha > 3.0:
        raise UserError(f"{theorem} is for alpha > 3, got {alpha:g}")
