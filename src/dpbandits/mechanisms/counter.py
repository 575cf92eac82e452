"""Continual sums: after every item a counter releases the private sum of all its items so far.

An algorithm keeps one counter per arm. All of them live in one NamedTuple of arrays, whose class
chooses the mechanism; an item is a number in [0, 1], so that a sum has sensitivity 1.
"""

from dpbandits.core.kernel import by_class


@by_class
def insert(counters, rng, which, item):
    """Add an item to one of the counters; returns its released sum, that item included."""
    raise NotImplementedError("these counters registered no body for `insert`")
