"""Lanes in kernels: a numba type of two vectors, with operators, and LLVM IR of its functions.

lanes.py defines what they compute and their bits, in the same order of operations.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

from dpbandits.core.vector_constants import (
    EXP,
    INVERSE_LOG2,
    LANES,
    LOG2_HIGH,
    LOG2_LOW,
    LOWEST_EXPONENT,
    ROUNDING,
    RUNS,
)
from dpbandits.core.vector_ir import (
    DOUBLE,
    DOUBLES,
    INDEX,
    WORD,
    WORDS,
    all_doubles,
    all_words,
    array_data,
    in_vectors,
    laplace_of,
    load_vector,
    next_words,
    polynomial,
    spread,
    store_vector,
    uniform_of,
)

PARTS = RUNS // LANES  # vectors of a number in lanes
BITS = ir.VectorType(ir.IntType(1), LANES)


class _Lanes(types.Type):
    """Numba type of numbers in lanes, or of masks."""


NUMBERS, MASKS = _Lanes("Lanes"), _Lanes("Mask")


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        part = DOUBLES if kind is NUMBERS else BITS
        super().__init__(manager, kind, ir.ArrayType(part, PARTS))


def _parts(context: Any, b: Any, kind: Any, value: Any) -> list[Any]:
    # Return the vectors of a number in lanes, or copies of a scalar.
    if isinstance(kind, _Lanes):
        return [b.extract_value(value, part) for part in range(PARTS)]
    return [spread(b, context.cast(b, value, kind, types.float64))] * PARTS


def _joined(b: Any, parts: Sequence[Any]) -> Any:
    value = ir.Constant(ir.ArrayType(parts[0].type, PARTS), ir.Undefined)
    for part, vector in enumerate(parts):
        value = b.insert_value(value, vector, part)
    return value


def _by_parts(build: Callable[..., Any]) -> Callable[..., Any]:
    # Return the code generator of a function that `build` computes vector by vector.
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        pairs = zip(signature.args, values, strict=True)
        columns = [_parts(context, b, kind, value) for kind, value in pairs]
        return _joined(b, [build(b, *vectors) for vectors in zip(*columns, strict=True)])

    return generate


def _add_operator(function: Any, build: Callable[..., Any], of: Any, result: Any) -> None:
    operands = [(of, of)]
    if of is NUMBERS:
        operands += [(of, types.float64), (types.float64, of)]
    cases = [signature(result, *pair) for pair in operands]
    infer_global(function)(type("Operator", (ConcreteTemplate,), {"cases": cases}))
    for pair in operands:
        lower_builtin(function, *pair)(_by_parts(build))


def _comparison(symbol: str) -> Callable[..., Any]:
    return lambda b, x, y: b.fcmp_ordered(symbol, x, y)


_add_operator(operator.add, lambda b, x, y: b.fadd(x, y), NUMBERS, NUMBERS)
_add_operator(operator.sub, lambda b, x, y: b.fsub(x, y), NUMBERS, NUMBERS)
_add_operator(operator.mul, lambda b, x, y: b.fmul(x, y), NUMBERS, NUMBERS)
_add_operator(operator.truediv, lambda b, x, y: b.fdiv(x, y), NUMBERS, NUMBERS)
_add_operator(operator.lt, _comparison("<"), NUMBERS, MASKS)
_add_operator(operator.le, _comparison("<="), NUMBERS, MASKS)
_add_operator(operator.gt, _comparison(">"), NUMBERS, MASKS)
_add_operator(operator.ge, _comparison(">="), NUMBERS, MASKS)
_add_operator(operator.eq, _comparison("=="), NUMBERS, MASKS)
_add_operator(operator.ne, _comparison("!="), NUMBERS, MASKS)
_add_operator(operator.and_, lambda b, x, y: b.and_(x, y), MASKS, MASKS)


def _exp_of(b: Any, x: Any) -> Any:
    lowest = all_doubles(LOWEST_EXPONENT)
    x = b.select(b.fcmp_ordered(">", x, lowest), x, lowest)
    rounded = b.fadd(b.fmul(x, all_doubles(INVERSE_LOG2)), all_doubles(ROUNDING))
    k = b.fsub(rounded, all_doubles(ROUNDING))
    high, low = b.fsub(x, b.fmul(k, all_doubles(LOG2_HIGH))), b.fmul(k, all_doubles(LOG2_LOW))
    r = b.fsub(high, low)
    t = b.fmul(r, r)
    c = b.fsub(r, b.fmul(t, polynomial(b, t, EXP)))
    quotient = b.fdiv(b.fmul(r, c), b.fsub(all_doubles(2.0), c))
    y = b.fsub(all_doubles(1.0), b.fsub(b.fsub(low, quotient), high))
    power = b.shl(b.bitcast(rounded, WORDS), all_words(52))
    return b.bitcast(b.add(b.bitcast(y, WORDS), power), DOUBLES)


@intrinsic
def lane_exp(context: Any, x: Any) -> Any:
    return NUMBERS(x), _by_parts(_exp_of)


def _root_of(b: Any, x: Any) -> Any:
    name = "llvm.sqrt.f64" if x.type == DOUBLE else f"llvm.sqrt.v{LANES}f64"
    kind = ir.FunctionType(x.type, [x.type])
    return b.call(cgutils.get_or_insert_function(b.module, kind, name), [x])


@intrinsic
def lane_sqrt(context: Any, x: Any) -> Any:
    if x is NUMBERS:
        return NUMBERS(x), _by_parts(_root_of)
    return types.float64(types.float64), lambda context, b, signature, values: _root_of(b, *values)


@intrinsic
def lane_where(context: Any, condition: Any, value: Any, otherwise: Any) -> Any:
    if condition is MASKS:
        return NUMBERS(condition, value, otherwise), _by_parts(lambda b, *each: b.select(*each))

    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        return b.select(*values)

    return types.float64(types.boolean, types.float64, types.float64), generate


@intrinsic
def lane_any(context: Any, mask: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        parts = _parts(context, b, MASKS, values[0])
        joined = parts[0]
        for part in parts[1:]:
            joined = b.or_(joined, part)
        bits = b.bitcast(joined, ir.IntType(LANES))
        return b.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), generate


def _place(b: Any, row: Any, part: int) -> Any:
    return b.add(b.mul(row, ir.Constant(WORD, RUNS)), ir.Constant(WORD, part * LANES))


@intrinsic
def lane_load(context: Any, rows: Any, row: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        data = array_data(context, b, rows, values[0])
        places = [_place(b, values[1], part) for part in range(PARTS)]
        return _joined(b, [load_vector(b, data, place, DOUBLES) for place in places])

    return NUMBERS(rows, types.int64), generate


@intrinsic
def lane_store(context: Any, rows: Any, row: Any, value: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        data = array_data(context, b, rows, values[0])
        for part, vector in enumerate(_parts(context, b, value, values[2])):
            store_vector(b, data, _place(b, values[1], part), vector)
        return context.get_dummy_value()

    return types.void(rows, types.int64, value), generate


def _drawn(number: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    # Return the generator of code that advances the streams and makes a number of each word.
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        data = array_data(context, b, signature.args[0], values[0])
        numbers = []
        for part in range(PARTS):
            places = [ir.Constant(WORD, row * RUNS + part * LANES) for row in range(4)]
            current = tuple(load_vector(b, data, place, WORDS) for place in places)
            drawn, following = next_words(b, current)
            for place, vector in zip(places, following, strict=True):
                store_vector(b, data, place, vector)
            numbers.append(number(b, drawn))
        return _joined(b, numbers)

    return generate


@intrinsic
def lane_uniforms(context: Any, state: Any) -> Any:
    return NUMBERS(state), _drawn(uniform_of)


@intrinsic
def lane_laplaces(context: Any, state: Any) -> Any:
    return NUMBERS(state), _drawn(laplace_of)


@intrinsic
def lane_gather(context: Any, table: Any, starts: Any, start: Any, columns: Any) -> Any:
    def generate(context: Any, b: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(table)(context, b, values[0])
        rows = array_data(context, b, starts, values[1])
        numbers = []
        for part, vector in enumerate(_parts(context, b, signature.args[3], values[3])):
            chosen = b.fptosi(vector, ir.VectorType(INDEX, LANES))
            gains = ir.Constant(DOUBLES, ir.Undefined)
            for lane in range(LANES):
                place = ir.Constant(INDEX, lane)
                column = b.zext(b.extract_element(chosen, place), WORD)
                row = b.load(b.gep(rows, [ir.Constant(WORD, part * LANES + lane)]))
                at = b.add(b.add(row, values[2]), column)
                gain = b.load(b.gep(array.data, [at]))
                if table.dtype is types.uint8:
                    gain = b.uitofp(gain, DOUBLE)
                gains = b.insert_element(gains, gain, place)
            numbers.append(gains)
        return _joined(b, numbers)

    return NUMBERS(table, starts, types.int64, columns), generate


def in_lanes() -> bool:
    """Return True if runs can be played in step: kernels are compiled, and with vectors."""
    return in_vectors() and not numba.core.config.DISABLE_JIT  # type: ignore[attr-defined]
