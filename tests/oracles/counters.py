"""Continual sums of tossou2016, section 2.3, after Chan, Shi and Song 2010: slow and literal.

A counter receives items in [0, 1] one by one and releases the private sum of all items so far; it
adds up all items and all noises again. This file imports nothing from dpbandits.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

Noise = Callable[[float], float]  # draw of Lap(scale)


def laplace_of(rng: Any) -> Noise:
    """Return the function that draws Lap(scale) from a generator."""
    return lambda scale: rng.laplace(0.0, scale)


class Counter(Protocol):
    """Mechanism that receives items in [0, 1] one by one."""

    def insert(self, item: float) -> None:
        """Receive an item."""

    def released(self) -> float:
        """Return the private sum of all items so far."""


def is_power_of_two(c: int) -> bool:
    return c in (2**k for k in range(c.bit_length()))


class BinaryMechanism:
    """Binary tree over the items; every node has its own noise Lap(levels / epsilon).

    Item c is the last of several nodes. Later sums use the largest of them alone, so that this one
    is the only node whose noise is drawn.
    """

    def __init__(self, levels: int, epsilon: float, noise: Noise) -> None:
        self.scale, self.noise = levels / epsilon, noise
        self.items: list[float] = []
        self.noises: dict[tuple[int, int], float] = {}  # by the first and the last item of a node

    def insert(self, item: float) -> None:
        self.items.append(item)
        c = len(self.items)
        self.noises[c - largest_power_dividing(c) + 1, c] = self.noise(self.scale)

    def released(self) -> float:
        return sum(self.items) + sum(self.noises[node] for node in nodes(len(self.items)))


def largest_power_dividing(c: int) -> int:
    return max(2**k for k in range(c.bit_length()) if c % 2**k == 0)


def nodes(c: int) -> Iterator[tuple[int, int]]:
    """Yield the disjoint nodes that cover the items 1..c, from the last to the first."""
    while c > 0:
        first = c - largest_power_dividing(c) + 1
        yield first, c
        c = first - 1


class HybridMechanism:
    """Logarithmic mechanism at the items 2^k, and between them a binary tree of k levels."""

    def __init__(self, log_epsilon: float, tree_epsilon: float, noise: Noise) -> None:
        self.log_epsilon, self.tree_epsilon, self.noise = log_epsilon, tree_epsilon, noise
        self.items: list[float] = []
        self.noises: list[float] = []  # of the logarithmic mechanism, one for each power of two
        self.tree = BinaryMechanism(0, tree_epsilon, noise)

    def insert(self, item: float) -> None:
        self.items.append(item)
        c = len(self.items)
        if is_power_of_two(c):
            self.noises.append(self.noise(1.0 / self.log_epsilon))
            self.tree = BinaryMechanism(c.bit_length() - 1, self.tree_epsilon, self.noise)
        else:
            self.tree.insert(item)

    def released(self) -> float:
        before = self.items[: len(self.items) - len(self.tree.items)]
        return sum(before) + sum(self.noises) + self.tree.released()


class SingleNoise:
    """Section 2.3 read literally: one fresh Lap(log c/epsilon), Lap(1/epsilon) at powers of two."""

    def __init__(self, epsilon: float, noise: Noise) -> None:
        self.epsilon, self.noise = epsilon, noise
        self.items: list[float] = []
        self.last = 0.0

    def insert(self, item: float) -> None:
        self.items.append(item)
        c = len(self.items)
        self.last = self.noise((1.0 if is_power_of_two(c) else math.log(c)) / self.epsilon)

    def released(self) -> float:
        return sum(self.items) + self.last


def counter(variant: str, epsilon: float, noise: Noise) -> Counter:
    """Return the counter of DP-UCB-BOUND and DP-UCB in one of its three variants."""
    if variant == "single":
        return SingleNoise(epsilon, noise)
    part = {"hybrid-full": epsilon, "hybrid-split": epsilon / 2}[variant]
    return HybridMechanism(part, part, noise)
