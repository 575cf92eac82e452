"""A member with a broken file is rejected in one line that names the file and the line."""

import importlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from dpbandits.files import project
from dpbandits.kernel import registry, roots
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.roots import MARKER, PACKAGE, VARIABLE, Discovery, Root

Put = Callable[[str, str], None]
FINDERS: dict[str, Callable[[str], Any]] = {
    "algorithms": registry.algorithm,
    "environments": registry.environment,
    "stopping": registry.algorithm,
    "kinds": registry.kind,
}
TAKEN = {"algorithms": "ucb", "environments": "bernoulli", "stopping": "nas", "kinds": "stopping"}


@pytest.fixture(params=FINDERS)
def folder(request: pytest.FixtureRequest) -> str:
    """Name of the folder of a kind of members."""
    name: str = request.param
    return name


@pytest.fixture
def put(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Put]:
    """Write a file into the folder of a second root, own_project/<folder>."""
    root = Root("own_project", tmp_path / "own_project")
    for name in FINDERS:
        (root.folder / name).mkdir(parents=True)
    module = ModuleType(root.package)
    module.__path__ = [str(root.folder)]
    monkeypatch.setitem(sys.modules, root.package, module)
    monkeypatch.setattr(roots, "discovery", lambda: Discovery(None, (), (PACKAGE, root)))

    def write(name: str, text: str) -> None:
        (root.folder / folder / name).write_text(text, "utf-8")
        registry._members.cache_clear()
        roots._read_sources.cache_clear()
        importlib.invalidate_caches()

    yield write
    roots._read_sources.cache_clear()
    registry._members.cache_clear()
    registry._module.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_project"]:
        del sys.modules[name]


def message_about(folder: str) -> str:
    """Return the message that rejects the member my-own, in one line."""
    with pytest.raises(UserError) as caught:
        FINDERS[folder]("my-own")
    (line,) = str(caught.value).splitlines()
    return re.sub(rf"\S*own_project/{folder}", "FOLDER", line)


OWN = """
from __future__ import annotations
from typing import NamedTuple
LABEL = 'Own'
class Params(NamedTuple):
    epsilon: float = 1.0
play = arms = law = kind = print
"""


def test_a_project_or_checkout_of_another_user_is_used_only_if_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (MARKER, "conf/config.yaml", "figures/azize2022.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("package = 'made_up'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(project, "discovery", lambda: Discovery(None, (), (PACKAGE,)))
    assert (roots._project() or PACKAGE).folder == project.layers()[0] == tmp_path
    if os.geteuid():
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
    else:  # root's own files are trusted by all
        os.chown(tmp_path, 65534, -1)
    for find in (roots._project, project.layers):
        with pytest.raises(UserError, match=rf"^{tmp_path} belongs to another user.* {VARIABLE} "):
            find()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert (roots._project() or PACKAGE).folder == tmp_path


def test_a_second_root_adds_members(put: Put, folder: str) -> None:
    put("my_own.py", OWN)
    put("_shared.py", OWN)
    taken = TAKEN[folder]
    assert FINDERS[folder]("my-own") is not None
    family = next(family for family, folders in roots.MEMBERS.items() if folder in folders)
    found = [registry.member(family, name).shown for name in ("my-own", taken)]
    assert found[0].endswith(f"own_project/{folder}/my_own.py")
    assert found[1] == f"src/dpbandits/{folder}/{taken}.py"
    with pytest.raises(UserError, match="unknown"):
        FINDERS[folder]("-shared")


def test_a_member_of_a_taken_name_is_refused_with_both_files(put: Put, folder: str) -> None:
    put(f"{TAKEN[folder]}.py", OWN)
    line = message_about(folder)
    assert f"are named '{TAKEN[folder]}', src/dpbandits/{folder}/{TAKEN[folder]}.py and" in line
    assert f"FOLDER/{TAKEN[folder]}.py: rename one of them" in line


ANNOTATED = "    epsilon: float = 1.0"
BROKEN = {
    "from dpbandits.kernel import compilatoin": ", line 1: ImportError: cannot import name",
    "import math\n\nimport nonsense": ", line 3: ModuleNotFoundError: No module named 'nonsense'",
    "def play(params, bandit, rng)\n    pass": ", line 1: SyntaxError: expected ':'",
    "import json\n\njson.loads('{')": ", line 3: JSONDecodeError: Expecting",
    "assert False": ", line 1: AssertionError",
    "x = 1\nraise ValueError('one\\ntwo')": ", line 2: ValueError: one",
    "Params = 1\n": " must define ",
    OWN.replace(ANNOTATED, "    x: dict = {}"): ": Params.x is annotated with dict, which kernels",
    OWN.replace(ANNOTATED, "    x: list[int] = []"): ": Params.x is annotated with list, which",
    OWN.replace(ANNOTATED, "    x: Gone = 1"): ": the annotations of Params cannot be read: name",
    OWN.replace("(NamedTuple)", ""): ": Params must be a NamedTuple",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_cannot_be_used_is_named_with_line_and_reason(
    text: str, put: Put, folder: str
) -> None:
    if folder == "kinds" and text.startswith(OWN[:30]):
        pytest.skip("kinds have no Params")
    put("my_own.py", text)
    assert f"'my-own': FOLDER/my_own.py{BROKEN[text]}" in message_about(folder)


def test_an_error_in_a_shared_file_is_placed_there(put: Put, folder: str) -> None:
    put("_shared.py", "x = 1\n1 / 0\n")
    put("my_own.py", f"from own_project.{folder} import _shared")
    assert "FOLDER/_shared.py, line 2: ZeroDivisionError: division" in message_about(folder)
    put("my_own.py", "x = 1 \0")  # with null bytes the line is unknown
    assert "'my-own': FOLDER" in message_about(folder)
