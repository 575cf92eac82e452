"""Result blocks on disk: cache/<member>/<key>/<first>-<last>.npz.

A block holds the curves of consecutive runs of one cell. The key is a digest of the cell's
identity, kept beside the blocks in identity.json: the cell, the sources that it reaches, the
versions of what draws the numbers. The same key means the same bits. Nothing read from disk is
trusted before its size, its key and its checksum are checked; what fails is set aside and computed
again.
"""

import hashlib
import io
import json
import logging
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits import fingerprint
from dpbandits.atomic import write_atomically
from dpbandits.cell import AnyCell
from dpbandits.provenance import provenance

log = logging.getLogger("dpbandits")

FORMAT = 1
PROVENANCE = ("revision", "versions", "machine", "written")  # of a block, beside its identity
HEADER_LIMIT = 65_536  # bytes, beside the description of the cell
BLOCK_NAME = re.compile(r"(\d+)-(\d+)\.npz")


class DamagedBlock(Exception):
    """Why a block cannot be trusted."""


@dataclass(frozen=True)
class Block:
    """The curves of consecutive runs, shape (runs, checkpoints), and the time they took."""

    runs: range
    curves: np.ndarray
    seconds: float
    provenance: dict[str, Any]


def identity(cell: AnyCell) -> dict[str, Any]:
    """Everything that decides the bits of a cell, as JSON values."""
    return {
        "format": FORMAT,
        "cell": cell.description(),
        "sources": fingerprint.sources(cell.roots),
        "versions": {name: version(name) for name in ("numba", "numpy")},
    }


@cache
def key(cell: AnyCell) -> str:
    """The digest of the identity, 20 hexadecimal digits."""
    canonical = json.dumps(identity(cell), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Store:
    """The blocks below a folder."""

    folder: Path

    def cell_folder(self, cell: AnyCell) -> Path:
        """Where the blocks of a cell are, or will be."""
        return self.folder / cell.member / key(cell)

    def write(self, cell: AnyCell, first: int, curves: np.ndarray, seconds: float) -> None:
        """Keep the curves of runs first, first + 1, ...; whole or not at all.

        Raises UserError where the disk refuses, with what to do.
        """
        folder = self.cell_folder(cell)
        if not (folder / "identity.json").exists():
            content = json.dumps(identity(cell), indent=1, sort_keys=True).encode()
            write_atomically(folder / "identity.json", content)
        last = first + len(curves) - 1
        header = {
            "key": key(cell),
            "cell": cell.description(),
            "runs": [first, last],
            "seconds": round(seconds, 6),
            **provenance(),
        }
        described = np.frombuffer(json.dumps(header).encode(), np.uint8)
        buffer = io.BytesIO()
        checksum = np.frombuffer(_checksum(described, curves), np.uint8)
        np.savez(buffer, header=described, curves=curves, checksum=checksum)
        write_atomically(folder / f"{first}-{last}.npz", buffer.getvalue())

    def covered(self, cell: AnyCell) -> set[int]:
        """The runs that sound blocks hold. Unsound ones are set aside, with a warning."""
        return {run for block in self._blocks(cell) for run in block.runs}

    def seconds(self, cell: AnyCell) -> float:
        """The time that the computation of the cell's blocks took, summed over threads."""
        return sum(block.seconds for block in self._blocks(cell))

    def provenance(self, cell: AnyCell) -> list[dict[str, Any]]:
        """Revision, versions, machine and time of each of the cell's blocks."""
        return [block.provenance for block in self._blocks(cell)]

    def missing(self, cell: AnyCell, runs: int) -> list[range]:
        """The runs below `runs` that no sound block holds, as maximal ranges."""
        gaps: list[range] = []
        covered = self.covered(cell)
        for run in range(runs):
            if run in covered:
                continue
            if gaps and gaps[-1].stop == run:
                gaps[-1] = range(gaps[-1].start, run + 1)
            else:
                gaps.append(range(run, run + 1))
        return gaps

    def load(self, cell: AnyCell, runs: int) -> np.ndarray:
        """The curves of runs 0..runs-1, shape (runs, checkpoints); KeyError if one is missing."""
        curves = np.full((runs, cell.columns), np.nan)
        absent = set(range(runs))
        for block in self._blocks(cell):
            first = block.runs.start
            wanted = range(first, min(block.runs.stop, runs))
            curves[wanted.start : wanted.stop] = block.curves[: len(wanted)]
            absent.difference_update(wanted)
        if absent:
            raise KeyError(f"run {min(absent)} of {cell.name} is not in {self.folder}")
        return curves

    def other_identities(self, cell: AnyCell) -> Iterator[dict[str, Any]]:
        """The identities of the same member's other keys, newest first."""
        paths = (self.folder / cell.member).glob("*/identity.json")
        for path in sorted(paths, key=lambda p: p.stat().st_mtime, reverse=True):
            if path.parent.name != key(cell):
                try:
                    yield json.loads(path.read_bytes())
                except (OSError, ValueError):
                    continue

    def _blocks(self, cell: AnyCell) -> Iterator[Block]:
        folder = self.cell_folder(cell)
        for path in sorted(folder.glob("*.npz")):
            try:
                yield _read(path, cell)
            except DamagedBlock as why:
                _set_aside(path, why)


def _read(path: Path, cell: AnyCell) -> Block:
    # A block; DamagedBlock unless all is as it was written. Sizes come first: a damaged or hostile
    # file must not fill the memory.
    match = BLOCK_NAME.fullmatch(path.name)
    if not match:
        raise DamagedBlock("its name is not <first>-<last>.npz")
    first, last = int(match[1]), int(match[2])
    shape = (last - first + 1, cell.columns)
    try:
        described_cell = json.dumps(cell.description())  # of many arms: longer than all the rest
        if path.stat().st_size > 8 * shape[0] * shape[1] + len(described_cell) + HEADER_LIMIT:
            raise DamagedBlock("it is larger than its runs need")
        content = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise DamagedBlock("it is compressed, as no block is")
        with np.load(io.BytesIO(content), allow_pickle=False) as members:
            header, curves, checksum = (members[n] for n in ("header", "curves", "checksum"))
            if checksum.tobytes() != _checksum(header, curves):
                raise DamagedBlock("its checksum differs")
            described = json.loads(header.tobytes())
            told = described["key"], described["runs"], float(described["seconds"])
    except DamagedBlock:
        raise
    # zipfile and numpy meet broken bytes with many kinds of exceptions.
    except Exception as error:
        raise DamagedBlock(f"it cannot be read: {type(error).__name__}: {error}") from error
    if told[:2] != (key(cell), [first, last]):
        raise DamagedBlock("it belongs to another cell or other runs")
    if curves.shape != shape or curves.dtype != np.float64:
        raise DamagedBlock(f"it holds {curves.dtype} {curves.shape}, expected float64 {shape}")
    about = {name: described[name] for name in PROVENANCE if name in described}
    return Block(range(first, last + 1), curves, told[2], about)


def _checksum(header: np.ndarray, curves: np.ndarray) -> bytes:
    return hashlib.sha256(header.tobytes() + curves.tobytes()).digest()


def _set_aside(path: Path, why: Exception) -> None:
    # Renamed rather than deleted: somebody may want to know what happened.
    for number in range(1, 1000):
        aside = path.with_name(f"{path.name}.damaged-{number}")
        if not aside.exists():
            break
    try:
        path.rename(aside)
    except OSError:
        log.warning("%s is not used, %s", path, why)
    else:
        log.warning("%s is not used, %s; set aside as %s", path, why, aside.name)
