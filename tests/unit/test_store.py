"""Blocks on disk: nothing is lost, and no stale or damaged block is ever read."""

import dataclasses
import errno
import hashlib
import io
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpbandits.algorithms import adap_ucb
from dpbandits.algorithms.adap_ucb import FirstEpisode, Ties
from dpbandits.audit.subject import Subject
from dpbandits.environments import bernoulli
from dpbandits.experiments import kinds
from dpbandits.experiments.audit import AuditExperiment
from dpbandits.experiments.checkpoints import Grid
from dpbandits.experiments.formula import Formula
from dpbandits.experiments.regret import Regret, RegretExperiment
from dpbandits.files.atomic import write_atomically
from dpbandits.files.provenance import git_revision
from dpbandits.kernel.errors import UserError
from dpbandits.kinds.regret import REGRET
from dpbandits.spec.figure import Curve, FigureSpec, Panel
from dpbandits.store.blocks import Store, explain
from dpbandits.store.key import key, sources


def made_up(cell: RegretExperiment, runs: range) -> np.ndarray:
    """Return curves in which every run and checkpoint has its own value."""
    return np.array(runs)[:, None] + cell.checkpoints() / 1e6


def write(store: Store, cell: RegretExperiment, runs: range) -> Path:
    """Write made-up curves; return the path of the block."""
    store.write(cell, runs.start, made_up(cell, runs), 0.25 * len(runs))
    return store.experiment_folder(cell) / f"{runs.start}-{runs.stop - 1}.npz"


# Round trips -----------------------------------------------------------------------------------


def test_written_curves_are_loaded_bit_for_bit(store: Store, cell: RegretExperiment) -> None:
    curves = np.random.default_rng(0).random((3, len(cell.checkpoints()))).cumsum(axis=1)
    store.write(cell, 0, curves, 1.0)
    loaded = store.load(cell, 3)
    assert loaded.dtype == np.float64
    assert loaded.tobytes() == curves.tobytes()


def test_a_hundred_runs_after_twenty_miss_eighty(store: Store, cell: RegretExperiment) -> None:
    write(store, cell, range(20))
    assert store.missing(cell, 20) == []
    assert store.missing(cell, 100) == [range(20, 100)]
    write(store, cell, range(20, 100))
    assert store.missing(cell, 100) == []
    assert np.array_equal(store.load(cell, 100), made_up(cell, range(100)))


def test_missing_runs_are_returned_as_maximal_ranges(store: Store, cell: RegretExperiment) -> None:
    write(store, cell, range(3, 5))
    write(store, cell, range(5, 6))
    write(store, cell, range(9, 10))
    assert store.missing(cell, 12) == [range(3), range(6, 9), range(10, 12)]
    assert store.missing(cell, 9) == [range(3), range(6, 9)]
    assert store.covered(cell) == {3, 4, 5, 9}


@pytest.mark.parametrize("runs", [1, 4, 5, 6, 11])
def test_overlapping_blocks_are_one_set_of_runs_of_which_the_first_are_loaded(
    store: Store, cell: RegretExperiment, runs: int
) -> None:
    for held in (range(2, 4), range(5), range(1), range(4, 11), range(11, 20)):
        write(store, cell, held)
    assert np.array_equal(store.load(cell, runs), made_up(cell, range(runs)))


def test_loading_a_missing_run_names_the_first_one(store: Store, cell: RegretExperiment) -> None:
    write(store, cell, range(2))
    write(store, cell, range(4, 6))
    with pytest.raises(KeyError, match=r"run 2 of adap-ucb\(epsilon=1\.0"):
        store.load(cell, 6)


# Keys ------------------------------------------------------------------------------------------

CHANGES: dict[str, list[dict[str, Any]]] = {
    "member": [{"member": "adap-klucb"}],
    "params": [
        {"params": adap_ucb.Params(1.0000000000000002)},
        {"params": adap_ucb.Params(1.0, alpha=3.0)},
        {"params": adap_ucb.Params(1.0, ties=Ties.RANDOM)},
        {"params": adap_ucb.Params(1.0, first_episode=FirstEpisode.HALF)},
    ],
    "environment": [{"environment": "beta"}],
    "instance": [
        {"instance": bernoulli.Params((0.5, 0.9))},
        {"instance": bernoulli.Params((0.9, 0.5, 0.5))},
    ],
    "horizon": [{"horizon": 201}],
    "grid": [{"grid": Grid.LINEAR}, {"grid": Grid.END}],
    "seed": [{"seed": 2}],
    "pulls_of": [{"pulls_of": 0}, {"pulls_of": 1}],
    "regret": [{"regret": Regret.REALISED}],
    "clipped": [{"clipped": True}],
}


def test_the_changes_below_are_of_every_field_of_a_cell() -> None:
    assert set(CHANGES) == {field.name for field in dataclasses.fields(RegretExperiment)}


@pytest.mark.parametrize("change", [c for changes in CHANGES.values() for c in changes], ids=str)
def test_every_field_of_a_cell_moves_the_key(
    cell: RegretExperiment, change: dict[str, Any]
) -> None:
    assert key(dataclasses.replace(cell, **change)) != key(cell)


@pytest.mark.usefixtures("fresh_keys")
@pytest.mark.parametrize("library", ["numba", "numpy", "scipy"])
def test_another_version_of_a_library_that_draws_numbers_changes_the_key(
    cell: RegretExperiment, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = AuditExperiment.of(Subject("adap-ucb", (("epsilon", 1.0),)), plays=1000, seed=1)
    before = key(cell), key(audit)
    monkeypatch.setattr(f"{library}.__version__", "0.0")
    key.cache_clear()
    assert key(audit) != before[1]
    assert (key(cell) == before[0]) == (library == "scipy")


def test_the_identity_beside_the_blocks_gives_the_key_of_the_folder(
    store: Store, cell: RegretExperiment
) -> None:
    folder = write(store, cell, range(2)).parent
    identity = json.loads((folder / "identity.json").read_bytes())
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(canonical.encode()).hexdigest()[:20] == folder.name
    assert identity["experiment"] == cell.description()
    assert folder == store.folder / "adap-ucb" / folder.name


def test_the_header_of_a_block_states_its_provenance(store: Store, cell: RegretExperiment) -> None:
    path = write(store, cell, range(5, 8))
    with np.load(path, allow_pickle=False) as members:
        header = json.loads(members["header"].tobytes())
    assert header["key"] == path.parent.name
    assert header["experiment"] == cell.description()
    assert header["runs"] == [5, 7]
    assert header["seconds"] == 0.75
    assert header["revision"] == git_revision()
    assert header["versions"]["numpy"] == np.__version__
    assert {"dpbandits", "python", "numba"} <= set(header["versions"])


# Damage ----------------------------------------------------------------------------------------


def block(header: Any, curves: np.ndarray) -> bytes:
    """Return a block like those of the store, with a correct checksum, from these parts."""
    described = json.dumps(header).encode()
    digest = hashlib.sha256(described + curves.tobytes()).digest()
    buffer = io.BytesIO()
    np.savez(
        buffer,
        header=np.frombuffer(described, np.uint8),
        curves=curves,
        checksum=np.frombuffer(digest, np.uint8),
    )
    return buffer.getvalue()


def header_of(cell: RegretExperiment, runs: range) -> dict[str, Any]:
    """Return the part of a header that the store needs."""
    return {"key": key(cell), "runs": [runs.start, runs.stop - 1], "seconds": 1.0}


RUNS = range(5)
Damage = Callable[[Path, Store, RegretExperiment], None]


def truncated(path: Path, store: Store, cell: RegretExperiment) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def replaced(content: Callable[[RegretExperiment], bytes]) -> Damage:
    def damage(path: Path, store: Store, cell: RegretExperiment) -> None:
        path.write_bytes(content(cell))

    return damage


def of_another_cell(path: Path, store: Store, cell: RegretExperiment) -> None:
    shutil.copy(write(store, dataclasses.replace(cell, seed=2), RUNS), path)


def of_other_runs(path: Path, store: Store, cell: RegretExperiment) -> None:
    other = write(store, dataclasses.replace(cell, seed=2), RUNS)  # in another folder
    other.unlink()
    moved = write(store, cell, range(10, 15))
    moved.rename(path)


def other_values(path: Path, store: Store, cell: RegretExperiment) -> None:
    # The old checksum with other curves.
    with np.load(path) as members:
        content = {name: members[name] for name in members.files}
    content["curves"][0, 0] += 1e-9
    np.savez(path, **content)


def right(cell: RegretExperiment) -> np.ndarray:
    return made_up(cell, RUNS)


def forged(change: Callable[[np.ndarray], np.ndarray]) -> Damage:
    return replaced(lambda c: block(header_of(c, RUNS), np.ascontiguousarray(change(right(c)))))


DAMAGES: dict[str, Damage] = {
    "truncated by a byte": truncated,
    "empty": replaced(lambda cell: b""),
    "of another cell": of_another_cell,
    "of other runs": of_other_runs,
    "of other values": other_values,
    "of single precision": replaced(
        lambda c: block(header_of(c, RUNS), right(c).astype(np.float32))
    ),
    "of too few checkpoints": replaced(lambda c: block(header_of(c, RUNS), right(c)[:, :-1])),
    "of values that are none": forged(lambda curves: curves * np.nan),
    "of negative regret": forged(lambda curves: curves - 1.0),
    "of regret that decreases": forged(lambda curves: curves[:, ::-1]),
    "of a header without seconds": replaced(
        lambda c: block({"key": key(c), "runs": [0, 4]}, right(c))
    ),
}


def test_a_block_made_by_this_test_is_sound(store: Store, cell: RegretExperiment) -> None:
    # Otherwise the damages below could be detected for another reason than their own.
    write(store, cell, RUNS).write_bytes(block(header_of(cell, RUNS), right(cell)))
    assert store.covered(cell) == set(RUNS)
    assert np.array_equal(store.load(cell, 5), right(cell))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_block_is_set_aside_with_one_warning_and_counted_missing(
    store: Store, cell: RegretExperiment, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(store, cell, RUNS)
    write(store, cell, range(5, 10))
    damage(path, store, cell)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert store.missing(cell, 10) == [RUNS]
        assert store.covered(cell) == {5, 6, 7, 8, 9}
        assert store.seconds(cell) == pytest.approx(1.25)
        with pytest.raises(KeyError):
            store.load(cell, 10)
    (record,) = caplog.records
    assert record.name == "dpbandits"
    assert record.levelno == logging.WARNING
    assert f"{path} is not used" in record.getMessage()
    assert "set aside as 0-4.npz.damaged" in record.getMessage()
    assert len(record.getMessage().splitlines()) == 1
    assert not path.exists()
    assert path.with_name("0-4.npz.damaged").exists()
    write(store, cell, RUNS)
    assert np.array_equal(store.load(cell, 10), made_up(cell, range(10)))
    path.write_bytes(b"again")
    assert store.missing(cell, 10) == [RUNS]
    assert path.with_name("0-4.npz.damaged").read_bytes() == b"again"


@pytest.mark.parametrize("call", ["rename", "read_bytes"])
def test_a_block_that_cannot_be_moved_or_read_now_is_not_used_and_stays(
    store: Store,
    cell: RegretExperiment,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    path = write(store, cell, RUNS)
    sound = path.read_bytes()
    path.write_bytes(sound[:-1] if call == "rename" else sound)
    with monkeypatch.context() as patch:
        patch.setattr(Path, call, refuse)
        assert store.covered(cell) == set()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    path.write_bytes(sound)
    assert store.covered(cell) == {*RUNS}


def test_realised_regret_may_be_negative_and_decrease(store: Store, cell: RegretExperiment) -> None:
    realised = dataclasses.replace(cell, regret=Regret.REALISED)
    store.write(realised, 0, -made_up(realised, RUNS), 1.0)
    assert store.covered(realised) == {*RUNS}


class Trap:
    """Object that creates a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("member", ["header", "curves", "checksum"])
def test_a_pickled_object_is_never_unpickled(
    store: Store, cell: RegretExperiment, member: str, tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    trap = np.empty(1, object)
    trap[0] = Trap(sprung)
    path = write(store, cell, RUNS)
    buffer = io.BytesIO()
    with np.load(path) as members:
        content = {name: members[name] for name in members.files}
    np.savez(buffer, **{**content, member: trap})
    path.write_bytes(buffer.getvalue())
    assert store.covered(cell) == set()
    assert not sprung.exists()
    assert path.with_name("0-4.npz.damaged").exists()
    # The trap itself works.
    with np.load(io.BytesIO(buffer.getvalue()), allow_pickle=True) as members:
        members[member]
    assert sprung.exists()


def test_a_flipped_bit_anywhere_in_a_block_never_gives_other_numbers(
    store: Store, cell: RegretExperiment
) -> None:
    # Flip one bit at every byte of the file. The zip format has fields that have no meaning here (a
    # time, an operating system); a flip in one of them may pass, with the right numbers.
    cell = dataclasses.replace(cell, horizon=10)
    path = write(store, cell, range(2))
    right = made_up(cell, range(2))
    sound = path.read_bytes()
    with np.load(path) as members:
        parts = [members[name].tobytes() for name in ("header", "curves", "checksum")]
    vital = {i for part in parts for i in range(sound.index(part), sound.index(part) + len(part))}
    bits = np.random.default_rng(1).integers(8, size=len(sound))
    passed = set()
    logging.getLogger("dpbandits").disabled = True  # thousands of warnings
    try:
        for position, bit in enumerate(bits):
            flipped = bytearray(sound)
            flipped[position] ^= 1 << int(bit)
            path.write_bytes(flipped)
            aside = path.with_name(f"{path.name}.damaged")
            if store.covered(cell):
                assert store.load(cell, 2).tobytes() == right.tobytes(), position
                passed.add(position)
            else:
                assert aside.read_bytes() == flipped
                aside.unlink()
    finally:
        logging.getLogger("dpbandits").disabled = False
    assert not passed & vital
    assert len(passed) < 0.15 * len(sound)


# Writing ---------------------------------------------------------------------------------------


def full(*args: Any, **kwargs: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


class HalfFile(io.FileIO):
    """File on a disk that is full when half of it is written."""

    def write(self, content: Any) -> int:
        super().write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")


REAL_OPEN = Path.open


def open_half(path: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
    return HalfFile(path, "w") if "w" in mode else REAL_OPEN(path, mode, *rest, **more)


FULL_DISKS: dict[str, Callable[..., Any]] = {
    "os.fsync": full,
    "Path.replace": full,
    "Path.open": open_half,
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("call", FULL_DISKS)
def test_a_full_disk_is_reported_and_leaves_only_complete_blocks(
    store: Store, cell: RegretExperiment, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(store, cell, range(5))
    before = names(store.folder)
    with monkeypatch.context() as patch:
        patch.setattr(f"dpbandits.files.atomic.{call}", FULL_DISKS[call])
        with pytest.raises(UserError) as caught:
            write(store, cell, range(5, 10))
        with pytest.raises(UserError, match="No space left"):  # an existing file keeps its content
            write_atomically(store.experiment_folder(cell) / "0-4.npz", b"other")
    message = str(caught.value)
    assert "No space left on device" in message
    assert "5-9.npz" in message
    assert "make room or choose another folder (paths.cache=" in message
    assert "repeat the command" in message
    assert len(message.splitlines()) == 1
    assert names(store.folder) == before
    assert store.missing(cell, 10) == [range(5, 10)]
    assert np.array_equal(store.load(cell, 5), made_up(cell, range(5)))
    write(store, cell, range(5, 10))
    assert store.missing(cell, 10) == []


def test_a_block_is_on_the_disk_before_it_has_its_name(
    store: Store, cell: RegretExperiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        seen.extend(names(store.folder))
        real(descriptor)

    write(store, cell, range(5))  # the identity exists from now on
    monkeypatch.setattr("dpbandits.files.atomic.os.fsync", watched)
    write(store, cell, range(5, 10))
    assert "5-9.npz" not in seen
    assert "0-4.npz" in seen
    assert len(seen) == 3  # and a partial file, which is never read as a block


def test_leftovers_of_an_abrupt_end_and_copies_are_not_blocks(
    store: Store, cell: RegretExperiment
) -> None:
    path = write(store, cell, RUNS)
    content = path.read_bytes()
    path.rename(path.with_name(f".{path.name}.12345.partial"))
    assert store.missing(cell, 5) == [RUNS]
    for name in ("5-9.npz.damaged", "0-4 (copy).npz", "-1-4.npz", "0-4-8.npz"):
        path.with_name(name).write_bytes(content)
    assert store.missing(cell, 5) == [RUNS]


# Explanations -------------------------------------------------------------------------------------


def figure(*cells: RegretExperiment, runs: int = 5) -> FigureSpec:
    """Return a figure of a curve for every cell, and of a bound, which has no cell."""
    sources: tuple[RegretExperiment | Formula, ...] = (*cells, Formula("azize2022.x", ()))
    curves = tuple(
        Curve(str(i), str(i), str(i), "s", REGRET, "t", None, (source,), runs)
        for i, source in enumerate(sources)
    )
    panels = (Panel("a", "", curves),)
    return FigureSpec("fig", "azize2022", "Title", "draw", runs, "mean", "none", False, panels)


def line(store: Store, cell: RegretExperiment, runs: int = 5) -> str:
    """Return the explanation for the only cell of a figure."""
    first, _ = explain(figure(cell, runs=runs), store)
    return first


def test_every_cell_has_a_line_with_its_key_and_runs_and_nothing_is_written(
    store: Store, cell: RegretExperiment
) -> None:
    other = dataclasses.replace(cell, horizon=300)
    assert line(store, cell).endswith("  never computed")
    assert not store.folder.exists()
    write(store, dataclasses.replace(cell, member="adap-klucb"), RUNS)  # of no interest
    assert line(store, cell).endswith("  never computed")
    write(store, cell, RUNS)
    first, second, last = explain(figure(cell, other), store)
    assert first == f"{key(cell)}     5/5 runs  {kinds.words(cell).name}"
    assert second.startswith(f"{key(other)}     0/5 runs  {kinds.words(other).name}  ")
    assert f"1 of 2 experiments are complete in {store.folder}; " in last
    assert line(store, cell, runs=20).endswith("  more runs are requested than cached")
    *_, last = explain(figure(cell), store)
    assert last.endswith("; `dpbandits run` computes nothing")
    (store.folder / "adap-ucb" / "other").mkdir()
    (store.folder / "adap-ucb" / "other" / "identity.json").write_bytes(b"{")  # passed over
    (store.experiment_folder(cell) / "0-4.npz").write_bytes(b"")
    assert " 0/5 runs " in line(store, cell)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"params": adap_ucb.Params(0.5)}, "params.epsilon (0.5, wanted 1.0)"),
        ({"horizon": 100}, "horizon (100, wanted 200)"),
        ({"grid": Grid.END}, "grid ('end', wanted 'log')"),
        (
            {"instance": bernoulli.Params((0.9, 0.5, 0.1))},
            "instance.means ([0.9, 0.5, 0.1], wanted [0.9, 0.5])",
        ),
        (
            {"params": adap_ucb.Params(1.0, 3.0), "horizon": 100},
            "horizon (100, wanted 200), params.alpha (3.0, wanted 3.1)",
        ),
    ],
    ids=str,
)
def test_a_changed_field_is_named_with_both_values(
    store: Store, cell: RegretExperiment, change: dict[str, Any], reason: str
) -> None:
    write(store, dataclasses.replace(cell, **change), RUNS)
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached experiment differs in {reason}"
    )


def test_the_nearest_of_several_is_the_one_of_fewest_differences(
    store: Store, cell: RegretExperiment
) -> None:
    params = adap_ucb.Params(0.5)
    write(store, dataclasses.replace(cell, params=params, horizon=100, seed=9), RUNS)
    write(store, dataclasses.replace(cell, seed=9), RUNS)
    write(store, dataclasses.replace(cell, params=params, seed=9), RUNS)
    assert line(store, cell).endswith("differs in seed (9, wanted 1)")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"algorithms/old.py": "0123456789abcdef"}, "the source algorithms/old.py"),
        ({"kernel/bandit.py": None}, "the source kernel/bandit.py"),
        (
            {"kernel/bandit.py": "0123456789abcdef", "kernel/randomness.py": "0123456789abcdef"},
            "the source kernel/bandit.py, the source kernel/randomness.py",
        ),
    ],
    ids=str,
)
@pytest.mark.usefixtures("fresh_keys")
def test_a_changed_source_is_named(
    store: Store,
    cell: RegretExperiment,
    change: dict[str, str | None],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = sources(cell.roots) | change
    kept = {name: digest for name, digest in before.items() if digest is not None}
    with monkeypatch.context() as patch:
        patch.setattr("dpbandits.store.key.sources", lambda roots: kept)
        patch.setattr("dpbandits.store.blocks.check_sources", lambda cell: None)
        write(store, cell, RUNS)
    key.cache_clear()
    assert line(store, cell).endswith(
        f"  not computed; the most similar cached experiment differs in {reason}"
    )
