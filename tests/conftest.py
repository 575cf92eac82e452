"""Shared fixtures of unit tests and slow tests: the checkout, interrupts, rows of measurements."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tests_shown

from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import git_revision

ROOT = Path(__file__).resolve().parents[1]
Row = Callable[[str, str, str], None]


@pytest.hookimpl(trylast=True)  # after pytest's own reporter, which shows it
def pytest_configure(config: pytest.Config) -> None:
    """Show the progress of the tests."""
    if tests_shown.is_wanted(config):
        config.pluginmanager.register(tests_shown.Shown(config))


@pytest.fixture(scope="session")
def root() -> Path:
    """Checkout that contains this file."""
    return ROOT


@pytest.fixture
def in_checkout(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the checkout, wherever pytest was started."""
    monkeypatch.chdir(root)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt this process and its children, also if pytest runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def row(root: Path, request: pytest.FixtureRequest) -> Row:
    """Return a function that records a measurement: the fault, the test's action, the result.

    It writes a file for the test, from which `scripts/make_reliability.py` makes a row of the table
    in docs/reliability.md. A test calls it last, so a failed test has no row.
    """
    file = root / "out" / "reliability" / f"{request.node.name}.json"
    file.unlink(missing_ok=True)
    begin = time.monotonic()

    def tell(fault: str, done: str, came: str) -> None:
        print(f"\n{fault}: {done} -> {came}")
        content = {
            "test": request.node.name,
            "revision": git_revision(),
            "seconds": round(time.monotonic() - begin, 1),
            **{"fault": fault, "done": done, "came": came},
        }
        write_atomically(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())

    return tell
