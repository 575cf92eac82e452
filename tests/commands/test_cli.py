"""The commands as typed, each in a separate process."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from commands import (
    DPBANDITS,
    FIRST_FIGURES,
    KINDS,
    ROOT,
    RUN_PY,
    Done,
    Process,
    bandit_cells,
    below,
    blocks,
)
from forks import Fork

from dpbandits.config.compose import load
from dpbandits.files.provenance import git_revision
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store
from dpbandits.tables.series import summarise, to_csv


def test_an_audit_is_a_command_of_its_own() -> None:
    done = Fork(*DPBANDITS, "audit", "adap-ucb", "--plays", "20_000", "--epsilon", "2").done()
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].startswith("adap-ucb ")
    assert "epsilon=2" in done.out.splitlines()[0].split()


def test_list_prints_every_name() -> None:
    done = Process(*DPBANDITS, "list").done()
    assert (done.status, done.err) == (0, "")
    named = {tuple(line.split()[:2]) for line in done.out.splitlines()}
    for kind, folder in (
        *((kind, ROOT / "conf" / kind) for kind in ("figure", "environment")),
        ("+algorithm", ROOT / "conf" / "algorithm"),
    ):
        members = {path.stem for path in folder.glob("*.yaml")}
        assert {name for group, name in named if group == kind} == members
    assert {("algorithm", "dp-se"), ("algorithm", "ucb"), ("law", "bernoulli")} <= named
    assert {("rule", "nas"), ("+algorithm", "azize2022-dp-ucb")} <= named


def test_the_version_is_that_of_the_package_and_of_git() -> None:
    done = Process(*DPBANDITS, "--version").done()
    assert (done.status, done.err) == (0, "")
    revision = git_revision()
    more = f" (revision {revision})" if revision else ""
    assert done.out == f"dpbandits {metadata.version('dpbandits')}{more}\n"


@pytest.mark.parametrize("typed", [("--help",), ("-h",), ("figure=adap-c2", "runs=0", "--help")])
def test_run_py_helps_with_figures_and_overrides(typed: tuple[str, ...]) -> None:
    done = Process(*RUN_PY, *typed).done()
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("usage: dpbandits multirun figure=<name> [key=value,value ...]")
    for fragment in ("figure=adap-c1,adap-c2", "figure=adap-c2 seed=1,2", "+algorithm@figure."):
        assert fragment in done.out
    assert "--hydra-help" in done.out


def test_the_help_of_hydra_is_still_there() -> None:
    done = Process(*RUN_PY, "--hydra-help").done()
    assert (done.status, done.err) == (0, "")
    assert "--multirun" in done.out


# From nothing to six files -----------------------------------------------------------------------

SMOKE = ("profile=smoke", "runs=2")
WHERE = "adap-ksweep/profile=smoke"  # below paths.out, which is an override
EXPORT = ("export", "adap-ksweep", "--format", "csv")  # overrides after an option
AS_CSV = ("export", "adap-ksweep")  # the default


@dataclass
class Smoke:
    """Figure made by run.py, again by `dpbandits run`, plotted elsewhere, explained, exported."""

    folder: Path
    first: Done
    times: dict[str, int]  # modification times of the files after the first command
    second: Done
    plotted: Done
    explained: Done
    exported: Done
    as_csv: Done

    def file(self, kind: str, out: str = "out") -> bytes:
        return (self.folder / out / WHERE / f"adap-ksweep.{kind}").read_bytes()

    def sidecar(self, out: str = "out") -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.file("json", out))
        return content


def modified(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    folder = tmp_path_factory.mktemp("smoke")
    first = Process(*RUN_PY, "figure=adap-ksweep", *SMOKE, *below(folder)).done()
    times = modified(folder)
    more = [
        Process(*DPBANDITS, verb, "adap-ksweep", *SMOKE, *below(folder, out))
        for verb, out in (("run", "out"), ("plot", "elsewhere"), ("explain", "nowhere"))
    ]
    more += [Process(*DPBANDITS, *e, *SMOKE, *below(folder)) for e in (EXPORT, AS_CSV)]
    return Smoke(folder, first, times, *(process.done() for process in more))


def test_a_figure_is_made_from_nothing(smoke: Smoke) -> None:
    assert smoke.first.counts == (48, 0, "drawn")
    folder = smoke.folder / "out" / WHERE
    assert str(folder / "adap-ksweep.{pdf,svg,png,csv,txt,json}") in smoke.first.out
    assert {path.name for path in folder.iterdir()} == {f"adap-ksweep.{kind}" for kind in KINDS}
    assert smoke.file("pdf").startswith(b"%PDF-")
    assert smoke.file("png").startswith(b"\x89PNG")
    assert b"<svg" in smoke.file("svg")
    assert len(blocks(smoke.folder)) == 24


def test_the_table_has_a_row_for_every_point_of_every_curve(smoke: Smoke) -> None:
    rows = list(csv.DictReader(smoke.file("csv").decode().splitlines()))
    points = {(row["panel"], row["label"], row["x"]) for row in rows}
    labels = ("DP-UCB", "DP-SE", "AdaP-UCB", "AdaP-KLUCB", "Lower bound (Thm 3)")
    assert points == {(p, label, x) for p in "ab" for label in labels for x in ("2", "4", "8")}
    assert len(rows) == len(points)
    assert {row["runs"] for row in rows} == {"0", "2"}
    for row in rows:
        assert float(row["min"]) <= float(row["mean"]) <= float(row["max"])


def test_the_sidecar_has_the_digests_of_the_files_and_the_command_that_repeats_them(
    smoke: Smoke,
) -> None:
    sidecar = smoke.sidecar()
    assert sidecar["files"] == {
        kind: sha256(smoke.file(kind)).hexdigest() for kind in KINDS - {"json"}
    }
    assert sidecar["command"] == f"dpbandits run adap-ksweep {' '.join(SMOKE)}"
    assert sidecar["command"].encode() in smoke.file("pdf")
    assert sidecar["runs"] == 2
    assert sidecar["seconds_of_computation"] > 0
    keys = {s["key"] for c in sidecar["curves"] for s in c["sources"] if "key" in s}
    assert keys == {path.parent.name for path in blocks(smoke.folder)}


def test_a_second_command_computes_and_draws_nothing(smoke: Smoke) -> None:
    assert smoke.second.counts == (0, 48, "pictures are up to date")
    now = modified(smoke.folder / "out") | modified(smoke.folder / "cache")
    assert now == smoke.times


@pytest.mark.parametrize("kind", ["pdf", "svg", "png", "csv"])
def test_the_files_are_the_same_bytes_in_every_folder(smoke: Smoke, kind: str) -> None:
    assert smoke.plotted.status == 0, smoke.plotted.err
    assert "drawn from the cache" in smoke.plotted.out
    assert smoke.file(kind, "elsewhere") == smoke.file(kind)


def test_the_sidecars_differ_in_the_time_alone(smoke: Smoke) -> None:
    here, there = smoke.sidecar(), smoke.sidecar("elsewhere")
    for sidecar in (here, there):
        del sidecar["provenance"]["written"]
    assert here == there


def test_after_a_run_explain_reports_that_a_run_computes_nothing(smoke: Smoke) -> None:
    assert (smoke.explained.status, smoke.explained.err) == (0, "")
    *cells, last = smoke.explained.out.splitlines()
    assert len(cells) == 24
    assert all("  2/2 runs  " in line for line in cells)
    assert last == (
        f"adap-ksweep: 24 of 24 cells are complete in {smoke.folder / 'cache'};"
        " `dpbandits run` computes nothing"
    )
    assert not (smoke.folder / "nowhere").exists()


def test_export_writes_the_table_and_nothing_else(smoke: Smoke) -> None:
    assert (smoke.exported.status, smoke.exported.err) == (0, "")
    assert smoke.exported.out == smoke.file("csv").decode()
    assert smoke.as_csv == smoke.exported


# Rejections --------------------------------------------------------------------------------------

REFUSALS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "unknown figure": (
        (*DPBANDITS, "run", "adap-c22"),
        ("unknown figure 'adap-c22'", "'adap-c2'"),
    ),
    "no figure, run.py": (RUN_PY, ("which figure?", FIRST_FIGURES)),
    "unknown key": (
        (*DPBANDITS, "run", "adap-c2", "figure.horizn=5"),
        ("unknown key 'figure.horizn' (command line)", "'figure.horizon'"),
    ),
    "nothing to plot": (
        (*DPBANDITS, "plot", "adap-c2", "profile=smoke"),
        ("32 runs are not computed yet", "`dpbandits run adap-c2 profile=smoke"),
    ),
    "nothing to export": (
        (*DPBANDITS, "export", "adap-c2", "--format=json", "profile=smoke"),
        ("32 runs are not computed yet", "`dpbandits run adap-c2 profile=smoke"),
    ),
    "no folder to export into": (
        (*DPBANDITS, "export", "adap-c2", "--format=csv", "--output=nowhere/x.csv"),
        ("cannot write nowhere/x.csv: there is no folder nowhere",),
    ),
    "out cannot be written": (
        (*DPBANDITS, "run", "adap-c2", "profile=smoke"),
        ("cannot write", "a-file/out", "paths.out=", "repeat the command"),
    ),
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Done]]:
    # All at once: nearly all of their time is the start of Python.
    started = {}
    for name, (command, _) in REFUSALS.items():
        folder = tmp_path_factory.mktemp("refusal")
        (folder / "a-file").write_text("in the way of a folder")
        out = "a-file/out" if name == "out cannot be written" else "out"
        started[name] = folder, Process(*command, *below(folder, out))
    return {name: (folder, process.done()) for name, (folder, process) in started.items()}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_one_line_and_status_2_and_leaves_nothing_behind(
    refusals: dict[str, tuple[Path, Done]], name: str
) -> None:
    folder, done = refusals[name]
    assert done.status == 2, done.err
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    assert done.err.startswith("dpbandits: ")
    for fragment in REFUSALS[name][1]:
        assert fragment in done.err
    assert [path.name for path in folder.iterdir()] == ["a-file"]


# Abrupt ends -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_a_run_at_once_and_keeps_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # UCB decides in every round: its only cell would take minutes.
    overrides = [
        "~figure.curves.dp-ucb",
        "+figure.curves.ucb.algorithm=ucb",
        "figure.horizon=2_000_000_000",
        "runs=4",
        *below(tmp_path),
    ]
    process = Process(*DPBANDITS, "run", "adap-c2", *overrides)
    process.wait_for(lambda: len(blocks(tmp_path)) == 12)  # all others are done
    start = time.monotonic()
    process.popen.send_signal(signal.SIGINT)
    done = process.done()
    assert time.monotonic() - start < 5
    assert done.status == 130
    assert done.out == ""
    assert "dpbandits: interrupted; completed blocks are kept" in done.err
    assert "Traceback" not in done.err
    monkeypatch.chdir(ROOT)
    spec, settings = load("adap-c2", overrides)
    missing = [c.algorithm for c in bandit_cells(spec) if Store(settings.cache).missing(c, 4)]
    assert missing == ["ucb"]


def test_a_killed_run_resumes_and_ends_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    overrides = (
        *(f"~figure.curves.{name}" for name in ("dp-ucb", "dp-se", "adap-klucb")),
        "figure.sweep.values=[64,128]",
        *("runs=200", "engine.block=1", "engine.workers=2"),
    )
    command = (*DPBANDITS, "run", "adap-ksweep", *overrides)
    process = Process(*command, *below(killed))
    process.wait_for(lambda: len(blocks(killed)) >= 6)
    process.popen.send_signal(signal.SIGKILL)
    assert process.done().status == -signal.SIGKILL
    ends = [map(int, path.stem.split("-")) for path in blocks(killed)]
    kept = sum(last - first + 1 for first, last in ends)  # quick runs share a block
    assert 6 <= kept < 800
    assert not list((killed / "out").rglob("adap-ksweep.*"))
    resumed = Process(*command, *below(killed))
    # Meanwhile, the same without a disturbance, in another cache and in this process.
    monkeypatch.chdir(ROOT)
    spec, settings = load("adap-ksweep", [*overrides, *below(calm)])
    store = Store(settings.cache)
    assert runner.play(plan(spec.runs_of_cells(), store, 7), store, 1, "calm") == []
    assert resumed.done().counts == (800 - kept, kept, "drawn")
    (file,) = (killed / "out" / "adap-ksweep").rglob("adap-ksweep.csv")
    table = file.read_bytes()
    assert table == to_csv(summarise(spec, store))
    assert len(table.splitlines()) == 1 + 2 * 2 * 2


def test_a_closed_pipe_is_not_an_error() -> None:
    # As in `dpbandits list | head -1`.
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            (*DPBANDITS, "list"), cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(writing)
    assert "Traceback" not in done.stderr


def test_a_command_that_draws_does_not_import_the_libraries_of_audits() -> None:
    # scipy.stats takes as long to import as all the rest.
    loaded = "from dpbandits.cli.process import load_factory; load_factory()"
    loads = f"import sys; {loaded}; print(*sys.modules)"
    done = Process(sys.executable, "-c", loads).done()
    assert (done.status, done.err) == (0, "")
    assert "dpbandits.run.runner" in done.out.split()
    assert "scipy.stats" not in done.out.split()


def test_without_a_command_the_help_is_printed() -> None:
    done = Process(*DPBANDITS).done()
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: dpbandits")
