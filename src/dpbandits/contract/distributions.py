"""Checks of a reward distribution: what it draws, and what it declares of its means."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpbandits.contract.conditions import FALSE_ALARMS, Broken, NotApplicable, p_value
from dpbandits.kernel import registry
from dpbandits.kernel.bandit import has_closed_sum
from dpbandits.kernel.environment import UNBOUNDED
from dpbandits.kernel.samples import fill, fill_sums

ROUNDS = np.array([0, 1, 10, 99, 1000, 5001, 50_000, 999_999])  # played before a draw
TABLE_ROUNDS = np.arange(1000)  # of a table of gains
DRAWS = 4_000_000  # over all arms and rounds
BATCHES = (1, 2, 30)  # lengths of sums
SUMS = 2000  # of each length and arm


class Distribution(NamedTuple):
    """Reward distribution with its parameters."""

    name: str
    params: Any


@cache
def rewards(subject: Distribution) -> tuple[Any, np.ndarray]:
    """Return the law and rewards of shape (rounds, arms, draws); one draw from a table."""
    environment, rng = registry.environment(subject.name), np.random.Generator(np.random.PCG64(1))
    law, arms, _ = environment.game(subject.params, TABLE_ROUNDS.size, lambda: rng)
    rounds, draws = ROUNDS, DRAWS // (ROUNDS.size * arms)
    if environment.table:
        rounds, draws = TABLE_ROUNDS, 1
    sample = np.empty((rounds.size, arms, max(draws, 1)))
    fill(law, rng, rounds, sample)
    return law, sample


def in_range(subject: Distribution) -> str:
    """Check that rewards are in the declared range."""
    (low, high), (_, sample) = registry.environment(subject.name).RANGE, rewards(subject)
    wrong = np.argwhere(~((sample >= low) & (sample <= high)))  # nan too
    if wrong.size:
        numbers = f"a reward of arm {wrong[0, 1] + 1} is {sample[tuple(wrong[0])]:g}"
        remedy = "scale or clip in `draw`, or declare another RANGE; budgets rest on it"
        raise Broken(f"{numbers}, not in [{low:g}, {high:g}]", remedy)
    return f"{sample.size:,} rewards between {sample.min():.3g} and {sample.max():.3g}"


def gaps_of_means(subject: Distribution) -> str:
    """Check that the means of the rewards have the declared gaps, in early and late rounds.

    Mean plus gap is the largest mean, whatever the arm and the round. Every sample bounds it by
    Theorem 4 of Maurer and Pontil (2009), or as the mean of a normal law if rewards are unbounded;
    all bounds hold together but for FALSE_ALARMS.
    """
    law, sample = rewards(subject)
    if not hasattr(law, "gaps"):
        raise NotApplicable("the means of its rewards are others in every round")
    if (n := sample.shape[2]) == 1:
        raise NotApplicable("rewards of a table, or of too many arms, have no means here")
    log = math.log(4 * sample[..., 0].size / FALSE_ALARMS)
    least_reward, most_reward = within = registry.environment(subject.name).RANGE
    rest = 0.0 if within == UNBOUNDED else 7 * (most_reward - least_reward) * log / (3 * (n - 1))
    radius = np.sqrt(2 * sample.var(2, ddof=1) * log / n) + rest
    low, high = (sample.mean(2) + law.gaps + sign * radius for sign in (-1, 1))
    least, most = low.max(), high.min()
    means = registry.environment(subject.name).means(subject.params)
    if least <= (max(means) if means else least) <= most:
        return f"the largest mean is in [{least:.4g}, {most:.4g}] by {low.size} samples of {n:,}"
    ends = [np.unravel_index(end, low.shape) for end in (low.argmax(), high.argmin())]
    first, second = (f"arm {arm + 1} in round {ROUNDS[i] + 1:,}" for i, arm in ends)
    numbers = f"the largest mean is at least {least:.4g} by {first}, at most {most:.4g} by {second}"
    numbers += f" and {max(means):g} by `means`" if means else ""
    remedy = "`gaps` are the largest mean minus that of each arm, and `means` those of the rewards;"
    raise Broken(numbers, f"{remedy} for means that change with the round define `table`")


def sums_of_rewards(subject: Distribution) -> str:
    """Check that `draw_sum` has the distribution of sums of single draws."""
    law, sample = rewards(subject)
    if not has_closed_sum(law):
        raise NotApplicable("the rewards of a batch are drawn one by one")
    rng, tests = np.random.Generator(np.random.PCG64(2)), []
    for arm in range(sample.shape[1]):
        for n in BATCHES:
            single = sample[:, arm].ravel()[: SUMS * n].reshape(-1, n).sum(axis=1)
            fill_sums(law, rng, arm, n, sums := np.empty(single.size))
            tests.append((p_value(sums, single), f"{n} rewards of arm {arm + 1}"))
    (least, where), limit = min(tests), FALSE_ALARMS / len(tests)
    numbers = f"{len(tests)} two-sample tests of {SUMS:,} sums, least p-value {least:.2g}"
    numbers += f" ({where}); the limit is {limit:.1g}"
    if least < limit:
        raise Broken(numbers, "correct `draw_sum`, or leave it and `has_closed_sum` out")
    return numbers


CHECKS = {
    "rewards are in their range": in_range,
    "gaps are those of the means": gaps_of_means,
    "sums are those of single rewards": sums_of_rewards,
}
