"""Best-arm identification from the boxes alone: the thesis, the poster of 2025, sajed2019.

Slow on purpose: all rewards are kept, and means, indices and costs are computed again from them in
every round. Minima are searched numerically. Numbers of lines are those of Algorithm 10 of the
thesis and of Algorithm 1 of the poster.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from sajed2019 import DPSE
from scipy.optimize import minimize_scalar
from scipy.special import lambertw, zeta
from streams import Game


def c_g(x: float) -> float:
    """Return (C.30): the minimum over a grid of lambda that is refined around the best point."""

    def within(rate: float) -> float:
        g = 2 * rate - 2 * rate * math.log(4 * rate) + math.log(zeta(2 * rate))
        return (g - math.log(1 - rate) / 2 + x) / rate

    found = minimize_scalar(within, bounds=(0.5 + 1e-9, 1 - 1e-9), method="bounded")
    near = np.linspace(max(found.x - 1e-3, 0.5001), min(found.x + 1e-3, 0.9999), 2001)
    return min(within(rate) for rate in near)


def k_of(n: float) -> float:
    """Return k(n) of (5.11)."""
    return math.log(n) / math.log(2) + 2


def c_gaussian(n: float, m: float, risk: float, arms: int) -> float:
    """Return (5.10)."""
    logs = math.log(4 + math.log(n)), math.log(4 + math.log(m))
    return 2 * c_g(math.log((arms - 1) / risk) / 2) + 2 * sum(logs)


@cache
def c_private(n: float, m: float, risk: float, arms: int, epsilon: float, s: float) -> float:
    """Return (5.11) with sigma = 1/2."""
    shared = risk / (2 * zeta(s) ** 2 * k_of(n) ** s * k_of(m) ** s)
    noise = sum(math.log(2 * arms * zeta(s) * k_of(w) ** s / risk) ** 2 / w for w in (n, m))
    return 2 * c_gaussian(n, m, shared, arms) + noise / (epsilon**2 * 0.5**2)


def h(n: float, risk: float, arms: int, s: float) -> float:
    """Return h below (5.14), by the branch -1 of Lambert's function."""
    x = 2 * math.log(3 * arms * zeta(s) * k_of(n) ** s / risk)
    x += 4 * math.log(4 + math.log(n)) + 1 / 2
    return float(-lambertw(-math.exp(-x), -1).real) / 2


@cache
def c_star(
    gap: float, n: float, m: float, risk: float, arms: int, epsilon: float, s: float
) -> float:
    """Return (5.14) with the fractions of Remark 5.22, sigma = 1/2."""
    logs = [math.log(3 * arms * zeta(s) * k_of(w) ** s / risk) for w in (n, m)]
    roots = [math.sqrt(h(w, risk, arms, s)) for w in (n, m)]
    if gap < 3 * epsilon:
        noise = sum(r / math.sqrt(w) * x for r, w, x in zip(roots, (n, m), logs, strict=True))
        half = c_private(n, m, 2 * risk / 3, arms, epsilon, s) / 2
        return half + math.sqrt(2) / (epsilon * 0.5) * noise
    grown = sum(r * math.sqrt(w) for r, w in zip(roots, (n, m), strict=True))
    return 3 / 0.5**2 * max(logs) + 3 * epsilon / (math.sqrt(2) * 0.5) * grown


def w_gaussian(gap: float, n: float, m: float) -> float:
    """Return (5.9) with sigma = 1/2."""
    return float(max(gap, 0) ** 2 / (2 * 0.5**2 * (1 / n + 1 / m)))


def w_star(gap: float, n: float, m: float, epsilon: float) -> float:
    """Return (5.12) with sigma = 1/2."""
    gap = max(gap, 0)
    return gap * min(3 * epsilon, gap) / (2 * 0.5**2 * (1 / n + 1 / m))


def kl(p: float, q: float) -> float:
    """Return the relative entropy of two coins."""
    terms = [(p, q), (1 - p, 1 - q)]
    return sum(a * math.log(a / b) if b > 0 else math.inf for a, b in terms if a > 0)


def d_epsilon(p: float, x: float, epsilon: float) -> float:
    """Return d_epsilon(p, x) by the cases of the poster, for p <= x by d^+, else by d^-."""
    if p > x:
        return d_epsilon(1 - p, 1 - x, epsilon)
    g = p * math.exp(epsilon) / (p * math.expm1(epsilon) + 1)
    if x <= g:
        return kl(p, x)
    return -math.log(1 - x * (1 - math.exp(-epsilon))) - epsilon * p


def c_epsilon(p: float, q: float, n: float, m: float, epsilon: float | None) -> float:
    """Return min over x of n d^-(p, x) + m d^+(q, x) by ternary search; None: kl for d."""
    if p <= q:
        return 0.0

    def at(x: float) -> float:
        if epsilon is None:
            return n * kl(p, x) + m * kl(q, x)
        return n * d_epsilon(p, x, epsilon) + m * d_epsilon(q, x, epsilon)

    low, high = q, p
    for _ in range(100):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, right) if at(left) < at(right) else (left, high)
    return at((low + high) / 2)


class TopTwo:
    """Algorithm 10: the loop; subclasses have its means, costs and thresholds."""

    def __init__(self, epsilon: float, risk: float) -> None:
        self.epsilon, self.risk = epsilon, risk
        self.answer = -1
        self.completed = 0

    def identify(self, game: Game, rng: Any) -> None:
        """Play until the answer or the last round of the game."""
        arms = range(game.arms)
        self.rewards: list[list[float]] = [[self.observe(game.pull(a), rng)] for a in arms]
        self.ends = [[1] for _ in arms]  # pulls of each arm at the ends of its phases
        self.mean = [0.0 for _ in arms]
        self.used = [0 for _ in arms]
        self.noisy = [0.0 for _ in arms]
        for a in arms:
            self.new_mean(a, rng)
        led, pulled = [0 for _ in arms], [0 for _ in arms]
        while True:
            n = sum(map(len, self.rewards)) + 1
            best = max(arms, key=lambda a: self.mean[a])
            others = [a for a in arms if a != best]
            if all(self.evidence(best, a) >= self.limit(best, a, n) for a in others):
                self.answer = best
                break
            if game.over:
                break
            leader = max(arms, key=lambda a: self.index(a, n))
            rest = [a for a in arms if a != leader]
            challenger = min(rest, key=lambda a: self.challenge(leader, a))
            led[leader] += 1
            is_turn = self.turn(pulled[leader], led[leader], rng)
            chosen = leader if is_turn else challenger
            pulled[leader] += is_turn
            self.rewards[chosen].append(self.observe(game.pull(chosen), rng))
            if self.ended(chosen):
                self.ends[chosen].append(len(self.rewards[chosen]))
                self.new_mean(chosen, rng)
        self.completed = sum(ends[-1] for ends in self.ends)

    def observe(self, reward: float, rng: Any) -> float:
        """Return what is kept of a reward."""
        return reward

    def ended(self, arm: int) -> bool:
        """Return whether the phase of an arm has ended: its pulls have doubled."""
        return len(self.rewards[arm]) >= 2 * self.ends[arm][-1]

    def phase_sum(self, arm: int) -> tuple[float, int]:
        """Return the sum and the number of the rewards of the last phase."""
        first = self.ends[arm][-2] if len(self.ends[arm]) > 1 else 0
        part = self.rewards[arm][first : self.ends[arm][-1]]
        return sum(part), len(part)

    def new_mean(self, arm: int, rng: Any) -> None:
        """Compute the mean of the last phase with noise, lines 7 to 9."""
        total, self.used[arm] = self.phase_sum(arm)
        noise = rng.laplace(0.0, 1 / (self.epsilon * self.used[arm]))
        self.mean[arm] = total / self.used[arm] + noise

    def turn(self, pulled: int, led: int, rng: Any) -> bool:
        """Return whether the leader is pulled, line 18."""
        return pulled <= 0.5 * led

    def evidence(self, a: int, b: int) -> float:
        """Return W of the private means and the pulls that they are made of, line 12."""
        return self.transport(a, b, self.used)

    def challenge(self, leader: int, a: int) -> float:
        """Return W of the private means and of all pulls, line 17."""
        return self.transport(leader, a, [len(rewards) for rewards in self.rewards])

    def transport(self, a: int, b: int, pulls: list[int]) -> float:
        return w_gaussian(self.mean[a] - self.mean[b], pulls[a], pulls[b])

    def index(self, a: int, n: int) -> float:
        raise NotImplementedError

    def limit(self, a: int, b: int, n: int) -> float:
        raise NotImplementedError


class AdaPTT(TopTwo):
    """AdaP-TT, with its choices; the names are those of the package."""

    def __init__(
        self,
        epsilon: float,
        risk: float,
        threshold: str = "printed",
        bonus: str = "phase",
        s: float = 2.0,
        tracking: str = "deterministic",
    ) -> None:
        super().__init__(epsilon, risk)
        self.threshold, self.bonus, self.s, self.tracking = threshold, bonus, s, tracking

    def turn(self, pulled: int, led: int, rng: Any) -> bool:
        if self.tracking == "random":
            return bool(rng.random() < 0.5)
        return super().turn(pulled, led, rng)

    def index(self, a: int, n: int) -> float:
        k, used = len(self.ends[a]), self.used[a]
        if self.bonus == "phase":
            return self.mean[a] + math.sqrt(k / used) + k / (self.epsilon * used)
        log = math.log(n)
        return self.mean[a] + math.sqrt(log / (2 * used)) + log / (self.epsilon * used)

    def evidence(self, a: int, b: int) -> float:
        if self.threshold == "printed":
            return super().evidence(a, b)
        gap = self.mean[a] - self.mean[b]
        return float(gap**2 / (1 / self.used[a] + 1 / self.used[b]))

    def limit(self, a: int, b: int, n: int) -> float:
        pair = self.used[a], self.used[b]
        if self.threshold == "printed":
            return c_private(*pair, self.risk, len(self.mean), self.epsilon, self.s)
        log = math.log(1 / self.risk)
        logs = log + sum(math.log(1 + math.log(w)) for w in pair)
        return logs + (1 / pair[0] + 1 / pair[1]) * log**2 / self.epsilon**2


class AdaPTTStar(AdaPTT):
    """AdaP-TT*, with (5.12) and (5.14)."""

    def transport(self, a: int, b: int, pulls: list[int]) -> float:
        return w_star(self.mean[a] - self.mean[b], pulls[a], pulls[b], self.epsilon)

    def limit(self, a: int, b: int, n: int) -> float:
        gap, pair = self.mean[a] - self.mean[b], (self.used[a], self.used[b])
        return c_star(gap, *pair, self.risk, len(self.mean), self.epsilon, self.s)


class DPTT(TopTwo):
    """Algorithm 1 of the poster."""

    def __init__(self, epsilon: float, risk: float, threshold: str = "single-log") -> None:
        super().__init__(epsilon, risk)
        self.threshold = threshold

    def new_mean(self, arm: int, rng: Any) -> None:
        """Add the noisy sum of the last phase to those before, line 7."""
        total, _ = self.phase_sum(arm)
        self.noisy[arm] += total + rng.laplace(0.0, 1 / self.epsilon)
        self.used[arm] = self.ends[arm][-1]
        self.mean[arm] = float(np.clip(self.noisy[arm] / self.used[arm], 0, 1))

    def transport(self, a: int, b: int, pulls: list[int]) -> float:
        return c_epsilon(self.mean[a], self.mean[b], pulls[a], pulls[b], self.epsilon)

    def index(self, a: int, n: int) -> float:
        return self.mean[a]

    def challenge(self, leader: int, a: int) -> float:
        return super().challenge(leader, a) + math.log(len(self.rewards[a]))

    def limit(self, a: int, b: int, n: int) -> float:
        if self.threshold == "single-log":
            return math.log((1 + math.log(n)) / self.risk)
        logs = sum(math.log(1 + math.log(self.used[arm])) for arm in (a, b))
        return 2 * math.log(1 / self.risk) + logs


class Plain(TopTwo):
    """Means of all rewards after every pull, without noise."""

    def ended(self, arm: int) -> bool:
        return True

    def new_mean(self, arm: int, rng: Any) -> None:
        self.used[arm] = len(self.rewards[arm])
        self.mean[arm] = sum(self.rewards[arm]) / self.used[arm]


class EBTCI(Plain, DPTT):
    """EB-TCI: DP-TT without phases and noise."""

    def __init__(self, risk: float, threshold: str = "single-log") -> None:
        DPTT.__init__(self, math.inf, risk, threshold)

    def transport(self, a: int, b: int, pulls: list[int]) -> float:
        return c_epsilon(self.mean[a], self.mean[b], pulls[a], pulls[b], None)


class TTUCB(Plain):
    """TTUCB with (5.10), or with the threshold ln((1 + ln n)/risk)."""

    def __init__(self, risk: float, threshold: str = "printed", cost: str = "half") -> None:
        super().__init__(math.inf, risk)
        self.threshold, self.factor = threshold, {"half": 0.5, "whole": 1.0}[cost]

    def index(self, a: int, n: int) -> float:
        return self.mean[a] + math.sqrt(math.log(n) / self.used[a])

    def evidence(self, a: int, b: int) -> float:
        if self.threshold == "printed":
            return super().evidence(a, b)
        gap = self.mean[a] - self.mean[b]
        return self.factor * float(gap**2 / (1 / self.used[a] + 1 / self.used[b]))

    def limit(self, a: int, b: int, n: int) -> float:
        if self.threshold == "printed":
            return c_gaussian(self.used[a], self.used[b], self.risk, len(self.mean))
        return math.log((1 + math.log(n)) / self.risk)


class CTBTT(TTUCB):
    """TTUCB on coins."""

    def __init__(
        self, epsilon: float, risk: float, threshold: str = "printed", cost: str = "half"
    ) -> None:
        super().__init__(risk, threshold, cost)
        self.epsilon = epsilon

    def observe(self, reward: float, rng: Any) -> float:
        share = (reward * math.expm1(self.epsilon) + 1) / (math.exp(self.epsilon) + 1)
        return 1.0 if rng.random() < share else 0.0


class DPSEIdentify(DPSE):
    """Algorithm 3 of sajed2019 with beta = risk, up to the last arm."""

    def __init__(
        self, epsilon: float, risk: float, epoch_mean: str = "of-epoch", passes: str = "ceil"
    ) -> None:
        super().__init__(risk, epsilon)
        self.epoch_mean, self.passes = epoch_mean, passes
        self.answer = -1
        self.completed = 0

    def identify(self, game: Game, rng: Any) -> None:
        """Play epochs until one arm is left; an epoch that does not fit ends the game."""
        viable, epoch, pulls = list(range(game.arms)), 0, 0
        while len(viable) > 1:
            epoch += 1
            real, limit = self.constants(epoch, len(viable))
            passes = int(real) if self.passes == "floor" else math.ceil(real)
            if len(game.played) + passes * len(viable) > game.horizon:
                while not game.over:
                    game.pull(viable[0])
                return
            totals = dict.fromkeys(viable, 0.0)
            for arm in [*viable] * passes:
                totals[arm] += game.pull(arm)
            pulls += passes
            self.completed = len(game.played)
            divisor = pulls if self.epoch_mean == "divided-by-all-pulls" else passes
            private = {arm: totals[arm] / divisor + self.noise(rng, passes) for arm in viable}
            viable = [a for a in viable if max(private.values()) - private[a] <= limit]
        self.answer = viable[0]
