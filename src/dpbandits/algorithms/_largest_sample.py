"""Exact draw of the arm of largest θᵢ without sampling θ for every arm.

Fix a level that the largest θ of a round almost always exceeds. Arms that often exceed it are
sampled in every round. The other arms exceed it independently, each with a probability pᵢ that
only a pull of the arm changes. Lay segments of length -log(1 - pᵢ) on a line and drop points on it
as a Poisson process of rate 1: each segment is hit with probability pᵢ, independently of the
others. A round then costs as many draws as there are points. The θ of an arm that is hit is
drawn from its law above the level and competes with those of the arms sampled in every round. In
the rare case that no θ exceeds the level, the thetas of all other arms are drawn below it.

If that would cost more than to sample all arms, they are all sampled in every round, without a
level.

Four functions define the law of an algorithm. `numbers` returns two parameters that only a pull
changes. `chance_above` may return an upper bound of the probability: `sample_above` then rejects
the excess by returning -inf, and accepted values have the density of θ above the level. The
level depends only on the past and affects the running time, not the law.

The arrays `a`, `b`, `often`, `listed` and `length` have shape (arms,); `stretch` has one entry for
every WIDTH arms and holds the sum of their lengths.
"""

import math
from enum import IntEnum

import numpy as np

from dpbandits.algorithms._argmax import argmax
from dpbandits.algorithms._leads import (
    chance_above,
    numbers,
    play_leads,
    sample,
    sample_above,
    symmetric,
)
from dpbandits.algorithms._listed_arms import enter, list_often, segment
from dpbandits.algorithms._masks import (
    centre,
    chance_exceeding,
    exceeded_with,
    fill_noise,
    parts_by_pulls,
    play_in_vectors,
    play_masked,
)
from dpbandits.core.bandit import number_of_arms, playing, pull, rounds_played
from dpbandits.core.kernel import allocating, inlined
from dpbandits.mechanisms.leader_runs import draws_ahead

# Functions of a law, defined in _leads.py and _masks.py: `symmetric` allows leads, and those of
# _masks.py allow its play.
__all__ = [
    "centre",
    "chance_above",
    "chance_exceeding",
    "exceeded_with",
    "fill_noise",
    "numbers",
    "parts_by_pulls",
    "play_in_vectors",
    "play_masked",
    "sample",
    "sample_above",
    "symmetric",
]

TRIALS = 32  # the level is the smallest of this many largest samples
HIT = 6  # rough cost of an arm that is hit, in samples
WIDTH = 16  # arms in a stretch of the line; the length of each stretch is stored


class Method(IntEnum):
    """Method that draws the arm of largest θ; both have the same law."""

    EXACT = 0  # sample only the arms above a level
    PLAIN = 1  # sample every arm


@allocating
def follow_largest(law, method, bandit, rng, sums, pulls):
    """Play the arm of largest θ in every round up to the horizon.

    `sums` (R) and `pulls` (N) are float64 of shape (arms,) and updated in place.
    """
    if method == Method.EXACT:
        follow_exact(law, bandit, rng, sums, pulls)
    theta = np.empty(number_of_arms(bandit))
    while playing(bandit):
        for arm in range(theta.size):
            a, b = numbers(law, sums[arm], pulls[arm])
            theta[arm] = sample(law, rng, a, b)
        chosen = argmax(theta)
        sums[chosen] += pull(bandit, chosen)
        pulls[chosen] += 1.0


@allocating
def follow_exact(law, bandit, rng, sums, pulls):
    """Play as `follow_largest`, in law, sampling only the arms above a level."""
    arms = number_of_arms(bandit)
    a, b = np.empty(arms), np.empty(arms)
    for arm in range(arms):
        a[arm], b[arm] = numbers(law, sums[arm], pulls[arm])
    often = np.empty(arms, np.bool_)
    listed = np.empty(arms, np.int64)  # arms that are sampled in every round
    drawn = np.empty(arms)
    length = np.zeros(arms)  # segments of the other arms
    stretch = np.zeros((arms + WIDTH - 1) // WIDTH)
    many, line, level = 0, 0.0, -math.inf
    play_in_vectors(law, bandit, rng, sums, pulls, a, b, length)
    point = rng.standard_exponential()  # position of the next point on the line
    missed, look = 0, rounds_played(bandit)
    while playing(bandit):
        if missed == TRIALS or rounds_played(bandit) >= look:
            if symmetric(law) and draws_ahead(bandit):
                play_leads(law, bandit, rng, sums, pulls, a, b, length)
                if not playing(bandit):
                    return
            level = new_level(law, rng, a, b)
            many = list_often(law, a, b, level, often, listed, length)
            for i in range(stretch.size):
                stretch[i] = stretch_length(length, i)
            line = line_length(stretch)
            if many + HIT * line > arms:  # sampling all arms is cheaper
                level, line, many = -math.inf, 0.0, arms
                for arm in range(arms):
                    often[arm], listed[arm] = True, arm
            # New levels cost at most a quarter of a sample per round, and less late in the game.
            t = rounds_played(bandit)
            missed, look = 0, t + max(4 * TRIALS * arms, t // TRIALS)
        largest, chosen = -math.inf, 0
        for i in range(many):
            drawn[i] = sample(law, rng, a[listed[i]], b[listed[i]])
        # A separate loop: with the comparison inside the first, the draws wait for each other.
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
            many = enter(often, listed, length, many, chosen, own)
            stretch[chosen // WIDTH] = stretch_length(length, chosen // WIDTH)
            line = line_length(stretch)


@inlined
def new_level(law, rng, a, b):
    """Return the smallest of TRIALS largest samples as the new level."""
    level = math.inf
    for _ in range(TRIALS):
        largest = -math.inf
        for arm in range(a.size):
            largest = max(largest, sample(law, rng, a[arm], b[arm]))
        level = min(level, largest)
    return level


@inlined
def largest_hit(law, rng, a, b, level, length, stretch, line, point):
    """Return the largest θ of the arms hit in a round, its arm, and the next point."""
    largest, chosen = -math.inf, 0
    while point < line:
        arm, end = hit(length, stretch, point)
        if length[arm] > 0.0:  # rounding of a sum can lead to an arm without a segment
            theta = sample_above(law, rng, a[arm], b[arm], level)
            if theta > largest:
                largest, chosen = theta, arm
        point = end + rng.standard_exponential()  # an arm is hit at most once per round
    return largest, chosen, point


@inlined
def stretch_length(length, i):
    """Return the total length of the segments in stretch i."""
    total = 0.0
    for arm in range(i * WIDTH, min((i + 1) * WIDTH, length.size)):
        total += length[arm]
    return total


@inlined
def line_length(stretch):
    """Return the total length of all stretches."""
    total = 0.0
    for i in range(stretch.size):
        total += stretch[i]
    return total


@inlined
def hit(length, stretch, point):
    """Return the arm whose segment contains the point, and the end of that segment."""
    end, i = 0.0, 0
    while i < stretch.size - 1 and end + stretch[i] <= point:
        end += stretch[i]
        i += 1
    arm, last = i * WIDTH, min((i + 1) * WIDTH, length.size) - 1
    while arm < last and end + length[arm] <= point:
        end += length[arm]
        arm += 1
    return arm, end + length[arm]
