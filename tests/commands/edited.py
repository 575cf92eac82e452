"""`python edited.py`: run scenarios in which a source is edited, each in a fork of this process.

This process imports the libraries once, and dpbandits never. A fork imports the copy of the package
that its scenario names, as a new process would. test_edited_sources.py writes scenarios to the
standard input, one in a line, and reads exit statuses from the standard output.

The MARKED files of the copy end with a constant MARK. A stand-in plays all cells: its curves hold
the marks of the modules that this process has imported. An edit replaces mark 1 by 2.
"""

import importlib
import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import commands

MARKED = ("algorithms/dp_se.py", "mechanisms/laplace.py", "audit/search.py")
LIBRARIES = ("hydra", "joblib", "matplotlib.figure", "numba", "scipy.stats", "yaml")


@dataclass(frozen=True)
class Scenario:
    """Command or library call in a fork, and the edit that disturbs it."""

    copy: str  # folder of the package
    folder: str  # of the cache and all outputs
    command: tuple[str, ...] = ()  # empty: plan and play CELLS through the library
    edited: str = MARKED[0]
    moment: str = ""  # name of a function that has just been called; empty: no such edit
    event: int = -1  # number of an audit event, counted from the import of dpbandits on

    def write_to(self, stream: Any) -> None:
        """Write the scenario as a line."""
        stream.write(json.dumps(asdict(self)) + "\n")
        stream.flush()


def with_mark(text: str, mark: int) -> str:
    """Return the text of a marked file with a mark; its size is always the same."""
    return f"{text.partition('MARK = ')[0]}MARK = {mark}\n"


def mark(file: Path, number: int) -> None:
    """Write a mark and keep the time of the file, as an unlucky checkout does."""
    status = file.stat()
    file.write_text(with_mark(file.read_text("utf-8"), number), "utf-8")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


# In the fork --------------------------------------------------------------------------------------


def simulate(cell: Any, runs: range) -> Any:
    """Play as the stand-in: return the marks as digits, in every run and column."""
    import numpy as np

    from dpbandits.store import fingerprint

    value = 0
    for name in MARKED:
        if name in fingerprint.sources(cell.roots):
            module = f"dpbandits.{name.removesuffix('.py').replace('/', '.')}"
            value = 10 * value + importlib.import_module(module).MARK
    return np.full((len(runs), cell.columns), float(value)), np.full(len(runs), 1e-6)


def play_stand_ins() -> None:
    """Let the stand-in play all cells."""
    from dpbandits.audit import audits
    from dpbandits.cells import play_stopping_rule
    from dpbandits.run import runner

    for module in (runner, play_stopping_rule, audits):
        vars(module)["simulate"] = simulate


def draw_nothing() -> None:
    """Write empty pictures: drawing takes longer than all else."""
    from dpbandits.drawing import plotting

    vars(plotting)["render"] = lambda *_, **__: dict.fromkeys(plotting.FORMATS, b"")


def after_call(name: str, act: Callable[[], None]) -> None:
    """Act once, after the first call of a function."""
    module, _, attribute = name.rpartition(".")
    owner: Any = importlib.import_module(module.removesuffix(".Store"))
    owner = owner.Store if module.endswith(".Store") else owner
    real, calls = getattr(owner, attribute), count()

    def call(*arguments: Any, **more: Any) -> Any:
        result = real(*arguments, **more)
        if next(calls) == 0:
            act()
        return result

    setattr(owner, attribute, call)


def count_events(act: Callable[[], None], at: int) -> Callable[[], int]:
    """Act at an audit event from now on; return a function that counts them."""
    numbers, latest = count(), 0

    def hook(name: str, arguments: Sequence[Any]) -> None:
        nonlocal latest
        latest = next(numbers)
        if latest == at:
            act()

    sys.addaudithook(hook)
    return lambda: latest


def play_cells(folder: Path, events: Callable[[], int]) -> None:
    """Plan and play two cells; write what this process reports about its sources."""
    from dpbandits.algorithms import dp_se
    from dpbandits.audit.cell import AuditCell
    from dpbandits.audit.subject import Subject
    from dpbandits.cells.bandit_cell import Cell, Grid
    from dpbandits.core import machine_code
    from dpbandits.environments import bernoulli
    from dpbandits.run import worker
    from dpbandits.run.missing_runs import complete

    play_stand_ins()
    horizon = 100
    two = bernoulli.Params((0.9, 0.5))
    subject = Subject("dp-se", (("epsilon", 1.0),))
    cells: list[Any] = [
        Cell("dp-se", dp_se.Params(1.0, horizon=horizon), "bernoulli", two, horizon, Grid.LOG, 1),
        AuditCell(subject, 1000, 1),
    ]
    settings: Any = SimpleNamespace(cache=folder / "cache", block=1, workers=1, cluster=None)
    complete(dict.fromkeys(cells, 1), settings, "test", folder)
    facts = {
        "events": events(),
        "folder": machine_code.FOLDER and machine_code.FOLDER.name,
        "island": worker.facts()[worker.ISLAND],
        "worker": [worker.sources_of(cell) for cell in cells],
    }
    (folder / "facts.json").write_text(json.dumps(facts))


def run(scenario: Scenario) -> None:
    """Run a scenario to its end."""
    folder = Path(scenario.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    sys.path.insert(0, str(Path(scenario.copy).parent))

    def edit() -> None:
        mark(Path(scenario.copy) / scenario.edited, 2)

    events = count_events(edit, scenario.event)
    if not scenario.command:
        play_cells(folder, events)
        return
    from dpbandits.cli.main import main
    from dpbandits.cli.process import load_factory

    load_factory()
    play_stand_ins()
    draw_nothing()
    if scenario.moment:
        after_call(f"dpbandits.{scenario.moment}", edit)
    sys.argv = [*scenario.command, *commands.below(folder)]
    if sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        main()


def serve() -> None:
    """Run the scenarios of the standard input one after the other."""
    for library in LIBRARIES:
        importlib.import_module(library)
    for line in sys.stdin:
        if not (child := os.fork()):
            end_with(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def end_with(fields: dict[str, Any]) -> NoReturn:
    """Run a scenario and end this process."""
    status = 1
    try:
        run(Scenario(**{**fields, "command": tuple(fields["command"])}))
        status = 0
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
