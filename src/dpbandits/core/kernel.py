"""The only module that decorates: kernels, inlined helpers, functions chosen by a class.

numba's disk cache watches the file of the decorated function and nothing else: edit a helper in
another file and the old machine code is served. Here the machine code therefore lives in a folder
named by a digest of all sources of the kernel island (roots.ISLAND): any edit of them starts an
empty folder, and no edit elsewhere does.
"""

import hashlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpbandits.core.errors import variables_of
from dpbandits.core.roots import ROOTS, Root

with variables_of("numba", "NUMBA_"):
    import numba
    from numba.extending import overload, register_jitable

log = logging.getLogger("dpbandits")

ROOM = 2**20  # bytes; more than the machine code of a figure takes


def island_digest(roots: Iterable[Root] = ROOTS) -> str:
    """Digest of every source of the kernel island, of Python and of the compiler's version."""
    digest = hashlib.sha256(f"{sys.version} {numba.__version__} {version('numpy')}".encode())
    for root in roots:
        for path in root.island():
            name = path.relative_to(root.folder).as_posix()
            digest.update(f"\0{root.package}/{name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """The user's cache folder of this project; the variable DPBANDITS_CACHE moves it."""
    if own := os.environ.get("DPBANDITS_CACHE"):
        return Path(own).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # The specification of that variable wants a relative path to be ignored.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "dpbandits"


def machine_code_folder() -> Path | None:
    """The folder of today's machine code, made if need be; None where it cannot be written."""
    try:
        folder = user_cache() / "kernels" / island_digest()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(ROOM))  # numba fails where it cannot keep what it compiled
            return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: a `~` of nobody's
        log.warning(
            "the machine code cannot be kept, every start compiles it again, for seconds (%s%s);"
            " set DPBANDITS_CACHE to a folder that can be written",
            f"DPBANDITS_CACHE={own}: " if (own := os.environ.get("DPBANDITS_CACHE")) else "",
            error,
        )
        return None


FOLDER = machine_code_folder()


# No wrapper for C callers, whom nobody is: it costs time to compile. A division by zero gives inf
# or nan, as in NumPy: the way out that Python's exception needs keeps loops from being vectorised
# and counts references in every round (up to 5 times slower). Plain Python, in which the contract
# tests play every algorithm, still raises.
KERNEL: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any], kept: bool = True) -> Callable[..., Any]:
    """Compile a function; it releases the GIL and its machine code is kept on disk.

    Not `kept` is for one that is made anew in every process, around another kernel: what is kept
    of it would never be found again.
    """
    # numba reads the folder while it decorates: set it for that moment only, so that other users
    # of numba in this process keep theirs. Without a folder there must be no cache at all: numba
    # would fall back to __pycache__, which goes stale.
    settings: Any = numba.core.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(FOLDER or "")
    kept = kept and FOLDER is not None
    try:
        compiled = numba.njit(**KERNEL, cache=kept)(function)
    finally:
        settings.CACHE_DIR = before
    if kept and not settings.DISABLE_JIT:
        _check_what_is_loaded(compiled._cache)
    return compiled


def _check_what_is_loaded(kept: Any) -> None:
    # Two processes that compile one kernel for different classes at once may both call their code
    # number 1: numba writes the list of numbers and the code one after the other. One class is
    # then served the other's code, and the numbers are wrong in silence.
    load = kept.load_overload

    def load_checked(types: Any, context: Any) -> Any:
        found = load(types, context)
        return found if found is not None and found.signature.args == tuple(types) else None

    kept.load_overload = load_checked


# Not `inline="always"`: on kernels and in an overload together it drops statements silently.
INLINED: Any = {**KERNEL, "forceinline": True}


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A helper that kernels inline; called from Python it is plain Python."""
    return register_jitable(**INLINED)(function)


def _refuse_foreign(cls: type) -> None:
    # Machine code is kept by the types of the arguments, and the list of them names every class by
    # its module: one class of a module that a later process cannot import makes the whole list
    # unreadable there (ModuleNotFoundError at every call, until the folder is deleted).
    kept = FOLDER is not None and not numba.core.config.DISABLE_JIT  # type: ignore[attr-defined]
    packages = [root.package for root in ROOTS]
    if kept and cls.__module__.split(".")[0] not in (*packages, "__main__"):
        raise TypeError(
            f"{cls.__module__}.{cls.__qualname__} is not of the package {packages[0]}: put its"
            f" file into {ROOTS[0].folder}, whose machine code is kept together"
        )


def by_class(stub: Callable[..., Any]) -> Any:
    """A function with one body per class of its first argument, in Python and in kernels alike.

    Bodies are added with `@name.register(Class)`, where the class is a NamedTuple of this package
    (or of `__main__`, a notebook). The stub's own body serves the classes that registered none.
    """
    bodies: dict[type, Callable[..., Any]] = {}

    @wraps(stub)
    def call(first: Any, *rest: Any) -> Any:
        return bodies.get(type(first), stub)(first, *rest)

    @overload(call, strict=False, jit_options=INLINED)
    def choose(first: Any, *rest: Any) -> Callable[..., Any]:
        return bodies.get(getattr(first, "instance_class", None), stub)  # type: ignore[arg-type]

    def register(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        _refuse_foreign(cls)

        def add(body: Callable[..., Any]) -> Callable[..., Any]:
            if cls in bodies:
                raise TypeError(f"{stub.__name__}: {cls.__qualname__} is registered already")
            bodies[cls] = body
            return body

        return add

    call.register = register  # type: ignore[attr-defined]
    return call


def in_kernels(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What kernels compile for a plain function; called from Python that is what it was."""

    def add(body: Callable[..., Any]) -> Callable[..., Any]:
        @overload(plain, strict=False, jit_options=INLINED)
        def choose(*_: Any) -> Callable[..., Any]:
            return body

        return body

    return add
