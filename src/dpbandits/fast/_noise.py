"""Laplace noise drawn ahead, in plain loops over contiguous arrays that LLVM vectorises.

Bits are moved by `.view`, without branches: Python and the compiler get the same bits. A noise is a
generator for mechanisms/laplace.py: a policy that is given one in place of its own draws the same
law.
"""

from typing import NamedTuple

import numpy as np

from dpbandits.kernel.compilation import allocating, inlined, kernel
from dpbandits.mechanisms.laplace import laplace

LANES = 8  # generators side by side
LENGTH = 1024  # least number of draws at a time

ONE = np.uint64(0x3FF0000000000000)  # bits of 1.0
ROOT = np.uint64(0x3FE6A09E00000000)  # upper bits of sqrt(1/2)
FRACTION = np.uint64(0x000FFFFFFFFFFFFF)
TWO_52 = np.uint64(0x4330000000000000)  # bits of 2^52
LOWER, UPPER = np.uint64(2**63 - 1), np.uint64(2**63)
(N12, N17, N19, N23, N41, N45, N52, N63) = (np.uint64(n) for n in (12, 17, 19, 23, 41, 45, 52, 63))
# Coefficients of log(1 + f) in fdlibm (e_log.c), Lg1 to Lg7, and log 2 in two parts.
L1, L2 = 6.666666666666735130e-01, 3.999999999940941908e-01
L3, L4 = 2.857142874366239149e-01, 2.222219843214978396e-01
L5, L6, L7 = 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860510658591e-01
LOG2_HIGH, LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
BIAS = 2.0**52 + 1023.0  # of an exponent that was put below the bits of 2^52


class Noise(NamedTuple):
    """Draws of Lap(1), given that their magnitude is at most -log(least); written in place."""

    state: np.ndarray  # uint64, shape (4, LANES)
    words: np.ndarray  # uint64, of the length of `drawn`
    drawn: np.ndarray  # float64
    used: np.ndarray  # int64, shape (1,): number of draws that were taken
    least: float


@allocating
def noise_ahead(rng, most, least):
    """Return a noise, seeded by `rng`, of which at most `most` draws are taken at a time."""
    size = (max(LENGTH, most) + LANES - 1) // LANES * LANES
    state = np.empty((4, LANES), np.uint64)
    for row in range(4):
        for lane in range(LANES):
            high = np.uint64(rng.random() * 4294967296.0)
            low = np.uint64(rng.random() * 4294967296.0)
            state[row, lane] = (high << np.uint64(32)) | low
    return Noise(state, np.empty(size, np.uint64), np.empty(size), np.full(1, size), least)


@inlined
def take(noise, n):
    """Return the position of n draws that were not taken before."""
    first = noise.used[0]
    if first + n > noise.drawn.size:
        fill_words(noise.state, noise.words)
        fill_laplaces(noise.words, noise.drawn, noise.least)
        first = 0
    noise.used[0] = first + n
    return first


@laplace.register(Noise)
def laplace_ahead(noise, sensitivity, epsilon):
    return noise.drawn[take(noise, 1)] * (sensitivity / epsilon)


@inlined
def plus(x, y):
    """Return x + y modulo 2^64, without the warning of NumPy's scalars."""
    return ((x & LOWER) + (y & LOWER)) ^ ((x ^ y) & UPPER)


@kernel
def fill_words(state, words):
    """Fill `words` with the next ones of the generators, xoshiro256++ (Blackman and Vigna 2019)."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    lanes = a.size  # no constant, for which LLVM would unroll the loop and not vectorise it
    for i in range(0, words.size, lanes):
        row = words[i : i + lanes]
        for lane in range(lanes):
            s0, s1, s2, s3 = a[lane], b[lane], c[lane], d[lane]
            word = plus(s0, s3)
            row[lane] = plus((word << N23) | (word >> N41), s0)
            s2 ^= s0
            s3 ^= s1
            a[lane] = s0 ^ s3
            c[lane] = s2 ^ (s1 << N17)
            b[lane] = s1 ^ s2
            d[lane] = (s3 << N45) | (s3 >> N19)


@kernel
def fill_laplaces(words, drawn, least):
    """Turn words into noise: 52 bits give the magnitude -log u, u in (least, 1], one the sign."""
    for i in range(words.size):
        word = words[i]
        u = 2.0 - np.uint64((word >> N12) | ONE).view(np.float64)
        # The logarithm of fdlibm, 1 ulp, for normal numbers.
        bits = np.float64(least + (1.0 - least) * u).view(np.uint64) + (ONE - ROOT)
        exponent = np.uint64((bits >> N52) | TWO_52).view(np.float64) - BIAS
        f = np.uint64((bits & FRACTION) + ROOT).view(np.float64) - 1.0
        s = f / (f + 2.0)
        z = s * s
        w = z * z
        even = w * ((L6 * w + L4) * w + L2)
        odd = z * (((L7 * w + L5) * w + L3) * w + L1)
        half = f * 0.5 * f
        rest = ((s * (half + (even + odd)) + exponent * LOG2_LOW) - half) + f
        magnitude = np.float64(rest + exponent * LOG2_HIGH).view(np.uint64)
        drawn[i] = np.uint64(magnitude ^ (word << N63)).view(np.float64)
