"""Decorators for compiled code: kernels, inlined helpers, functions dispatched on a class.

numba's disk cache watches only the file of the decorated function: after an edit of a helper in
another file it still serves the old machine code. Machine code is therefore kept in a folder named
by a digest of all sources of the kernel island (roots.ISLAND) from which this process compiles. Any
edit of the island starts an empty folder; an edit elsewhere does not. No other module calls numba's
decorators.
"""

import hashlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

from dpbandits.core.errors import variables_of
from dpbandits.core.roots import ISLAND, ROOTS, Root

with variables_of("numba", "NUMBA_"):
    import numba
    import numpy as np
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


def machine_code_folder() -> Path | None:
    """Create and return the folder of the current machine code; None if it cannot be written."""
    try:
        folder = user_cache() / "kernels" / island_digest()
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

    That of a function outside the kernel island is not kept: the folder's name does not cover its
    sources. Nor could another process load that of a closure around a kernel (see `kernel_around`).
    """
    # numba reads the folder while it decorates. It is set only for that moment, so that other users
    # of numba in this process keep theirs. Without a folder caching must be off: numba would fall
    # back to __pycache__, which goes stale.
    settings: Any = numba.core.config
    kept = FOLDER is not None and _is_of_island(function)
    with _decorating:
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(FOLDER or "")
        try:
            compiled = numba.njit(**KERNEL, cache=kept)(function)
        finally:
            settings.CACHE_DIR = before
    if kept and not settings.DISABLE_JIT:
        _check_what_is_loaded(compiled._cache)
    return compiled


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


def _is_of_island(function: Callable[..., Any]) -> bool:
    package, folder, *_ = (*function.__module__.split("."), "")
    return folder in ISLAND and any(root.package == package for root in ROOTS)


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
    if kept and member.__module__.split(".")[0] not in (*packages, allowed):
        raise TypeError(
            f"{member.__module__}.{member.__qualname__} is not of the package {packages[0]}: put"
            f" its file into {ROOTS[0].folder}, whose machine code is kept together"
        )


def by_class(stub: Callable[..., Any], allocating: bool = False) -> Any:
    """Dispatch a function on the class of its first argument, in Python and in kernels alike.

    `@name.register(Class)` adds a body, where the class is a NamedTuple defined in this package
    or in `__main__` (a notebook). Classes without a body of their own use that of the stub.
    `register` raises TypeError for a second body of a class and, if machine code is cached, for a
    class from another package or a body from elsewhere for a class of this package. Bodies that
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
