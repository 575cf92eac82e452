"""sajed2019 from its text alone: SE, DP-SE, the stopping rules and their bounds.

Slow on purpose: one pull, one sample and one noise at a time, in the order of the listings. Numbers
of algorithms, theorems and lines are the paper's. The bounds have the names and arguments of the
package's.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from streams import Game

# Bandits -----------------------------------------------------------------------------------------


class SE:
    """Successive Elimination as section 4 describes it, with Hoeffding intervals.

    All K intervals after r passes hold with probability 1 - beta/(2 r^2), hence all of them with
    1 - beta (the sum of 1/r^2 is below 2).
    """

    def __init__(self, beta: float) -> None:
        self.beta = beta
        self.branches: Counter[str] = Counter()

    def play(self, game: Game, rng: Any) -> None:
        """Play passes over the viable arms and compare their intervals after every pass."""
        rewards: list[list[float]] = [[] for _ in range(game.arms)]
        viable = list(range(game.arms))
        r = 0
        while not game.over:
            r += 1
            for arm in viable:
                if len(game.played) == game.horizon:
                    self.branches["cut"] += 1
                    return
                rewards[arm].append(game.pull(arm))
            # 2 exp(-2 r h^2) = beta/(2 K r^2)
            h = math.sqrt(math.log(4 * game.arms * r**2 / self.beta) / (2 * r))
            means = {arm: sum(rewards[arm]) / r for arm in viable}
            kept = [arm for arm in viable if not means[arm] + h < max(means.values()) - h]
            removed = len(viable) - len(kept)
            self.branches[f"{min(removed, 2)} removed" if len(viable) > 1 else "alone"] += 1
            viable = kept


class DPSE:
    """Algorithm 3, DP Successive Elimination."""

    def __init__(self, beta: float, epsilon: float) -> None:
        self.beta, self.epsilon = beta, epsilon
        self.branches: Counter[str] = Counter()
        self.lost: list[int] = []  # arms of an epoch that the horizon cut off

    def constants(self, epoch: int, size: int) -> tuple[float, float]:
        """Return R_e, and the limit of line 20, for an epoch that begins with |S| = `size`."""
        delta = 2.0**-epoch  # line 7
        eight = math.log(8 * size * epoch**2 / self.beta)
        four = math.log(4 * size * epoch**2 / self.beta)
        terms = 32 * eight / delta**2, 8 * four / (self.epsilon * delta)
        self.branches["privacy" if terms[1] > terms[0] else "statistics"] += 1
        r_e = max(terms) + 1  # line 8
        h = math.sqrt(eight / (2 * r_e))  # line 15
        c = four / (r_e * self.epsilon)  # line 16
        return r_e, 2 * h + 2 * c

    def remaining(self, s: list[int], far: set[int]) -> list[int]:
        """Return the arms that line 19 does not remove."""
        return [j for j in s if j not in far]

    def noise(self, rng: Any, r: int) -> float:
        """Draw the noise of a mean of r rewards, line 17."""
        return float(rng.laplace(0.0, 1 / (self.epsilon * r)))

    def play(self, game: Game, rng: Any) -> None:
        s = list(range(game.arms))  # line 1
        epoch = 0  # line 2
        while len(s) > 1:  # lines 3 and 21
            epoch += 1  # line 4
            r = 0  # line 5
            totals = dict.fromkeys(s, 0.0)  # line 6
            r_e, limit = self.constants(epoch, len(s))
            while r < r_e:  # line 9
                r += 1  # line 10
                for arm in s:  # line 11
                    if game.over:
                        self.lost = s
                        return
                    totals[arm] += game.pull(arm)  # lines 12 and 13
            private = {arm: totals[arm] / r + self.noise(rng, r) for arm in s}
            largest = max(private.values())  # line 18
            kept = self.remaining(s, {j for j in s if largest - private[j] > limit})  # 19 and 20
            self.branches[f"{min(len(s) - len(kept), 2)} removed"] += 1
            self.branches[f"epoch {epoch}"] += 1
            s = kept
        while not game.over:  # line 22
            self.branches["alone"] += 1
            game.pull(s[0])


class DPSEWhileIterating(DPSE):
    """DP-SE with a loop that removes arms from the list that it goes over."""

    def remaining(self, s: list[int], far: set[int]) -> list[int]:
        """Return what Python's loop leaves."""
        s = list(s)
        for j in s:
            if j in far:
                s.remove(j)
        return s


class DPSEGauss(DPSE):
    """DP-SE for rho-zCDP; the first term of R_e and h_e are as printed."""

    def constants(self, epoch: int, size: int) -> tuple[float, float]:
        """Return R_e and the limit, with sqrt(four/rho) in place of four/epsilon."""
        delta = 2.0**-epoch
        eight = math.log(8 * size * epoch**2 / self.beta)
        four = math.sqrt(math.log(4 * size * epoch**2 / self.beta) / self.epsilon)
        r_e = max(32 * eight / delta**2, 8 * four / delta) + 1
        return r_e, 2 * math.sqrt(eight / (2 * r_e)) + 2 * four / r_e

    def noise(self, rng: Any, r: int) -> float:
        """Draw N(0, 1/(2 rho r^2))."""
        return float(rng.normal(0.0, 1 / (r * math.sqrt(2 * self.epsilon))))


# Stopping rules ----------------------------------------------------------------------------------

Sample = Callable[[], float]
Halted = tuple[int, float]  # number of samples, estimate of the mean


class NAS:
    """NAS, section 3: not private."""

    def __init__(self, alpha: float, beta: float, radius: float) -> None:
        self.alpha, self.beta, self.radius = alpha, beta, radius

    def halt(self, sample: Sample, rng: Any) -> Halted:
        """Halt at the first t with |mean| >= h_t (1/alpha + 1)."""
        total = 0.0
        t = 0
        while True:
            t += 1
            total += sample()
            # Hoeffding for samples in an interval of length 2R, at confidence 1 - beta/(2 t^2):
            # 2 exp(-2 t h^2/(2R)^2) = beta/(2 t^2).
            h = math.sqrt((2 * self.radius) ** 2 * math.log(4 * t**2 / self.beta) / (2 * t))
            if abs(total / t) >= h * (1 / self.alpha + 1):
                return t, total / t


class DPNAS:
    """Algorithm 1, DP-NAS."""

    def __init__(self, epsilon: float, alpha: float, beta: float, radius: float) -> None:
        self.alpha, self.beta, self.radius = alpha, beta, radius
        self.sigma_1 = 12 * radius / epsilon  # line 1
        self.sigma_2 = 12 * radius / epsilon
        self.sigma_3 = 4 * radius / epsilon

    def queries(self) -> Iterator[tuple[int, int]]:
        """Yield t of every query, and the number that h and c contain in place of t."""
        t = 0
        while True:
            t += 1
            yield t, t

    def margin(self, t: int, number: int) -> float:
        """Return t h_t (1 + 1/alpha) + c_t, lines 8 to 10."""
        h = self.radius * math.sqrt(2 / t * math.log(16 * number**2 / self.beta))
        c = self.sigma_1 * math.log(4 / self.beta)
        c += self.sigma_2 * math.log(8 * number**2 / self.beta)
        c += self.sigma_3 / self.alpha * math.log(4 / self.beta)
        return t * h * (1 + 1 / self.alpha) + c

    def halt(self, sample: Sample, rng: Any) -> Halted:
        """Halt at the first query at which the sum reaches its margin plus B + A_t."""
        b = rng.laplace(0.0, self.sigma_1)  # line 2
        samples: list[float] = []
        for t, number in self.queries():
            while len(samples) < t:
                samples.append(sample())  # line 7
            a = rng.laplace(0.0, self.sigma_2)  # line 6
            if abs(sum(samples)) >= self.margin(t, number) + b + a:  # line 10, times t
                return t, sum(samples) / t + rng.laplace(0.0, self.sigma_3) / t  # lines 11 and 12
        raise AssertionError

    def law(self, probability: float, longest: int, points: int = 300) -> list[np.ndarray]:
        """Return the chance of halting after t samples of which k are R, for t < longest.

        Samples are R with this probability, else -R. Entry t has shape (t + 1,). The integral over
        B is the mean over `points` quantiles of its law; A_t has a closed form.
        """
        levels = (np.arange(points) + 0.5) / points
        b = self.sigma_1 * np.where(levels < 0.5, np.log(2 * levels), -np.log(2 - 2 * levels))
        alive = np.full((points, 1), 1 / points)
        chances = [np.zeros(1)]
        asked = dict(takewhile(lambda query: query[0] < longest, self.queries()))
        for t in range(1, longest):
            more = np.zeros((points, t + 1))
            more[:, :-1] += (1 - probability) * alive
            more[:, 1:] += probability * alive
            alive = more
            stops = np.zeros_like(alive)
            if t in asked:
                total = self.radius * (2.0 * np.arange(t + 1) - t)
                room = (np.abs(total) - self.margin(t, asked[t]) - b[:, None]) / self.sigma_2
                below = 0.5 * np.exp(-np.abs(room))  # P[A_t <= room]
                stops = alive * np.where(room < 0, below, 1 - below)
            alive = alive - stops
            chances.append(stops.sum(axis=0))
        return chances


class DPExponentialNAS(DPNAS):
    """Algorithm 2, DP exponential NAS: queries at t = 2^k, with k^2 in place of t^2."""

    def queries(self) -> Iterator[tuple[int, int]]:
        """Yield 2^k and k."""
        k = 0
        while True:
            k += 1
            yield 2**k, k


# Bounds ------------------------------------------------------------------------------------------


def allowed_failures(beta: float) -> float:
    """Return the beta of an (alpha, beta)-stopping rule, section 2."""
    return beta


def dp_se_upper_bound(means: Sequence[float], horizon: int, epsilon: float) -> float:
    """Return Theorem 4.3: an arm of gap D has the passes of epochs up to the first 2^-e <= D."""
    gaps = [max(means) - mean for mean in means]
    total = 0.0
    for gap in gaps:
        passes, epoch = 0, 0
        while gap > 0:
            epoch += 1
            passes += math.ceil(DPSE(1 / horizon, epsilon).constants(epoch, len(means))[0])
            if passes >= horizon or 2.0**-epoch <= gap:
                break
        total += gap * min(passes, horizon)
    return total + max(gaps)


def dp_se_minimax_upper_bound(arms: int, horizon: int, epsilon: float) -> float:
    """Return Theorem 4.4: the worst power of two as the gap of all arms but one, and 1."""
    worst, passes = 0.0, 0
    for epoch in range(1, 60):
        passes += math.ceil(DPSE(1 / horizon, epsilon).constants(epoch, arms)[0])
        pulls = min((arms - 1) * min(passes, horizon), horizon)
        worst = max(worst, 2 * 0.5**epoch * pulls)
    return worst + 1


def fact_2_1(a: float, b: float, x: float) -> float:
    """Return the left side of Fact 2.1 over b."""
    return math.log(a * math.log(x)) / x / b


def t_0(mean: float, radius: float, alpha: float, beta: float) -> float:
    """Return t_0 of Theorem 3.3."""
    inner = math.log(radius / (alpha * abs(mean)))
    return radius**2 * math.log(1 / beta * inner) / (alpha**2 * mean**2)


def t_1(mean: float, radius: float, epsilon: float, alpha: float, beta: float) -> float:
    """Return t_1 of Theorem 3.3."""
    inner = math.log(radius / (alpha * abs(mean)))
    return radius * math.log(1 / beta * inner) / (epsilon * abs(mean))


def t_2(mean: float, radius: float, epsilon: float, alpha: float, beta: float) -> float:
    """Return t_2 of Theorem 3.3."""
    return radius * math.log(1 / beta) / (epsilon * alpha * abs(mean))


def stopping_upper_bound(
    mean: float, radius: float, epsilon: float, alpha: float, beta: float
) -> float:
    """Return t_U of Theorem 3.3."""
    game = (mean, radius, epsilon, alpha, beta)
    return 2000 * (t_0(mean, radius, alpha, beta) + t_1(*game) + t_2(*game))


def stopping_lower_bound(
    mean: float, radius: float, epsilon: float, alpha: float, beta: float
) -> float:
    """Return n of the proof of Theorem 3.4."""
    return radius * math.log(1 / beta) / (12 * alpha * abs(mean) * epsilon)


def stopping_lower_bound_shape(
    mean: float, radius: float, epsilon: float, alpha: float, beta: float
) -> float:
    """Return Corollary 3.6, without constants."""
    sampling = radius**2 * math.log(1 / beta) / (alpha**2 * mean**2)
    return sampling + radius * math.log(1 / beta) / (epsilon * alpha * abs(mean))
