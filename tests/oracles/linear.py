"""Linear bandits of azize2024 (thesis, sections 5.3.2, 5.3.3, C.4.1): AdaC-GOPE and AdaC-OFUL.

Slow on purpose: designs come from a solver for constrained problems, roots of matrices from their
eigenvalues, and OFUL computes V_t, its determinant and its inverse again in every round. Without
`rho` both algorithms are the ones that they extend. Numbers of lines are those of Algorithms 8, 9.
"""

import math
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from scipy.optimize import minimize


class LinearGame:
    """Linear bandit: the reward of an action a is <theta, a> plus noise.

    `observe` returns the actions of the next round, of shape (arms, d).
    """

    def __init__(self, theta: Any, observe: Callable[[], Any], horizon: int, rng: Any) -> None:
        self.theta, self.observe, self.horizon, self.rng = np.array(theta), observe, horizon, rng
        self.played: list[int] = []
        self.regrets: list[float] = []  # after every round
        self.actions = np.array(observe())

    @property
    def over(self) -> bool:
        """True if no round is left."""
        return len(self.played) == self.horizon

    def pull(self, arm: int) -> float:
        """Play one round and return its reward."""
        means = self.actions @ self.theta
        self.regrets.append(sum(self.regrets[-1:]) + means.max() - means[arm])
        self.played.append(arm)
        if not self.over:
            self.actions = np.array(self.observe())
        return float(means[arm] + self.rng.standard_normal())

    def pull_many(self, arm: int, n: int) -> float:
        """Play n rounds of an action, fewer if the game ends, and return the sum of the rewards."""
        n = min(n, self.horizon - len(self.played))
        self.played += [arm] * n
        return float(self.actions[arm] @ self.theta * n + self.rng.standard_normal(n).sum())


def norms2(actions: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return ||a||^2 in the (pseudo-)inverse of a matrix for all actions, (n,)."""
    return np.einsum("ni,ij,nj->n", actions, np.linalg.pinv(matrix, hermitian=True), actions)


def information(actions: np.ndarray, weights: Any) -> np.ndarray:
    """Return the sum of w(a) a a^T as a product of matrices."""
    return actions.T @ np.diag(np.asarray(weights, float)) @ actions


def rank_of(actions: np.ndarray) -> int:
    """Return the dimension of the span of actions."""
    return int(np.linalg.matrix_rank(actions, tol=1e-6))


def optimal_design(actions: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the solution of (5.7), (n,), and max ||a||^2, by sequential quadratic programming."""
    n, rank = len(actions), rank_of(actions)
    _, _, axes = np.linalg.svd(actions)
    x = actions @ axes[:rank].T
    found = minimize(
        lambda p: -np.linalg.slogdet(information(x, p))[1],
        np.full(n, 1 / n),
        jac=lambda p: -norms2(x, information(x, p)),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    design = np.where(found.x > 1e-7, found.x, 0)
    design /= design.sum()
    g = float(norms2(x, information(x, design)).max())
    assert rank <= g * (1 + 1e-9) <= rank * (1 + 1e-3)  # Kiefer, Wolfowitz
    return design, g


def f(d: int, delta: float) -> float:
    """Return f(d, delta) above (5.6)."""
    return d + 2 * math.sqrt(d * math.log(2 / delta)) + 2 * math.log(2 / delta)


def c(d: int, beta: float, delta: float, rho: float | None) -> float:
    """Return c_l, (5.6); without rho, its first term."""
    first = 8 * d / beta**2 * math.log(4 / delta)
    return first if rho is None else first + 2 * d / beta * math.sqrt(2 / rho * f(d, delta))


class AdaCGOPE:
    """Algorithm 8. The noise of line 12 has the largest norm of the design in place of d."""

    def __init__(self, risk: float, rho: float | None = None) -> None:
        self.risk, self.rho = risk, rho

    def design(self, actions: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the design of a phase, and its largest squared norm."""
        return optimal_design(actions)

    def root(self, matrix: np.ndarray) -> np.ndarray:
        """Return the (pseudo-)inverse root of V_l, by eigenvalues; it has a column per noise."""
        values, vectors = np.linalg.eigh(matrix)
        kept = values > 1e-9 * values.max()
        return np.array(vectors[:, kept] @ np.diag(values[kept] ** -0.5))

    def play(self, game: LinearGame, rng: Any) -> None:
        """Play to the horizon."""
        actions, left = game.actions, list(range(len(game.actions)))
        arms, d = actions.shape
        for phase in count(1):
            if len(left) == 1:
                game.pull_many(left[0], game.horizon)
                return
            beta, at = 2.0**-phase, actions[left]
            length = c(d, beta, self.risk / (arms * phase * (phase + 1)), self.rho)
            design, g = self.design(at)
            times = [math.ceil(length * share) for share in design]
            sums = [game.pull_many(a, n) for a, n in zip(left, times, strict=True)]
            if game.over:
                return
            v = information(at, times)
            theta = np.linalg.lstsq(v, at.T @ np.array(sums), rcond=1e-9)[0]
            if self.rho is not None:
                root, deviation = self.root(v), math.sqrt(2 * g / (self.rho * length))
                theta = theta + root @ [rng.normal(0.0, deviation) for _ in root.T]
            values = at @ theta
            left = [a for a, x in zip(left, values, strict=True) if max(values) - x <= 2 * beta]


class AdaCOFUL:
    """Algorithm 9 with Theorem C.13 and its open choices; the names are those of the package."""

    def __init__(
        self,
        risk: float,
        doubling: float = 1.0,
        regulariser: float = 0.1,
        rho: float | None = None,
        horizon: int = 0,
        eigenvalue: float = 0.1,
        beta: str = "appendix",
        f: str = "delta-over-t",
        g: str = "leading-term",
    ) -> None:
        self.risk, self.doubling, self.regulariser = risk, doubling, regulariser
        self.rho, self.horizon, self.eigenvalue = rho, horizon, eigenvalue
        self.beta, self.f, self.g = beta, f, g
        self.updates = 0

    def gamma(self, d: int, t: int, episodes: int) -> float:
        """Return gamma_t/sqrt(t) of step 4, or gamma_t sqrt(t)."""
        assert self.rho is not None
        inside = self.risk / self.horizon if self.f == "delta-over-t" else self.risk
        noise = d + 2 * math.sqrt(d * math.log(1 / inside))
        noise += 2 * math.log(self.horizon / self.risk)
        grown = self.eigenvalue * t / 4
        if self.g == "as-printed":
            log = math.log((t + 3) / (self.risk / d))
            grown = max(0.0, grown - 8 * log - 2 * math.sqrt(t * log))
        ratio = math.sqrt(2 * episodes / self.rho * noise) / math.sqrt(self.regulariser + grown)
        gamma = ratio * math.sqrt(t)
        return gamma / math.sqrt(t) if self.beta == "appendix" else gamma * math.sqrt(t)

    def radius(self, v: np.ndarray, t: int, episodes: int) -> float:
        """Return beta_t with ||theta*|| <= 1, plus what the noise adds."""
        d = len(v)
        log_det = np.linalg.slogdet(v)[1] - d * math.log(self.regulariser)
        beta = math.sqrt(2 * math.log(1 / self.risk) + log_det) + math.sqrt(self.regulariser)
        is_noisy = self.rho is not None and t > 0
        return beta + (self.gamma(d, t, episodes) if is_noisy else 0.0)

    def play(self, game: LinearGame, rng: Any) -> None:
        """Play to the horizon."""
        d = game.actions.shape[1]
        chosen, rewards, noises = np.zeros((0, d)), np.zeros(0), np.zeros((0, d))
        v_tau, theta = self.regulariser * np.eye(d), np.zeros(d)
        radius = self.radius(v_tau, 0, 0)
        while not game.over:
            v = self.regulariser * np.eye(d) + chosen.T @ chosen
            if np.linalg.slogdet(v)[1] > math.log1p(self.doubling) + np.linalg.slogdet(v_tau)[1]:
                self.updates += 1
                if self.rho is not None:
                    noise = [rng.normal(0.0, math.sqrt(2 / self.rho)) for _ in range(d)]
                    noises = np.vstack([noises, noise])
                theta = np.linalg.solve(v, chosen.T @ rewards + noises.sum(axis=0))
                v_tau, radius = v, self.radius(v, len(chosen), self.updates)
            actions = game.actions
            arm = int(np.argmax(actions @ theta + radius * np.sqrt(norms2(actions, v_tau))))
            rewards = np.append(rewards, game.pull(arm))
            chosen = np.vstack([chosen, actions[arm]])
