"""The commands as typed, each in a separate process."""

import json
import signal
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
    below,
    blocks,
)

from dpbandits.config.compose import load
from dpbandits.files.provenance import git_revision, revision
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store
from dpbandits.tables.series import summarise, to_csv


def test_the_version_is_that_of_the_package_and_of_git() -> None:
    done = Process(*DPBANDITS, "--version").done()
    assert (done.status, done.err) == (0, "")
    known = git_revision() or revision()  # in a copy without git, the digest of the files
    assert done.out == f"dpbandits {metadata.version('dpbandits')} (revision {known})\n"


SMOKE = ("profile=smoke", "runs=2")
WHERE = "adap-ksweep/profile=smoke"  # below paths.out, which is an override


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
    export = ("export", "adap-ksweep", "--format", "csv")  # overrides after an option
    more.append(Process(*DPBANDITS, *export, *SMOKE, *below(folder)))
    return Smoke(folder, first, times, *(process.done() for process in more))


def test_a_figure_is_made_from_nothing(smoke: Smoke) -> None:
    assert smoke.first.counts == (48, 0, "drawn")
    folder = smoke.folder / "out" / WHERE
    assert str(folder / "adap-ksweep.{pdf,svg,png,csv,txt,json}") in smoke.first.out
    files = {f"adap-ksweep.{kind}" for kind in KINDS}
    assert {path.name for path in folder.iterdir()} == {*files, "verdict.json"}  # not judged, why
    assert smoke.file("pdf").startswith(b"%PDF-")
    assert smoke.file("png").startswith(b"\x89PNG")
    assert b"<svg" in smoke.file("svg")
    assert len(blocks(smoke.folder)) == 24


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
    assert modified(smoke.folder / "out") | modified(smoke.folder / "cache") == smoke.times


def test_the_files_are_the_same_bytes_in_every_folder_but_for_the_time(smoke: Smoke) -> None:
    assert smoke.plotted.status == 0, smoke.plotted.err
    assert "drawn from the cache" in smoke.plotted.out
    for kind in KINDS - {"json"}:
        assert smoke.file(kind, "elsewhere") == smoke.file(kind)
    sidecars = smoke.sidecar(), smoke.sidecar("elsewhere")
    for sidecar in sidecars:
        del sidecar["provenance"]["written"]
    assert sidecars[0] == sidecars[1]


def test_after_a_run_explain_reports_that_a_run_computes_nothing(smoke: Smoke) -> None:
    assert (smoke.explained.status, smoke.explained.err) == (0, "")
    *cells, last = smoke.explained.out.splitlines()
    assert len(cells) == 24
    assert all("  2/2 runs  " in line for line in cells)
    assert last.endswith("`dpbandits run` computes nothing")
    assert not (smoke.folder / "nowhere").exists()


def test_export_writes_the_table_and_nothing_else(smoke: Smoke) -> None:
    assert (smoke.exported.status, smoke.exported.err) == (0, "")
    assert smoke.exported.out == smoke.file("csv").decode()


@pytest.mark.parametrize(
    ("command", "fragments"),
    [
        (RUN_PY, ("which figure?", FIRST_FIGURES)),
        (
            (*DPBANDITS, "plot", "adap-c2", "profile=smoke"),
            ("32 runs are not computed yet", "`dpbandits run adap-c2 profile=smoke"),
        ),
    ],
)
def test_a_refusal_is_one_line_and_status_2_and_leaves_nothing_behind(
    command: tuple[str, ...], fragments: tuple[str, ...], tmp_path: Path
) -> None:
    Process(*command, *below(tmp_path)).done().assert_told(2, *fragments)
    assert [*tmp_path.iterdir()] == []


def test_a_killed_run_resumes_and_ends_with_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Meanwhile, the same without a disturbance, in another cache and in this process.
    killed, calm = tmp_path / "killed", tmp_path / "calm"
    overrides = (
        *(f"~figure.curves.{name}" for name in ("dp-ucb", "dp-se", "adap-klucb")),
        "figure.sweep.values=[64,128]",
        *("runs=200", "engine.block=1", "engine.workers=2"),
    )
    command = (*DPBANDITS, "run", "adap-ksweep", *overrides, *below(killed))
    process = Process(*command)
    process.wait_for(lambda: len(blocks(killed)) >= 6)
    process.popen.send_signal(signal.SIGKILL)
    assert process.done().status == -signal.SIGKILL
    ends = [map(int, path.stem.split("-")) for path in blocks(killed)]
    kept = sum(last - first + 1 for first, last in ends)  # quick runs share a block
    assert 6 <= kept < 800
    assert not list((killed / "out").rglob("adap-ksweep.*"))
    resumed = Process(*command)
    monkeypatch.chdir(ROOT)
    spec, settings = load("adap-ksweep", [*overrides, *below(calm)])
    store = Store(settings.cache)
    assert runner.compute(plan(spec.runs_of_experiments(), store, 7), store, 1, "calm") == []
    assert resumed.done().counts == (800 - kept, kept, "drawn")
    (file,) = (killed / "out" / "adap-ksweep").rglob("adap-ksweep.csv")
    assert file.read_bytes() == to_csv(summarise(spec, store))
