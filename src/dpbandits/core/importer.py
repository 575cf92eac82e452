"""Import of modules from the sources that were read when the import of dpbandits began.

Python reads a source when its module is first imported, which may be minutes after another one, and
it trusts a .pyc file of the same size and second. Here every module is executed from the bytes in
Root.sources, of which the digests are taken. Compiled code is cached in .pyc files that are
validated by the content of the source. Python reads six files itself, immediately before this
begins: this one, roots.py, own_project.py, plugins.py and the `__init__.py` of the package and of
core/. They compute no number.
"""

import importlib.util
import marshal
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from dpbandits.core.roots import ROOTS

CHECKED = (0b11).to_bytes(4, "little")  # PEP 552: validated by the hash of the source


class _Loader(SourceFileLoader):
    # Loader of one module, whose source has been read.

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        # As in SourceFileLoader, but never validated by time and size.
        kept = importlib.util.cache_from_source(self.path)
        head = importlib.util.MAGIC_NUMBER + CHECKED + importlib.util.source_hash(self.source)
        try:
            content = self.get_data(kept)
            if content.startswith(head):
                code: CodeType = marshal.loads(content[len(head) :])
                if code.co_filename == self.path:  # else the folder has been moved or copied
                    return code
        except (OSError, EOFError, TypeError, ValueError):
            pass  # absent or damaged
        code = self.source_to_code(self.source, self.path)
        if not sys.dont_write_bytecode:
            self.set_data(kept, head + marshal.dumps(code))  # ignored where it cannot be written
        return code


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        root = next((root for root in ROOTS if root.package == package), None)
        if root is None:
            return None
        folder = f"{rest.replace('.', '/')}/" if rest else ""
        for name in (f"{folder}__init__.py", f"{folder[:-1]}.py"):
            if (source := root.sources().get(name)) is not None:
                file = str(root.folder / name)
                # A loader with `is_package` makes the search locations of a package.
                loader = _Loader(fullname, file, source)
                return importlib.util.spec_from_file_location(fullname, file, loader=loader)
        if any(name.startswith(folder) for name in root.sources()):  # a folder without __init__.py
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(root.folder / folder)]
            return spec
        found = PathFinder.find_spec(fullname, path)
        if found and found.origin and Path(found.origin).is_relative_to(root.folder):
            raise ImportError(
                f"{found.origin} is new since this process started; start the command again",
                name=fullname,
            )
        return None


def install() -> None:
    """Read the sources and import all further modules from them."""
    for root in ROOTS:
        root.sources()
    sys.meta_path.insert(0, _Finder())
