"""Runs of the leader: many pulls of one arm in one step, exact in law.

While arm c leads, only its own statistic changes. With s~_n the released sum of its n rewards, it
stays ahead as long as

    s~_n + bonus > line n

where `line` is at least the index of every other arm until a given round, and `bonus` at most what
the index of c adds to s~_n/n, times n. Pulls of c that keep it ahead need no index.

A block of 2^k pulls that is aligned with a node of the counter's tree is decided at once. After r
of its pulls, the released sum is that of the block's start, plus the rewards, plus the noise of the
nodes that cover the r items. So the noise inside the block matters only through the minimum of this
walk, which follows from those of both halves (`vectors.join_halves`). If the minimum clears the
line, the block is one step of the ledger and one node of the tree. Otherwise the run ends at the
first pull that does not clear it. That pull is a stopping time, so what was drawn beyond it can be
dropped. Neither the horizon nor a checkpoint changes what is drawn.

docs/how-it-is-fast.md explains the scheme with a picture.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.core.bandit import (
    flip_coins,
    has_coins,
    has_fixed_rewards,
    playing,
    pull,
    record,
    rounds_left,
    rounds_played,
)
from dpbandits.core.kernel import allocating, by_class, inlined
from dpbandits.core.vector_constants import LANES
from dpbandits.core.vectors import fill_laplaces, fill_uniforms, join_halves, seed_lanes
from dpbandits.mechanisms.counter import insert

LOWEST, HIGHEST = 3, 8  # levels k of the blocks: from one vector on; larger ones rarely clear
BLOCK = 1 << HIGHEST
BUFFER = 4 * BLOCK
SAFE = 1e-12  # relative distance from the line that rounding errors cannot bridge


class Draws(NamedTuple):
    """Generators of the blocks, drawn numbers that are not used yet, and the walks of a block."""

    reward_lanes: np.ndarray  # uint64, shape (4, 8)
    noise_lanes: np.ndarray
    uniforms: np.ndarray  # float64, shape (BUFFER,)
    noises: np.ndarray
    used: np.ndarray  # int64, shape (2,): numbers used of both; -1: no generator is seeded yet
    sums: np.ndarray  # float64, shape (2 BLOCK,): items of the blocks of all levels
    lowest: np.ndarray  # minima of their walks


@allocating
def new_draws():
    """Return the generators for the blocks of one run; the first block seeds them."""
    return Draws(
        np.empty((4, LANES), np.uint64),
        np.empty((4, LANES), np.uint64),
        np.zeros(BUFFER),
        np.zeros(BUFFER),
        np.full(2, -1),
        np.empty(2 * BLOCK),
        np.zeros(2 * BLOCK),
    )


# Functions that counters provide: defaults are for those without a tree ---------------------------


@by_class
def tree_room(counters, which):
    """Return how many items may follow before the tree ends; 0 where there is no tree."""
    return 0


@by_class
def tree_items(counters, which):
    """Return the number of items in the tree."""
    return 0


@by_class
def tree_scale(counters, which):
    """Return the scale of the noise of a node."""
    return 0.0


@by_class
def insert_block(counters, which, level, total, noise):
    """Add 2^level items, aligned in the tree, that sum to `total`; return the released sum.

    `noise` is that of the node which the last of them completes, on this level or above.
    """
    raise NotImplementedError("these counters registered no body for `insert_block`")


@by_class
def read_block(counters, rng, items, n):
    """Replace items[:n], the rewards of a block, by what the counters add instead of them."""


# Runs ---------------------------------------------------------------------------------------------


@inlined
def pull_while_leading(bandit, counters, draws, rng, arm, n, line, bonus, end):
    """Pull `arm`, which leads after n pulls, until it may lead no longer, or until round `end`.

    Returns the number of its pulls and its released sum. `line` and `bonus` must hold for all
    rounds up to `end`, which may lie beyond the horizon; if `line` is infinite, this is one pull.
    """
    released = insert(counters, rng, arm, pull(bandit, arm))
    n += 1
    line += SAFE * abs(line)
    bonus -= SAFE * (abs(bonus) + abs(released))
    t = rounds_played(bandit)
    while t < end and released + bonus > line * n and playing(bandit):
        level = 0
        if has_coins(bandit.law):
            level = _block_level(tree_items(counters, arm), min(tree_room(counters, arm), end - t))
        if level < LOWEST:
            released = insert(counters, rng, arm, pull(bandit, arm))
            n += 1
            t += 1
            continue
        slack = line * n - released - bonus
        pulls, released = _pull_block(
            bandit, counters, draws, rng, arm, level, line, slack, released
        )
        n += pulls
        t += pulls
        if pulls < 1 << level:
            break
    return n, released


@inlined
def runs_ahead(bandit):
    """Return False if the bandit plays per round, where a leader is found again after each pull."""
    return not bandit.per_round


@inlined
def draws_ahead(bandit):
    """Return True if rewards are coins and the bandit does not play per round.

    All other games keep the draws, one by one, that golden rows were recorded with.
    """
    return has_coins(bandit.law) and not bandit.per_round


@inlined
def noise_ahead(bandit):
    """Return True if noise is drawn in vectors where this pays: also in the games of an audit."""
    ahead = has_coins(bandit.law) or has_fixed_rewards(bandit.law)
    return ahead and not bandit.per_round


@inlined
def window_end(t):
    """Return the last round of a run that begins in round t; until then rivals hardly grow."""
    return t + max(16, t >> 10)


@inlined
def _block_level(items, room):
    # Return the largest level of a block that is aligned after `items` items and fits into `room`.
    level = 0
    while level < HIGHEST and items >> level & 1 == 0 and 2 << level <= room:
        level += 1
    return level


@inlined
def _pull_block(bandit, counters, draws, rng, arm, level, line, slack, released):
    # Play a block as far as the walk stays above `slack`, which is negative. Returns the number of
    # pulls and the released sum after them.
    size = 1 << level
    sums, lowest, noises = draws.sums, draws.lowest, draws.noises
    scale = tree_scale(counters, arm)
    first, used = _draw(draws, bandit.rng, rng, size, scale > 0.0)
    flip_coins(bandit.law, arm, draws.uniforms, first, sums, size)
    read_block(counters, rng, sums, size)
    at, into, half, span = 0, BLOCK, size >> 1, 1.0
    while half > 0:
        join_halves(sums, lowest, noises, at, used, into, half, scale, line * span)
        used += half
        at, into, half, span = into, into + half, half >> 1, 2.0 * span
    if lowest[at] > slack:
        record(bandit, arm, min(size, rounds_left(bandit)))
        return size, insert_block(counters, arm, level, sums[at], noises[used] * scale)
    # Descend to the first round that misses the line. A level of `width` blocks was joined from
    # one of 2 width: its block i from i and i + width. After the miss, `slack` is at least 0, where
    # every walk begins, so no more blocks clear it.
    pulls, i, width = 0, 0, 1
    for below in range(level - 1, -1, -1):
        at -= 2 * width if below > 0 else at
        used -= width
        if lowest[at + i] > slack:
            noise = noises[used + i] * scale
            slack -= sums[at + i] + noise - line * (1 << below)
            released = insert_block(counters, arm, below, sums[at + i], noise)
            pulls += 1 << below
            i += width
        width *= 2
    record(bandit, arm, min(pulls, rounds_left(bandit)))
    return pulls, released


@inlined
def _draw(draws, rewards, rng, size, noisy):
    # Return the positions of `size` uniform numbers and of `size` noises, if there is noise.
    if draws.used[0] < 0:
        seed_lanes(rewards, draws.reward_lanes)
        draws.used[0] = BUFFER
    if draws.used[0] + size > BUFFER:
        fill_uniforms(draws.reward_lanes, draws.uniforms)
        draws.used[0] = 0
    draws.used[0] += size
    if not noisy:
        return draws.used[0] - size, 0
    if draws.used[1] < 0:
        seed_lanes(rng, draws.noise_lanes)
        draws.used[1] = BUFFER
    if draws.used[1] + size > BUFFER:
        fill_laplaces(draws.noise_lanes, draws.noises)
        draws.used[1] = 0
    draws.used[1] += size
    return draws.used[0] - size, draws.used[1] - size
