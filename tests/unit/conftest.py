"""Shared fixtures of the unit tests: a small cell, an empty store, copies to modify."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import composed
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.audit import designs
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.config import compose
from dpbandits.environments import bernoulli
from dpbandits.store import blocks as store_module
from dpbandits.store.blocks import Store


@pytest.fixture
def cell() -> Cell:
    """Cell of 42 checkpoints that plays almost instantly."""
    instance = bernoulli.Params((0.9, 0.5))
    return Cell("adap-ucb", adap_ucb.Params(1.0), "bernoulli", instance, 200, Grid.LOG, 1)


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
    store_module.key.cache_clear()
    yield
    store_module.key.cache_clear()


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
