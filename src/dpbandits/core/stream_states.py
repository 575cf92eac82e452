"""Initial states of many named streams, computed together, and generators that take them.

`randomness.stream` seeds a PCG64 generator by a SeedSequence, which takes longer than a batched
run. Here both are computed for all runs at once, with the same words.
"""

import ctypes
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.randomness import Role, words

# Of numpy.random.SeedSequence: sizes and constants of its hash (O'Neill's seed_seq_fe).
POOL, SHIFT = 4, np.uint32(16)
START_A, FACTOR_A = 0x43B0D7E5, 0x931E8875
START_B, FACTOR_B = 0x8B51F9DD, 0x58F38DED
LEFT, RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
# Of PCG64: the factor of its 128-bit congruential generator.
FACTOR = 0x2360ED051FC65DA44385DF649FCCF645

WORD, MASK = 2**32, 2**64 - 1
ONE, HALF, LAST, WORD_MASK = (np.uint64(n) for n in (1, 32, 63, WORD - 1))


Words = np.ndarray[Any, np.dtype[np.uint32]]


class _Hash:
    """Hash of 32-bit words, whose constant changes at every use."""

    def __init__(self, start: int, factor: int) -> None:
        self.constant, self.factor = start, factor

    def __call__(self, value: Words) -> Words:
        mixed = value ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor % WORD
        mixed = mixed * np.uint32(self.constant)
        return mixed ^ (mixed >> SHIFT)


def _mix(one: Words, other: Words) -> Words:
    mixed = one * LEFT - other * RIGHT
    return mixed ^ (mixed >> SHIFT)


def pcg64_states(root: int, role: Role, runs: range, name: str) -> np.ndarray:
    """Return the states of `randomness.stream` for all runs, uint64 of shape (runs, 4).

    The words are the lower and the upper half of the state, and those of its increment.
    """
    entropy = [np.array([word], np.uint32) for word in _words(root)]
    entropy += [np.zeros(1, np.uint32)] * (POOL - len(entropy))
    entropy.append(np.array([role], np.uint32))
    entropy.append(np.array(runs, np.uint32))
    entropy += [np.array([word], np.uint32) for word in words(name)]
    hashed = _Hash(START_A, FACTOR_A)
    pool = [hashed(word) for word in entropy[:POOL]]
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                pool[target] = _mix(pool[target], hashed(pool[source]))
    for word in entropy[POOL:]:
        for target in range(POOL):
            pool[target] = _mix(pool[target], hashed(word))
    hashed = _Hash(START_B, FACTOR_B)
    drawn = [hashed(pool[i % POOL]).astype(np.uint64) for i in range(8)]
    halves = [low | high << HALF for low, high in zip(drawn[::2], drawn[1::2], strict=True)]
    seed, sequence = Long(halves[1], halves[0]), Long(halves[3], halves[2])
    increment = Long(sequence.low << ONE | ONE, sequence.high << ONE | sequence.low >> LAST)
    state = _sum(_times_factor(_sum(increment, seed)), increment)
    return np.stack([*state, *increment], axis=1)


class Long(NamedTuple):
    """Integers of 128 bits."""

    low: np.ndarray  # uint64, shape (runs,)
    high: np.ndarray  # uint64, shape (runs,)


def _sum(one: Long, other: Long) -> Long:
    low = one.low + other.low
    return Long(low, one.high + other.high + (low < one.low))


def _times_factor(number: Long) -> Long:
    low, high = number
    factor_low, factor_high = np.uint64(FACTOR & MASK), np.uint64(FACTOR >> 64)
    a, b = low & WORD_MASK, low >> HALF
    c, d = factor_low & WORD_MASK, factor_low >> HALF
    middle = (a * c >> HALF) + (a * d & WORD_MASK) + (b * c & WORD_MASK)
    carried = b * d + (a * d >> HALF) + (b * c >> HALF) + (middle >> HALF)
    return Long(low * factor_low, high * factor_low + low * factor_high + carried)


def _words(number: int) -> list[int]:
    # Return the 32-bit words of a number, the lowest first.
    low_first = [number % WORD]
    while number := number // WORD:
        low_first.append(number % WORD)
    return low_first


class Memory(NamedTuple):
    """State of a generator in place; the arrays keep the generator."""

    state: np.ndarray  # uint64, shape (4,): as `pcg64_states` returns them
    kept: np.ndarray  # uint64, shape (1,): half of a word that was kept for the next draw


def memory(rng: np.random.Generator) -> Memory | None:
    """Return the state of a PCG64 generator in place; None if NumPy keeps it otherwise."""
    bits = rng.bit_generator
    address = bits.ctypes.state_address
    pointer = ctypes.c_uint64.from_address(address).value
    state, kept = _array(pointer, 4, rng), _array(address + 8, 1, rng)
    now = bits.state["state"]
    expected = [now["state"] & MASK, now["state"] >> 64, now["inc"] & MASK, now["inc"] >> 64]
    return Memory(state, kept) if state.tolist() == expected else None


def _array(address: int, size: int, owner: np.random.Generator) -> np.ndarray:
    buffer: Any = (ctypes.c_uint64 * size).from_address(address)
    buffer.owner = owner  # the array refers to the buffer
    return np.ctypeslib.as_array(buffer)
