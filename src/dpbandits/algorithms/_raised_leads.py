"""Leads of Lazy-DP-TS and DP-TS: many pulls of one arm in one step, exact in law.

As in _leads.py, a level separates one arm c from its rivals, and the chance of c to fall below it
is one more segment of the line, behind those of the rivals. A round without a point on the line has
θ_c above the level and all others below it, so all rounds before the next point are pulls of c, as
long as its raised mean m is not below a floor that the segment of c was computed with.

Without pulls, log t alone changes the posteriors: a rival's chance to exceed the level grows, and
that of c to fall below it shrinks. The latter also shrinks if m or the number O of rewards grows.
So in a window of rounds, rivals have the segments of its end, and c has that of the floor and of O
at its beginning. A hit is thinned by the chance of its round.

For the bound f/s of _beta_tail.py and O: log f has the derivative g(level) - E g(θ), where
g(x) = m log x + (1 - m) log(1 - x). As g is concave with its maximum at m, that is at most
g(m) - E g(θ) ≤ 1/O, and s is proportional to O.

Windows and levels depend only on the past: the horizon cuts the last batch and changes no choice.
"""

import math

from dpbandits.algorithms._beta_tail import sample_tail, tail_bound
from dpbandits.algorithms._leads import HALVINGS, LONGEST, sample, segment, total
from dpbandits.algorithms._raised_means import (
    largest_hit,
    logarithm,
    numbers_at,
    numbers_of,
    observe,
    raised,
    sample_below,
)
from dpbandits.core.bandit import playing, pull, rounds_played
from dpbandits.core.kernel import by_class, inlined

SHORTEST, PART = 256, 32  # a window has 1/PART of the rounds so far, and at least SHORTEST
FEWEST = 64  # after a window of fewer rounds, leads do not pay


@by_class
def lead_floor(state, means, arm, log_t, rival):
    """Return the floor of the raised mean of a leader, between `rival` and that mean.

    `rival` is the largest raised mean of all other arms. This default body is for states in which
    pulls change a posterior only by a release, which may end the lead.
    """
    return raised(means, arm, log_t)


@by_class
def pull_leader(state, means, bandit, rng, arm, log_t, floor, most):
    """Pull an arm at most `most` times, and only while its raised mean is not below the floor.

    Returns the number of pulls, at least 1. `log_t` is that of this round or of an earlier one.
    """
    raise NotImplementedError("this state registered no body for `pull_leader`")


@inlined
def play_raised_leads(state, params, means, bandit, rng, length):
    """Play rounds as long as one arm leads by far; the body of `play_leads`."""
    point = rng.standard_exponential()
    while playing(bandit):
        t = rounds_played(bandit)
        end = t + max(SHORTEST, t // PART)
        log_t, log_end = logarithm(params, t + 1), logarithm(params, end)
        leader = largest_mean(means, log_t)
        rival = largest_rival(means, leader, log_end)
        floor = lead_floor(state, means, leader, log_t, rival)
        if rival >= floor:
            return
        level = balanced_level(means, leader, floor, rival, log_end)
        below = chance_below(means, leader, floor, level)
        own, rivals = segment(below), fill_rivals(means, leader, log_end, level, length)
        if not own + rivals < LONGEST:
            return
        while own + rivals < LONGEST and raised(means, leader, log_t) >= floor:
            left = end - rounds_played(bandit)
            if left <= 0:
                break
            free = int(min(point / (own + rivals + 1e-300), left))
            if free > 0:
                pulls = pull_leader(state, means, bandit, rng, leader, log_t, floor, free)
                point = max(point - pulls * (own + rivals), 0.0)  # rounding may lead below 0
            else:
                log_t = logarithm(params, rounds_played(bandit) + 1)
                chosen, point = choose(means, rng, log_t, leader, level, below, length, own, point)
                point -= own + rivals
                observe(state, means, rng, chosen, pull(bandit, chosen), 1)
                if chosen != leader:
                    length[chosen] = segment(chance_above(means, chosen, log_end, level))
                    rivals = total(length)
            if not playing(bandit):
                return
        if rounds_played(bandit) < t + FEWEST:
            return


@inlined
def largest_mean(means, log_t):
    """Return the arm of largest raised mean, the first one if tied."""
    largest, leader = -math.inf, 0
    for arm in range(means.mean.size):
        if raised(means, arm, log_t) > largest:
            largest, leader = raised(means, arm, log_t), arm
    return leader


@inlined
def chance_above(means, arm, log_t, level):
    """Return a bound of the chance that θ of an arm exceeds the level."""
    a, b = numbers_at(means, arm, log_t)
    return tail_bound(means, a, b, level)


@inlined
def chance_below(means, arm, m, level):
    """Return a bound of the chance that θ of an arm is below the level if its raised mean is m.

    It holds for larger raised means and more rewards, too. 1 - θ ~ Beta(b, a).
    """
    a, b = numbers_of(means, arm, m)
    return tail_bound(means, b, a, 1.0 - level)


@inlined
def largest_rival(means, leader, log_t):
    """Return the largest raised mean of all arms but the leader."""
    largest = 0.0
    for arm in range(means.mean.size):
        if arm != leader:
            largest = max(largest, raised(means, arm, log_t))
    return largest


@inlined
def balanced_level(means, leader, floor, rival, log_end):
    """Return a level below which the leader falls about as often as a rival exceeds it.

    It lies between the leader's floor and the largest mean of a rival at the end of the window.
    """
    low, high = rival, floor
    for _ in range(HALVINGS):
        level = 0.5 * (low + high)
        above = 0.0
        for arm in range(means.mean.size):
            if arm != leader:
                above += chance_above(means, arm, log_end, level)
        if above > chance_below(means, leader, floor, level):
            low = level
        else:
            high = level
    return 0.5 * (low + high)


@inlined
def fill_rivals(means, leader, log_end, level, length):
    """Compute the segments of the rivals, and return their sum; that of the leader is 0."""
    for arm in range(length.size):
        length[arm] = segment(chance_above(means, arm, log_end, level))
    length[leader] = 0.0
    return total(length)


@inlined
def choose(means, rng, log_t, leader, level, below, length, own, point):
    """Return the arm of largest θ in a round with a point on the line, and the next point."""
    rivals = total(length)
    best, chosen, lowest = -math.inf, leader, math.inf
    if point < rivals:
        best, chosen, point = largest_hit(means, rng, log_t, level, length, rivals, point)
    if point < rivals + own:
        a, b = numbers_at(means, leader, log_t)
        if rng.random() * below < tail_bound(means, b, a, 1.0 - level):
            lowest = 1.0 - sample_tail(means, rng, b, a, 1.0 - level)
        point = rivals + own + rng.standard_exponential()
    if best == -math.inf:  # no rival is above the level
        chosen = leader
        if lowest < math.inf:
            best = lowest
            for arm in range(length.size):
                if arm != leader:
                    theta = sample_below(means, rng, arm, log_t, level)
                    if theta > best:
                        best, chosen = theta, arm
    elif lowest == math.inf and sample_beyond(means, rng, leader, log_t, level) > best:
        chosen = leader
    return chosen, point


@inlined
def sample_beyond(means, rng, arm, log_t, level):
    """Draw θ of an arm until it is above the level."""
    a, b = numbers_at(means, arm, log_t)
    theta = -math.inf
    while theta <= level:
        theta = sample(means, rng, a, b)
    return theta
