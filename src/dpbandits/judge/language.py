"""Language of comparisons: `A <= B` or `A >= B` of quantities of a figure's curves.

Names are curves (`-` is written `_`), `others` and words; lists mean every pair. A curve alone
stands for its end. Nothing else is evaluated but numbers, arithmetic and known functions.
"""

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.judge.resampled import Line
from dpbandits.kernel.errors import UserError, nearest, shown

ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.divide}
NEAR = 1e-9  # relative distance at which two x are the same


@dataclass(frozen=True)
class Quantity:
    """Numbers on all resamples, (1 + resamples, points), the estimate first, and their x."""

    values: np.ndarray
    x: np.ndarray
    chosen: bool = True  # every point is compared; otherwise the last one stands for the curve


class Scope(NamedTuple):
    """Values of the names of a text, and the functions that it may call."""

    names: Mapping[str, Any]
    functions: Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Compared:
    """Comparison at some points: its distances are at most 0 where it holds."""

    distances: np.ndarray  # (1 + resamples, points): log(A / B), or (A - B) / scale
    left: np.ndarray  # (points,) estimates of A
    right: np.ndarray
    x: np.ndarray  # (points,) nan where there is none
    is_log: bool


def quantity(value: Any) -> Quantity:
    """Return a number, a curve or a quantity as a quantity."""
    if isinstance(value, Line):
        values = value.resampler.statistic(value.curve, value.statistic, value.columns)
        return Quantity(values, value.x, value.chosen)
    if isinstance(value, int | float):
        return Quantity(np.array([[float(value)]]), np.array([np.nan]))
    if not isinstance(value, Quantity):
        raise UserError(f"{shown(value)} is no quantity")
    return value


def chosen(mask: Callable[..., np.ndarray], value: Any, *limits: Any) -> Any:
    """Return a curve or quantity at the x of a mask; all of these points are then compared."""
    whole = value if isinstance(value, Line) else quantity(value)
    inside = mask(whole.x, *limits)
    if isinstance(whole, Line):
        return replace(whole, columns=whole.columns[inside], x=whole.x[inside], chosen=True)
    return Quantity(whole.values[:, inside], whole.x[inside])


def end(value: Any) -> Quantity:
    """Return the last point of a curve, or the chosen points."""
    if isinstance(value, Line | Quantity) and not value.chosen:
        value = chosen(lambda x: np.arange(len(x)) == len(x) - 1, value)
    return quantity(value)


def _aligned(a: Quantity, b: Quantity) -> tuple[Quantity, Quantity, np.ndarray]:
    # Two quantities at the same points, which follow; a single point is paired with every one.
    if len(a.x) > 1 and len(b.x) > 1 and not np.array_equal(a.x, b.x):
        a, b = chosen(np.isin, a, b.x), chosen(np.isin, b, a.x)
    return a, b, a.x if len(a.x) >= len(b.x) and not np.isnan(a.x).any() else b.x


def _combined(operate: Callable[..., Any], left: Any, right: Any) -> Any:
    if isinstance(left, list) or isinstance(right, list):
        return [_combined(operate, a, b) for a in _items(left) for b in _items(right)]
    numbers = [side for side in (left, right) if isinstance(side, int | float)]
    if len(numbers) == 2:
        return float(operate(left, right))
    a, b, x = _aligned(*((end if numbers else quantity)(side) for side in (left, right)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Quantity(operate(a.values, b.values), x, a.chosen or b.chosen)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _reduced(reduce: Callable[[Quantity], np.ndarray], value: Any) -> Quantity:
    whole = quantity(value)
    return Quantity(reduce(whole).reshape(-1, 1), whole.x[-1:])


def _slope(q: Quantity) -> np.ndarray:
    # Size of the least-squares slope of the logarithms.
    x = np.log(q.x) - np.log(q.x).mean()
    return np.asarray(np.abs(np.log(q.values) @ x / (x @ x)))


def _bends(q: Quantity) -> np.ndarray:
    slopes = np.diff(np.log(q.values), axis=1) / np.diff(np.log(q.x))
    return np.abs(np.diff(slopes, axis=1))


def _last_up_to(x: np.ndarray, limit: float) -> np.ndarray:
    position = np.searchsorted(x, limit * (1 + NEAR), "right") - 1
    return np.arange(len(x)) == max(position, 0)


def _smallest_so_far(value: Any) -> Quantity:
    q = quantity(value)
    return replace(q, values=np.minimum.accumulate(q.values, axis=1))


def _settled(value: Any, limit: float) -> Quantity:
    # The smallest x from which on all values are at most the limit; infinite without any.
    q = quantity(value)
    is_within = np.flip(np.logical_and.accumulate(np.flip(q.values <= limit, 1), axis=1), 1)
    first = np.where(is_within.any(1), q.x[is_within.argmax(1)], np.inf)
    return Quantity(first[:, None], q.x[-1:])


def _position(value: Any) -> Quantity:
    x = quantity(value).x
    return Quantity(x[None, :], x)


FAR = 20.0  # log of the ratio to an infinite side: a factor of 5e8
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "end": end,
    "at": partial(chosen, _last_up_to),
    "between": partial(chosen, lambda x, a, b: (a * (1 - NEAR) <= x) & (x <= b * (1 + NEAR))),
    "after": partial(chosen, lambda x, low: x >= low * (1 - NEAR)),
    "everywhere": partial(chosen, lambda x: np.ones(len(x), bool)),
    "largest": partial(_reduced, lambda q: q.values.max(1)),
    "smallest": partial(_reduced, lambda q: q.values.min(1)),
    "slope": partial(_reduced, _slope),
    "bend": partial(_reduced, lambda q: _bends(q).max(1)),
    "total_bend": partial(_reduced, lambda q: _bends(q).sum(1)),
    "earlier": _smallest_so_far,
    "settled": _settled,
    "median": partial(replace, statistic="median"),
    "maximum": partial(replace, statistic="max"),
    "minimum": partial(replace, statistic="min"),
    "spread": partial(replace, statistic="spread"),
    "deviation": partial(replace, statistic="deviation"),
    "upper_99": partial(replace, statistic="upper_99"),
    "position": _position,
}


def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a text. Raises UserError if it is no expression."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        raise UserError(f"{shown(text)} cannot be read") from None


def sides(text: str) -> tuple[ast.expr, ast.expr, float]:
    """Return A, B and 1 for `A <= B`, -1 for `A >= B`. Raises UserError for any other text."""
    match parsed(text):
        case ast.Compare(left=a, ops=[ast.LtE() | ast.GtE() as sign], comparators=[b]):
            if ast.dump(a) == ast.dump(b):
                raise UserError(f"{shown(text)} compares a text with itself")
            return a, b, 1.0 if isinstance(sign, ast.LtE) else -1.0
    raise UserError(f"{shown(text)} is no single comparison A <= B or A >= B")


def compared(text: str, scope: Scope) -> Iterator[Compared]:
    """Yield the comparisons of every pair of a text, each at all of its points.

    A point at which a side is not a number is left out: there a bound is vacuous. So is one at
    which both sides are infinite, as half of their runs or more are undecided; one infinite side is
    FAR from the other. A side that can be 0 or negative is compared by difference.
    """
    *both, sign = sides(text)
    for pair in itertools.product(*(_items(evaluate(side, scope)) for side in both)):
        if pair[0] is pair[1] and isinstance(pair[0], Line):
            raise UserError(f"{pair[0].curve.name} is compared with itself")
        a, b, x = _aligned(*map(end, pair))
        left, right = np.broadcast_arrays(a.values, b.values)
        valid = ~(np.isnan(left[0]) | np.isnan(right[0]) | (np.isinf(left[0]) & np.isinf(right[0])))
        left, right, x = left[:, valid], right[:, valid], np.broadcast_to(x, valid.shape)[valid]
        if is_log := bool((left > 0).all() and (right > 0).all()):
            with np.errstate(invalid="ignore"):  # resamples may have two infinite sides
                distances = np.log(left) - np.log(right)
            distances = _finite(distances)
        else:
            distances = (left - right) / np.maximum(np.abs(left[0]), np.abs(right[0])).clip(1e-300)
        yield Compared(sign * distances, left[0], right[0], x, is_log)


def _finite(distances: np.ndarray) -> np.ndarray:
    # An infinite distance is FAR; only the largest of the others where all resamples, the rows,
    # agree on which side is larger, so that it does not blur what they agree on.
    known = np.isfinite(distances)
    agree = ((distances > 0).all(0) | (distances < 0).all(0)) & known.any(0)
    most = np.where(agree, np.abs(np.where(known, distances, 0.0)).max(0), FAR)
    return np.where(known, distances, np.sign(np.nan_to_num(distances)) * most)


def evaluate(node: ast.expr, scope: Scope) -> Any:
    """Return the value of an expression. Raises UserError for what is not of the language."""
    match node:
        case ast.Constant(value=int() | float() | str()):
            return node.value
        case ast.Name():
            return scope.names[node.id]
        case ast.List():
            return [part for item in node.elts for part in _items(evaluate(item, scope))]
        case ast.BinOp() if operate := ARITHMETIC.get(type(node.op).__name__):
            return _combined(operate, evaluate(node.left, scope), evaluate(node.right, scope))
        case ast.Call(func=ast.Name(id=called), args=[first, *rest]):
            if called not in scope.functions:
                raise UserError(f"unknown function {called!r}; {nearest(called, scope.functions)}")
            call, value = scope.functions[called], evaluate(first, scope)
            more = [evaluate(argument, scope) for argument in rest]
            keywords = {str(k.arg): evaluate(k.value, scope) for k in node.keywords}
            try:
                if isinstance(value, list):
                    return [call(item, *more, **keywords) for item in value]
                return call(value, *more, **keywords)
            except TypeError as error:  # a missing argument, or a curve in place of a number
                raise UserError(f"{ast.unparse(node)}: {error}") from None
    raise UserError(f"{ast.unparse(node)} is not part of the language")
