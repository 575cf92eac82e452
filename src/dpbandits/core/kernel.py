"""Decorators for compiled code: kernels, inlined helpers, functions dispatched on a class.

numba's disk cache watches only the file of the decorated function: after an edit of a helper in
another file it still serves the old machine code. Machine code is therefore kept in a folder named
by a digest of all sources of the kernel island (roots.ISLAND) from which this process compiles. Any
edit of the island starts an empty folder; an edit elsewhere does not. No other module calls numba's
decorators.

The machine code of a plugin or of the user's project has a folder of its own. It is named by a
digest of all roots. Code of the package that is compiled for their classes is kept there too,
because the index of cached code names every class by its module: a process without that module
could not read the index.
"""

import hashlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

from dpbandits.core.errors import variables_of
from dpbandits.core.roots import ROOTS, Root

with variables_of("numba", "NUMBA_"):
    import numba
    import numpy as np
    from numba.core.caching import FunctionCache
    from numba.core.sigutils import normalize_signature
    from numba.extending import overload, register_jitable

log = logging.getLogger("dpbandits")

ROOM = 2**20  # bytes; more than the machine code of one figure takes


def island_digest(roots: Iterable[Root] = ROOTS) -> str:
    """Return a digest of the kernel island's sources and the Python, numba and NumPy versions.

    All of them are those that this process has imported. 16 hexadecimal digits of SHA-256.
    """
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {np.__version__}".encode())
    for root in roots:
        for name, content in root.island().items():
            digest.update(f"\0{root.package}/{name}\0".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """Return the user's cache folder of this project; the variable DPBANDITS_CACHE moves it."""
    if own := os.environ.get("DPBANDITS_CACHE"):
        return Path(own).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # The XDG specification requires that a relative path is ignored.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "dpbandits"


def machine_code_folder(roots: Iterable[Root] = ROOTS[:1]) -> Path | None:
    """Create and return the folder of these roots' machine code; None if it cannot be written."""
    try:
        folder = user_cache() / "kernels" / island_digest(roots)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))  # numba raises if it cannot store what it compiled
            return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: a `~` without a home folder
        log.warning(
            "the machine code cannot be kept, every start compiles it again, for seconds (%s%s);"
            " set DPBANDITS_CACHE to a folder that can be written",
            f"DPBANDITS_CACHE={own}: " if (own := os.environ.get("DPBANDITS_CACHE")) else "",
            error,
        )
        return None


FOLDER = machine_code_folder()
# The folder of all code that involves a plugin or the user's project.
FOREIGN_FOLDER = machine_code_folder(ROOTS) if FOLDER and len(ROOTS) > 1 else None


# No wrapper for C callers: there are none, and it takes time to compile. A division by zero gives
# inf or nan, as in NumPy: the exit path of Python's exception prevents vectorised loops and makes
# numba count references in every round (up to 5 times slower). Plain Python, in which the contract
# tests play every algorithm, still raises.
KERNEL: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


# Threads that import algorithms at the same time would otherwise set the folder for each other, and
# machine code would be written to the current folder.
_decorating = threading.Lock()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that releases the GIL, and keep its machine code on disk.

    That of a function outside the kernel island and of all other roots is not kept: no folder's
    name covers its sources. Nor could another process load that of a closure around a kernel (see
    `kernel_around`).
    """
    kept = FOLDER is not None and _is_of_root(function)
    with _machine_code_in(FOREIGN_FOLDER if _is_foreign(function) else FOLDER):
        compiled = numba.njit(**KERNEL, cache=kept)(function)
    settings: Any = numba.core.config
    if kept and not settings.DISABLE_JIT:
        _check_what_is_loaded(compiled._cache)
        if FOREIGN_FOLDER is not None and not _is_foreign(function):
            with _machine_code_in(FOREIGN_FOLDER):
                of_foreign = FunctionCache(function)  # type: ignore[no-untyped-call]
            _check_what_is_loaded(of_foreign)
            compiled._cache = _ByTypes(compiled._cache, of_foreign)
    return compiled


@contextmanager
def _machine_code_in(folder: Path | None) -> Iterator[None]:
    # numba reads the folder while it decorates. It is set only for that moment, so that other users
    # of numba in this process keep theirs. Without a folder caching must be off: numba would fall
    # back to __pycache__, which goes stale.
    settings: Any = numba.core.config
    with _decorating:
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(folder or "")
        try:
            yield
        finally:
            settings.CACHE_DIR = before


class _ByTypes:
    # Cache of a kernel of the package: code for classes of other roots is kept apart.

    def __init__(self, own: Any, of_foreign: Any) -> None:
        self.own, self.of_foreign = own, of_foreign

    def __getattr__(self, name: str) -> Any:  # all else that numba asks of a cache
        return getattr(self.own, name)

    def load_overload(self, types: Any, context: Any) -> Any:
        return self._of(types).load_overload(types, context)

    def save_overload(self, types: Any, code: Any) -> None:
        self._of(types).save_overload(types, code)

    def _of(self, types: Any) -> Any:
        arguments, _ = normalize_signature(types)  # type: ignore[no-untyped-call]
        return self.of_foreign if any(map(_mentions_foreign, arguments)) else self.own


def _mentions_foreign(kind: Any) -> bool:
    # A NamedTuple's type has its class and the types of its fields, NamedTuples among them.
    named = getattr(kind, "instance_class", None)
    fields = getattr(kind, "types", ())
    return (named is not None and _is_foreign(named)) or any(map(_mentions_foreign, fields))


def play(params: Any, bandit: Any, rng: Any) -> None:
    """Stand for the policy in a body that `around` completes."""
    raise NotImplementedError


def around(policy: Callable[..., Any], body: Any) -> FunctionType:
    """Return a function with this body, in which the global name `play` stands for a policy."""
    own = FunctionType(body.__code__, body.__globals__ | {"play": policy}, body.__name__)
    own.__module__ = policy.__module__
    own.__qualname__ = f"{body.__name__}.{policy.__module__}"
    return own


def kernel_around(policy: Callable[..., Any], body: Any) -> Callable[..., Any]:
    """Compile `around` a policy that is a kernel; the machine code is kept beside the policy's."""
    return kernel(around(policy, body))


def specialised(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return the machine code of a kernel for the types of these arguments, compiled or loaded.

    A call of it takes arguments of these types only. Any other function is returned as it is, also
    one that this function returned.
    """
    if not hasattr(function, "compile"):
        return function
    compiled: Callable[..., Any] = function.compile(tuple(map(numba.typeof, arguments)))
    return compiled


def _is_of_root(member: Any) -> bool:
    # True if its source is one from which machine code is kept.
    package, _, rest = member.__module__.partition(".")
    path = f"{rest.replace('.', '/')}.py"
    return any(root.package == package and root.compiles(path) for root in ROOTS)


def _is_foreign(member: Any) -> bool:
    package = _package(member)
    return any(root.package == package for root in ROOTS[1:])


def _package(member: Any) -> str:
    return str(member.__module__).partition(".")[0]


def _check_what_is_loaded(kept: Any) -> None:
    # Reject cached code that was compiled for other argument types. numba writes the index of
    # its cache and the code one after the other, so two processes that compile one kernel for
    # different classes at the same time may both take number 1 for their code. One class would
    # then run the other's code and return wrong numbers silently.
    load = kept.load_overload

    def load_checked(types: Any, context: Any) -> Any:
        found = load(types, context)
        return found if found is not None and found.signature.args == tuple(types) else None

    kept.load_overload = load_checked


# Not `inline="always"`: used on kernels and in an overload together, it silently drops statements.
ALLOCATING: Any = {**KERNEL, "forceinline": True}
# Without numba's reference counts. In a loop with a branch that LLVM cannot look through, it would
# count the references to all arrays of the bandit in every round (3 times slower).
INLINED: Any = {**ALLOCATING, "_nrt": False}


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a helper that kernels inline; called from Python, it is plain Python.

    It must not create arrays: numba would raise an error that speaks of "NRT".
    """
    return register_jitable(**INLINED)(function)


def allocating(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a helper that kernels inline and that creates arrays."""
    return register_jitable(**ALLOCATING)(function)


def _refuse_foreign(member: Any, allowed: str = "__main__") -> None:
    # The index of cached machine code lists argument types and names every class by its module.
    # A class from a module that a later process cannot import makes the whole index unreadable
    # there (ModuleNotFoundError at every call, until the folder is deleted).
    kept = FOLDER is not None and not numba.core.config.DISABLE_JIT  # type: ignore[attr-defined]
    packages = [root.package for root in ROOTS]
    if kept and _package(member) not in (*packages, allowed):
        raise TypeError(
            f"{member.__module__}.{member.__qualname__} is neither of the package {packages[0]}"
            " nor of a project or plugin, whose machine code is kept together: put its file into"
            f" {ROOTS[-1].folder}"
        )


def by_class(stub: Callable[..., Any], allocating: bool = False) -> Any:
    """Dispatch a function on the class of its first argument, in Python and in kernels alike.

    `@name.register(Class)` adds a body, where the class is a NamedTuple defined in this package,
    in another root or in `__main__` (a notebook). Classes without a body of their own use that of
    the stub. `register` raises TypeError for a second body of a class and, if machine code is
    cached, for a class that is of no root or a body that is not of its class's package. Bodies that
    create arrays need `allocating`.
    """
    bodies: dict[type, Callable[..., Any]] = {}

    @wraps(stub)
    def call(first: Any, *rest: Any) -> Any:
        return bodies.get(type(first), stub)(first, *rest)

    @overload(call, strict=False, jit_options=ALLOCATING if allocating else INLINED)
    def choose(first: Any, *rest: Any) -> Callable[..., Any]:
        return bodies.get(getattr(first, "instance_class", None), stub)  # type: ignore[arg-type]

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        _refuse_foreign(cls)

        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            if cls in bodies:
                raise TypeError(f"{stub.__name__}: {cls.__qualname__} is registered already")
            if cls.__module__ != "__main__":
                _refuse_foreign(body, allowed="")  # later processes would run it in its absence
                if _package(body) != _package(cls):
                    raise TypeError(
                        f"{stub.__name__}: the body for {cls.__qualname__} must be of its package,"
                        f" {_package(cls)}, with which its machine code is kept"
                    )
            bodies[cls] = body
            return body

        return add

    call.register = register  # type: ignore[attr-defined]
    return call


def in_kernels(
    plain: Callable[..., Any],
    where: Callable[[], bool] = lambda: True,
    otherwise: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register another body of a plain function for kernels; Python still calls the original.

    `where` is asked when a kernel is compiled; if it returns False, `otherwise` is the body.
    """

    def add(body: Callable[..., Any]) -> Callable[..., Any]:
        @overload(plain, strict=False, jit_options=INLINED)
        def choose(*_: Any) -> Callable[..., Any]:
            return body if otherwise is None or where() else otherwise

        return body

    return add
