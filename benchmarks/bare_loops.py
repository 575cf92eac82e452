"""Per-round algorithms in their simplest form: one loop with rewards and regret inside it.

They are the baseline for the overhead of the engine. Unlike a policy they have access to the means,
and each computes nothing but the regret curve. The arithmetic and the order of the draws are those
of the package, so that the same streams give the same pulls.

The loops for a Bernoulli bandit take `means` and `gaps`, float64 of shape (arms,), the `horizon`,
the `rounds` to record, int64 and increasing, with a last entry beyond the horizon, and the random
generators `rewards` and `noise`. They return the regret at the rounds, float64 of shape (rounds,);
the entry beyond the horizon is not set.
"""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from dpbandits.core.kl import bernoulli_kl_upper

njit: Any = numba.njit(nogil=True, error_model="numpy")


@njit
def ucb(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    arms = means.size
    pulls = np.zeros(arms)
    sums = np.zeros(arms)
    index = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            log_t = math.log(t + 1)
            # A separate loop: with the comparison inside, it would not be vectorised.
            for arm in range(arms):
                index[arm] = sums[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
            best, largest = 0, -math.inf
            for arm in range(arms):
                if index[arm] > largest:
                    best, largest = arm, index[arm]
        sums[best] += 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1.0
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def klucb(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    arms = means.size
    pulls = np.zeros(arms)
    sums = np.zeros(arms)
    mean = np.empty(arms)
    entropy = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            log_t = math.log(t + 1)
            best, largest, log_q, log_1q = 0, -math.inf, 0.0, 0.0
            for arm in range(arms):
                p, level = mean[arm], log_t / pulls[arm]
                behind = entropy[arm] - p * log_q - (1.0 - p) * log_1q
                if p < largest and behind > level * (1.0 + 1e-9) + 1e-13:
                    continue
                index = bernoulli_kl_upper(p, level)
                if index > largest:
                    best, largest = arm, index
                    log_q = math.log(index)
                    log_1q = math.log1p(-index) if index < 1.0 else -math.inf
        sums[best] += 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1.0
        p = sums[best] / pulls[best]
        mean[best] = p
        entropy[best] = 0.0
        if 0.0 < p < 1.0:
            entropy[best] = p * math.log(p) + (1.0 - p) * math.log1p(-p)
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def private_ucb(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    # Defaults of the algorithm's Params, with epsilon = 1.
    arms = means.size
    levels = 0
    while horizon >> levels > 0:
        levels += 1
    scale = levels * arms / 1.0
    log_horizon = math.log(horizon)
    gamma = arms * log_horizon * log_horizon * math.log(arms * horizon * log_horizon / 0.1)
    nodes = np.zeros((arms, levels))
    released = np.zeros((arms, levels))
    pulls = np.zeros(arms, np.int64)
    fixed = np.empty(arms)
    width = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            root = math.sqrt(math.log(t + 1))
            best, largest = 0, -math.inf
            for arm in range(arms):
                index = fixed[arm] + width[arm] * root
                if index > largest:
                    best, largest = arm, index
        item = 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1
        c = pulls[best]
        i, node = 0, 0.0
        while c >> i & 1 == 0:
            node += nodes[best, i]
            i += 1
        node += item
        nodes[best, i] = node
        total = released[best, i] + (node + noise.laplace(0.0, scale))
        for j in range(i + 1):
            released[best, j] = total
        fixed[best] = (total + gamma) / c
        width[best] = math.sqrt(2.0 / c)
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def dp_ucb_bound(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    # Defaults of the algorithm's Params, with epsilon = 1.
    arms = means.size
    levels = 0
    while horizon >> levels > 0:
        levels += 1
    nodes = np.zeros((arms, levels))
    released = np.zeros((arms, levels))
    running = np.zeros(arms)
    at_power = np.zeros(arms)
    power = np.zeros(arms, np.int64)
    pulls = np.zeros(arms, np.int64)
    fixed = np.empty(arms)
    width = np.empty(arms)
    slope = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            log_t = math.log(t + 1)
            root = math.sqrt(log_t)
            best, largest = 0, -math.inf
            for arm in range(arms):
                index = fixed[arm] + width[arm] * root + slope[arm] * log_t
                if index > largest:
                    best, largest = arm, index
        item = 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1
        c = pulls[best]
        running[best] += item
        factor = math.sqrt(8.0)
        if c & (c - 1) == 0:
            running[best] += noise.laplace(0.0, 1.0)
            at_power[best] = running[best]
            power[best] += 1 if c > 1 else 0
            released[best, :] = 0.0
            total = at_power[best]
        else:
            r = c - (1 << power[best])
            i, node = 0, 0.0
            while r >> i & 1 == 0:
                node += nodes[best, i]
                i += 1
            node += item
            nodes[best, i] = node
            tree = released[best, i] + (node + noise.laplace(0.0, float(power[best])))
            for j in range(i + 1):
                released[best, j] = tree
            total = at_power[best] + tree
            factor *= math.log(c) + 1.0
        fixed[best] = (total + factor * math.log(4.0)) / c
        width[best] = math.sqrt(2.0 / c)
        slope[best] = 4.0 * factor / c
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def dp_ucb(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    # Defaults of the algorithm's Params, with epsilon = 1. All counters have t items.
    arms = means.size
    levels = 0
    while horizon >> levels > 0:
        levels += 1
    nodes = np.zeros((arms, levels))
    tree = np.zeros((arms, levels))
    running = np.zeros(arms)
    at_power = np.zeros(arms)
    released = np.empty(arms)
    pulls = np.zeros(arms)
    curve = np.empty(rounds.size)
    regret, k, power = 0.0, 0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            log_t = math.log(t + 1)
            best, largest = 0, -math.inf
            for arm in range(arms):
                index = released[arm] / pulls[arm] + math.sqrt(2.0 * log_t / pulls[arm])
                if index > largest:
                    best, largest = arm, index
        item = 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1.0
        c = t + 1
        if c & (c - 1) == 0:
            power += 1 if c > 1 else 0
            tree[:, :] = 0.0
            for arm in range(arms):
                running[arm] += item if arm == best else 0.0
                running[arm] += noise.laplace(0.0, 1.0)
                at_power[arm] = running[arm]
                released[arm] = at_power[arm]
        else:
            r = c - (1 << power)
            for arm in range(arms):
                own = item if arm == best else 0.0
                running[arm] += own
                i, node = 0, 0.0
                while r >> i & 1 == 0:
                    node += nodes[arm, i]
                    i += 1
                node += own
                nodes[arm, i] = node
                total = tree[arm, i] + (node + noise.laplace(0.0, float(power)))
                for j in range(i + 1):
                    tree[arm, j] = total
                released[arm] = at_power[arm] + total
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def exp3(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    arms = means.size
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * horizon)))
    v = np.zeros(arms)
    weights = np.ones(arms)
    curve = np.empty(rounds.size)
    regret, shift, k = 0.0, 0.0, 0
    for t in range(horizon):
        total = 0.0
        for arm in range(arms):
            total += weights[arm]
        scale, left = (1.0 - gamma) / total, noise.random()
        chosen, p = 0, scale * weights[0] + gamma / arms
        left -= p
        while left >= 0.0 and chosen < arms - 1:
            chosen += 1
            p = scale * weights[chosen] + gamma / arms
            left -= p
        gain = 1.0 if rewards.random() < means[chosen] else 0.0
        v[chosen] += gamma / arms * (gain / p)
        if v[chosen] - shift <= 30.0:
            weights[chosen] = math.exp(v[chosen] - shift)
        else:
            shift = v[chosen]
            for arm in range(arms):
                weights[arm] = math.exp(v[arm] - shift)
        regret += gaps[chosen]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def dp_exp3_lap(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    arms, b = means.size, math.log(horizon)  # epsilon = 1
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * horizon)))
    v = np.zeros(arms)
    weights = np.ones(arms)
    curve = np.empty(rounds.size)
    regret, shift, k = 0.0, 0.0, 0
    for t in range(horizon):
        total = 0.0
        for arm in range(arms):
            total += weights[arm]
        scale, left = (1.0 - gamma) / total, noise.random()
        chosen, p = 0, scale * weights[0] + gamma / arms
        left -= p
        while left >= 0.0 and chosen < arms - 1:
            chosen += 1
            p = scale * weights[chosen] + gamma / arms
            left -= p
        noisy = (1.0 if rewards.random() < means[chosen] else 0.0) + noise.laplace(0.0, 1.0)
        if -b <= noisy <= b + 1.0:
            v[chosen] += gamma / arms * ((noisy + b) / (2.0 * b + 1.0) / p)
            if v[chosen] - shift <= 30.0:
                weights[chosen] = math.exp(v[chosen] - shift)
            else:
                shift = v[chosen]
                for arm in range(arms):
                    weights[arm] = math.exp(v[arm] - shift)
        regret += gaps[chosen]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def uniform(means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any) -> Any:
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        chosen = int(noise.random() * means.size)
        rewards.random()
        regret += gaps[chosen]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def exp3_on_table(gains: Any, best: Any, horizon: int, rounds: Any, noise: Any) -> Any:
    """Play EXP3 on a table of gains; return the regret against the best fixed arm at `rounds`.

    `gains`: shape (horizon, arms); `best`: shape (horizon + 1,), the best arm's gain so far.
    """
    arms = gains.shape[1]
    gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1.0) * horizon)))
    v = np.zeros(arms)
    weights = np.ones(arms)
    curve = np.empty(rounds.size)
    earned, shift, k = 0.0, 0.0, 0
    for t in range(horizon):
        total = 0.0
        for arm in range(arms):
            total += weights[arm]
        scale, left = (1.0 - gamma) / total, noise.random()
        chosen, p = 0, scale * weights[0] + gamma / arms
        left -= p
        while left >= 0.0 and chosen < arms - 1:
            chosen += 1
            p = scale * weights[chosen] + gamma / arms
            left -= p
        gain = gains[t, chosen]
        v[chosen] += gamma / arms * (gain / p)
        if v[chosen] - shift <= 30.0:
            weights[chosen] = math.exp(v[chosen] - shift)
        else:
            shift = v[chosen]
            for arm in range(arms):
                weights[arm] = math.exp(v[arm] - shift)
        earned += gain
        if t + 1 == rounds[k]:
            curve[k] = best[t + 1] - earned
            k += 1
    return curve


@njit
def without_noise(
    means: Any, gaps: Any, horizon: int, rounds: Any, rewards: Any, noise: Any
) -> Any:
    """Play private_ucb without its counters and their noise, that is UCB with its Gamma."""
    arms = means.size
    log_horizon = math.log(horizon)
    gamma = arms * log_horizon * log_horizon * math.log(arms * horizon * log_horizon / 0.1)
    sums = np.zeros(arms)
    pulls = np.zeros(arms, np.int64)
    fixed = np.empty(arms)
    width = np.empty(arms)
    curve = np.empty(rounds.size)
    regret, k = 0.0, 0
    for t in range(horizon):
        if t < arms:
            best = t
        else:
            root = math.sqrt(math.log(t + 1))
            best, largest = 0, -math.inf
            for arm in range(arms):
                index = fixed[arm] + width[arm] * root
                if index > largest:
                    best, largest = arm, index
        sums[best] += 1.0 if rewards.random() < means[best] else 0.0
        pulls[best] += 1
        c = pulls[best]
        fixed[best] = (sums[best] + gamma) / c
        width[best] = math.sqrt(2.0 / c)
        regret += gaps[best]
        if t + 1 == rounds[k]:
            curve[k] = regret
            k += 1
    return curve


@njit
def laplace_draws(n: int, noise: Any) -> float:
    """Return the sum of n Laplace draws, as many as private_ucb makes in n rounds."""
    total = 0.0
    for _ in range(n):
        total += noise.laplace(0.0, 1.0)
    return total


BARE_LOOPS: dict[str, Callable[..., Any]] = {
    "dp-exp3-lap": dp_exp3_lap,
    "dp-ucb": dp_ucb,
    "dp-ucb-bound": dp_ucb_bound,
    "exp3": exp3,
    "klucb": klucb,
    "private-ucb": private_ucb,
    "ucb": ucb,
    "uniform": uniform,
}
