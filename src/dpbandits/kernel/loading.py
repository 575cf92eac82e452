"""Loader that runs the sources of projects and plugins exactly as keys hold them.

It compiles the bytes of which the digests are taken; bytecode on disk is neither read nor written.
While a module executes, every file that its code opens for reading is booked to it, with a digest
of the content. An import that the module makes is not its own reading: keys follow imports by
themselves. Files that are opened without Python, as HDF5 does, are not seen.
"""

import hashlib
import inspect
import os
import site
import stat
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import source_from_cache, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

# Digests of the files that sources opened, None for one that was not there, by path.
Booked = dict[str, dict[str, str | None]]
BOOKED: Booked = {}  # while modules executed, by the path of the source
AFTERWARDS: list[Callable[[], None]] = []  # what is called after each of them

MACHINE_CODE = (".nbi", ".nbc")  # of numba, in a folder named by the digest of the sources
NOT_FILES = ("/dev", "/proc", "/sys")
SOURCES: set[str] = set()  # paths of all that is loaded here
FOLDERS: list[str] = []  # of projects and plugins
_into = threading.local()  # `booked`: where this thread books what it opens


class Loader(SourceFileLoader):
    """Loader of a source from the bytes that its root has read."""

    def __init__(self, fullname: str, path: str, content: bytes) -> None:
        super().__init__(fullname, path)
        self.content = content

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        code: CodeType = self.source_to_code(self.content, self.path)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module and book the files that it opens."""
        BOOKED[self.path] = {}
        with booking(BOOKED):
            super().exec_module(module)
        for function in AFTERWARDS:
            function()


class Finder(MetaPathFinder):
    """Finder of the sources of some packages; it leaves all other modules to Python.

    The packages are given by name, each with its folder and the sources below it.
    """

    def __init__(self, packages: Mapping[str, tuple[Path, Mapping[str, bytes]]]) -> None:
        self.packages = packages
        for folder, sources in packages.values():
            FOLDERS.append(str(folder))
            SOURCES.update(str(folder / path) for path in sources)
        _listen()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module that is such a source, else None."""
        package, *parts = fullname.split(".")
        folder, sources = self.packages.get(package, (Path(), {}))
        for below in ("/".join([*parts, "__init__.py"]), "/".join(parts) + ".py"):
            if (content := sources.get(below)) is not None:
                loader = Loader(fullname, str(folder / below), content)
                return spec_from_file_location(fullname, loader.path, loader=loader)
        return None


@contextmanager
def booking(booked: Booked) -> Iterator[None]:
    """Book there what sources open for reading in this thread meanwhile."""
    before = getattr(_into, "booked", None)
    _into.booked = booked
    try:
        yield
    finally:
        _into.booked = before


def digest(path: str) -> str | None:
    """Return a digest of a file's content, 16 hexadecimal digits; None if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError:
        return None


@cache
def _listen() -> None:
    # Once in a process, which cannot get rid of a hook.
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or (booked := getattr(_into, "booked", None)) is None:
        return
    name, _, flags = arguments
    if isinstance(name, int) or flags & os.O_ACCMODE == os.O_WRONLY:
        return
    if flags & (os.O_TRUNC | os.O_EXCL) or (readers := _readers()) == set():
        return
    _into.booked = None
    try:
        path = os.path.normpath(Path(os.fsdecode(name)).absolute())
        if path.endswith(".pyc"):
            path = source_from_cache(path)
        if not _is_ignored(path):
            content = digest(path)
            for reader in readers:
                booked.setdefault(reader, {}).setdefault(path, content)
    except ValueError:  # bytecode of no source, or no path
        pass
    finally:
        _into.booked = booked


def _readers() -> set[str]:
    # The sources whose code is being executed, up to the innermost import.
    files, frame = set(), inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "_find_and_load":
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return files & SOURCES


def _is_ignored(path: str) -> bool:
    # The innermost folder decides: plugins are installed among libraries.
    def inside(folders: Iterable[str]) -> int:
        return max((len(f) for f in folders if path.startswith(f"{f}/")), default=0)

    if path in SOURCES or path.endswith(MACHINE_CODE) or inside(NOT_FILES):
        return True
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return True
    except OSError:  # that it is absent counts
        pass
    return inside(_libraries()) > inside(FOLDERS)


@cache
def _libraries() -> frozenset[str]:
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    here = Path(__file__).parents[1]  # dpbandits
    installed = (*site.getsitepackages(), site.getusersitepackages(), str(here))
    return frozenset({*map(sysconfig.get_path, kinds), *installed})
