"""Vector primitives: random numbers and comparisons, eight at a time.

Each public function is plain Python over NumPy arrays, and that body defines the bits. In kernels,
an intrinsic over vectors of eight doubles takes its place (vector_ir.py), which LLVM lowers for the
processor at hand. It performs the same additions, multiplications and divisions in the same order,
without contraction, so the bits are the same on every target.

If the intrinsics cannot be built (another release of llvmlite), or if the variable
DPBANDITS_SCALARS is set, kernels compile loops over scalars instead: the same bits, more time.
"""

import math

import numpy as np

from dpbandits.core.kernel import in_kernels, inlined
from dpbandits.core.vector_constants import (
    BIAS,
    EVEN,
    FRACTION,
    LANES,
    LOG2_HIGH,
    LOG2_LOW,
    ODD,
    ONE,
    TOP_OF_ROOT,
    TWO_52,
)
from dpbandits.core.vector_ir import (
    in_vectors,
    vector_below,
    vector_compare,
    vector_join,
    vector_laplaces,
    vector_lowest_bit,
    vector_maximum,
    vector_truncated,
    vector_uniforms,
)

# Bodies that define the bits ----------------------------------------------------------------------


@inlined
def seed_lanes(rng, state):
    """Seed eight generators by draws from `rng`; `state` is uint64 of shape (4, 8)."""
    for word in range(4):
        for lane in range(LANES):
            high = np.uint64(rng.random() * 4294967296.0)
            low = np.uint64(rng.random() * 4294967296.0)
            state[word, lane] = (high << np.uint64(32)) | low


def rotated(x, bits):
    """Return the words of `x`, uint64, rotated to the left."""
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


def next_words(state):
    """Advance eight generators xoshiro256++ (Blackman and Vigna 2019) in place by one step.

    Returns their next words, uint64 of shape (8,).
    """
    a, b, c, d = state[0].copy(), state[1].copy(), state[2].copy(), state[3].copy()
    words = rotated(a + d, 23) + a
    shifted = b << np.uint64(17)
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    state[0], state[1], state[2], state[3] = a, b, c, rotated(d, 45)
    return words


def log_of(x):
    """Return the logarithms of positive normal numbers, float64 of shape (n,); fdlibm's, 1 ulp."""
    bits = x.view(np.uint64) + (ONE - TOP_OF_ROOT)
    exponent = ((bits >> np.uint64(52)) | TWO_52).view(np.float64) - BIAS
    f = ((bits & FRACTION) + TOP_OF_ROOT).view(np.float64) - 1.0
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    even = w * ((EVEN[2] * w + EVEN[1]) * w + EVEN[0])
    odd = z * (((ODD[3] * w + ODD[2]) * w + ODD[1]) * w + ODD[0])
    half = f * 0.5 * f
    return (((s * (half + (even + odd)) + exponent * LOG2_LOW) - half) + f) + exponent * LOG2_HIGH


def fill_uniforms(state, out):
    """Fill `out` with uniform numbers in [0, 1), multiples of 2^-52.

    `state` was seeded by `seed_lanes`; `out` is float64, its length a multiple of 16.
    """
    for i in range(0, out.size, LANES):
        words = next_words(state)
        out[i : i + LANES] = ((words >> np.uint64(12)) | ONE).view(np.float64) - 1.0


def fill_laplaces(state, out):
    """Fill `out` with draws of Lap(1); the arguments are those of `fill_uniforms`."""
    fill_truncated(state, out, 0.0)


def fill_truncated(state, out, least):
    """Fill `out` with draws of Lap(1) given that its magnitude is at most -log(least)."""
    for i in range(0, out.size, LANES):
        words = next_words(state)
        tail = 2.0 - ((words >> np.uint64(12)) | ONE).view(np.float64)  # in (0, 1]
        tail = least + (1.0 - least) * tail
        signed = log_of(tail).view(np.uint64) ^ (words << np.uint64(63))
        out[i : i + LANES] = signed.view(np.float64)


def compare(uniforms, first, probability, out, n):
    """Set out[:n] to 1 where uniforms[first : first + n] < probability, else to 0; 8 divides n."""
    out[:n] = np.where(uniforms[first : first + n] < probability, 1.0, 0.0)


def below(uniforms, first, chances, at, n):
    """Return a word with bit i set if uniforms[first + i] < chances[at + i]; 8 divides n <= 64."""
    word = np.uint64(0)
    for i in np.flatnonzero(uniforms[first : first + n] < chances[at : at + n]):
        word |= np.uint64(1) << np.uint64(i)
    return word


def lowest_bit(word):
    """Return the position of the lowest bit that is 1 in a word, uint64 and not 0."""
    return (int(word) & -int(word)).bit_length() - 1


def join_halves(sums, lowest, noises, at, first, into, half, scale, drift):
    """Join pairs of neighbouring blocks; the left one of pair i is `at + i`, the right one follows.

    `sums` holds the sums of the blocks' items and `lowest` the minima of their walks, which start
    at 0. The left block's node gets the noise X = scale noises[first + i], and a walk loses `drift`
    over a block. The joined blocks are written from `into` on: their sums, and the minima
    Z = min(Z_left, sum_left + X - drift + Z_right). All arrays are float64; there are `half` pairs.
    """
    left, right = slice(at, at + half), slice(at + half, at + 2 * half)
    steps = sums[left] + (noises[first : first + half] * scale - drift)
    walks = steps + lowest[right]
    before = lowest[left]
    lowest[into : into + half] = np.where(walks < before, walks, before)
    sums[into : into + half] = sums[left] + sums[right]


def maximum(values):
    """Return the largest of `values`, float64 of shape (n,), without nan; -inf if n is 0."""
    return values.max(initial=-math.inf)


# The same in scalars ------------------------------------------------------------------------------


@inlined
def _next_word(state, lane):
    a, b, c, d = state[0, lane], state[1, lane], state[2, lane], state[3, lane]
    word = a + d
    word = ((word << np.uint64(23)) | (word >> np.uint64(41))) + a
    state[2, lane] = c ^ a ^ (b << np.uint64(17))
    d ^= b
    state[1, lane] = b ^ c ^ a
    state[0, lane] = a ^ d
    state[3, lane] = (d << np.uint64(45)) | (d >> np.uint64(19))
    return word


@inlined
def uniforms_in_scalars(state, out):
    for i in range(out.size):
        out[i] = np.float64(_next_word(state, i % LANES) >> np.uint64(12)) * 2.0**-52


@inlined
def laplaces_in_scalars(state, out):
    _truncated_in_scalars(state, out, 0.0)


@inlined
def _truncated_in_scalars(state, out, least):
    bits = out.view(np.uint64)
    for i in range(out.size):
        word = _next_word(state, i % LANES)
        tail = 1.0 - np.float64(word >> np.uint64(12)) * 2.0**-52
        out[i] = least + (1.0 - least) * tail
        shifted = bits[i] + (ONE - TOP_OF_ROOT)
        exponent = np.float64(shifted >> np.uint64(52)) - 1023.0
        bits[i] = (shifted & FRACTION) + TOP_OF_ROOT
        f = out[i] - 1.0
        s = f / (f + 2.0)
        z = s * s
        w = z * z
        even = w * ((EVEN[2] * w + EVEN[1]) * w + EVEN[0])
        odd = z * (((ODD[3] * w + ODD[2]) * w + ODD[1]) * w + ODD[0])
        half = f * 0.5 * f
        log_tail = s * (half + (even + odd)) + exponent * LOG2_LOW
        log_tail = ((log_tail - half) + f) + exponent * LOG2_HIGH
        out[i] = -log_tail if word & np.uint64(1) else log_tail


@inlined
def _compare_in_scalars(uniforms, first, probability, out, n):
    for i in range(n):
        out[i] = 1.0 if uniforms[first + i] < probability else 0.0


@inlined
def _below_in_scalars(uniforms, first, chances, at, n):
    word = np.uint64(0)
    for i in range(n):
        if uniforms[first + i] < chances[at + i]:
            word |= np.uint64(1) << np.uint64(i)
    return word


@inlined
def _lowest_bit_in_scalars(word):
    position = 0
    while word & np.uint64(1) == np.uint64(0):
        word >>= np.uint64(1)
        position += 1
    return position


@inlined
def _join_in_scalars(sums, lowest, noises, at, first, into, half, scale, drift):
    for i in range(half):
        left, right = at + i, at + half + i
        walk = (sums[left] + (noises[first + i] * scale - drift)) + lowest[right]
        lowest[into + i] = min(walk, lowest[left])
        sums[into + i] = sums[left] + sums[right]


@inlined
def _maximum_in_scalars(values):
    largest = -math.inf
    for i in range(values.size):
        if values[i] > largest:
            largest = values[i]
    return largest


# The choice ---------------------------------------------------------------------------------------


def _uniforms_in_vectors(state, out):
    vector_uniforms(state, out, out.size)


def _laplaces_in_vectors(state, out):
    vector_laplaces(state, out, out.size)


def _truncated_in_vectors(state, out, least):
    vector_truncated(state, out, out.size, least)


def _compare_in_vectors(uniforms, first, probability, out, n):
    vector_compare(uniforms, first, probability, out, n)


def _below_in_vectors(uniforms, first, chances, at, n):
    return vector_below(uniforms, first, chances, at, n)


def _lowest_bit_in_vectors(word):
    return vector_lowest_bit(word)


def _join_in_vectors(sums, lowest, noises, at, first, into, half, scale, drift):
    if half % LANES == 0:
        vector_join(sums, lowest, noises, at, first, into, half, scale, drift)
    else:
        _join_in_scalars(sums, lowest, noises, at, first, into, half, scale, drift)


def _maximum_in_vectors(values):
    whole = values.size - values.size % LANES
    largest = vector_maximum(values, whole)
    for i in range(whole, values.size):
        if values[i] > largest:
            largest = values[i]
    return largest


in_kernels(fill_uniforms, in_vectors, uniforms_in_scalars)(_uniforms_in_vectors)
in_kernels(fill_laplaces, in_vectors, laplaces_in_scalars)(_laplaces_in_vectors)
in_kernels(fill_truncated, in_vectors, _truncated_in_scalars)(_truncated_in_vectors)
in_kernels(compare, in_vectors, _compare_in_scalars)(_compare_in_vectors)
in_kernels(below, in_vectors, _below_in_scalars)(_below_in_vectors)
in_kernels(lowest_bit, in_vectors, _lowest_bit_in_scalars)(_lowest_bit_in_vectors)
in_kernels(join_halves, in_vectors, _join_in_scalars)(_join_in_vectors)
in_kernels(maximum, in_vectors, _maximum_in_scalars)(_maximum_in_vectors)
