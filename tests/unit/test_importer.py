"""Modules are executed from the sources that were read when the import of their package began."""

import importlib
import importlib.util
import inspect
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dpbandits.core import importer, roots
from dpbandits.core.roots import ROOTS, Root

FILES = {"__init__.py": "", "one.py": "X = 1\n", "deep/__init__.py": "X = 2\n", "deep/two.py": ""}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder of the package made_up, whose sources have been read and not yet imported."""
    folder = tmp_path / "first" / "made_up"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    install(folder, monkeypatch)
    yield folder
    forget()


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "ROOTS", (Root("made_up", folder),))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.syspath_prepend(str(folder.parent))
    importer.install()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "made_up"]:
        del sys.modules[name]


def load(name: str) -> ModuleType:
    return importlib.import_module(f"made_up.{name}")


def bytecode(module: ModuleType) -> Path:
    assert module.__file__
    return Path(importlib.util.cache_from_source(module.__file__))


def test_every_module_of_this_package_comes_from_the_importer() -> None:
    others = {"dpbandits.core"} | {
        f"dpbandits.core.{name}" for name in ("importer", "own_project", "plugins", "roots")
    }
    seen = 0
    for name, module in list(sys.modules.items()):
        if name.startswith("dpbandits.") and name not in others:
            assert isinstance(module.__loader__, importer._Loader), name
            seen += 1
    assert seen > 5
    assert not ROOTS[0].is_edited()


def test_modules_and_packages_are_imported_and_described_as_usual(package: Path) -> None:
    deep = load("deep")
    assert (load("one").X, deep.X) == (1, 2)
    assert deep.__path__ == [str(package / "deep")]
    assert deep.__file__ == str(package / "deep" / "__init__.py")
    assert load("deep.two").__package__ == "made_up.deep"
    assert inspect.getsource(load("one")) == FILES["one.py"]


def test_an_edit_before_the_import_of_a_module_does_not_reach_it(package: Path) -> None:
    (package / "one.py").write_text("X = 3\n")
    (package / "deep" / "__init__.py").unlink()
    assert (load("one").X, load("deep").X) == (1, 2)


def test_a_module_that_is_new_is_refused_in_one_line(package: Path) -> None:
    (package / "three.py").write_text("X = 3\n")
    with pytest.raises(ImportError, match=r"three\.py is new since this process started; start"):
        load("three")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'made_up\.four'"):
        load("four")


def test_bytecode_is_written_and_read(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = bytecode(load("one"))
    assert kept.is_file()
    forget()
    monkeypatch.setattr(importer._Loader, "source_to_code", None)
    assert load("one").X == 1


@pytest.mark.parametrize("content", [b"", b"damaged", None])
def test_bytecode_that_is_damaged_is_replaced(package: Path, content: bytes | None) -> None:
    kept = bytecode(load("one"))
    sound = kept.read_bytes()
    kept.write_bytes(sound[:-3] if content is None else content)
    forget()
    assert load("one").X == 1
    assert kept.read_bytes() == sound


def test_bytecode_of_another_source_of_the_same_size_and_time_is_replaced(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("one")
    forget()
    file = package / "one.py"
    status = file.stat()
    file.write_text("X = 7\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    monkeypatch.setattr(roots, "_read", roots._read.__wrapped__)  # as in a new process
    assert load("one").X == 7


def test_bytecode_of_a_folder_that_was_moved_is_replaced(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("one")
    forget()
    moved = tmp_path / "second" / "made_up"
    shutil.copytree(package, moved)
    install(moved, monkeypatch)
    assert str(moved).encode() in bytecode(load("one")).read_bytes()
