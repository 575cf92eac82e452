"""LLVM IR of the vector primitives, the only one of the project.

vectors.py defines what the primitives compute and their bits; every function `build` here performs
the same operations in the same order on vectors of eight. Intrinsics make them callable in kernels.
"""

import logging
import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from dpbandits.core.vector_constants import (
    BIAS,
    EVEN,
    FRACTION,
    LANES,
    LOG2_HIGH,
    LOG2_LOW,
    ODD,
    ONE,
    STRIDE,
    TOP_OF_ROOT,
    TWO_52,
)

log = logging.getLogger("dpbandits")

alloca: Any = cgutils.alloca_once_value
WORD, DOUBLE = ir.IntType(64), ir.DoubleType()
WORDS, DOUBLES = ir.VectorType(WORD, LANES), ir.VectorType(DOUBLE, LANES)
INDEX = ir.IntType(32)


def all_words(value: Any) -> ir.Constant:
    return ir.Constant(WORDS, [int(value)] * LANES)


def all_doubles(value: float) -> ir.Constant:
    return ir.Constant(DOUBLES, [float(value)] * LANES)


def spread(b: Any, scalar: Any) -> Any:
    one = b.insert_element(ir.Constant(DOUBLES, ir.Undefined), scalar, ir.Constant(INDEX, 0))
    zeros = ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES)
    return b.shuffle_vector(one, ir.Constant(DOUBLES, ir.Undefined), zeros)


def load_vector(b: Any, pointer: Any, position: Any, kind: Any) -> Any:
    place = b.bitcast(b.gep(pointer, [position]), kind.as_pointer())
    return b.load(place, align=8)


def store_vector(b: Any, pointer: Any, position: Any, vector: Any) -> None:
    place = b.bitcast(b.gep(pointer, [position]), vector.type.as_pointer())
    b.store(vector, place, align=8)


def _rotated(b: Any, x: Any, bits: int) -> Any:
    return b.or_(b.shl(x, all_words(bits)), b.lshr(x, all_words(64 - bits)))


def next_words(b: Any, state: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    s0, s1, s2, s3 = state
    words = b.add(_rotated(b, b.add(s0, s3), 23), s0)
    shifted = b.shl(s1, all_words(17))
    s2, s3 = b.xor(s2, s0), b.xor(s3, s1)
    s1, s0 = b.xor(s1, s2), b.xor(s0, s3)
    return words, (s0, s1, b.xor(s2, shifted), _rotated(b, s3, 45))


def polynomial(b: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    value = all_doubles(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = b.fadd(b.fmul(value, x), all_doubles(coefficient))
    return value


def _log_of(b: Any, x: Any) -> Any:
    bits = b.add(b.bitcast(x, WORDS), all_words(ONE - TOP_OF_ROOT))
    exponent = b.bitcast(b.or_(b.lshr(bits, all_words(52)), all_words(TWO_52)), DOUBLES)
    exponent = b.fsub(exponent, all_doubles(BIAS))
    f = b.bitcast(b.add(b.and_(bits, all_words(FRACTION)), all_words(TOP_OF_ROOT)), DOUBLES)
    f = b.fsub(f, all_doubles(1.0))
    s = b.fdiv(f, b.fadd(f, all_doubles(2.0)))
    z = b.fmul(s, s)
    w = b.fmul(z, z)
    even, odd = b.fmul(w, polynomial(b, w, EVEN)), b.fmul(z, polynomial(b, w, ODD))
    half = b.fmul(b.fmul(f, all_doubles(0.5)), f)
    value = b.fmul(s, b.fadd(half, b.fadd(even, odd)))
    value = b.fsub(b.fadd(value, b.fmul(exponent, all_doubles(LOG2_LOW))), half)
    return b.fadd(b.fadd(value, f), b.fmul(exponent, all_doubles(LOG2_HIGH)))


def uniform_of(b: Any, words: Any) -> Any:
    one = b.or_(b.lshr(words, all_words(12)), all_words(ONE))
    return b.fsub(b.bitcast(one, DOUBLES), all_doubles(1.0))


def laplace_of(b: Any, words: Any, least: Any = None) -> Any:
    one = b.or_(b.lshr(words, all_words(12)), all_words(ONE))
    tail = b.fsub(all_doubles(2.0), b.bitcast(one, DOUBLES))
    if least is not None:
        lowest = spread(b, least)
        tail = b.fadd(lowest, b.fmul(b.fsub(all_doubles(1.0), lowest), tail))
    logs = _log_of(b, tail)
    return b.bitcast(b.xor(b.bitcast(logs, WORDS), b.shl(words, all_words(63))), DOUBLES)


def _each(b: Any, stop: Any, stride: int = LANES) -> Any:
    return cgutils.for_range_slice(b, ir.Constant(WORD, 0), stop, ir.Constant(WORD, stride))


def _fill(number: Callable[..., Any]) -> Callable[..., None]:
    def build(b: Any, state: Any, out: Any, n: Any, *constants: Any) -> None:
        rows = [ir.Constant(WORD, row * LANES) for row in range(4)]
        slots = [alloca(b, load_vector(b, state, row, WORDS)) for row in rows]
        with _each(b, n, STRIDE) as (i, _):
            current = tuple(b.load(slot) for slot in slots)
            for step in range(0, STRIDE, LANES):
                words, current = next_words(b, current)
                store_vector(
                    b, out, b.add(i, ir.Constant(WORD, step)), number(b, words, *constants)
                )
            for slot, value in zip(slots, current, strict=True):
                b.store(value, slot)
        for row, slot in zip(rows, slots, strict=True):
            store_vector(b, state, row, b.load(slot))

    return build


def _compare(b: Any, uniforms: Any, first: Any, probability: Any, out: Any, n: Any) -> None:
    limit = spread(b, probability)
    with _each(b, n) as (i, _):
        less = b.fcmp_ordered("<", load_vector(b, uniforms, b.add(first, i), DOUBLES), limit)
        store_vector(b, out, i, b.select(less, all_doubles(1.0), all_doubles(0.0)))


def _below(b: Any, uniforms: Any, first: Any, chances: Any, at: Any, n: Any) -> Any:
    slot = alloca(b, ir.Constant(WORD, 0))
    with _each(b, n) as (i, _):
        uniform = load_vector(b, uniforms, b.add(first, i), DOUBLES)
        less = b.fcmp_ordered("<", uniform, load_vector(b, chances, b.add(at, i), DOUBLES))
        bits = b.zext(b.bitcast(less, ir.IntType(LANES)), WORD)
        b.store(b.or_(b.load(slot), b.shl(bits, i)), slot)
    return b.load(slot)


def _lowest_bit(b: Any, word: Any) -> Any:
    return b.cttz(word, ir.Constant(ir.IntType(1), 0))


def _join_halves(
    b: Any,
    sums: Any,
    lowest: Any,
    noises: Any,
    at: Any,
    first: Any,
    into: Any,
    half: Any,
    *line: Any,
) -> None:
    scale, drift = (spread(b, scalar) for scalar in line)
    with _each(b, half) as (i, _):
        left, to = b.add(at, i), b.add(into, i)
        right = b.add(left, half)
        sum_left, sum_right = (
            load_vector(b, sums, left, DOUBLES),
            load_vector(b, sums, right, DOUBLES),
        )
        noise = b.fmul(load_vector(b, noises, b.add(first, i), DOUBLES), scale)
        steps = b.fadd(sum_left, b.fsub(noise, drift))
        walks = b.fadd(steps, load_vector(b, lowest, right, DOUBLES))
        before = load_vector(b, lowest, left, DOUBLES)
        store_vector(b, lowest, to, b.select(b.fcmp_ordered("<", walks, before), walks, before))
        store_vector(b, sums, to, b.fadd(sum_left, sum_right))


def _maximum(b: Any, values: Any, n: Any) -> Any:
    lowest = ir.Constant(DOUBLES, [ir.Constant(DOUBLE, -math.inf)] * LANES)
    slot = alloca(b, lowest)
    with _each(b, n) as (i, _):
        vector, largest = load_vector(b, values, i, DOUBLES), b.load(slot)
        b.store(b.select(b.fcmp_ordered(">", vector, largest), vector, largest), slot)
    largest = b.load(slot)
    width = LANES
    while width > 1:  # fold the upper half onto the lower one
        width //= 2
        turn = [(lane + width) % LANES for lane in range(LANES)]
        other = b.shuffle_vector(largest, largest, ir.Constant(ir.VectorType(INDEX, LANES), turn))
        largest = b.select(b.fcmp_ordered(">", other, largest), other, largest)
    return b.extract_element(largest, ir.Constant(INDEX, 0))


def _call(build: Callable[..., Any], *arguments: Any, returns: Any = types.void) -> Any:
    # Return what numba expects of an intrinsic; `build` gets pointers to the data of arrays.
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        pairs = zip(signature.args, values, strict=True)
        result = build(b, *(array_data(context, b, kind, value) for kind, value in pairs))
        return context.get_dummy_value() if returns is types.void else result

    return returns(*arguments), generate


def array_data(context: Any, b: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        return context.make_array(kind)(context, b, value).data
    return value


@intrinsic
def vector_uniforms(context: Any, state: Any, out: Any, n: Any) -> Any:
    return _call(_fill(uniform_of), state, out, n)


@intrinsic
def vector_laplaces(context: Any, state: Any, out: Any, n: Any) -> Any:
    return _call(_fill(laplace_of), state, out, n)


@intrinsic
def vector_truncated(context: Any, state: Any, out: Any, n: Any, least: Any) -> Any:
    return _call(_fill(laplace_of), state, out, n, least)


@intrinsic
def vector_compare(
    context: Any, uniforms: Any, first: Any, probability: Any, out: Any, n: Any
) -> Any:
    return _call(_compare, uniforms, first, probability, out, n)


@intrinsic
def vector_below(context: Any, uniforms: Any, first: Any, chances: Any, at: Any, n: Any) -> Any:
    return _call(_below, uniforms, first, chances, at, n, returns=types.uint64)


@intrinsic
def vector_lowest_bit(context: Any, word: Any) -> Any:
    return _call(_lowest_bit, word, returns=types.int64)


@intrinsic
def vector_join(
    context: Any,
    sums: Any,
    lowest: Any,
    noises: Any,
    at: Any,
    first: Any,
    into: Any,
    half: Any,
    scale: Any,
    drift: Any,
) -> Any:
    return _call(_join_halves, sums, lowest, noises, at, first, into, half, scale, drift)


@intrinsic
def vector_maximum(context: Any, values: Any, n: Any) -> Any:
    return _call(_maximum, values, n, returns=types.float64)


@cache
def in_vectors() -> bool:
    """Return True if kernels use the intrinsics; log a warning if they cannot be built."""
    if os.environ.get("DPBANDITS_SCALARS"):
        return False
    words, doubles = WORD.as_pointer(), DOUBLE.as_pointer()
    built: dict[Callable[..., None], tuple[Any, ...]] = {
        _fill(uniform_of): (words, doubles, WORD),
        _fill(laplace_of): (words, doubles, WORD, DOUBLE),
        _compare: (doubles, WORD, DOUBLE, doubles, WORD),
        _maximum: (doubles, WORD),
        _below: (doubles, WORD, doubles, WORD, WORD),
        _lowest_bit: (WORD,),
        _join_halves: (doubles, doubles, doubles, WORD, WORD, WORD, WORD, DOUBLE, DOUBLE),
    }
    try:
        module = ir.Module()
        for number, (build, kinds) in enumerate(built.items()):
            function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), f"f{number}")
            b = ir.IRBuilder(function.append_basic_block())
            build(b, *function.args)
            b.ret_void()
        binding.parse_assembly(str(module)).verify()
    except Exception as error:
        log.warning("kernels do without vectors and take longer: %s", error)
        return False
    return True
