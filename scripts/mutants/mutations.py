"""Mutants: a source with one small mistake, of the kinds that people make.

A mutation replaces the text of one node of the syntax tree; the rest of the file keeps its lines.
Annotations, decorators, docstrings, messages and statements that raise are left alone: none of them
moves a number.
"""

import ast
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DRAWS = {
    "beta",
    "integers",
    "laplace",
    "normal",
    "perturb",
    "random",
    "standard_exponential",
    "standard_normal",
    "uniform",
}
NOISES = {"laplace", "perturb"}
SWAPPED_CALLS = {
    **{"ceil": "floor", "floor": "ceil", "min": "max", "max": "min"},
    **{"mean": "median", "median": "mean", "amin": "amax", "amax": "amin"},
    **{"argmax": "argmin", "argmin": "argmax", "maximum": "minimum", "minimum": "maximum"},
    **{"greater": "greater_equal", "less": "less_equal", "any": "all", "all": "any"},
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">"),
    ast.LtE: ("<", ">="),
    ast.Gt: (">=", "<"),
    ast.GtE: (">", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
}
WHOLE = {"bandit", "counters", "params", "rng"}  # exchanged with a number they only raise errors
NOT_MUTATED = (ast.Raise, ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it is, and the text before and after it."""

    file: str  # relative to the package, "algorithms/dp_se.py"
    scope: str  # function or class, "play" or "Params"; empty at the top level
    kind: str
    before: str
    after: str
    number: int  # among equal mistakes of the scope, from 0
    line: int
    begin: int  # offsets into the file's bytes
    end: int

    @property
    def name(self) -> str:
        """Name, which stays the same when other lines of the file change."""
        text = f"{self.kind} {self.before} {self.after} {self.number}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.file}:{self.scope}:{digest}"

    def of(self, source: bytes) -> bytes:
        """Return the wrong source."""
        assert source[self.begin : self.end].decode() == self.before
        return source[: self.begin] + self.after.encode() + source[self.end :]


def mutants_of(package: Path, file: str, seed: int) -> list[Mutant]:
    """Return all mutants of a file, each once."""
    source = (package / file).read_bytes()
    maker = _Maker(file, source, seed)
    maker.statements(ast.parse(source).body)
    return maker.mutants


def sample(package: Path, files: Iterable[str], number: int, seed: int) -> list[Mutant]:
    """Return about `number` random mutants of some files; every file and every kind takes part.

    A file's share grows with the root of the number of its mutants.
    """
    all_mutants = {file: mutants_of(package, file, seed) for file in files}
    of_file = {file: mutants for file, mutants in all_mutants.items() if mutants}
    weights = {file: len(mutants) ** 0.5 for file, mutants in of_file.items()}
    total = sum(weights.values())
    chosen: list[Mutant] = []
    for file, mutants in of_file.items():
        share = max(1, round(number * weights[file] / total))
        mixed = _kinds_in_turn(mutants, random.Random(f"{seed} {file}"))
        chosen += sorted(itertools.islice(mixed, share), key=lambda mutant: mutant.begin)
    return chosen


def _kinds_in_turn(mutants: Sequence[Mutant], rng: random.Random) -> Iterator[Mutant]:
    # One random mutant of each kind in turn: else half of all are missing terms.
    of_kind: dict[str, list[Mutant]] = {}
    for mutant in rng.sample(mutants, len(mutants)):
        of_kind.setdefault(mutant.kind, []).append(mutant)
    for row in itertools.zip_longest(*rng.sample([*of_kind.values()], len(of_kind))):
        yield from filter(None, row)


class _Maker:
    """Walk through a file and collect its mutants."""

    def __init__(self, file: str, source: bytes, seed: int) -> None:
        self.file, self.source = file, source
        self.rng = random.Random(f"{seed} {file} constants")
        self.mutants: list[Mutant] = []
        self.scope, self.equal = "", Counter[tuple[str, ...]]()
        self.texts: dict[tuple[int, int], set[str]] = {}  # so far, by place
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node's text."""
        positioned: Any = node
        return (
            self.starts[positioned.lineno - 1] + positioned.col_offset,
            self.starts[positioned.end_lineno - 1] + positioned.end_col_offset,
        )

    def text(self, node: ast.AST) -> str:
        begin, end = self.span(node)
        return self.source[begin:end].decode()

    def put(self, node: ast.stmt | ast.expr, kind: str, after: str) -> None:
        """Add the mutant that has another text for a node."""
        begin, end = self.span(node)
        before = self.source[begin:end].decode()
        if after != before and after not in self.texts.setdefault((begin, end), set()):
            self.texts[begin, end].add(after)
            same = self.scope, kind, before, after
            position = node.lineno, begin, end
            self.mutants.append(Mutant(self.file, *same, self.equal[same], *position))
            self.equal[same] += 1

    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Mutate a statement and those inside it."""
        if isinstance(node, NOT_MUTATED):
            return
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if isinstance(node, ast.FunctionDef):
                for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
                    self.expression(default)
            outside = self.scope
            self.scope = f"{outside}.{node.name}".lstrip(".")
            self.statements(node.body)
            self.scope = outside
            return
        self.left_out(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                self.statements(child.body)
            elif isinstance(child, ast.withitem):
                self.expression(child.context_expr)
            elif isinstance(child, ast.expr) and child is not getattr(node, "annotation", None):
                self.expression(child)

    def left_out(self, node: ast.stmt) -> None:
        """Leave a statement out, or the accumulation of a sum."""
        if isinstance(node, ast.AugAssign):
            self.put(node, "statement left out", "pass")
            target, value = self.text(node.target), self.text(node.value)
            self.put(node, "not accumulated", f"{target} = ({value})")
            return
        writes = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)
        acts = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Yield)
        if writes or acts:
            self.put(node, "statement left out", "pass")

    def expression(self, node: ast.expr) -> None:
        """Mutate an expression and those inside it."""
        if isinstance(node, ast.JoinedStr | ast.Constant) and not _is_number(node):
            return
        if isinstance(node, ast.Call) and _moves_no_number(node):
            return
        for kind, after in self.changes(node):
            self.put(node, kind, after)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)
            elif isinstance(child, ast.keyword):
                self.expression(child.value)
            elif isinstance(child, ast.comprehension):
                for part in (child.iter, *child.ifs):
                    self.expression(part)

    def changes(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        """Yield the kinds of mistakes in this very node, and its text with each."""
        if isinstance(node, ast.Constant):
            yield from self._constants(node)
        elif isinstance(node, ast.BinOp):
            left, right = self.text(node.left), self.text(node.right)
            if isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
                yield "missing term", f"({left})"
                if isinstance(node.op, ast.Add | ast.Mult):
                    yield "missing term", f"({right})"
            signs: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+"}
            signs |= {ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/"}
            if sign := signs.get(type(node.op)):
                yield "operator", f"({left}) {sign} ({right})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield "missing sign", f"({self.text(node.operand)})"
        elif isinstance(node, ast.BoolOp):
            parts = [f"({self.text(value)})" for value in node.values]
            yield "and for or", (" or " if isinstance(node.op, ast.And) else " and ").join(parts)
            for left_out in range(len(parts)):
                kept = [part for number, part in enumerate(parts) if number != left_out]
                joint = " and " if isinstance(node.op, ast.And) else " or "
                yield "missing condition", f"({joint.join(kept)})"
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self.text(node.left), self.text(node.comparators[0])
            for sign in COMPARISONS.get(type(node.ops[0]), ()):
                yield "comparison", f"({left}) {sign} ({right})"
        elif isinstance(node, ast.IfExp):
            yield "wrong case", f"({self.text(node.body)})"
            yield "wrong case", f"({self.text(node.orelse)})"
        elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            yield from self._indexes(node)
        elif isinstance(node, ast.Call):
            yield from self._calls(node)

    def _constants(self, node: ast.Constant) -> Iterator[tuple[str, str]]:
        value = node.value
        if isinstance(value, bool):
            yield "constant", str(not value)
        elif isinstance(value, int):
            yield "plus or minus one", f"{value + 1}"
            if value > 0:
                yield "plus or minus one", f"{value - 1}"
        elif isinstance(value, float):
            factor = 1.0 + self.rng.choice((-1, 1)) * self.rng.uniform(0.02, 0.1)
            yield "constant", repr(value * factor) if value else "0.05"

    def _indexes(self, node: ast.Subscript) -> Iterator[tuple[str, str]]:
        value, index = self.text(node.value), node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        for number, part in enumerate(parts):
            if isinstance(part, ast.Slice | ast.Starred) or not isinstance(
                part, ast.Name | ast.BinOp | ast.Attribute
            ):
                continue
            texts = [self.text(other) for other in parts]
            texts[number] = f"{texts[number]} - 1"
            yield "wrong index", f"{value}[{', '.join(texts)}]"

    def _calls(self, node: ast.Call) -> Iterator[tuple[str, str]]:
        name = _called(node)
        function, arguments = self.text(node.func), [self.text(a) for a in node.args]
        keywords = [self.text(keyword) for keyword in node.keywords]

        def call(function: str, arguments: Sequence[str]) -> str:
            return f"{function}({', '.join([*arguments, *keywords])})"

        if name in SWAPPED_CALLS:
            yield (
                "min for max",
                call(function[: len(function) - len(name)] + SWAPPED_CALLS[name], arguments),
            )
        if name == "range":
            for number, argument in enumerate(arguments):
                for change in ("+ 1", "- 1"):
                    changed = [*arguments]
                    changed[number] = f"{argument} {change}"
                    yield "plus or minus one", call(function, changed)
        if name in NOISES:
            yield "noise left out", f"(0.0 * {self.text(node)})"
        if name in DRAWS:
            for number, argument in enumerate(arguments):
                if argument not in ("rng", "self.rng"):
                    changed = [*arguments]
                    changed[number] = f"1.05 * ({argument})"
                    yield "argument of a draw", call(function, changed)
        names = [isinstance(a, ast.Name) for a in node.args]
        for number in range(len(arguments) - 1):
            if names[number] and names[number + 1] and arguments[number] not in WHOLE:
                changed = [*arguments]
                changed[number], changed[number + 1] = changed[number + 1], changed[number]
                yield "arguments exchanged", call(function, changed)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _moves_no_number(node: ast.Call) -> bool:
    # Errors, messages, and declarations of types and fields.
    return _called(node).endswith(("Error", "Unfit")) or _called(node) in {
        *("cast", "TypeVar", "NewType", "dataclass", "field", "namedtuple", "print"),
        *("warning", "info", "debug"),
    }


def _called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
