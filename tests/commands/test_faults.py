"""Faults around a command: finished blocks stay, one line gives the fix, a rerun continues."""

import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import disturbed
import pytest
from commands import DPBANDITS, KINDS, Done, Process, bandit_cells, below
from forks import Fork

from dpbandits.config.compose import load
from dpbandits.factory.produce import produce
from dpbandits.run import ExitStatus
from dpbandits.store.blocks import Store

pytestmark = pytest.mark.usefixtures("in_checkout")

FIGURE = "adap-c2"
TYPED = ("profile=smoke", "runs=4", "~figure.curves.dp-ucb")
WHERE = f"{FIGURE}/profile=smoke,runs=4,~dp-ucb"  # folder of the changed figure, below paths.out
CELLS = 12
IN_ORDER = ("engine.workers=1", "engine.block=2")  # one task after the other: two per cell
LIBRARIES = ("importing numpy", "importing hydra")
EXPLAINED = "make room or choose another folder (paths.cache=..., paths.out=...), then repeat"


def start(folder: Path, *more: str, **environment: str) -> Fork:
    """Start the command, with its cache and out below a folder."""
    return Fork(*DPBANDITS, "run", FIGURE, *TYPED, *below(folder), *more, **environment)


def start_disturbed(
    disturbance: str, folder: Path, *more: str, **environment: str
) -> Fork | Process:
    """Start the command with a disturbance."""
    how = Process if disturbance in LIBRARIES else Fork
    command = (sys.executable, disturbed.__file__, disturbance, "run", FIGURE, *TYPED)
    return how(*command, *below(folder), *more, **environment)


def pictures(folder: Path) -> dict[str, bytes]:
    """Return the files of the figure by name, in whichever folder its overrides have."""
    files = (path for path in (folder / "out" / FIGURE).rglob("*") if path.is_file())
    return {path.name: path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def calm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an undisturbed command, which also leaves the compiled machine code behind."""
    folder = tmp_path_factory.mktemp("calm")
    assert start(folder).done().counts == (4 * CELLS, 0, "drawn")
    return folder


@pytest.fixture(scope="module")
def calm(calm_folder: Path) -> dict[str, bytes]:
    """Pictures, table and sidecar of the undisturbed command, by name."""
    return pictures(calm_folder)


def kept(folder: Path, *typed: str) -> int:
    """Return the number of runs in sound blocks; assert that the cache holds nothing else."""
    spec, settings = load(FIGURE, [*TYPED, *typed, *below(folder)])
    store = Store(settings.cache)
    runs = sum(len(store.covered(cell)) for cell in bandit_cells(spec))
    files = [path.name for path in settings.cache.rglob("*") if path.is_file()]
    assert [
        name for name in files if not re.fullmatch(r"\d+-\d+\.npz|identity\.json|format", name)
    ] == []
    return runs


def assert_as_if_calm(folder: Path, calm: dict[str, bytes]) -> None:
    """Assert sound blocks, no stray files, and the table and pictures of an undisturbed run."""
    assert kept(folder) == 4 * CELLS
    made = pictures(folder)
    sidecar = json.loads(made.pop(f"{FIGURE}.json"))
    assert json.loads(made.pop("verdict.json"))["figure"] == FIGURE
    assert made == {name: content for name, content in calm.items() if name in made}
    assert {f"{FIGURE}.{kind}" for kind in KINDS} == {*made, f"{FIGURE}.json"}
    digests = {
        name.partition(".")[2]: sha256(content).hexdigest() for name, content in made.items()
    }
    assert sidecar["files"] == digests


# Several processes -------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [2, 4])
def test_processes_that_work_simultaneously_do_not_disturb_each_other(
    many: int, tmp_path: Path, calm: dict[str, bytes]
) -> None:
    places = [tmp_path / "places" / str(number) for number in range(many)]
    (tmp_path / "places").mkdir()
    for place in places:
        place.touch()
    environments = ({"PLACES": str(tmp_path / "places"), "OWN": str(own)} for own in places)
    started = [
        start_disturbed("in step", tmp_path, "engine.workers=1", **env) for env in environments
    ]
    for done in [process.done() for process in started]:
        assert (done.status, done.err) == (0, "")
    steps = [place.stat().st_size for place in places]
    assert min(steps) > 2 * CELLS  # the processes did meet
    assert_as_if_calm(tmp_path, calm)
    assert start(tmp_path).done().counts == (0, 4 * CELLS, "pictures are up to date")


# The disk ----------------------------------------------------------------------------------------


def test_a_disk_that_fills_up_in_mid_block_keeps_the_blocks_before(tmp_path: Path) -> None:
    # 4 runs of panel a, with a short horizon, take 3 kB; those of other panels 7 kB and a header:
    # too much.
    overrides = ("+figure.panels.a.horizon=50", "runs=5", "engine.workers=1")
    full, calm = tmp_path / "full", tmp_path / "calm"
    done = start_disturbed("full disk", full, *overrides).done()
    done.assert_told(2, f"cannot write {full}/cache/dp-se/", "0-4.npz: File too large", EXPLAINED)
    assert kept(full, *overrides) == 3 * 5
    assert pictures(full) == {}
    undisturbed = start(calm, *overrides)
    assert start(full, *overrides).done().counts == (9 * 5, 3 * 5, "drawn")
    undisturbed.done()
    table = f"{FIGURE}.csv"
    assert pictures(full)[table] == pictures(calm)[table]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Any]:
    """Remove the write permission from a folder and everything below it during a test."""
    taken: list[Path] = []

    def take(folder: Path) -> None:
        taken.extend((folder, *(path for path in folder.rglob("*") if path.is_dir())))
        for path in taken:
            path.chmod(0o555)

    yield take
    for path in taken:
        path.chmod(0o755)


@pytest.mark.parametrize("which", ["cache", "out"])
def test_a_folder_that_is_not_writable_is_reported_before_anything_is_computed(
    which: str, tmp_path: Path, read_only: Any
) -> None:
    (tmp_path / which).mkdir()
    read_only(tmp_path / which)
    done = start_disturbed("no privileges", tmp_path).done()
    done.assert_told(2, f"cannot write {tmp_path / which}", "Permission denied", EXPLAINED)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_figure_is_drawn_from_a_complete_read_only_cache(
    tmp_path: Path, calm_folder: Path, calm: dict[str, bytes], read_only: Any
) -> None:
    shutil.copytree(calm_folder / "cache", tmp_path / "cache")
    read_only(tmp_path / "cache")
    done = start_disturbed("no privileges", tmp_path).done()
    assert done.counts == (0, 4 * CELLS, "drawn")
    assert done.err == ""
    assert_as_if_calm(tmp_path, calm)


def test_a_damaged_sidecar_is_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = load("lower-bounds", below(tmp_path))
    sidecar = tmp_path / "out" / "lower-bounds" / "lower-bounds.json"
    assert produce(*figure) == ExitStatus.DONE
    sound = json.loads(sidecar.read_text())
    for content in ("[]", "3", json.dumps({**sound, "files": []}), "[" * 10**6):
        sidecar.write_text(content)
        assert produce(*figure) == ExitStatus.DONE
        assert json.loads(sidecar.read_text())["files"] == sound["files"]
    assert "up to date" not in capsys.readouterr().out


# Interrupts --------------------------------------------------------------------------------------

INTERRUPTED = (  # below the line of the terminal that shows ^C
    "\ndpbandits: interrupted; completed blocks are kept, and the same command continues from"
    " there\n"
)
# Number of stored blocks of two runs.
MOMENTS = {
    "importing numpy": 0,
    "importing hydra": 0,
    "composing": 0,
    "composing, with an error of Python": 0,
    "compiling": 0,
    "playing": 2,
    "writing a block": 2,
    "drawing": 2 * CELLS,
    "writing a picture": 2 * CELLS,
    "saying so": 2,
    "one was lost": 0,
}
REPEATED = ("playing", "writing a block", "drawing", "writing a picture")


@dataclass
class Interrupted:
    """Command that was interrupted at some moment, and the files that it left."""

    folder: Path
    done: Done
    files: list[Path]


@pytest.fixture(scope="module")
def interrupted(
    tmp_path_factory: pytest.TempPathFactory, calm: dict[str, bytes]
) -> dict[str, Interrupted]:
    def interrupt(moment: str, folder: Path) -> Interrupted:
        # A separate, empty cache of machine code where the compilation is interrupted.
        own = {"DPBANDITS_CACHE": f"{folder}-kernels"} if moment == "compiling" else {}
        done = start_disturbed(moment, folder, *IN_ORDER, **own).done()
        return Interrupted(folder, done, [path for path in folder.rglob("*") if path.is_file()])

    folders = [tmp_path_factory.mktemp("interrupted") for _ in MOMENTS]
    with ThreadPoolExecutor(2) as pair:
        return dict(zip(MOMENTS, pair.map(interrupt, MOMENTS, folders), strict=True))


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_prints_one_line_keeps_completed_blocks_and_leaves_no_other_files(
    moment: str, interrupted: dict[str, Interrupted]
) -> None:
    this = interrupted[moment]
    assert (this.done.status, this.done.out) == (130, "")
    assert this.done.err == INTERRUPTED
    files = [path for path in this.files if path.name != "format"]
    found = Counter("block" if path.suffix == ".npz" else path.name for path in files)
    wanted = Counter(block=MOMENTS[moment])
    # Blocks come in the order of the cells, the identity of a cell before its first block.
    wanted["identity.json"] = {0: 0, 2: 2 if moment == "playing" else 3}.get(wanted["block"], CELLS)
    wanted[f"{FIGURE}.pdf"] = int(moment == "writing a picture")
    assert found == wanted


@pytest.mark.parametrize("moment", REPEATED)
def test_after_an_interrupt_the_same_command_ends_like_an_undisturbed_one(
    moment: str, interrupted: dict[str, Interrupted], calm: dict[str, bytes]
) -> None:
    folder, runs = interrupted[moment].folder, 2 * MOMENTS[moment]
    again = start(folder).done()
    assert again.counts == (4 * CELLS - runs, runs, "drawn")
    assert again.err == ""
    assert_as_if_calm(folder, calm)


def test_run_py_is_interrupted_in_the_same_way(tmp_path: Path) -> None:
    command = (sys.executable, disturbed.__file__, "importing hydra", f"figure={FIGURE}")
    done = Process(*command, *below(tmp_path)).done()
    assert (done.status, done.out, done.err) == (130, "", INTERRUPTED)


def test_a_background_process_of_a_script_ignores_interrupts(tmp_path: Path) -> None:
    # The shell makes a background command ignore SIGINT, so that Ctrl-C ends only the foreground.
    done = start_disturbed("in the background", tmp_path).done()
    assert done.counts == (4 * CELLS, 0, "drawn")


# Workers -----------------------------------------------------------------------------------------


def failures(folder: Path) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads(pictures(folder)["failures.json"])
    return content


def test_a_failed_cell_is_listed_and_only_it_is_recomputed(
    tmp_path: Path, calm: dict[str, bytes]
) -> None:
    done = start_disturbed("one cell fails", tmp_path, "engine.block=2").done()
    done.assert_told(
        ExitStatus.FAILED,
        "4 of 48 runs failed, the others are kept; first failure: dp-se(epsilon=0.25",
        "runs 0-1: ValueError: the gap is 0; all failures, with tracebacks, are in",
        f"{tmp_path}/out/{WHERE}/failures.json; after a fix, the same command computes"
        " only the missing runs",
    )
    assert set(pictures(tmp_path)) == {"failures.json"}
    listed = sorted(failures(tmp_path), key=lambda failure: failure["runs"])
    assert [failure["runs"] for failure in listed] == [[0, 1], [2, 3]]
    for failure in listed:
        assert failure["experiment"]["algorithm"] == "dp-se"
        assert failure["experiment"]["params"]["epsilon"] == 0.25
        assert failure["error"] == "ValueError: the gap is 0"
        assert failure["traceback"].startswith("Traceback")
        assert failure["traceback"].endswith("ValueError: the gap is 0\nand more of it\n")
    assert kept(tmp_path) == 4 * (CELLS - 1)
    assert start(tmp_path).done().counts == (4, 4 * (CELLS - 1), "drawn")
    assert_as_if_calm(tmp_path, calm)  # and the list of failures is gone


def test_a_worker_without_memory_reports_it_with_a_remedy(tmp_path: Path) -> None:
    done = start_disturbed("two cells need too much memory", tmp_path).done()
    advice = "fewer runs at once need less, engine.workers=1 the least"
    done.assert_told(
        ExitStatus.FAILED, "8 of 48 runs failed, the others are kept", "out of memory", advice
    )
    errors = {found["experiment"]["algorithm"]: found["error"] for found in failures(tmp_path)}
    assert errors["dp-se"] == f"out of memory; {advice}"
    assert errors["adap-ucb"].startswith("out of memory (Unable to allocate 64.0 PiB for an array")
    assert errors["adap-ucb"].endswith(f"); {advice}")
    assert kept(tmp_path) == 4 * (CELLS - 2)


def test_without_memory_for_the_table_the_runs_are_kept(tmp_path: Path) -> None:
    done = start_disturbed("the table needs too much memory", tmp_path).done()
    done.assert_told(2, "out of memory", "what was written is kept")
    assert kept(tmp_path) == 4 * CELLS
