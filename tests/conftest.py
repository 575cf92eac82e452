"""Shared fixtures: the checkout and copies of it, a small cell, an empty store, interrupts."""

import copy
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path

import composed
import pytest
from omegaconf import DictConfig

from dpbandits.algorithms import adap_ucb
from dpbandits.audit import designs
from dpbandits.config import compose
from dpbandits.environments import bernoulli
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.files import project
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import git_revision
from dpbandits.store.blocks import Store
from dpbandits.store.key import key

ROOT = Path(__file__).resolve().parents[1]
Row = Callable[[str, str, str], None]


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

    A test calls it last: a failed test has no row in the table of scripts/make_reliability.py.
    """
    file = root / "out" / "reliability" / f"{request.node.name}.json"
    file.unlink(missing_ok=True)
    begin = time.monotonic()

    def tell(fault: str, done: str, came: str) -> None:
        content = {"test": request.node.name, "revision": git_revision()}
        content |= {"seconds": round(time.monotonic() - begin, 1)}
        content |= {"fault": fault, "done": done, "came": came}
        write_atomically(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())

    return tell


@pytest.fixture
def cell() -> RegretExperiment:
    """RegretExperiment of 42 checkpoints that plays almost instantly."""
    instance = bernoulli.Params((0.9, 0.5))
    return RegretExperiment(
        "adap-ucb", adap_ucb.Params(1.0), "bernoulli", instance, 200, Grid.LOG, 1
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Empty store."""
    return Store(tmp_path / "cache")


@pytest.fixture
def short_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let audits play shorter games than usual, and fewer tables at the edge of a decision."""
    monkeypatch.setattr(designs, "SHORT", (8, 32))
    monkeypatch.setattr(designs, "EDGES", (0.1, 0.9))


@pytest.fixture
def fresh_keys() -> Iterator[None]:
    """Clear the keys that the process caches, before and after sources are changed."""
    key.cache_clear()
    yield
    key.cache_clear()


@pytest.fixture(scope="session", autouse=True)
def composed_by_hydra_once() -> Iterator[None]:
    """Let Hydra compose equal overrides once a process, unless a test works in a copy."""
    original = compose.composed
    kept = cache(original)

    @wraps(original)
    def compose_once(overrides: Sequence[str]) -> DictConfig:
        if project.layers() != (ROOT,):
            return original(overrides)
        return copy.deepcopy(kept(tuple(overrides)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compose, "composed", compose_once)
        yield


@pytest.fixture
def composed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Share composed figures also among the functions under test, which load them."""
    monkeypatch.setattr(compose, "load", composed.load)


@pytest.fixture
def checkout(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the checkout's conf/ and figures/, which a test may modify."""
    copy = tmp_path / "checkout"
    shutil.copytree(root / "conf", copy / "conf")
    shutil.copytree(root / "figures", copy / "figures", ignore=shutil.ignore_patterns("reference"))
    monkeypatch.chdir(copy)
    return copy
