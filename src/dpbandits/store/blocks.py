"""Result blocks on disk: cache/<member>/<key>/<first>-<last>.npz, and why blocks are missing.

A block holds the curves of consecutive runs of one experiment. The key is a digest of the identity
of the experiment, which identity.json keeps beside the blocks. A block is used only after its key,
shape and checksum have been checked; a block that fails is set aside and its runs are computed
again.
"""

import hashlib
import io
import json
import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.experiments import kinds
from dpbandits.experiments.experiment import Experiment
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import provenance
from dpbandits.kernel.errors import shown
from dpbandits.spec.figure import FigureSpec, leaves
from dpbandits.store.key import FORMAT, check_sources, identity, key

log = logging.getLogger("dpbandits")

ALL = slice(None)
BLOCK_NAME = re.compile(r"(\d+)-(\d+)\.npz")
SHOWN = 6  # differences that an explanation lists at most


@dataclass(frozen=True)
class Block:
    """Content of a sound block."""

    runs: range
    curves: np.ndarray  # float64 of shape (runs, columns)
    header: dict[str, Any]


@dataclass(frozen=True)
class Store:
    """Blocks below a folder, each of which is checked whenever it is read."""

    folder: Path

    def experiment_folder(self, experiment: Experiment) -> Path:
        """Return the folder of an experiment's blocks; it need not exist."""
        return self.folder / experiment.member / key(experiment)

    def report_older(self) -> None:
        """Say once, in one line, how many blocks an older version made: none of them is used."""
        mark, now = self.folder / "format", str(FORMAT).encode()
        with suppress(OSError):
            if mark.is_file() and mark.read_bytes() == now:
                return
            if older := sum(1 for _ in self.folder.glob("*/*/*.npz")):
                text = "blocks of an older version are not used and may be deleted"
                log.warning("%s: %s %s", self.folder, f"{older:,}", text)
            write_atomically(mark, now)

    def write(self, experiment: Experiment, first: int, curves: np.ndarray, seconds: float) -> None:
        """Write the curves of runs first, first + 1, ..., float64 (runs, columns), as one block.

        `seconds`: their time of computation in total. Raises EditedSources if a source of the
        experiment has been edited meanwhile, UserError if the file system refuses.
        """
        check_sources(experiment)
        folder = self.experiment_folder(experiment)
        if not (folder / "identity.json").exists():
            content = json.dumps(identity(experiment), indent=1, sort_keys=True).encode()
            write_atomically(folder / "identity.json", content)
        last = first + len(curves) - 1
        header = {
            "key": key(experiment),
            "experiment": experiment.description(),
            "runs": [first, last],
            "seconds": round(seconds, 6),
            **provenance(),
        }
        described = np.frombuffer(json.dumps(header).encode(), np.uint8)
        buffer = io.BytesIO()
        digest = hashlib.sha256(described.tobytes() + curves.tobytes()).digest()
        checksum = np.frombuffer(digest, np.uint8)
        np.savez(buffer, header=described, curves=curves, checksum=checksum)
        write_atomically(folder / f"{first}-{last}.npz", buffer.getvalue())

    def blocks(self, experiment: Experiment, below: int | None = None) -> Iterator[Block]:
        """Yield the sound blocks that begin below a run; set damaged ones aside."""
        for path in sorted(self.experiment_folder(experiment).glob("*.npz")):
            match = BLOCK_NAME.fullmatch(path.name)
            if not match or (below is not None and int(match[1]) >= below):
                continue
            try:
                yield _read_block(path, experiment, int(match[1]), int(match[2]))
            except OSError as why:  # it may be sound: too many open files, no permission
                log.warning("%s is not used: %s", path, why)
            except ValueError as why:
                # Renamed rather than deleted, so that the cause can be examined.
                aside = path.with_name(f"{path.name}.damaged")
                with suppress(OSError):
                    path.replace(aside)
                    why = ValueError(f"{why}; set aside as {aside.name}")
                log.warning("%s is not used: %s", path, why)

    def covered(self, experiment: Experiment) -> set[int]:
        """Return the runs that sound blocks hold."""
        return {run for block in self.blocks(experiment) for run in block.runs}

    def missing(self, experiment: Experiment, runs: int) -> list[range]:
        """Return the runs below `runs` that no sound block holds, as maximal ranges."""
        held = np.ones(runs + 2, bool)  # with a sentinel at either end
        held[1:-1] = False
        for block in self.blocks(experiment, runs):
            held[1 + block.runs.start : 1 + block.runs.stop] = True
        edges = np.flatnonzero(np.diff(held)).reshape(-1, 2)
        return [range(start, stop) for start, stop in edges.tolist()]

    def seconds(self, experiment: Experiment) -> float:
        """Return the seconds that the experiment's blocks took to compute, summed over threads."""
        return sum(block.header["seconds"] for block in self.blocks(experiment))

    def load(self, experiment: Experiment, runs: int, columns: slice = ALL) -> np.ndarray:
        """Return the curves of runs 0, ..., runs - 1, or the given columns of them.

        float64 of shape (runs, columns). Raises KeyError if a run is missing.
        """
        curves = np.full((runs, len(range(experiment.columns)[columns])), np.nan)
        absent = np.ones(runs, bool)
        for block in self.blocks(experiment, runs):
            wanted = slice(block.runs.start, min(block.runs.stop, runs))
            curves[wanted] = block.curves[: wanted.stop - wanted.start, columns]
            absent[wanted] = False
        if absent.any():
            name = kinds.words(experiment).name
            raise KeyError(f"run {absent.argmax()} of {name} is not in {self.folder}")
        return curves


def _read_block(path: Path, experiment: Experiment, first: int, last: int) -> Block:
    # Raises ValueError unless the block is exactly as it was written.
    content = path.read_bytes()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as members:
            described, curves, checksum = (members[n] for n in ("header", "curves", "checksum"))
            header = json.loads(described.tobytes())
            content_of = header["key"], header["runs"]
            header["seconds"] = float(header["seconds"])
    # zipfile and numpy raise many kinds of exceptions for broken bytes.
    except Exception as error:
        raise ValueError(f"it cannot be read: {type(error).__name__}: {error}") from error
    if checksum.tobytes() != hashlib.sha256(described.tobytes() + curves.tobytes()).digest():
        raise ValueError("its checksum differs")
    if content_of != (key(experiment), [first, last]):
        raise ValueError("it belongs to another experiment or other runs")
    shape = (last - first + 1, experiment.columns)
    if curves.shape != shape or curves.dtype != np.float64:
        raise ValueError(f"it holds {curves.dtype} {curves.shape}, expected float64 {shape}")
    falls = experiment.grows and (np.diff(curves, prepend=0.0) < 0.0).any()
    if falls or not np.isfinite(curves).all():
        raise ValueError("it holds values that no run has")
    return Block(range(first, last + 1), curves, header)


def explain(spec: FigureSpec, store: Store) -> Iterator[str]:
    """Yield a line per experiment: its key, how many runs are cached, and why any is missing.

    The last line counts the complete experiments of the figure.
    """
    runs_of = spec.runs_of_experiments()
    complete = 0
    for experiment, runs in runs_of.items():
        have = runs - sum(map(len, store.missing(experiment, runs)))
        complete += have == runs
        why = ""
        if have < runs:
            more = "more runs are requested than cached"
            why = f"  {more if have else _difference(experiment, store)}"
        elif note := kinds.of(experiment).notes(experiment, partial(store.load, experiment, runs)):
            why = f"  {note}"
        yield f"{key(experiment)}  {have:>4}/{runs} runs  {kinds.words(experiment).name}{why}"
    yield (
        f"{spec.name}: {complete} of {len(runs_of)} experiments are complete in {store.folder};"
        f" `dpbandits run` computes {'nothing' if complete == len(runs_of) else 'the rest'}"
    )


def _difference(experiment: Experiment, store: Store) -> str:
    # How the most similar cached experiment of the same member differs from this one.
    wanted = dict(leaves(identity(experiment)))
    candidates = []
    for path in (store.folder / experiment.member).glob("*/identity.json"):
        if path.parent.name == key(experiment):
            continue
        try:
            there = dict(leaves(json.loads(path.read_bytes())))
        except (OSError, ValueError, RecursionError):
            continue
        if "experiment" not in {name.partition(".")[0] for name in there}:
            continue  # of an earlier version
        names = sorted(name for name in wanted | there if there.get(name) != wanted.get(name))
        texts = [
            f"the source {name.removeprefix('sources.')}"
            if name.startswith("sources.")
            else f"{name.removeprefix('experiment.')} ({shown(there.get(name))},"
            f" wanted {shown(wanted.get(name))})"
            for name in names
        ]
        # The same experiment from other sources is a better hint than another experiment.
        candidates.append((sum(n.startswith("experiment.") for n in names), len(names), texts))
    if not candidates:
        return "never computed"
    *_, texts = min(candidates)
    if len(texts) > SHOWN:
        texts = [*texts[:SHOWN], f"{len(texts) - SHOWN} more"]
    return f"not computed; the most similar cached experiment differs in {', '.join(texts)}"
