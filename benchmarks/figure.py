"""Seconds and memory of a figure's command in a process of its own, split into its parts.

Cold: neither machine code nor results. Warm: both are there. `compile` is the time in which a
kernel is being compiled; that other threads play meanwhile counts there and not under `play`.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
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


def timed(function: Callable[..., Any], into: dict[str, float], part: str) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            into[part] = time.perf_counter() - start

    return call


def child(overrides: list[str]) -> None:
    """What `dpbandits run` does, with a clock in hand; the last line printed is the times."""
    from numba.core import event

    from dpbandits import config, factory, runner

    spec, settings = config.load(FIGURE, overrides)
    parts = {"start-up": time.time() - float(os.environ[STARTED]), "compile": 0.0}
    runner.play = timed(runner.play, parts, "play")
    with event.install_timer("numba:compile", lambda spent: parts.update(compile=spent)):
        whole = timed(factory.produce, parts, "draw")
        if whole(spec, settings):
            raise SystemExit(1)
    parts["draw"] -= parts["play"]
    parts["play"] -= parts["compile"]
    parts["peak memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(parts))


def run(folder: Path, overrides: list[str]) -> dict[str, float]:
    paths = [f"paths.cache={folder / 'cache'}", f"paths.out={folder / 'out'}"]
    environment = {**os.environ, "DPBANDITS_CACHE": str(folder / "code"), STARTED: str(time.time())}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, *overrides, *paths],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    whole = time.perf_counter() - start
    return {**json.loads(done.stdout.splitlines()[-1]), "whole command": whole}


def measure(overrides: list[str]) -> Iterator[Measured]:
    """The command with nothing there, then again."""
    with tempfile.TemporaryDirectory() as folder:
        for state in ("cold", "warm"):
            parts = run(Path(folder), overrides)
            for part, unit in PARTS.items():
                yield Measured(f"figure {FIGURE}", state, part, parts[part], unit)


if __name__ == "__main__":
    child(sys.argv[1:])
