"""Algorithms of tossou2016, written from the paper's text alone: slow and literal.

Every round adds up all rewards and all noises again. Arms count from 0, rounds t from 1; n_a is the
number of pulls of an arm before round t, s_a the sum of its rewards; logarithms are natural. Of the
largest indices the first one is taken. A variant is given by the words of
conf/claims/tossou2016.yaml. This file imports nothing from dpbandits.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from counters import BinaryMechanism, counter, is_power_of_two, laplace_of
from scipy.special import zeta
from streams import Game

# Policies -----------------------------------------------------------------------------------------


def first_of_largest(values: Sequence[float]) -> int:
    return values.index(max(values))


def rewards_of(game: Game, arm: int) -> list[float]:
    """Return the rewards of an arm so far."""
    return [r for a, r in zip(game.played, game.rewards, strict=True) if a == arm]


def bonus(t: int, n: int) -> float:
    """Return the confidence width of UCB (section 3)."""
    return math.sqrt(2 * math.log(t) / n)


def play_ucb(game: Game, alpha: float = 4) -> None:
    """Play UCB (Auer et al. 2002, as in section 3), its squared width times alpha/4."""
    while not game.over:
        t = len(game.played) + 1
        if t <= game.arms:
            game.pull(t - 1)
        else:
            own = [rewards_of(game, arm) for arm in range(game.arms)]
            game.pull(
                first_of_largest(
                    [sum(r) / len(r) + math.sqrt(alpha / 4) * bonus(t, len(r)) for r in own]
                )
            )


def play_dp_ucb_bound(
    game: Game, rng: Any, epsilon: float, variant: str, power_of_two: bool = True
) -> None:
    """Play Algorithm 1; with `power_of_two` off, all counts have the larger nu."""
    counters = [counter(variant, epsilon, laplace_of(rng)) for _ in range(game.arms)]
    while not game.over:
        t = len(game.played) + 1
        if t <= game.arms:
            arm = t - 1
        else:
            index = []
            for a in range(game.arms):
                n = game.played.count(a)
                if is_power_of_two(n) and power_of_two:
                    nu = math.sqrt(8) / epsilon * math.log(4 * t**4)
                else:
                    nu = math.sqrt(8) / epsilon * math.log(4 * t**4) * math.log(n)
                    nu += math.sqrt(8) / epsilon * math.log(4 * t**4)
                index.append(counters[a].released() / n + bonus(t, n) + nu / n)
            arm = first_of_largest(index)
        counters[arm].insert(game.pull(arm))


def play_dp_ucb(game: Game, rng: Any, epsilon: float, variant: str) -> None:
    """Play Algorithm 2: nu = 0, and in every round the counters of the other arms get a 0."""
    counters = [counter(variant, epsilon, laplace_of(rng)) for _ in range(game.arms)]
    while not game.over:
        t = len(game.played) + 1
        if t <= game.arms:
            arm = t - 1
        else:
            pulls = [game.played.count(a) for a in range(game.arms)]
            arm = first_of_largest(
                [c.released() / n + bonus(t, n) for c, n in zip(counters, pulls, strict=True)]
            )
        reward = game.pull(arm)
        for a in range(game.arms):
            counters[a].insert(reward if a == arm else 0.0)


def play_private_ucb(
    game: Game,
    rng: Any,
    epsilon: float,
    failure: Callable[[int], float],
    split: str = "arms",
    relaxation: str = "on",
    fed: bool = False,
) -> None:
    """Play Private-UCB (Mishra and Thakurta 2015); `failure` returns gamma in round t.

    Binary counters with epsilon/K each, Gamma = K log^2 T log(K T log T/gamma)/epsilon; the split
    `none` has epsilon for each counter and no leading K. The relaxation `css` is the bound of Chan,
    Shi and Song, quoted in section 2.3, `off` has none, and `log25` is the order that sajed2019
    and azize2022 give, with the constant 1. If `fed`, the tree of every arm gets an item in every
    round, 0 unless the arm is played, and the noise of a node has the scale ln T in place of L.
    """
    k, horizon = game.arms, game.horizon
    share = k if split == "arms" else 1
    levels = math.floor(math.log2(horizon)) + 1
    levels_epsilon = epsilon / share * (levels / max(math.log(horizon), 1.0) if fed else 1.0)
    counters = [BinaryMechanism(levels, levels_epsilon, laplace_of(rng)) for _ in range(k)]
    log_t = math.log(horizon)
    while not game.over:
        t = len(game.played) + 1
        if t <= k:
            arm = t - 1
        else:
            index = []
            for a in range(k):
                n, gamma = game.played.count(a), failure(t)
                added = {
                    "on": share / epsilon * log_t**2 * math.log(k * horizon * log_t / gamma),
                    "off": 0.0,
                    "css": math.log(1 / gamma) * math.log(n) ** 1.5 / epsilon,
                    "log25": log_t**2.5 / epsilon,
                    "log25-base-2": math.log2(horizon) ** 2.5 / epsilon,
                }[relaxation]
                index.append(counters[a].released() / n + bonus(t, n) + added / n)
            arm = first_of_largest(index)
        counters[arm].insert(game.pull(arm))
        for other in range(k):
            if fed and other != arm:
                counters[other].insert(0.0)


# DP-UCB-INT ---------------------------------------------------------------------------------------


def corollary_3_2(epsilon: float, delta: float, v: float) -> float:
    """Return the input epsilon of Algorithm 3 for the target (epsilon', delta')."""
    eight, log = 8 * float(zeta(v)), math.log(1 / delta)
    return (math.sqrt((log + 4 * epsilon) / eight) - math.sqrt(log / eight)) ** 2


def release_counts(schedule: str, epsilon: float, v: float) -> Iterator[int]:
    """Yield W_1, W_2, ...: y (`series`) or x (`series-x`) of Lemma B.1, or multiples of f."""
    if schedule == "constant":
        yield from itertools.count(math.ceil(1 / epsilon), math.ceil(1 / epsilon))
    exponent = {"series": v, "series-x": v / 2}[schedule]
    total = 0.0  # over i = w + 1, ..., y
    for y in itertools.count(1):
        total += y**-exponent
        if total >= 1 / (epsilon * y**exponent):
            yield y
            total = 0.0


def play_dp_ucb_int(
    game: Game,
    rng: Any,
    target: tuple[float, float],
    v: float,
    schedule: str = "series",
    noise: str = "per-release",
) -> None:
    """Play Algorithm 3 with the input of Corollary 3.2 for the target (epsilon', delta')."""
    k = game.arms
    counts = release_counts(schedule, corollary_3_2(*target, v), v)
    known = [next(counts)]  # W_1, ..., as far as needed
    for t in range(1, k * known[0] + 1):
        if not game.over:
            game.pull((t - 1) % k)
    x = [0.0] * k
    drawn: list[tuple[int, float]] = [(0, 0.0)] * k  # release count and noise of the last release
    while not game.over:
        t = len(game.played) + 1
        for a in range(k):
            own = rewards_of(game, a)
            n = len(own)
            while known[-1] < n:
                known.append(next(counts))
            is_new = drawn[a][0] != n
            if n in known and (is_new or noise != "frozen"):
                if is_new or noise == "every-round":
                    drawn[a] = n, rng.laplace(0.0, 1 / n ** (1 - v / 2))
                x[a] = sum(own) / n + drawn[a][1] + bonus(t, n)
        game.pull(first_of_largest(x))


def theorem_3_4(counts: Sequence[int], v: float, delta: float) -> float:
    """Return min{C, D} of the proof in B.2 for the releases of one arm at these counts."""
    each = [1 / math.sqrt(n**v) for n in counts]
    c = sum(each)
    d = sum(e * (math.exp(e) - 1) for e in each)
    return min(c, d + math.sqrt(sum(2 / n**v * math.log(1 / delta) for n in counts)))
