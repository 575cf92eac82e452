"""The convex program of azize2022, Theorem 5: what a linear bandit's exploration costs at least."""

import math

import numpy as np

ACCURACY = 1e-8  # of the value, relative; certified by a bound from below and one from above
ROUNDS = 200  # 2 to 30 in practice
TOLERANCES = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10)


def rho(actions: np.ndarray, best: int) -> np.ndarray:
    """Theorem 5: rho_a = sum_j |a_j . (a - a*)| / |a_j|^2 over the actions that are not 0.

    actions: shape (actions, dimensions); one value per action, 0 for a* itself.
    """
    norms = (actions**2).sum(axis=1)
    others = actions[norms > 0]
    terms = np.abs((actions - actions[best]) @ others.T) / norms[norms > 0]
    return np.array([math.fsum(row) for row in terms])  # the same in any order of the actions


def structural_gap(actions: np.ndarray, best: int, gaps: np.ndarray, limits: np.ndarray) -> float:
    """inf sum_a alpha(a) Delta_a subject to |a|^2_{H^-1} <= limit_a for every a but a*.

    H = sum_a alpha(a) a a^T, alpha >= 0; limits are positive, inf where an action has none. The
    actions span the space, one row each. ArithmeticError where the accuracy is not reached.

    Two things make a small linear program of it. alpha(a*) costs nothing, so the infimum is its
    limit at infinity: there only what is orthogonal to a* counts. And for u = a/sqrt(limit_a) the
    constraint is 1/|u|^2_{H^-1} = min {v . H v: u . v = 1} >= 1, that is, for every v with
    u . v = 1, sum_b alpha(b) (b . v)^2 >= 1: linear in alpha. v = H^-1 u/|u|^2_{H^-1} attains the
    minimum; it is added until none is violated. Each program bounds the value from below, and its
    solution, scaled until it is feasible, from above.
    """
    # Late: the other bounds do without, and every figure that draws one would wait for it.
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
    # Where |u| is 1 at most the solution is of order 1, whatever the limits are.
    scale = max(float(u @ u) for u in wanted)
    wanted = [u / math.sqrt(scale) for u in wanted]
    cuts = [((arms @ u) / (u @ u)) ** 2 for u in wanted]
    for _ in range(ROUNDS):
        solved = linprog(costs, -np.array(cuts), -np.ones(len(cuts)), options=TOLERANCES)
        if solved.status != 0:
            break
        # A little of every action, or H would be singular in the first rounds.
        weights = solved.x + 1e-12 * max(solved.x)
        inverse = np.linalg.inv((arms.T * weights) @ arms)
        slack = []
        for u in wanted:
            # However inexact the inverse of so ill-conditioned an H, u . v = 1 makes a valid cut.
            direction = inverse @ u
            direction /= u @ direction
            cuts.append((arms @ direction) ** 2)
            slack.append(float(weights @ cuts[-1]))
        lower, upper = float(solved.fun), float(costs @ weights) / min(slack)
        if upper - lower <= ACCURACY * upper:
            return scale * upper
    raise ArithmeticError(f"Theorem 5: no solution to {ACCURACY:g} after {ROUNDS} linear programs")


def _orthogonal_to(vector: np.ndarray) -> np.ndarray:
    # An orthonormal basis of what is orthogonal to a vector, in columns.
    if not vector.any():
        return np.eye(len(vector))
    return np.linalg.svd(vector[None, :])[2][1:].T
