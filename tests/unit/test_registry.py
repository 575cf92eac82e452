"""A member whose file is broken is refused in one line that names the file and the line."""

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpbandits import algorithms, environments, stopping
from dpbandits.core import registry
from dpbandits.core.errors import UserError

Put = Callable[[str, str], None]


@pytest.fixture(params=[algorithms, environments, stopping], ids=["algorithm", "law", "rule"])
def put(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Put]:
    """Write a file that its package finds as one of its own, as in a checkout: src/<package>/."""
    package = request.param
    folder = tmp_path / "src" / "dpbandits" / package.__name__.rpartition(".")[2]
    folder.mkdir(parents=True)
    monkeypatch.setattr(package, "__path__", [str(folder)])
    modules = {*sys.modules}

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, "utf-8")
        registry._names.cache_clear()
        importlib.invalidate_caches()

    yield write
    registry._names.cache_clear()
    for name in {*sys.modules} - modules:
        if name.startswith(f"{package.__name__}."):
            del sys.modules[name]
            vars(package).pop(name.rpartition(".")[2], None)


def find(put: Put, name: str, request: pytest.FixtureRequest) -> str:
    """The message about a member."""
    kind = request.node.callspec.params["put"].__name__.rpartition(".")[2]
    asked = {
        "algorithms": registry.algorithm,
        "environments": registry.environment,
        "stopping": registry.stopping_rule,
    }
    with pytest.raises(UserError) as caught:
        asked[kind](name)
    (line,) = str(caught.value).splitlines()
    return line.replace(f"src/dpbandits/{kind}", "FOLDER")


BROKEN = {
    "from dpbandits.core.kernel import kernl": (
        "FOLDER/my_own.py, line 1: ImportError: cannot import name 'kernl' from"
        " 'dpbandits.core.kernel'"
    ),
    "import math\n\nimport nonsense": (
        "FOLDER/my_own.py, line 3: ModuleNotFoundError: No module named 'nonsense'"
    ),
    "def play(params, bandit, rng)\n    pass": (
        "FOLDER/my_own.py, line 1: SyntaxError: expected ':'"
    ),
    "\n  x = 1": "FOLDER/my_own.py, line 2: IndentationError: unexpected indent",
    "x = np.zeros(3)": "FOLDER/my_own.py, line 1: NameError: name 'np' is not defined",
    "import json\n\njson.loads('{')": "FOLDER/my_own.py, line 3: JSONDecodeError: Expecting",
    "assert False": "FOLDER/my_own.py, line 1: AssertionError",
    "x = 1\nraise ValueError('one\\ntwo')": "FOLDER/my_own.py, line 2: ValueError: one",
    "x = 1 \0": "FOLDER",  # which line is not known of a file with null bytes
    "from {package} import _shared": (
        "FOLDER/_shared.py, line 2: ZeroDivisionError: division by zero"
    ),
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_file_that_cannot_be_imported_is_named_with_line_and_reason(
    text: str, put: Put, request: pytest.FixtureRequest
) -> None:
    package = request.node.callspec.params["put"].__name__
    put("_shared.py", "x = 1\n1 / 0\n")
    put("my_own.py", text.replace("{package}", package))
    message = find(put, "my-own", request)
    assert f"'my-own': {BROKEN[text]}" in message


def test_a_file_that_lacks_what_every_member_has_is_named_with_it(
    put: Put, request: pytest.FixtureRequest
) -> None:
    put("my_own.py", "Params = 1\n")
    message = find(put, "my-own", request)
    assert "'my-own': FOLDER/my_own.py must define " in message
    assert "Params" not in message.partition("must define")[2]


def test_an_obstacle_that_has_its_own_words_keeps_them(
    put: Put, request: pytest.FixtureRequest
) -> None:
    put("my_own.py", "from dpbandits.core.errors import UserError\nraise UserError('set MPL')\n")
    assert find(put, "my-own", request) == "set MPL"
