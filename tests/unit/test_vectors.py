"""Vector primitives: known words, laws, and the same bits in Python, scalars and every target."""

import hashlib
import importlib
import logging
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpbandits.algorithms import dp_exp3_lap
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.cells.play_bandit import simulate
from dpbandits.core import vector_ir
from dpbandits.core.kernel import kernel
from dpbandits.core.lanes import exp_of
from dpbandits.environments import adversaries
from dpbandits.mechanisms.laplace import laplace

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
lane_ir: Any = importlib.import_module("dpbandits.core.lane_ir")
lanes: Any = importlib.import_module("dpbandits.core.lanes")
vectors: Any = importlib.import_module("dpbandits.core.vectors")  # kernels are untyped

MASK = 2**64 - 1
ROOT = Path(__file__).resolve().parents[2]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


largest: Any = kernel(lambda values: vectors.maximum(values))
exponential: Any = kernel(lambda x: exp_of(x))


def seeded(rng: np.random.Generator) -> np.ndarray:
    """Return the state of eight generators."""
    state = np.empty((4, 8), np.uint64)
    vectors.seed_lanes(rng, state)
    return state


def xoshiro(s: list[int]) -> int:
    """Return the next word of the C code of xoshiro256++, in Python's integers."""

    def rotl(x: int, k: int) -> int:
        return (x << k | x >> 64 - k) & MASK

    result = (rotl((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
    t = (s[1] << 17) & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotl(s[3], 45)
    return result


def test_the_reference_has_the_published_first_words() -> None:
    # Of the generator with state 1, 2, 3, 4, as in the tests of rand_xoshiro.
    state = [1, 2, 3, 4]
    assert [xoshiro(state) for _ in range(3)] == [41943041, 58720359, 3588806011781223]


def test_the_lanes_are_eight_generators_of_the_reference() -> None:
    state = seeded(generator(1))
    lanes = [[int(word) for word in state[:, lane]] for lane in range(8)]
    uniforms = np.empty(64)
    vectors.fill_uniforms(state, uniforms)
    expected = [[(xoshiro(lane) >> 12) * 2.0**-52 for lane in lanes] for _ in range(8)]
    np.testing.assert_array_equal(uniforms, np.concatenate(expected))
    np.testing.assert_array_equal(state.T, lanes)


def test_lanes_are_seeded_by_the_words_of_the_stream() -> None:
    rng = generator(5)
    halves = [int(rng.random() * 2**32) for _ in range(64)]
    words = [halves[i] << 32 | halves[i + 1] for i in range(0, 64, 2)]
    np.testing.assert_array_equal(seeded(generator(5)).ravel(), words)


@FIXED
@given(st.lists(st.floats(2.0**-52, 1.0) | st.floats(1e-300, 1e300), min_size=1, max_size=20))
def test_the_logarithm_is_within_one_unit_in_the_last_place(values: list[float]) -> None:
    x = np.array(values)
    true = np.log(x.astype(np.longdouble))
    assert np.all(np.abs(vectors.log_of(x) - true) <= np.spacing(np.abs(np.log(x))))


@FIXED
@given(st.lists(st.floats(-708.0, 709.0), min_size=1, max_size=20))
def test_the_exponential_is_within_one_unit_in_the_last_place(values: list[float]) -> None:
    for x in values:
        true = np.exp(np.longdouble(x))
        assert abs(exp_of(x) - true) <= np.spacing(math.exp(x))
        assert exp_of(x) == exponential(x)


def test_the_exponential_stays_normal_far_below() -> None:
    assert exp_of(-1e9) == exponential(-1e9) == pytest.approx(math.exp(-708.0), rel=1e-15)
    assert exp_of(0.0) == exponential(0.0) == 1.0


def test_the_noise_is_laplacian_and_its_sign_fair() -> None:
    noises = np.empty(2**17)
    vectors.fill_laplaces(seeded(generator(2)), noises)
    assert stats.kstest(noises, stats.laplace.cdf).pvalue > 1e-3
    assert stats.binomtest(int(np.sum(noises > 0)), noises.size).pvalue > 1e-3
    lanes = noises.reshape(-1, 8)
    assert np.abs(np.corrcoef(lanes, rowvar=False) - np.eye(8)).max() < 5 / math.sqrt(len(lanes))


@pytest.mark.parametrize("least", [0.0, 1e-9, 0.2, 0.999999])
def test_truncated_noise_has_the_law_of_noise_within_its_limit(least: float) -> None:
    noises = np.empty(2**15)
    vectors.fill_truncated(seeded(generator(7)), noises, least)
    most = -math.log(least) if least else math.inf
    assert np.abs(noises).max() <= most * (1 + 1e-12)
    beyond = (np.exp(-np.abs(noises)) - least) / (1.0 - least)  # uniform
    assert stats.kstest(beyond, "uniform").pvalue > 1e-4
    assert stats.binomtest(int(np.sum(noises > 0)), noises.size).pvalue > 1e-4
    every = np.empty(2**15)
    vectors.fill_laplaces(seeded(generator(7)), every)
    assert np.array_equal(noises, every) == (least == 0.0)


def test_a_probability_of_one_is_always_met_and_of_zero_never() -> None:
    uniforms, out = np.array([0.0, 0.5, 1.0 - 2.0**-52, 0.25] * 4), np.empty(20)
    for probability, expected in ((1.0, 1.0), (0.0, 0.0)):
        vectors.compare(uniforms, 4, probability, out, 8)
        np.testing.assert_array_equal(out[:8], expected)


def walk_of(items: np.ndarray, noises: np.ndarray, scale: float, drift: float) -> list[float]:
    """Return the walk of two neighbouring blocks of one item each: at their starts."""
    return [0.0, items[0] + (noises[0] * scale - drift)]


def test_joined_halves_hold_the_sums_and_minima_of_walks() -> None:
    rng = generator(3)
    for half in (1, 2, 8, 24):
        sums, lowest, noises = rng.random(200), np.zeros(200), rng.normal(size=100)
        vectors.join_halves(sums, lowest, noises, 3, 5, 120, half, 1.5, 0.7)
        for i in range(half):
            walk = walk_of(sums[[3 + i, 3 + half + i]], noises[5 + i : 6 + i], 1.5, 0.7)
            assert lowest[120 + i] == min(walk)
            assert sums[120 + i] == sums[3 + i] + sums[3 + half + i]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 40])
def test_the_maximum_is_the_largest_value(size: int) -> None:
    values = generator(size).normal(size=size)
    expected = max(values, default=-math.inf)
    assert largest(values) == largest.py_func(values) == expected


bits_below: Any = kernel(lambda *arguments: vectors.below(*arguments))
lowest_bit: Any = kernel(lambda word: vectors.lowest_bit(word))


@pytest.mark.parametrize("function", [vectors.below, bits_below])
def test_a_bit_says_that_a_uniform_is_below_its_chance(function: Any) -> None:
    rng = generator(4)
    uniforms, chances = rng.random(100), rng.random(120)
    chances[30] = uniforms[23]  # equal: not below
    for n in (8, 40, 64):
        word = int(function(uniforms, 13, chances, 20, n))
        expected = [uniforms[13 + i] < chances[20 + i] for i in range(n)]
        assert [bool(word >> i & 1) for i in range(n)] == expected
        assert word >> n == 0


@pytest.mark.parametrize("position", [0, 1, 31, 32, 62, 63])
def test_the_lowest_bit_is_the_first_that_is_set(position: int) -> None:
    for above in (0, 2**63, 2**64 - 1):
        word = np.uint64((above | 1 << position) & (MASK << position))
        assert lowest_bit(word) == vectors.lowest_bit(word) == position


# The same bits everywhere -------------------------------------------------------------------------


def primitives(rng: Any, uniforms: Any, noises: Any, sums: Any, lowest: Any) -> None:
    """Write what every primitive computes into the arrays."""
    state = np.empty((4, 8), np.uint64)
    vectors.seed_lanes(rng, state)
    vectors.fill_uniforms(state, uniforms)
    vectors.fill_laplaces(state, noises)
    vectors.fill_truncated(state, noises[48:112], 0.3)
    vectors.compare(uniforms, 7, 0.6, sums, 64)
    for half in (32, 16, 8, 4, 2, 1):
        at = 0 if half == 32 else 128 - 4 * half
        vectors.join_halves(sums, lowest, noises, at, 9 + half, 128 - 2 * half, half, 1.7, 0.3)
    noises[0] = vectors.maximum(noises)
    for at in range(0, 64, 8):
        word = vectors.below(uniforms, 16 + at, uniforms, 64, 64 - at)
        sums[at] = vectors.lowest_bit(word | np.uint64(1 << 63))
        word >>= np.uint64(32)
        lowest[at] = np.float64(word)


compiled = kernel(primitives)


def bits(function: Any) -> str:
    """Return a digest of all bits that the primitives compute."""
    arrays = [np.empty(256), np.empty(256), np.empty(130), np.zeros(130)]
    function(generator(8), *arrays)
    return hashlib.sha256(b"".join(array[:126].tobytes() for array in arrays)).hexdigest()


def test_compiled_primitives_have_the_bits_of_python() -> None:
    assert vector_ir.in_vectors()
    assert bits(compiled) == bits(primitives)


@kernel
def compute_in_lanes(streams: Any, x: Any, out: Any) -> None:
    """Write the exponentials of x, uniform numbers and noise to three rows of `out`."""
    lane_ir.lane_store(out, 0, lane_ir.lane_exp(lane_ir.lane_load(x, 0)))
    lane_ir.lane_store(out, 1, lanes.uniform(streams))
    lane_ir.lane_store(out, 2, laplace(streams, 1.0, 2.0))


def test_every_lane_has_the_bits_of_a_single_number() -> None:
    # Policies compare sums of such numbers, so that a wrong last bit would hardly ever show in
    # their choices.
    rng = generator(6)
    for low, high in ((-1000.0, -700.0), (-100.0, 0.0), (-1.0, 1.0), (600.0, 709.0)):
        x, out = rng.uniform(low, high, (1, 16)), np.empty((3, 16))
        streams = lanes.lane_streams([generator(seed) for seed in range(16)])
        singles = [lanes.lane_stream(generator(seed)) for seed in range(16)]
        for _ in range(40):
            compute_in_lanes(streams, x, out)
            np.testing.assert_array_equal(out[0], [exp_of(value) for value in x[0]])
            np.testing.assert_array_equal(out[1], [lanes.uniform(single) for single in singles])
            noises = [laplace(single, 1.0, 2.0) for single in singles]
            np.testing.assert_array_equal(out[2], noises)
            x += rng.uniform(-0.1, 0.0, (1, 16))


def bits_of_lanes() -> str:
    """Return a digest of eighteen runs, sixteen of which are played in step."""
    instance = adversaries.Params(adversaries.Kind.SWITCHING, 3)
    params = dp_exp3_lap.Params(2.0, 500)
    cell = Cell("dp-exp3-lap", params, "adversaries", instance, 500, Grid.LOG, 4)
    return hashlib.sha256(simulate(cell, range(18))[0].tobytes()).hexdigest()


TARGETS = {
    "SSE2": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": "+sse2"},
    "AVX2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2"},
    "AVX-512": {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "+avx512f"},
    "scalars": {"DPBANDITS_SCALARS": "1"},
}


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_the_same_bits(target: str, tmp_path: Path) -> None:
    flags = Path("/proc/cpuinfo")
    needed = {"AVX2": "avx2", "AVX-512": "avx512f"}.get(target, "")
    if needed and needed not in (flags.read_text() if flags.exists() else ""):
        pytest.skip(f"this processor has no {target}")
    code = """import test_vectors as t
print(t.bits(t.compiled), t.vector_ir.in_vectors(), t.bits_of_lanes())"""
    path = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
    own = {"DPBANDITS_CACHE": str(tmp_path), "PYTHONPATH": path, **TARGETS[target]}
    done = subprocess.run(
        (sys.executable, "-c", code), env=os.environ | own, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [bits(primitives), str(target != "scalars"), bits_of_lanes()]


def test_where_vectors_cannot_be_built_there_is_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> Any:
        raise NotImplementedError("no bitcast")

    monkeypatch.setattr("llvmlite.ir.IRBuilder.bitcast", fail)
    monkeypatch.delenv("DPBANDITS_SCALARS", raising=False)
    vector_ir.in_vectors.cache_clear()
    with caplog.at_level(logging.WARNING, "dpbandits"):
        assert [vector_ir.in_vectors() for _ in range(3)] == [False] * 3
    vector_ir.in_vectors.cache_clear()
    (record,) = caplog.records
    assert record.getMessage() == "kernels do without vectors and take longer: no bitcast"
