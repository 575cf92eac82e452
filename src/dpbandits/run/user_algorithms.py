"""Algorithms of a user: passed from Python, or in sources of the project or of a plugin.

Algorithms that are passed from Python, such as one defined in a notebook, stand in the registry
beside those of files until the process ends. They have no source that a key could cover, so their
blocks are kept in memory, and only threads of this process play them. Their random streams are
those of an algorithm of the same name.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.kernel import parameters, registry
from dpbandits.kernel.errors import UserError, in_one_line, shown
from dpbandits.kernel.roots import PACKAGE, discovery
from dpbandits.store.blocks import Block, Store

DECORATE = "decorate it with @kernel of dpbandits.kernel.compilation"


class NoParameters(NamedTuple):
    """Params of an algorithm that defines none."""


def register(algorithm: Any) -> str:
    """Register the algorithm that an object defines, and return its name.

    A function is the `play` of an algorithm without parameters. Any other object has `play` and, if
    needed, `LABEL`, `KIND`, `Params`, `releases` and `guarantee`, as a file in algorithms/ has.
    Raises UserError if it has no `play`, or if its Params cannot be used.
    """
    is_function = inspect.isfunction(algorithm) or hasattr(algorithm, "py_func")
    play = algorithm if is_function else getattr(algorithm, "play", None)
    if not callable(play):
        raise UserError(
            f"{shown(algorithm)} is no algorithm: give a name, or an object with a function"
            " play(params, bandit, rng)"
        )
    label = getattr(algorithm, "LABEL", None) or getattr(algorithm, "__name__", None)
    label = str(label or type(algorithm).__name__)
    name = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") or "algorithm"
    if name in registry.members("algorithm"):
        name += "-in-memory"  # it must not inherit audits of the registered one
    module = ModuleType(name)
    vars(module).update(LABEL=label, Params=NoParameters, play=play)
    for key in ("KIND", "Params", "RANGE", "LINEAR", "releases", "guarantee", "warning"):
        if hasattr(algorithm, key):
            setattr(module, key, getattr(algorithm, key))
    if problem := parameters.unsupported(module.Params):
        raise UserError(f"{label}: {problem}")
    registry.NOT_STORED[name] = module
    _forget()
    return name


def register_environment(environment: Any) -> str:
    """Register the environment that an object defines, as a file does; return its name.

    Raises UserError if it is incomplete.
    """
    if not all(hasattr(environment, needed) for needed in ("Params", "arms", "law")):
        raise UserError(f"{shown(environment)} is no environment: it needs Params, arms and law")
    object_name = getattr(environment, "__name__", type(environment).__name__)
    name = f"{object_name} in memory"  # no file has such a name
    registry.NOT_STORED[name] = environment
    _forget()
    return name


def _forget() -> None:
    # What is passed from Python may replace another of its name.
    for cached in (kinds.composed_budget, kinds.words):
        cached.cache_clear()


def is_stored(experiment: Experiment) -> bool:
    """Return True unless it plays an algorithm or an environment that was passed from Python."""
    return not _members(experiment) & registry.NOT_STORED.keys()


def _members(experiment: Experiment) -> set[str]:
    # Names of what it plays: the algorithm, and the environment if there is one.
    environment, _ = kinds.words(experiment).bandit or ("", None)
    return {experiment.member, environment} - {""}


@dataclass(frozen=True)
class StoreWithMemory(Store):
    """Store that keeps the blocks of algorithms without a source in memory."""

    memory: dict[Experiment, list[Block]] = field(default_factory=dict, compare=False)

    def write(self, experiment: Experiment, first: int, curves: np.ndarray, seconds: float) -> None:
        """Keep the curves of runs first, first + 1, ... as one block."""
        if is_stored(experiment):
            return super().write(experiment, first, curves, seconds)
        block = Block(range(first, first + len(curves)), curves, {"seconds": seconds})
        self.memory.setdefault(experiment, []).append(block)

    def blocks(self, experiment: Experiment, below: int | None = None) -> Iterator[Block]:
        """Yield the blocks of an experiment, whether on disk or in memory."""
        if is_stored(experiment):
            return super().blocks(experiment, below)
        return iter(self.memory.get(experiment, ()))


def error_place(error: BaseException) -> str:
    """Return the file, the line and the reason of an error of a project's or plugin's source.

    Below `releases` or `guarantee`, also the arguments. Return '' if the innermost frame outside
    libraries belongs to dpbandits.
    """
    call, place = "", ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        for root in discovery().roots:
            path = code.co_filename.removeprefix(f"{root.folder}/")
            if path not in root.sources():
                continue
            shown = path if root == discovery().project else code.co_filename
            place = "" if root is PACKAGE else f"{shown}, line {line}: {in_one_line(error)}"
            if place and not call and code.co_name in ("releases", "guarantee"):
                names = code.co_varnames[1 : code.co_argcount]
                values = [f"{n}={frame.f_locals[n]!r}" for n in names if n in frame.f_locals]
                call = f"{code.co_name}({', '.join(['...', *values])}) in "
    return f"{call}{place}" if place else ""


def is_kernel(play: Callable[..., Any]) -> bool:
    """Return True if numba compiles this function, or if it compiles none."""
    settings: Any = numba.config
    return hasattr(play, "py_func") or bool(settings.DISABLE_JIT)


def report_uncompiled(experiments: Iterable[Experiment]) -> None:
    """Print one line for each algorithm of a user's source whose `play` is not a kernel."""
    for name in sorted({experiment.member for experiment in experiments if advice(experiment)}):
        if not is_kernel(registry.algorithm(name).play):
            print(
                f"dpbandits: {registry.member('algorithm', name).shown}: `play` is not a kernel,"
                f" so it runs in plain Python, about a hundred times slower: {DECORATE}",
                file=sys.stderr,
            )


def advice(experiment: Experiment) -> str:
    """Return the command that explains a failed run of a user's algorithm or environment, or ''."""
    if not is_stored(experiment):
        return ""
    members = {**registry.members("environment"), **registry.members("algorithm")}
    for name in sorted(_members(experiment) & members.keys()):
        if members[name].root is not PACKAGE:
            return f"; `dpbandits verify {name}` explains what to change"
    return ""
