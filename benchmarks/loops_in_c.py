"""The plain loops of plain_loops.c, compiled if there is a C compiler."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.core.stream_states import memory

SOURCE = Path(__file__).with_name("plain_loops.c")
NAMES = {"ucb": "ucb", "private-ucb": "private_ucb"}  # by algorithm
COMPILED = ("-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC")


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled loops; None without a compiler (`cc`, or that of the variable CC)."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "plain_loops.so"
        subprocess.run((compiler, *COMPILED, "-o", file, SOURCE, "-lm"), check=True)
        return ctypes.CDLL(str(file))


def loop_in_c(algorithm: str) -> Callable[..., np.ndarray] | None:
    """Return the loop of an algorithm, with the arguments of that in bare_loops.py, or None."""
    loops = library()
    if loops is None or algorithm not in NAMES:
        return None
    function = getattr(loops, NAMES[algorithm])

    def play(
        means: np.ndarray, gaps: np.ndarray, horizon: int, rounds: np.ndarray, *rngs: Any
    ) -> np.ndarray:
        curve = np.empty(rounds.size)
        states = [memory(rng) for rng in rngs]
        if None in states:
            raise RuntimeError("NumPy keeps the state of PCG64 in another layout")
        arrays = [rounds, *(state.state for state in states if state), curve]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (means, gaps, *arrays)]
        sizes = ctypes.c_int64(means.size), ctypes.c_int64(horizon)
        function(*pointers[:2], *sizes, *pointers[2:])
        return curve

    return play
