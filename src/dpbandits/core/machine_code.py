"""Folders in which numba keeps the machine code of kernels.

numba's disk cache watches only the file of the decorated function: after an edit of a helper in
another file it still serves the old machine code. Machine code is therefore kept in a folder named
by a digest of all sources of the kernel island (roots.ISLAND) from which this process compiles. All
checkouts and installed packages with the same sources of dpbandits share one folder.

That of a plugin or of the user's project, and of the package for their classes, is kept in a folder
named by a digest of all roots: the index of cached code names every class by its module, without
which a process could not read it. So code for classes of `__main__` is not kept at all.
"""

import hashlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpbandits.core.errors import variables_of
from dpbandits.core.roots import ROOTS, Root

with variables_of("numba", "NUMBA_"):
    import llvmlite
    import numba
    import numpy as np
    from numba.core.caching import FunctionCache
    from numba.core.sigutils import normalize_signature

log = logging.getLogger("dpbandits")

ROOM = 2**20  # bytes; more than the machine code of one figure takes


def island_digest(roots: Iterable[Root] = ROOTS) -> str:
    """Return a digest of the kernel island's sources and of the versions of Python and libraries.

    All of them are those that this process has imported. 16 hexadecimal digits of SHA-256.
    """
    settings: Any = numba.core.config
    versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
    digest = hashlib.sha256(f"{versions} {settings.USING_SVML}".encode())
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


def is_empty() -> bool:
    """Return True if machine code is kept, and none of the present sources is kept yet."""
    # numba makes folders when a kernel is decorated.
    return FOLDER is not None and not any(FOLDER.glob("*/*"))


FOLDER = machine_code_folder()
# The folder of all code that involves a plugin or the user's project.
FOREIGN_FOLDER = machine_code_folder(ROOTS) if FOLDER and len(ROOTS) > 1 else None


def folder_of(function: Callable[..., Any]) -> Path | None:
    """Return the folder in which the machine code of a function is kept, if it is."""
    return FOREIGN_FOLDER if is_foreign(function) else FOLDER


# Threads that import algorithms at the same time would otherwise set the folder for each other, and
# machine code would be written to the current folder.
_decorating = threading.Lock()


class ByModule:
    """Locator of numba's cache: the machine code of a module has a folder named by the module.

    numba's own locator names it by the path of the source file, so that a second checkout or an
    installed package with the same sources would compile all of them again. Code of plugins and
    projects stays with that locator, as it may depend on more than the sources, such as data files
    or the release of a library.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        settings: Any = numba.core.config
        self._path = Path(settings.CACHE_DIR, function.__module__)
        self._line = function.__code__.co_firstlineno
        self._py_file = file  # numba's warnings name it

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> "ByModule | None":
        """Return the locator of a function of dpbandits, whose folder exists, for numba.

        None for code that is kept elsewhere, also by other users of numba in other threads.
        """
        settings: Any = numba.core.config
        own = is_of_root(function) and not is_foreign(function)
        if not own or str(FOLDER) != settings.CACHE_DIR:
            return None
        locator = cls(function, file)
        locator.ensure_cache_path()
        return locator

    def ensure_cache_path(self) -> None:
        """Create the folder."""
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._path)

    def get_source_stamp(self) -> str:
        """Return a constant: the folder above is named by a digest of all sources."""
        return ""

    def get_disambiguator(self) -> str:
        """Return the line of the definition, by which functions of one name differ."""
        return str(self._line)


# The locators that numba tries in turn: this one, then its own.
_NUMBAS: Any = FunctionCache._impl_class
LOCATORS = ",".join(
    f"{each.__module__}.{each.__qualname__}" for each in (ByModule, *_NUMBAS._locator_classes)
)


@contextmanager
def kept_in(folder: Path | None) -> Iterator[None]:
    """Make numba keep the machine code of what is decorated inside in this folder."""
    # numba reads these settings while it decorates. They are set only for that moment, so that
    # other users of numba in this process keep theirs. Without a folder caching must be off: numba
    # would fall back to __pycache__, which goes stale. Releases of numba without
    # CACHE_LOCATOR_CLASSES use their own locators.
    settings: Any = numba.core.config
    ours = {"CACHE_DIR": str(folder or ""), "CACHE_LOCATOR_CLASSES": LOCATORS if folder else ""}
    with _decorating:
        before = {name: getattr(settings, name, "") for name in ours}
        vars(settings).update(ours)
        try:
            yield
        finally:
            vars(settings).update(before)


def keep_apart(function: Callable[..., Any], compiled: Any) -> None:
    """Make a kernel of the island keep and load machine code by the classes of its arguments.

    `compiled` is numba's dispatcher of the function, which has a cache on disk.
    """
    of_foreign = None
    _check_what_is_loaded(compiled._cache)
    if FOREIGN_FOLDER is not None and not is_foreign(function):
        with kept_in(FOREIGN_FOLDER):
            of_foreign = FunctionCache(function)  # type: ignore[no-untyped-call]
        _check_what_is_loaded(of_foreign)
    compiled._cache = _ByTypes(compiled._cache, of_foreign)


class _ByTypes:
    # Cache of a kernel: code for classes of other roots is kept in their folder, code for classes
    # of no root (a notebook's) in memory alone.

    def __init__(self, own: Any, of_foreign: Any) -> None:
        self.own, self.of_foreign = own, of_foreign

    def __getattr__(self, name: str) -> Any:  # all else that numba asks of a cache
        return getattr(self.own, name)

    def load_overload(self, types: Any, context: Any) -> Any:
        cache = self._of(types)
        return None if cache is None else cache.load_overload(types, context)

    def save_overload(self, types: Any, code: Any) -> None:
        if (cache := self._of(types)) is not None:
            cache.save_overload(types, code)

    def _of(self, types: Any) -> Any:
        arguments, _ = normalize_signature(types)  # type: ignore[no-untyped-call]
        packages = {package_of(cls) for kind in arguments for cls in _classes(kind)}
        if not packages <= {root.package for root in ROOTS}:
            return None
        is_own = self.of_foreign is None or packages <= {ROOTS[0].package}
        return self.own if is_own else self.of_foreign


def _classes(kind: Any) -> Iterator[type]:
    # The type of a NamedTuple has its class and the types of its fields, NamedTuples among them.
    if (cls := getattr(kind, "instance_class", None)) is not None:
        yield cls
    for field in getattr(kind, "types", ()):
        yield from _classes(field)


def is_of_root(member: Any) -> bool:
    """Return True if a function's source is one from which machine code is kept."""
    package, _, rest = member.__module__.partition(".")
    path = f"{rest.replace('.', '/')}.py"
    return any(root.package == package and root.compiles(path) for root in ROOTS)


def is_foreign(member: Any) -> bool:
    """Return True if a function or a class is of a plugin or of the user's project."""
    return any(root.package == package_of(member) for root in ROOTS[1:])


def package_of(member: Any) -> str:
    """Return the top package of a function or a class."""
    return str(member.__module__).partition(".")[0]


def _check_what_is_loaded(kept: Any) -> None:
    # Reject cached code that was compiled for other argument types. numba writes the index of
    # its cache and the code one after the other, so two processes that compile one kernel for
    # different classes at the same time may both take number 1 for their code. One class would
    # then run the other's code and return wrong numbers silently.
    load = kept.load_overload

    def load_checked(types: Any, context: Any) -> Any:
        code = load(types, context)
        return code if code is not None and code.signature.args == tuple(types) else None

    kept.load_overload = load_checked
