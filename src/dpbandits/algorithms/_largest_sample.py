"""The arm of largest theta_i without a draw for every arm: another way to the same law, exactly.

Take a level that the largest theta of a round hardly ever misses. Arms that are often above it are
drawn in every round. Of the others, who is above it is a set of independent events, each with a
probability p_i that stays until the arm is pulled. Lay segments of length -log(1 - p_i) on a line
and drop points on it, one per unit of length on average: a segment is hit with probability p_i,
whatever happens to the others. So a round costs as many draws as there are points. The theta of an
arm that is hit is drawn from its law above the level, and competes with those drawn in full. Where
nobody is above, which is rare, all others are drawn below the level.

Where too many arms are alike, all of them are drawn in every round, as if there were no level.

An algorithm says by four functions what its law is. `numbers` are two that only a pull changes.
`chance_above` may be an upper bound of the probability: `sample_above` then rejects what the bound
has too much (it returns -inf), and what is left has the density of theta above the level. The level
moves no law, only the time: it is chosen by what is past.
"""

import math
from enum import IntEnum

import numpy as np

from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import by_class, inlined

TRIALS = 32  # the level is the smallest of as many largest samples
OFTEN = 0.25  # an arm that may be above the level this often is drawn in every round
HIT = 6  # what an arm that is hit costs, in samples, roughly
WIDTH = 16  # arms in a stretch of the line, whose length is known


class Method(IntEnum):
    """How the arm of largest theta is found; both have the same law."""

    EXACT = 0  # by the arms above a level
    PLAIN = 1  # by a draw of every arm


@by_class
def numbers(law, total, n):
    """The two numbers of the law of theta, for an arm with n rewards of this sum."""
    raise NotImplementedError("this law registered no body for `numbers`")


@by_class
def sample(law, rng, a, b):
    """theta of an arm with these numbers."""
    raise NotImplementedError("this law registered no body for `sample`")


@by_class
def chance_above(law, a, b, level):
    """The probability that theta > level, or more; what is OFTEN or more may be anything such."""
    return 1.0


@by_class
def sample_above(law, rng, a, b, level):
    """theta where it may be above the level, -inf where it is not; asked with that chance only."""
    return math.nan


@inlined
def play_exact(law, bandit, rng, sums, pulls):
    """To the horizon the arm of largest theta, from R and N as they are."""
    arms = number_of_arms(bandit)
    a, b = np.empty(arms), np.empty(arms)
    for arm in range(arms):
        a[arm], b[arm] = numbers(law, sums[arm], pulls[arm])
    often = np.empty(arms, np.bool_)
    listed = np.empty(arms, np.int64)  # the arms that are drawn in every round
    drawn = np.empty(arms)
    length = np.zeros(arms)  # of the segments of the others
    stretch = np.zeros((arms + WIDTH - 1) // WIDTH)
    many, line, level = 0, 0.0, -math.inf
    point = rng.standard_exponential()  # where on the line the next point is
    missed, look = 0, rounds_played(bandit)
    while playing(bandit):
        if missed == TRIALS or rounds_played(bandit) >= look:
            level = new_level(law, rng, a, b)
            many = list_often(law, a, b, level, often, listed, length)
            for i in range(stretch.size):
                stretch[i] = stretch_length(length, i)
            line = line_length(stretch)
            if many + HIT * line > arms:  # too many are alike
                level, line, many = -math.inf, 0.0, arms
                for arm in range(arms):
                    often[arm], listed[arm] = True, arm
            # A quarter of a sample a round, or less where little changes.
            t = rounds_played(bandit)
            missed, look = 0, t + max(4 * TRIALS * arms, t // TRIALS)
        largest, chosen = -math.inf, 0
        for i in range(many):
            drawn[i] = sample(law, rng, a[listed[i]], b[listed[i]])
        # A loop of its own: with the comparison in it, the draws wait for each other.
        for i in range(many):
            if drawn[i] > largest:
                largest, chosen = drawn[i], listed[i]
        if point < line:
            theta, arm, point = largest_hit(law, rng, a, b, level, length, stretch, line, point)
            if theta > largest:
                largest, chosen = theta, arm
        point -= line
        if largest <= level:
            missed += 1
            for arm in range(arms):
                if not often[arm]:
                    theta = math.inf
                    while theta > level:
                        theta = sample(law, rng, a[arm], b[arm])
                    if theta > largest:
                        largest, chosen = theta, arm
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0
        a[chosen], b[chosen] = numbers(law, sums[chosen], pulls[chosen])
        if not often[chosen]:
            own = segment(chance_above(law, a[chosen], b[chosen], level))
            if own == math.inf:
                often[chosen] = True
                listed[many] = chosen
                many += 1
                own = 0.0
            length[chosen] = own
            stretch[chosen // WIDTH] = stretch_length(length, chosen // WIDTH)
            line = line_length(stretch)


@inlined
def new_level(law, rng, a, b):
    """The smallest of some largest samples."""
    level = math.inf
    for _ in range(TRIALS):
        largest = -math.inf
        for arm in range(a.size):
            largest = max(largest, sample(law, rng, a[arm], b[arm]))
        level = min(level, largest)
    return level


@inlined
def list_often(law, a, b, level, often, listed, length):
    """List the arms that are often above the level, measure the segments of the others."""
    many = 0
    for arm in range(often.size):
        length[arm] = segment(chance_above(law, a[arm], b[arm], level))
        often[arm] = length[arm] == math.inf
        if often[arm]:
            listed[many] = arm
            many += 1
            length[arm] = 0.0
    return many


@inlined
def largest_hit(law, rng, a, b, level, length, stretch, line, point):
    """The largest theta of the arms that are hit in a round, its arm; the first point after."""
    largest, chosen = -math.inf, 0
    while point < line:
        arm, end = hit(length, stretch, point)
        if length[arm] > 0.0:  # not so where a sum was rounded
            theta = sample_above(law, rng, a[arm], b[arm], level)
            if theta > largest:
                largest, chosen = theta, arm
        point = end + rng.standard_exponential()  # an arm is above once
    return largest, chosen, point


@inlined
def segment(chance):
    """The length that is hit with this chance; infinite for an arm that is drawn every time."""
    return -math.log1p(-chance) if chance < OFTEN else math.inf


@inlined
def stretch_length(length, i):
    total = 0.0
    for arm in range(i * WIDTH, min((i + 1) * WIDTH, length.size)):
        total += length[arm]
    return total


@inlined
def line_length(stretch):
    total = 0.0
    for i in range(stretch.size):
        total += stretch[i]
    return total


@inlined
def hit(length, stretch, point):
    """The arm in whose segment the point is, and where that ends."""
    end, i = 0.0, 0
    while i < stretch.size - 1 and end + stretch[i] <= point:
        end += stretch[i]
        i += 1
    arm, last = i * WIDTH, min((i + 1) * WIDTH, length.size) - 1
    while arm < last and end + length[arm] <= point:
        end += length[arm]
        arm += 1
    return arm, end + length[arm]
