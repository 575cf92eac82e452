"""Damaged and hostile blocks; `python corruption.py <folders>` reads them and measures the cost.

The blocks are read in a separate process, whose memory nothing else has grown.
"""

import dataclasses
import hashlib
import io
import json
import logging
import os
import pickle
import random
import resource
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.algorithms import adap_ucb
from dpbandits.cells.bandit_cell import Cell, Grid
from dpbandits.environments import bernoulli
from dpbandits.store.blocks import Store
from dpbandits.store.identity import key

CELL = Cell(
    "adap-ucb", adap_ucb.Params(1.0), "bernoulli", bernoulli.Params((0.9, 0.5)), 10_000, Grid.LOG, 1
)
OTHER = dataclasses.replace(CELL, seed=2)
SPRUNG = "SPRUNG"  # the folder that unpickling a payload creates
GIGABYTES = 2  # of zeros, in a bomb


def made_up(run: int) -> np.ndarray:
    """Return curves of one run, different from those of every other run."""
    return run + np.linspace(0, 1, CELL.columns)[None, :] / 3


def files_of(content: dict[str, Any]) -> bytes:
    """Return the bytes of a file that holds arrays under their names."""
    buffer = io.BytesIO()
    np.savez(buffer, **content)
    return buffer.getvalue()


def block(header: bytes, curves: np.ndarray) -> bytes:
    """Return a block with a correct checksum, whatever its header."""
    digest = hashlib.sha256(header + curves.tobytes()).digest()
    described, checksum = (np.frombuffer(part, np.uint8) for part in (header, digest))
    return files_of({"header": described, "curves": curves, "checksum": checksum})


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def claiming(kind: str, shape: str, rest: bytes = bytes(80)) -> bytes:
    """Return an array file whose header claims this type and shape."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    padded = text.ljust(-(-(len(text) + 11) // 64) * 64 - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + rest


class Trap:
    """Object that creates a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (self.path,)


# Corruptions: from a random generator, the sound block of a run, that run and a folder, the bytes

Corruption = Callable[[random.Random, bytes, int, Path], bytes]


def truncated(draw: random.Random, sound: bytes, run: int, folder: Path) -> bytes:
    return sound[: draw.randrange(len(sound))]


def flipped(draw: random.Random, sound: bytes, run: int, folder: Path) -> bytes:
    content = bytearray(sound)
    for bit in draw.sample(range(8 * len(content)), draw.choice((1, 1, 2, 8, 64))):
        content[bit // 8] ^= 1 << bit % 8
    return bytes(content)


def of_a_wrong_key(draw: random.Random, sound: bytes, run: int, folder: Path) -> bytes:
    """Return a whole block with a correct checksum: another cell, other runs or another source."""
    forged = "".join(draw.choice("0123456789abcdef") for _ in range(20))
    wrong_key, runs = draw.choice(
        (
            (key(OTHER), [run, run]),
            (forged, [run, run]),
            (key(CELL)[:19], [run, run]),
            (key(CELL).upper() + " ", [run, run]),
            (None, [run, run]),
            (key(CELL), [run + 1, run + 1]),
            (key(CELL), [run, run + draw.randrange(1, 10**6)]),
            (key(CELL), [-run - 1, run]),
            (key(CELL), None),
        )
    )
    header = {"key": wrong_key, "runs": runs, "seconds": 1.0}
    return block(json.dumps(header).encode(), made_up(run))


def with_a_pickle(draw: random.Random, sound: bytes, run: int, folder: Path) -> bytes:
    """Return a payload that creates a folder: a member, the whole file, or after a sound block."""
    trap = np.empty(1, object)
    trap[0] = Trap(folder / SPRUNG)
    raw = pickle.dumps(trap[0], protocol=draw.randrange(2, 6))
    with np.load(io.BytesIO(sound)) as members:
        content: dict[str, Any] = {name: members[name] for name in members.files}
    place = draw.choice(("header", "curves", "checksum", "all", "pickle", "npy", "raw member"))
    if place == "pickle":
        return raw
    if place == "npy":
        buffer = io.BytesIO()
        np.save(buffer, trap, allow_pickle=True)
        return buffer.getvalue()
    if place == "raw member":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in content:
                archive.writestr(draw.choice((f"{name}.npy", name)), raw)
        return buffer.getvalue()
    names = content if place == "all" else [place]
    return files_of(content | dict.fromkeys(names, trap))


def zip_bomb(draw: random.Random, sound: bytes, run: int, folder: Path) -> bytes:
    """Return a small file that expands to gigabytes: compressed zeros or an array claiming them."""
    kind = draw.choice(("bzip2", "deflate", "shape", "description", "directory", "sparse"))
    if kind == "sparse":
        return sound  # `write_hostile` appends a hole to it
    if kind in ("bzip2", "deflate"):
        method = zipfile.ZIP_BZIP2 if kind == "bzip2" else zipfile.ZIP_DEFLATED
        return bomb(folder / kind, method, COMPRESSED[kind])
    with np.load(io.BytesIO(sound)) as members:
        content = {f"{name}.npy": npy(members[name]) for name in members.files}
    hit = draw.choice(list(content))
    content[hit] = content.pop(hit)  # moves it to the end
    if kind == "shape":
        huge = draw.choice((f"({10**12},)", f"({2**31}, {2**31})", "(3000000000,)", "(-1,)"))
        content[hit] = claiming("<f8", huge)
    if kind == "description":  # version 2 may claim 4 GB
        content[hit] = b"\x93NUMPY\x02\x00" + (2**32 - 1).to_bytes(4, "little") + bytes(100)
    if kind == "directory":
        content[hit] = claiming("|u1", "(4294967000,)")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in content.items():
            archive.writestr(name, member)
    stored = bytearray(buffer.getvalue())
    if kind == "directory":  # the directory claims 4 GB for the last member
        sizes = stored.rindex(b"PK\x01\x02") + 20
        stored[sizes : sizes + 8] = (2**32 - 2).to_bytes(4, "little") * 2
    return bytes(stored)


COMPRESSED = {"bzip2": GIGABYTES << 10, "deflate": 50}  # megabytes of zeros


def bomb(file: Path, method: int, megabytes: int) -> bytes:
    """Return a block whose first member expands to this many megabytes.

    The block does not exceed the size limit: bzip2 needs a few kilobytes for gigabytes, deflate a
    thousandth.
    """
    if not file.exists():  # slow, so only once
        with zipfile.ZipFile(file, "w", method) as archive:
            with archive.open("header.npy", "w", force_zip64=True) as member:
                member.write(claiming("|u1", f"({megabytes << 20},)", b""))
                for _ in range(megabytes):
                    member.write(bytes(1 << 20))
            for name in ("curves.npy", "checksum.npy"):
                archive.writestr(name, npy(np.zeros(32)))
    return file.read_bytes()


KINDS: dict[str, Corruption] = {
    "truncated": truncated,
    "bits flipped": flipped,
    "wrong key": of_a_wrong_key,
    "pickled payload": with_a_pickle,
    "zip bomb": zip_bomb,
}


def write_sound(folder: Path, number: int) -> None:
    """Write this many sound blocks of one run each."""
    store = Store(folder)
    for run in range(number):
        store.write(CELL, run, made_up(run), 1.0)


def write_hostile(folder: Path, sound: Path, number: int, seed: int, own: Path) -> list[str]:
    """Write as many corrupted blocks, cycling through all kinds, and return the kinds.

    May litter `own`.
    """
    draw, kinds = random.Random(seed), []
    target = Store(folder).cell_folder(CELL)
    target.mkdir(parents=True)
    for run in range(number):
        kind = list(KINDS)[run % len(KINDS)]
        name = f"{run}-{run}.npz"
        whole = (Store(sound).cell_folder(CELL) / name).read_bytes()
        content = KINDS[kind](draw, whole, run, own)
        (target / name).write_bytes(content)
        if content == whole:
            os.truncate(target / name, (GIGABYTES << 30) + run)
        kinds.append(kind)
    return kinds


class Counter(logging.Handler):
    """Counts the warnings, and the warnings of more than one line."""

    warnings = lines = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.warnings += 1
        self.lines += len(record.getMessage().splitlines())


def main(sound: str, hostile: str) -> None:
    """Read sound blocks, then as many hostile ones; print the cost."""
    counter = Counter()
    log = logging.getLogger("dpbandits")
    log.addHandler(counter)
    log.propagate = False
    assert Store(Path(sound)).covered(CELL)
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    covered = Store(Path(hostile)).covered(CELL)
    measured = {
        "covered": sorted(covered),
        "warnings": counter.warnings,
        "lines": counter.lines,
        "seconds": time.monotonic() - begin,
        "before": before / 1024,  # megabytes
        "after": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(measured))


if __name__ == "__main__":
    main(*sys.argv[1:])
