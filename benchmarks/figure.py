"""Time and memory of the commands of figures, each in its own process, split into parts.

Cold: neither machine code nor results are cached. Warm: both are. `compile` is the time during
which a kernel is being compiled; runs that other threads play meanwhile count there, not under
`play`.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kernels import Measured

FIGURE = "adap-ksweep"
STARTED = "DPBANDITS_BENCH_STARTED"
PARTS = {
    "start-up": "s",
    "compile": "s",
    "play": "s",
    "draw": "s",
    "whole command": "s",
    "peak memory": "MB",
}
SHARES = ("start-up", "compile", "play", "draw")


def timed(function: Callable[..., Any], into: dict[str, float], part: str) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            into[part] = time.perf_counter() - start

    return call


def child(figure: str, overrides: list[str]) -> None:
    """Do what `dpbandits run` does, timing its parts; print the times as JSON in the last line."""
    from numba.core import event

    from dpbandits.config import compose
    from dpbandits.factory import produce
    from dpbandits.run import runner

    spec, settings = compose.load(figure, overrides)
    parts = {"start-up": time.time() - float(os.environ[STARTED]), "compile": 0.0}
    runner.compute = timed(runner.compute, parts, "play")
    with event.install_timer("numba:compile", lambda spent: parts.update(compile=spent)):
        whole = timed(produce.produce, parts, "draw")
        if whole(spec, settings):
            raise SystemExit(1)
    parts["draw"] -= parts["play"]
    parts["play"] -= parts["compile"]
    parts["peak memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(parts))


def run(folder: Path, figure: str, overrides: Sequence[str]) -> dict[str, float]:
    paths = [f"paths.cache={folder / 'cache'}", f"paths.out={folder / 'out'}"]
    environment = {**os.environ, "DPBANDITS_CACHE": str(folder / "code"), STARTED: str(time.time())}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, figure, *overrides, *paths],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - start
    return {**json.loads(done.stdout.splitlines()[-1]), "whole command": whole}


def measure(overrides: Sequence[str]) -> Iterator[Measured]:
    """Measure the command of FIGURE with empty caches, then again."""
    with tempfile.TemporaryDirectory() as folder:
        for state in ("cold", "warm"):
            parts = run(Path(folder), FIGURE, overrides)
            for part, unit in PARTS.items():
                yield Measured(f"figure {FIGURE}", state, part, parts[part], unit)


def measure_each(figures: Sequence[str], overrides: Sequence[str]) -> Iterator[Measured]:
    """Measure every figure in turn from empty caches, with the shares of its parts; then all again.

    As with `make all`, a figure reuses the results and the machine code of the figures before it,
    but each runs in its own process.
    """
    group = "every figure in turn, cold; shares of it; and again"
    parts_of: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, figure in enumerate(figures, 1):
            print(f"{number}/{len(figures)} {figure}", file=sys.stderr)
            parts_of[figure] = run(Path(folder), figure, overrides)
        for figure, parts in parts_of.items():
            parts["cold"] = parts["whole command"]
            parts["again"] = run(Path(folder), figure, overrides)["whole command"]
            yield from _row(group, figure, parts)
    parts = {part: sum(of[part] for of in parts_of.values()) for part in ("cold", *SHARES, "again")}
    yield from _row(group, "all of them", parts)


def _row(group: str, figure: str, parts: dict[str, float]) -> Iterator[Measured]:
    yield Measured(group, figure, "cold", parts["cold"], "s")
    for part in SHARES:
        yield Measured(group, figure, part, 100.0 * parts[part] / parts["cold"], "%")
    yield Measured(group, figure, "again", parts["again"], "s")


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2:])
