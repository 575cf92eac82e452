"""Continual sums: after every item, a counter releases the private sum of all its items so far.

An algorithm keeps one counter per arm. One NamedTuple of arrays holds all its counters, and the
class of this tuple selects the mechanism. An item is in [0, 1], so a sum has sensitivity 1.
"""

from dpbandits.core.kernel import by_class


@by_class
def insert(counters, rng, which, item):
    """Add an item to counter number `which` and return its released sum, that item included."""
    raise NotImplementedError("these counters registered no body for `insert`")
