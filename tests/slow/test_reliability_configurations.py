"""Two hundred wrong configurations: one line each, and no work begins."""

import contextlib
import io
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import mistakes
import pytest
from complaints import readable
from hypothesis import HealthCheck, Phase, given, seed, settings
from mistakes import Mistake

from dpbandits.cli import main

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

EXAMPLES, DISTINCT, SEED = 320, 200, 25

Row = Callable[[str, str, str], None]


class Left(BaseException):
    """The command has ended, with a status."""


def leave(status: int) -> None:
    raise Left(status)


def play(*arguments: object) -> None:
    raise AssertionError("a mistake was played")


@pytest.fixture
def commands_that_return(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the command end with an exception instead of the process, and never play."""
    monkeypatch.setattr("os._exit", leave)
    monkeypatch.setattr("dpbandits.run.runner.Playing", play)
    monkeypatch.delenv("ZZ_NOT_SET", raising=False)
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def copied(root: Path, folder: Path) -> Path:
    """Return a copy of conf/ and figures/ alone."""
    shutil.copytree(root / "conf", folder / "conf")
    shutil.copytree(
        root / "figures", folder / "figures", ignore=shutil.ignore_patterns("reference", "__*")
    )
    return folder


def files(folder: Path) -> dict[Path, bytes]:
    """Return everything below a folder, including folders."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def answer(typed: tuple[str, ...]) -> tuple[int, str, str]:
    """Return status, output and errors of `dpbandits run <typed>`."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["dpbandits", "run", *typed])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main.main()
            except Left as left:
                return left.args[0], out.getvalue(), err.getvalue()
    raise AssertionError("the command has not ended")


@pytest.mark.usefixtures("commands_that_return")
def test_malformed_configurations_are_one_line_each_and_leave_nothing(
    root: Path, tmp_path: Path, row: Row
) -> None:
    tried: list[Mistake] = []
    longest = 0
    begin = time.monotonic()

    @seed(SEED)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(mistake=mistakes.mistakes)
    def refused(mistake: Mistake) -> None:
        nonlocal longest
        folder = copied(root, tmp_path / str(len(tried)))
        tried.append(mistake)
        if mistake.file is not None:
            assert (folder / mistake.file).read_bytes() != mistake.content
            (folder / mistake.file).write_bytes(mistake.content)
        before = files(folder)
        with contextlib.chdir(folder):
            status, out, err = answer(mistake.typed)
        assert (status, out) == (2, "")
        assert err.startswith("dpbandits: ")
        readable(err.removeprefix("dpbandits: ").removesuffix("\n"))
        assert files(folder) == before
        longest = max(longest, len(err))
        shutil.rmtree(folder)

    refused()
    distinct, kinds = len(set(tried)), Counter(mistake.kind for mistake in tried)
    assert distinct >= DISTINCT
    in_files = sum(mistake.file is not None for mistake in tried)
    row(
        "Malformed configurations",
        f"{len(tried)} from a generator (seed {SEED}), {distinct} of them distinct, {in_files} in"
        f" files and {len(tried) - in_files} on the command line, of {len(kinds)} kinds; invalid by"
        " construction",
        f"{len(tried)} rejected with one line and status 2; 0 accepted, 0 tracebacks, 0 files"
        f" written; the longest line has {longest} characters;"
        f" {time.monotonic() - begin:.0f} s",
    )
