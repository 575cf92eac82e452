"""Decorators for compiled code: kernels, inlined helpers, functions dispatched on a class.

No other module calls numba's decorators. numba's disk cache watches only the file of the decorated
function: after an edit of a helper in another file it still serves the old machine code, in which
global values are constants. Machine code is therefore kept in a folder named by a digest of all
sources that are compiled, of dpbandits, plugins and the user's project, of the libraries that these
import, and of the files that they have read.
"""

import hashlib
import json
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial, wraps
from pathlib import Path
from secrets import token_hex
from types import FunctionType
from typing import Any

from dpbandits.kernel import libraries, loading, roots
from dpbandits.kernel.errors import variables_of

with variables_of("numba", "NUMBA_"):
    import numba
    import numpy as np
    from numba.extending import overload, register_jitable

log = logging.getLogger("dpbandits")
KEPT: list[Any] = []  # kernels whose machine code is kept
settings: Any = numba.config
Function = Callable[..., Any]

# No wrapper for C callers: there are none, and it takes time to compile. A division by zero gives
# inf or nan, as in NumPy: the exit path of Python's exception prevents vectorised loops and makes
# numba count references in every round (up to 5 times slower). Plain Python, in which the contract
# tests play every algorithm, still raises.
KERNEL: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
# Not `inline="always"`: used on kernels and in an overload together, it silently drops statements.
# No wrapper for Python, which calls the plain function.
ALLOCATING: Any = {**KERNEL, "forceinline": True, "no_cpython_wrapper": True}
# Without numba's reference counts. In a loop with a branch that LLVM cannot look through, it would
# count the references to all arrays of the bandit in every round (3 times slower).
INLINED: Any = {**ALLOCATING, "_nrt": False}


def checked(function: Function, options: Any) -> Any:
    """Add the option by which code of a user checks every index: one of nan corrupts memory."""
    return options | {"boundscheck": function.__module__.partition(".")[0] != "dpbandits"}


def allocating(function: Function) -> Function:
    """Mark a helper that kernels inline and that creates arrays; in Python, it is plain Python."""
    marked: Function = register_jitable(**checked(function, ALLOCATING))(function)
    return marked


def inlined(function: Function) -> Function:
    """Mark one that creates no arrays: numba would raise an error that speaks of "NRT"."""
    marked: Function = register_jitable(**checked(function, INLINED))(function)
    return marked


def kernel(function: Function) -> Function:
    """Compile a function that releases the GIL, and keep its machine code on disk.

    Code of a function outside the kernel island and all other roots is not kept: the name of the
    folder does not cover its source. Nor could another process load the code of a closure around a
    kernel (see `kernel_around`).
    """
    package, _, rest = function.__module__.partition(".")
    path = f"{rest.replace('.', '/')}.py"
    every_root = roots.discovery().roots
    covered = any(root.package == package and root.compiles(path) for root in every_root)
    if kept := covered and folder() is not None:
        settings.CACHE_DIR = str(folder())  # for what is decorated next
    compiled: Function = numba.njit(**checked(function, KERNEL), cache=kept)(function)
    if kept and hasattr(compiled, "enable_caching"):  # compiled at all
        KEPT.append(compiled)
    return compiled


def keep_apart() -> None:
    """Keep machine code from now on in the folder for all files that sources have read by now."""
    if (kept := folder()) is not None and str(kept) != settings.CACHE_DIR:
        settings.CACHE_DIR = str(kept)
        for compiled in KEPT:
            compiled.enable_caching()


loading.AFTERWARDS.append(keep_apart)


def play(params: Any, bandit: Any, rng: Any) -> None:
    """Stand for the policy in a body that `kernel_around` completes."""
    raise NotImplementedError


def kernel_around(policy: Function, body: Any) -> Function:
    """Compile a body in which the global name `play` stands for a policy that is a kernel.

    The machine code is kept beside the policy's.
    """
    function = FunctionType(body.__code__, body.__globals__ | {"play": policy}, body.__name__)
    function.__module__ = policy.__module__
    function.__qualname__ = f"{body.__name__}.{policy.__module__}"
    return kernel(function)


def specialised(function: Function, *arguments: Any) -> Function:
    """Return the machine code of a kernel for the types of these arguments, compiled or loaded.

    It takes arguments of these types only. Any other function is returned as it is.
    """
    if not hasattr(function, "compile"):
        return function
    kernel: Any = function
    types = tuple(map(numba.typeof, arguments))
    try:
        compiled: Function = kernel.compile(types)
        # Two processes that compile a kernel for different types at the same time may have stored
        # both codes under one name: this may be the other one's.
        if types in kernel.overloads:
            return compiled
    except OSError:  # a full disk, or another obstacle to keeping the code
        pass
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if not any(Path(frame.filename).name == "caching.py" for frame in frames):
            raise
        # Damaged, be it the code of this kernel or of one that it calls: compile both again.
        if (kept := folder()) is not None:
            # Another thread or process may have moved it first.
            with suppress(FileNotFoundError):
                kept.replace(kept.with_name(f"{kept.name}.damaged-{token_hex(4)}"))
                log.warning("the machine code in %s cannot be read (%s): set aside", kept, error)
    alone: Function = numba.njit(**checked(kernel.py_func, KERNEL))(kernel.py_func).compile(types)
    return alone


def by_class(stub: Function, allocating: bool = False) -> Any:
    """Dispatch a function on the class of its first argument, in Python and in kernels alike.

    `@name.register(Class)` adds a body, where the class is a NamedTuple defined in this package,
    in another root or in `__main__` (a notebook). Classes without a body of their own use that of
    the stub. Bodies create arrays only if `allocating`. Raises TypeError for a second body of a
    class and, if machine code is cached, for a class or a body that is of no root.
    """
    bodies: dict[type, Function] = {}

    @wraps(stub)
    def call(first: Any, *rest: Any) -> Any:
        return bodies.get(type(first), stub)(first, *rest)

    @overload(call, strict=False, jit_options=ALLOCATING if allocating else INLINED)
    def choose(first: Any, *rest: Any) -> Function:
        return bodies.get(getattr(first, "instance_class", None), stub)  # type: ignore[arg-type]

    def add(cls: type, body: Function) -> Function:
        if cls in bodies:
            raise TypeError(f"{stub.__name__}: {cls.__qualname__} is registered already")
        # The digest of the machine code does not cover the sources of other packages, and a later
        # process may be unable to import their classes, or would run a body in its absence. numba
        # keeps nothing of a class of __main__.
        packages = {str(part.__module__).partition(".")[0] for part in (cls, body)}
        every_root = roots.discovery().roots
        foreign = packages - {root.package for root in every_root}
        if foreign and cls.__module__ != "__main__" and folder() is not None:
            raise TypeError(
                f"{cls.__module__}.{cls.__qualname__} or its body {body.__qualname__} is neither of"
                " the package dpbandits nor of a project or plugin, whose machine code is kept"
                f" together: put its file into {every_root[-1].folder}"
            )
        bodies[cls] = body
        return body

    call.register = lambda cls: partial(add, cls)  # type: ignore[attr-defined]
    return call


@cache
def island_digest() -> str:
    """Return a digest of all sources that are compiled and of the versions of the compiler.

    The sources, and the libraries that those outside dpbandits import, are those that this process
    has read; 16 hexadecimal digits of SHA-256.
    """
    every_root = roots.discovery().roots
    versions = sys.version, numba.__version__, np.__version__, settings.USING_SVML
    digest = hashlib.sha256(repr(versions).encode())
    for root in every_root:
        for path, content in root.sources().items():
            if root.compiles(path):
                digest.update(f"\0{root.package}/{path}\0".encode() + content)
    texts = (content for root in every_root[1:] for content in root.sources().values())
    if used := libraries.states(texts, [root.package for root in every_root]):
        digest.update(repr(used).encode())
    return digest.hexdigest()[:16]


def user_cache() -> Path:
    """Return the user's cache folder of this project; the variable DPBANDITS_CACHE moves it."""
    if setting := os.environ.get("DPBANDITS_CACHE"):
        return Path(setting).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    # The XDG specification requires that a relative path is ignored.
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "dpbandits"


def folder() -> Path | None:
    """Create and return the folder of machine code; None if it cannot be used."""
    name = island_digest()
    if read := {source: files for source, files in loading.BOOKED.items() if files}:
        described = f"{name} {json.dumps(read, sort_keys=True)}"
        name = hashlib.sha256(described.encode()).hexdigest()[:16]
    return _folder(name)


@cache
def _folder(name: str) -> Path | None:
    """Create and return the folder of this name; None if it cannot be used.

    Reading machine code unpickles it, so that whoever can write there can run any code.
    """
    try:
        kept = user_cache() / "kernels" / name
        for path in (kept.parent, kept):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            state = path.stat()
            if state.st_uid not in (0, os.geteuid()) or state.st_mode & 0o022:
                raise PermissionError(f"other users can write to {path}")
        with tempfile.TemporaryFile(dir=kept):
            return kept
    except (OSError, RuntimeError) as error:  # RuntimeError: a `~` without a home folder
        setting = os.environ.get("DPBANDITS_CACHE")
        log.warning(
            "the machine code cannot be kept, every start compiles it again, for seconds (%s%s);"
            " set DPBANDITS_CACHE to a folder that you and nobody else can write",
            f"DPBANDITS_CACHE={setting}: " if setting else "",
            error,
        )
        return None
