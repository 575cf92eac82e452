"""Decorators for compiled code: kernels, inlined helpers, functions dispatched on a class.

No other module calls numba's decorators. machine_code.py decides where machine code is kept.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from dpbandits.core import machine_code
from dpbandits.core.errors import variables_of
from dpbandits.core.roots import found

with variables_of("numba", "NUMBA_"):
    import numba
    from numba.core.errors import NumbaError
    from numba.extending import overload, register_jitable

# No wrapper for C callers: there are none, and it takes time to compile. A division by zero gives
# inf or nan, as in NumPy: the exit path of Python's exception prevents vectorised loops and makes
# numba count references in every round (up to 5 times slower). Plain Python, in which the contract
# tests play every algorithm, still raises.
KERNEL: Any = {"nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that releases the GIL, and keep its machine code on disk.

    Code of a function outside the kernel island and all other roots is not kept. Nor could another
    process load the code of a closure around a kernel (see `kernel_around`).
    """
    kept = machine_code.keep(function)
    compiled: Callable[..., Any] = numba.njit(**KERNEL, cache=kept)(function)
    stats = getattr(compiled, "stats", None)  # None with NUMBA_DISABLE_JIT=1
    if kept and stats and not stats.cache_path.startswith(str(machine_code.folder())):
        return _in_memory(function)  # __pycache__, to which numba falls back, goes stale
    return compiled


def _in_memory(function: Callable[..., Any]) -> Any:
    compiled: Callable[..., Any] = numba.njit(**KERNEL)(function)
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
    kernel: Any = function
    types = tuple(map(numba.typeof, arguments))
    try:
        compiled: Callable[..., Any] = kernel.compile(types)
    except NumbaError:
        raise
    except Exception as error:
        compiled = _in_memory(kernel.py_func).compile(types)  # raises if the kernel is at fault
        if not isinstance(error, OSError):  # such as a full disk
            machine_code.set_aside(error)
        return compiled
    if types not in kernel.overloads:
        # Two processes that compile a kernel for different types at the same time may have stored
        # both codes under one name: this is the other one's.
        compiled = _in_memory(kernel.py_func).compile(types)
    return compiled


# Not `inline="always"`: used on kernels and in an overload together, it silently drops statements.
ALLOCATING: Any = {
    **KERNEL,
    "forceinline": True,
    "no_cpython_wrapper": True,  # Python calls the plain function
}
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
    packages = [root.package for root in found().roots]
    if numba.config.DISABLE_JIT or machine_code.folder() is None:  # type: ignore[attr-defined]
        return
    if _package(member) not in (*packages, allowed):
        raise TypeError(
            f"{member.__module__}.{member.__qualname__} is neither of the package {packages[0]}"
            " nor of a project or plugin, whose machine code is kept together: put its file into"
            f" {found().roots[-1].folder}"
        )


def _package(member: Any) -> str:
    return str(member.__module__).partition(".")[0]


def by_class(stub: Callable[..., Any], allocating: bool = False) -> Any:
    """Dispatch a function on the class of its first argument, in Python and in kernels alike.

    `@name.register(Class)` adds a body, where the class is a NamedTuple defined in this package,
    in another root or in `__main__` (a notebook). Classes without a body of their own use that of
    the stub. `register` raises TypeError for a second body of a class and, if machine code is
    cached, for a class or a body that is of no root. Bodies that create arrays need `allocating`.
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
