"""Figures in turn: the next one's runs begin before the one before is complete."""

import dataclasses
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpbandits.cells.bandit_cell import Cell
from dpbandits.core.errors import UserError
from dpbandits.run import runner
from dpbandits.run.in_turn import Begun, InTurn, Waiting
from dpbandits.run.missing_runs import Completing, Completion

Simulated = tuple[np.ndarray, np.ndarray]


def settings_of(folder: Path, workers: int = 2, cluster: Any = None) -> Any:
    return SimpleNamespace(cache=folder / "cache", block=1, workers=workers, cluster=cluster)


def waiting(runs_of: dict[Any, int], settings: Any, folder: Path) -> Waiting[Completion]:
    def begin() -> Begun[Completion]:
        completing = Completing(runs_of, settings, "test", folder)
        return Begun(completing, completing.finish)

    return Waiting(runs_of.keys(), begin)


@pytest.fixture
def cells(cell: Cell) -> list[Cell]:
    return [dataclasses.replace(cell, seed=seed) for seed in (1, 2, 3)]


def made_up(cell: Cell, runs: range) -> Simulated:
    return np.full((len(runs), len(cell.checkpoints())), float(cell.seed)), np.full(len(runs), 0.1)


class Side:
    """Stand-in for the play of a task, which waits for another cell to be played beside it."""

    def __init__(self, last: Cell, beside: Cell) -> None:
        self.last, self.beside = last, beside
        self.met = threading.Event()
        self.lock = threading.Lock()
        self.now = self.most = 0

    def simulate(self, cell: Cell, runs: range) -> Simulated:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        if cell == self.beside:
            self.met.set()
        if cell == self.last and runs.start == 3:
            self.met.wait(20)
        with self.lock:
            self.now -= 1
        return made_up(cell, runs)


def test_the_last_task_of_a_figure_plays_beside_the_next_figure(
    cells: list[Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = Side(cells[0], cells[1])
    monkeypatch.setattr(runner, "simulate", side.simulate)
    settings = settings_of(tmp_path)
    figures = InTurn([waiting({cell: 4}, settings, tmp_path) for cell in cells])
    for cell in cells:
        completion = figures.finish_next()
        assert (completion.computed, completion.failures) == (4, ())
        assert (completion.store.load(cell, 4) == cell.seed).all()
    assert side.met.is_set()
    assert side.most == 2  # figures share the workers


def test_a_cell_that_both_figures_have_is_played_once(
    cells: list[Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = list[tuple[int, int]]()

    def simulate(cell: Cell, runs: range) -> Simulated:
        played.append((cell.seed, runs.start))
        return made_up(cell, runs)

    monkeypatch.setattr(runner, "simulate", simulate)
    settings = settings_of(tmp_path)
    figures = InTurn(
        [
            waiting({cells[0]: 4, cells[1]: 4}, settings, tmp_path),
            waiting({cells[1]: 6, cells[2]: 2}, settings, tmp_path),
        ]
    )
    assert [figures.finish_next().computed for _ in range(2)] == [8, 4]
    assert len(played) == len(set(played)) == 12


class Stub:
    """Figure without runs that records when it begins and ends."""

    def __init__(
        self, name: str, events: list[str], cells: set[Any], on_threads: bool = True
    ) -> None:
        self.name, self.events, self.cells = name, events, cells
        self.completing: Any = SimpleNamespace(cells=cells, is_done=False, on_threads=on_threads)

    def begin(self) -> Begun[str]:
        self.events.append(f"{self.name} begins")
        return Begun(self.completing, self.finish)

    def finish(self, at_the_last: Callable[[], None]) -> str:
        at_the_last()
        at_the_last()
        self.events.append(f"{self.name} is played")
        self.completing.is_done = True
        at_the_last()
        self.events.append(f"{self.name} is drawn")
        return self.name


@pytest.mark.parametrize(
    ("first", "second", "on_threads", "early"),
    [
        ({"x"}, {"y"}, True, True),
        ({"x"}, {"x", "y"}, True, False),
        ({"x"}, {"y"}, False, False),
    ],
    ids=["no cell in common", "a cell in common", "on a cluster"],
)
def test_the_next_figure_begins_as_early_as_it_may(
    first: set[Any], second: set[Any], on_threads: bool, early: bool
) -> None:
    events = list[str]()
    stubs = [Stub("A", events, first, on_threads), Stub("B", events, second, on_threads)]
    figures = InTurn([Waiting(stub.cells, stub.begin) for stub in stubs])
    assert [figures.finish_next(), figures.finish_next()] == ["A", "B"]
    begins, played = events.index("B begins"), events.index("A is played")
    assert (begins < played) is early
    assert begins < events.index("A is drawn")
    assert events.count("B begins") == 1


def test_two_figures_may_play_before_it_is_their_turn() -> None:
    events = list[str]()
    cells = {"A": {1}, "B": {2}, "C": {3}, "D": {4}, "E": {4, 5}, "F": {6}}
    stubs = [Stub(name, events, of_it) for name, of_it in cells.items()]
    figures = InTurn([Waiting(stub.cells, stub.begin) for stub in stubs])
    assert [figures.finish_next() for _ in stubs] == [*cells]
    place = {event: i for i, event in enumerate(events)}
    for begins, before in (("B", "A"), ("C", "A"), ("D", "B")):
        assert place[f"{begins} begins"] < place[f"{before} is played"]
    # A third one waits, and so does one that shares a cell with one that plays.
    assert place["A is drawn"] < place["D begins"]
    assert place["D is played"] < place["E begins"] < place["F begins"]


def test_an_error_of_a_beginning_is_raised_in_its_turn_and_stops_no_other() -> None:
    events = list[str]()

    def refuse(what: str) -> Begun[str]:
        raise UserError(f"cannot begin {what}")

    def named(stub: Stub) -> Waiting[str]:
        return Waiting(stub.cells, stub.begin)

    figures = InTurn(
        [
            Waiting(set(), partial(refuse, "A")),
            named(Stub("B", events, set())),
            Waiting(set(), partial(refuse, "C")),
            named(Stub("D", events, set())),
        ]
    )
    outcomes = list[str]()
    for _ in range(4):
        try:
            outcomes.append(figures.finish_next())
        except UserError as error:
            outcomes.append(str(error))
    assert outcomes == ["cannot begin A", "B", "cannot begin C", "D"]
