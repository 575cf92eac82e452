"""Convex program of azize2022, Theorem 5: the least cost of exploration in a linear bandit."""

import math
from collections.abc import Sequence

import numpy as np

from dpbandits.core.errors import UserError

ACCURACY = 1e-8  # relative, of the value; certified by a lower and an upper bound on it
ROUNDS = 200  # linear programs at most; 2 to 30 in practice
TOLERANCES = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)


def rho(actions: np.ndarray, best: int) -> np.ndarray:
    """Return rho_a = sum_j |a_j . (a - a*)| / |a_j|^2 of Theorem 5, over the actions a_j != 0.

    `actions`: float64 of shape (actions, dimensions); `best`: index of a*. Returns float64 of shape
    (actions,), 0 for a* itself.
    """
    norms = (actions**2).sum(axis=1)
    others = actions[norms > 0]
    terms = np.abs((actions - actions[best]) @ others.T) / norms[norms > 0]
    return np.array([math.fsum(row) for row in terms])  # the same in any order of the actions


def structural_gap(actions: np.ndarray, best: int, gaps: np.ndarray, limits: np.ndarray) -> float:
    """Return inf sum_a alpha(a) Delta_a subject to |a|^2_{H^-1} <= limit_a for every a but a*.

    H = sum_a alpha(a) a a^T, alpha >= 0. `actions`: float64 of shape (actions, dimensions), rows
    that span the space; `best`: index of a*; `gaps`, `limits`: float64 of shape (actions,), Delta_a
    and limit_a, which is positive, inf for an action without a limit. Raises ArithmeticError if the
    accuracy is not reached.

    Two observations reduce it to small linear programs. First, alpha(a*) costs nothing, so the
    infimum is the limit as alpha(a*) goes to infinity, where only parts orthogonal to a* count.
    Second, for u = a/sqrt(limit_a) the constraint is min {v . H v: u . v = 1} >= 1, because the
    minimum is 1/|u|^2_{H^-1}. Equivalently sum_b alpha(b) (b . v)^2 >= 1 for every v with
    u . v = 1, which is linear in alpha. The minimiser v = H^-1 u/|u|^2_{H^-1} is added as a cut
    until no constraint is violated. Each program bounds the value from below; its solution, scaled
    until feasible, bounds it from above.
    """
    # Imported late: it is slow, and the other bounds do not need it.
    from scipy.optimize import linprog

    rest = [a for a in range(len(actions)) if a != best]
    arms = actions[rest] @ _orthogonal_to(actions[best])
    costs = gaps[rest]
    wanted = [
        arms[i] / math.sqrt(limits[a])
        for i, a in enumerate(rest)
        if arms[i].any() and limits[a] < math.inf
    ]
    if not wanted:
        return 0.0
    # With |u| <= 1 the solution is of order 1, whatever the limits are.
    scale = max(float(u @ u) for u in wanted)
    wanted = [u / math.sqrt(scale) for u in wanted]
    cuts = [((arms @ u) / (u @ u)) ** 2 for u in wanted]
    for _ in range(ROUNDS):
        solved = linprog(costs, -np.array(cuts), -np.ones(len(cuts)), options=TOLERANCES)
        if solved.status != 0:
            break
        # A small weight on every action, because H would be singular in the first rounds.
        weights = solved.x + 1e-12 * max(solved.x)
        inverse = np.linalg.inv((arms.T * weights) @ arms)
        slack = []
        for u in wanted:
            # H is ill-conditioned, but any v with u . v = 1 is a valid cut, even from an inexact
            # inverse.
            direction = inverse @ u
            direction /= u @ direction
            cuts.append((arms @ direction) ** 2)
            slack.append(float(weights @ cuts[-1]))
        lower, upper = float(solved.fun), float(costs @ weights) / min(slack)
        if upper - lower <= ACCURACY * upper:
            return scale * upper
    raise ArithmeticError(f"Theorem 5: no solution to {ACCURACY:g} after {ROUNDS} linear programs")


def _orthogonal_to(vector: np.ndarray) -> np.ndarray:
    # Orthonormal basis of the orthogonal complement of a vector, as columns.
    if not vector.any():
        return np.eye(len(vector))
    return np.linalg.svd(vector[None, :])[2][1:].T


def linear_instance(
    actions: Sequence[Sequence[float]], theta: Sequence[float]
) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    """Return the actions as rows, the index of the best one, Delta_a and rho_a.

    `actions`: shape (actions, dimensions); `theta`: shape (dimensions,). Raises UserError unless
    the actions span the space and the best one is unique.
    """
    matrix = np.array(actions, dtype=float)
    values = matrix @ np.array(theta, dtype=float)
    best = int(np.argmax(values))
    if np.linalg.matrix_rank(matrix) < matrix.shape[1]:
        raise UserError("Theorem 5 is for actions that span the space")
    if np.sum(values == values[best]) > 1:
        raise UserError("Theorem 5 is for a unique best action")
    return matrix, best, values[best] - values, rho(matrix, best)


def limits_of(gaps: np.ndarray, rhos: np.ndarray, epsilon: float) -> np.ndarray:
    """Return min{Delta_a^2/2, 3 epsilon rho_a Delta_a} of every action; that of a* is not used."""
    return np.minimum(0.5 * gaps * gaps, 3.0 * epsilon * rhos * gaps)
