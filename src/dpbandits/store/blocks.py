"""Result blocks on disk: cache/<member>/<key>/<first>-<last>.npz.

A block holds the curves of consecutive runs of one cell. The key is a digest of the identity of the
cell, which identity.json keeps beside the blocks. A block is used only after its key, shape and
checksum have been checked; a block that fails is set aside and its runs are computed again.
"""

import hashlib
import io
import itertools
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.experiments import Experiment
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.store.key import check_sources, identity, key

log = logging.getLogger("dpbandits")

PROVENANCE = ("revision", "versions", "machine", "written")  # in a block's header
ALL = slice(None)
BLOCK_NAME = re.compile(r"(\d+)-(\d+)\.npz")


class DamagedBlock(Exception):
    """Reason why a block cannot be used."""


@dataclass(frozen=True)
class About:
    """Header of a sound block: its runs, the seconds that they took, and its provenance."""

    runs: range
    seconds: float
    provenance: dict[str, Any]


@dataclass(frozen=True)
class Store:
    """Blocks below a folder.

    A block is checked whenever its curves are read. Its header is cached until the file's status
    (times, size, inode) changes.
    """

    folder: Path
    _known: dict[Path, tuple[tuple[int, ...], About]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def cell_folder(self, cell: Experiment) -> Path:
        """Return the folder of a cell's blocks; it need not exist."""
        return self.folder / cell.member / key(cell)

    def write(self, cell: Experiment, first: int, curves: np.ndarray, seconds: float) -> None:
        """Write the curves of runs first, first + 1, ... as one block, atomically.

        `curves`: float64 of shape (runs, columns); `seconds`: their time of computation in total.
        Raises EditedSources if a source of the cell has been edited meanwhile, and UserError, with
        a remedy, if the file system refuses.
        """
        check_sources(cell)
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

    def covered(self, cell: Experiment) -> set[int]:
        """Return the runs that sound blocks hold; set damaged blocks aside, with a warning."""
        return {run for block in self._sound(cell) for run in block.runs}

    def seconds(self, cell: Experiment) -> float:
        """Return the seconds that the cell's blocks took to compute, summed over threads."""
        return sum(block.seconds for block in self._sound(cell))

    def provenance(self, cell: Experiment) -> list[dict[str, Any]]:
        """Return revision, versions, machine and time of writing of each of the cell's blocks."""
        return [block.provenance for block in self._sound(cell)]

    def missing(self, cell: Experiment, runs: int) -> list[range]:
        """Return the runs below `runs` that no sound block holds, as maximal ranges."""
        gaps: list[range] = []
        reached = 0  # every run below it is in a block or in a gap
        for held in sorted(
            (block.runs for block in self._sound(cell)), key=lambda held: held.start
        ):
            if held.start >= runs:
                break
            if held.start > reached:
                gaps.append(range(reached, held.start))
            reached = max(reached, held.stop)
        return [*gaps, range(reached, runs)] if reached < runs else gaps

    def load(self, cell: Experiment, runs: int, columns: slice = ALL) -> np.ndarray:
        """Return the curves of runs 0, ..., runs - 1, or the given columns of them.

        float64 of shape (runs, columns): for a bandit cell one column per checkpoint. Raises
        KeyError if a run is missing.
        """
        curves = np.full((runs, len(range(cell.columns)[columns])), np.nan)
        absent = np.ones(runs, bool)
        for path in sorted(self.cell_folder(cell).glob("*.npz")):
            match = BLOCK_NAME.fullmatch(path.name)
            beyond = match is not None and int(match[1]) >= runs
            if beyond or (read := self._read(path, cell)) is None:
                continue
            about, of_block = read
            first = about.runs.start
            wanted = slice(first, min(about.runs.stop, runs))
            curves[wanted] = of_block[: max(0, wanted.stop - first), columns]
            absent[wanted] = False
        if absent.any():
            raise KeyError(f"run {absent.argmax()} of {cell.name} is not in {self.folder}")
        return curves

    def other_identities(self, cell: Experiment) -> Iterator[dict[str, Any]]:
        """Yield the identities under the other keys of the cell's member, newest first."""
        paths = (self.folder / cell.member).glob("*/identity.json")
        for path in sorted(paths, key=_status, reverse=True):
            if path.parent.name != key(cell):
                try:
                    yield json.loads(path.read_bytes())
                except (OSError, ValueError):
                    continue

    def _sound(self, cell: Experiment) -> Iterator[About]:
        for path in sorted(self.cell_folder(cell).glob("*.npz")):
            known = self._known.get(path)
            if known is not None and known[0] == _status(path):
                yield known[1]
            elif (read := self._read(path, cell)) is not None:
                yield read[0]

    def _read(self, path: Path, cell: Experiment) -> tuple[About, np.ndarray] | None:
        # Header and curves of a block; None for a damaged one, which is set aside.
        status = _status(path)  # before reading: a change during it then shows at the next access
        try:
            read = _read(path, cell)
        except DamagedBlock as why:
            _set_aside(path, why)
            return None
        except OSError as why:  # the block may be sound: too many open files, no permission
            log.warning("%s is not used: %s", path, why)
            return None
        self._known[path] = status, read[0]
        return read


def _status(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _read(path: Path, cell: Experiment) -> tuple[About, np.ndarray]:
    # Header and curves of a block; raises DamagedBlock unless it is exactly as it was written.
    match = BLOCK_NAME.fullmatch(path.name)
    if not match:
        raise DamagedBlock("its name is not <first>-<last>.npz")
    first, last = int(match[1]), int(match[2])
    shape = (last - first + 1, cell.columns)
    content = path.read_bytes()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as members:
            header, curves, checksum = (members[n] for n in ("header", "curves", "checksum"))
            described = json.loads(header.tobytes())
            content_of = described["key"], described["runs"]
            seconds = float(described["seconds"])
    # zipfile and numpy raise many kinds of exceptions for broken bytes.
    except Exception as error:
        raise DamagedBlock(f"it cannot be read: {type(error).__name__}: {error}") from error
    if checksum.tobytes() != _checksum(header, curves):
        raise DamagedBlock("its checksum differs")
    if content_of != (key(cell), [first, last]):
        raise DamagedBlock("it belongs to another cell or other runs")
    if curves.shape != shape or curves.dtype != np.float64:
        raise DamagedBlock(f"it holds {curves.dtype} {curves.shape}, expected float64 {shape}")
    about = {name: described[name] for name in PROVENANCE if name in described}
    return About(range(first, last + 1), seconds, about), curves


def _checksum(header: np.ndarray, curves: np.ndarray) -> bytes:
    return hashlib.sha256(header.tobytes() + curves.tobytes()).digest()


def _set_aside(path: Path, why: Exception) -> None:
    # Renamed rather than deleted, so that the cause can be examined.
    numbered = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    aside = next(name for name in numbered if not name.exists())
    try:
        path.rename(aside)
    except OSError:
        log.warning("%s is not used: %s", path, why)
    else:
        log.warning("%s is not used: %s; set aside as %s", path, why, aside.name)
