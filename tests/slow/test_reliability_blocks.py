"""A thousand damaged or hostile blocks: none is used, none is executed."""

import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import corruption
import numpy as np
import pytest
from commands import PATIENCE
from corruption import CELL, GIGABYTES, KINDS, SPRUNG, Trap, made_up

from dpbandits.store.blocks import Store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_checkout")]

BLOCKS = 1000
MEGABYTES = 16  # allowed beyond the reading of sound blocks; the smallest bomb has 50

Row = Callable[[str, str, str], None]


def test_a_thousand_corrupted_blocks_are_noticed_not_executed_and_fill_no_memory(
    tmp_path: Path, row: Row
) -> None:
    seed = 24
    sound, hostile, own = (tmp_path / name for name in ("sound", "hostile", "own"))
    own.mkdir()
    corruption.write_sound(sound, BLOCKS)
    kinds = corruption.write_hostile(hostile, sound, BLOCKS, seed, own)
    assert Counter(kinds) == dict.fromkeys(KINDS, BLOCKS // len(KINDS))
    command = (sys.executable, corruption.__file__, str(sound), str(hostile))
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)

    # No trap was executed, though every one would have worked.
    assert not (own / SPRUNG).exists()
    pickle.loads(pickle.dumps(Trap(own / SPRUNG)))
    assert (own / SPRUNG).exists()

    # Each block was set aside with a line of its own. A flip may hit one of the fields of the zip
    # format that have no meaning here, a time or an operating system: then the numbers are right.
    folder = Store(hostile).cell_folder(CELL)
    aside = {run for run in range(BLOCKS) if (folder / f"{run}-{run}.npz.damaged-1").exists()}
    passed = set(range(BLOCKS)) - aside
    assert passed == set(told["covered"])
    assert {kinds[run] for run in passed} <= {"bits flipped"}
    for run in passed:
        with np.load(folder / f"{run}-{run}.npz", allow_pickle=False) as members:
            assert members["curves"].tobytes() == made_up(run).tobytes()
    assert (told["warnings"], told["lines"]) == (len(aside), len(aside))
    growth = told["after"] - told["before"]
    assert growth < MEGABYTES

    each = BLOCKS // len(KINDS)
    row(
        "Corrupted blocks",
        f"{BLOCKS} (seed {seed}), {each} of each: {', '.join(KINDS)} ({GIGABYTES} GB of zeros in"
        " kilobytes, shapes of up to 37 EB)",
        f"{len(aside)} set aside with one line each; {len(passed)} of {each} with flipped bits gave"
        " the right numbers, because the flipped bit has no meaning; 0 wrong numbers; 0 payloads"
        f" executed; peak memory {growth:.1f} MB above that of {BLOCKS} sound ones;"
        f" {told['seconds']:.1f} s",
    )
