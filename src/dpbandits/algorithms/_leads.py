"""Leads of the DP-FTPL algorithms: many pulls of one arm in one step, exact in law.

_largest_sample.py drops points on a line of segments, one for each arm that can exceed a level.
While one arm c leads, its chance to fall below the level is one more segment. A round without a
point on the line has θ_c above the level and all others below it: c is pulled. So all rounds before
the next point are one batch of pulls of c.

The chance of c changes with every pull. Its segment is a bound over the next `span` pulls, whatever
their rewards are, and a hit is thinned by the chance that holds in that round. For a level >= 0 the
chance grows if a reward is replaced by 0; without rewards, the distance of θ's centre from the
level, in units of its noise, is concave or decreasing in the number of pulls, so that the larger
of the chances at both ends bounds all others.

Spans and levels depend only on the past: the horizon cuts the last batch and changes no choice.
"""

import math

from dpbandits.algorithms._argmax import argmax
from dpbandits.core.bandit import playing, pull, pull_many
from dpbandits.core.kernel import by_class, inlined

LONGEST = 0.2  # a longer line is hit so often that leads do not pay
SHORTEST, SPAN = 8, 128  # bounds of the pulls for which the leader's segment holds
SPANS = 16  # spans after which the level is chosen again
HALVINGS = 14  # steps of the search for a level


@by_class
def numbers(law, total, n):
    """Return the two parameters (a, b) of θ's law for an arm with n rewards of sum `total`."""
    raise NotImplementedError("this law registered no body for `numbers`")


@by_class
def sample(law, rng, a, b):
    """Draw θ of an arm with parameters a and b."""
    raise NotImplementedError("this law registered no body for `sample`")


@by_class
def chance_above(law, a, b, level):
    """Return an upper bound of P[θ > level]; all values ≥ OFTEN have the same effect."""
    return 1.0


@by_class
def sample_above(law, rng, a, b, level):
    """Draw θ above the level, or return -inf; called with probability `chance_above`."""
    return math.nan


@by_class
def symmetric(law):
    """Return True if -θ has the law with parameters -a and b, and the bound above holds."""
    return False


@inlined
def play_leads(law, bandit, rng, sums, pulls, a, b, length):
    """Play rounds as long as one arm leads by far; `a` and `b` are up to date before and after.

    `length` is overwritten. All arrays are float64 of shape (arms,).
    """
    leader = argmax(pulls)
    point = rng.standard_exponential()
    while playing(bandit):
        span = min(max(pulls[leader] // 64, SHORTEST), SPAN)
        end = pulls[leader] + span
        level = balanced_level(law, sums, pulls, a, b, leader, end)
        below = chance_below(law, sums, pulls, a, b, leader, end, level)
        line = fill_line(law, a, b, leader, level, below, length)
        if not line < LONGEST:
            return
        last = pulls[leader] + SPANS * span
        while line < LONGEST:
            free = int(min(point / (line + 1e-300), end - pulls[leader]))
            if free > 0:
                sums[leader] += pull_many(bandit, leader, free)
                pulls[leader] += free
                point = max(point - free * line, 0.0)  # rounding may lead below 0
            if not playing(bandit):
                return
            a[leader], b[leader] = numbers(law, sums[leader], pulls[leader])
            if pulls[leader] >= end:
                if pulls[leader] >= last:
                    break
                end = pulls[leader] + span
                below = chance_below(law, sums, pulls, a, b, leader, end, level)
                length[leader] = segment(below)
                line = total(length)
                continue
            chosen, point = choose(law, rng, a, b, leader, level, below, length, point)
            point -= line
            sums[chosen] += pull(bandit, chosen)
            pulls[chosen] += 1.0
            a[chosen], b[chosen] = numbers(law, sums[chosen], pulls[chosen])
            if chosen != leader:
                length[chosen] = segment(chance_above(law, a[chosen], b[chosen], level))
                line = total(length)
            if not playing(bandit):
                return


@inlined
def choose(law, rng, a, b, leader, level, below, length, point):
    """Return the arm of largest θ in a round in which a point may be on the line; the next point.

    Points lie in the arms' order; that of the leader is kept with its chance over `below`.
    """
    best, chosen, lowest, reached = -math.inf, leader, math.inf, 0.0
    for arm in range(a.size):
        reached += length[arm]
        if point < reached:
            point = reached + rng.standard_exponential()
            if arm == leader:
                if rng.random() * below < chance_above(law, -a[arm], b[arm], -level):
                    lowest = -sample_above(law, rng, -a[arm], b[arm], -level)
            else:
                theta = sample_above(law, rng, a[arm], b[arm], level)
                if theta > best:
                    best, chosen = theta, arm
    if lowest == math.inf:
        if chosen != leader and sample_side(law, rng, a, b, leader, level, True) > best:
            chosen = leader
    elif chosen == leader:
        best = lowest
        for arm in range(a.size):
            if arm != leader:
                theta = sample_side(law, rng, a, b, arm, level, False)
                if theta > best:
                    best, chosen = theta, arm
    return chosen, point


@inlined
def sample_side(law, rng, a, b, arm, level, above):
    """Draw θ of an arm until it is above the level, or not above it."""
    theta = sample(law, rng, a[arm], b[arm])
    while (theta > level) != above:
        theta = sample(law, rng, a[arm], b[arm])
    return theta


@inlined
def chance_below(law, sums, pulls, a, b, leader, end, level):
    """Return a bound of the leader's chance to fall below the level before `end` pulls."""
    far_a, far_b = numbers(law, sums[leader], end)
    now = chance_above(law, -a[leader], b[leader], -level)
    return max(now, chance_above(law, -far_a, far_b, -level))


@inlined
def balanced_level(law, sums, pulls, a, b, leader, end):
    """Return a level at which the leader falls below about as often as a rival is above."""
    far_a, _ = numbers(law, sums[leader], end)
    high = max(0.0, min(a[leader], far_a))
    low = 0.0  # then the largest centre of a rival, which is above the level half of the time
    for arm in range(a.size):
        if arm != leader:
            low = max(low, min(a[arm], high))
    for _ in range(HALVINGS):
        level = 0.5 * (low + high)
        above = 0.0
        for arm in range(a.size):
            if arm != leader:
                above += chance_above(law, a[arm], b[arm], level)
        if above > chance_below(law, sums, pulls, a, b, leader, end, level):
            low = level
        else:
            high = level
    return 0.5 * (low + high)


@inlined
def segment(chance):
    """Return the segment length that is hit with this chance; inf if it is LONGEST or more."""
    return -math.log1p(-chance) if chance < LONGEST else math.inf


@inlined
def fill_line(law, a, b, leader, level, below, length):
    """Compute the segments of all arms and return the length of the line."""
    for arm in range(a.size):
        if arm == leader:
            length[arm] = segment(below)
        else:
            length[arm] = segment(chance_above(law, a[arm], b[arm], level))
    return total(length)


@inlined
def total(length):
    """Return the sum of all lengths, added in the arms' order."""
    line = 0.0
    for arm in range(length.size):
        line += length[arm]
    return line
