"""Multiruns as typed: shared cells, tables, pictures, failures and mistakes."""

import csv
import json
import re
import signal
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import ROOT, RUN_PY, Done, Process, below, documented_keys
from complaints import called, readable

from dpbandits.algorithms import exp3_tau
from dpbandits.cli import hydra_program
from dpbandits.cli.process import status_of
from dpbandits.config import compose, conf_files
from dpbandits.drawing import plotting
from dpbandits.experiments.regret import RegretExperiment
from dpbandits.factory import produce
from dpbandits.files.project import names as names_of
from dpbandits.run import ExitStatus
from dpbandits.sweeps import pictures
from dpbandits.sweeps.jobs import Job, prepare, varied
from dpbandits.tables.series import PLACE, STATISTICS

Run = Callable[..., Done]
Captured = pytest.CaptureFixture[str]
ALPHA = "figure.curves.adap-ucb.alpha"
TINY = ("figure=adap-headline", "figure.horizon=2000", "runs=3", "engine.workers=1")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> Run:
    """Run the command in this process, in the test's folders; pictures are written as texts."""
    monkeypatch.chdir(ROOT)

    def render(draw: Any, drawing: Any, keywords: str) -> dict[str, bytes]:
        draw(drawing)
        return dict.fromkeys(plotting.FORMATS, keywords.encode())

    monkeypatch.setattr(plotting, "render", render)

    def run(*typed: str) -> Done:
        monkeypatch.setattr("sys.argv", ["run.py", *typed, *below(tmp_path)])
        return Done(status_of(hydra_program.main), *capsys.readouterr())

    return run


def played(monkeypatch: pytest.MonkeyPatch) -> list[tuple[RegretExperiment, int]]:
    """Record the cells and runs that are played from here on."""
    plays: list[tuple[RegretExperiment, int]] = []
    whole = RegretExperiment.play

    def simulate(cell: RegretExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
        plays.extend((cell, run) for run in runs)
        return whole(cell, runs)

    monkeypatch.setattr(RegretExperiment, "play", simulate)
    return plays


def told(done: Done) -> list[str]:
    """Return the errors, without lines of progress."""
    return [line for line in done.err.splitlines() if line.startswith("dpbandits: ")]


def table(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


def test_jobs_that_share_cells_compute_them_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plays = played(monkeypatch)
    assert run("-m", *TINY, f"{ALPHA}=1,2", "figure.epsilon=0.1,1").status == 0
    # Four curves at two budgets, and AdaP-UCB at two alphas each; three runs.
    assert len(plays) == len(set(plays)) == (4 * 2 + 2 * 2) * 3
    assert run("-m", *TINY, f"{ALPHA}=2,3.1", "figure.epsilon=0.1,1").status == 0
    assert len(plays) == len(set(plays)) == (4 * 2 + 3 * 2) * 3


def test_a_sweep_has_one_table_and_one_picture_and_on_demand_a_folder_for_every_job(
    run: Run, tmp_path: Path
) -> None:
    typed = ("-m", *TINY, f"{ALPHA}=1,2", "figure.epsilon=0.1,1", "engine=local")
    done = run(*typed)
    assert (done.status, told(done)) == (0, [])
    assert re.search(r"^4 of 4 jobs are complete; .* s$", done.out, re.MULTILINE)
    assert "\njob 3 of 4, alpha=2,epsilon=0.1: 3 runs computed, 12 from the cache; " in done.out
    folder = tmp_path / "out" / "multirun" / "adap-headline"
    assert not [path for path in folder.iterdir() if path.is_dir()]
    assert run(*typed, "paths.jobs=true").status == 0
    jobs = [f"alpha={a},epsilon={e}" for a in (1, 2) for e in (0.1, 1)]
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(jobs)
    stem = "adap-headline-by-alpha-epsilon"
    files = {path.name for path in folder.iterdir() if path.is_file()}
    assert files == {f"{stem}.{kind}" for kind in ("csv", "pdf", "png", "svg", "json")}
    rows = table(folder / f"{stem}.csv")
    keys = [ALPHA, "figure.epsilon"]
    assert list(rows[0]) == ["job", "seed", "figure.horizon", *keys, *PLACE, *STATISTICS]
    for job in jobs:
        # The whole table of the job, and the overrides of the job.
        own = table(folder / job / "adap-headline.csv")
        mine = [row for row in rows if row["job"] == job]
        assert [{key: row[key] for key in own[0]} for row in mine] == own
        assert {f"alpha={row[ALPHA]},epsilon={row['figure.epsilon']}" for row in mine} == {job}
    sidecar = json.loads((folder / f"{stem}.json").read_text())
    assert set(sidecar) == documented_keys(sidecar["schema"])
    assert sidecar["varied"] == keys
    assert [job["name"] for job in sidecar["jobs"]] == jobs
    assert {job["status"] for job in sidecar["jobs"]} == {"done"}
    assert sidecar["command"].startswith("dpbandits multirun -m figure=adap-headline ")
    recorded = (folder / f"{stem}.json").read_text()
    assert not [word for word in (str(tmp_path), "engine=") if word in recorded]
    assert {row["seed"] for row in rows} == {"2022"}
    # The same figure alone has the same numbers.
    assert run(*TINY, f"{ALPHA}=2", "figure.epsilon=1").status == 0
    (alone,) = (tmp_path / "out" / "adap-headline").rglob("adap-headline.csv")
    assert alone.read_bytes() == (folder / "alpha=2,epsilon=1" / alone.name).read_bytes()


def test_figures_that_are_no_sweep_go_where_they_go_alone(run: Run, tmp_path: Path) -> None:
    tiny = ("++figure.horizon=2000", "runs=2", "engine.workers=1")
    done = run("-m", "figure=adap-headline,adap-c2", *tiny)
    assert (done.status, told(done)) == (0, [])
    assert {path.name for path in (tmp_path / "out" / "adap-c2").rglob("*.pdf")} == {"adap-c2.pdf"}
    assert not (tmp_path / "out" / "multirun" / "adap-c2").exists()


@pytest.mark.parametrize(
    ("typed", "panels", "points"),
    [
        ((f"{ALPHA}=1,2,3.1",), 1, 3),  # lines
        (("figure.environment=c1,c2",), 1, 2),  # no numbers: side by side
        ((f"{ALPHA}=1,2", "figure.curves.adap-klucb.alpha=1,2"), 2, 2),  # two keys
        ((f"{ALPHA}=1,2", "figure.epsilon=0.1,1", "seed=1,2"), 4, 2),  # three keys
    ],
)
def test_the_picture_shows_the_last_points_of_the_curves(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    typed: tuple[str, ...],
    panels: int,
    points: int,
) -> None:
    drawn = []
    render = plotting.render

    def noticed(draw: Any, drawing: Any, keywords: str) -> Any:
        drawn.append(drawing)
        return render(draw, drawing, keywords)

    monkeypatch.setattr(plotting, "render", noticed)
    assert run("-m", *TINY, *typed).status == 0
    drawing = drawn[-1]
    (file,) = (tmp_path / "out" / "multirun" / "adap-headline").glob("*.csv")
    ends = {float(row["centre"]) for row in table(file) if row["x"] == "2000"}
    assert len(drawing.panels) == panels
    for series in (series for panel in drawing.panels for series in panel.series):
        assert len(series.x) == points
        assert set(series.centre) <= ends


@pytest.mark.parametrize(
    "overrides",
    [
        ("~figure.curves.dp-se", "+algorithm@figure.curves.imed=dp-imed"),
        ("figure.note='a, b: c'", "++figure.curves.dp-se.epsilon=3", "profile=smoke"),
        ("figure.environment={family: bernoulli, means: [0.9, 0.5]}", "figure.horizon=1e5"),
        (f"figure.curves.adap-klucb.alpha=${{{ALPHA}}}", "figure.title='{epsilon}'", "seed=8"),
    ],
)
@pytest.mark.usefixtures("in_checkout")
def test_an_override_means_in_a_multirun_what_it_means_in_a_run(
    monkeypatch: pytest.MonkeyPatch, overrides: Sequence[str]
) -> None:
    found = list[Any]()

    def noticed(spec: Any, settings: Any) -> int:
        found.append(spec)
        return 0

    monkeypatch.setattr(produce, "produce", noticed)
    for words in (("multirun", "figure=adap-headline"), ("run", "adap-headline")):
        assert called(*words, *overrides).status == 0
    assert found[0] == found[1]


def test_a_key_may_be_without_effect_in_some_of_the_jobs(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(produce, "compute", lambda *_: int(ExitStatus.ALARM))
    done = run("-m", TINY[0], "~figure.profiles.ci", "profile=smoke,ci")
    assert (done.status, "changes nothing" in done.err) == (ExitStatus.ALARM, False)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_a_destructor_swallows_ends_the_multirun(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    read = compose.from_hydra
    monkeypatch.setattr(compose, "from_hydra", lambda config: (Interrupted(), read(config))[1])
    done = run("-m", *TINY, "seed=1,2")
    assert done.status == ExitStatus.INTERRUPTED
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]  # Hydra wrote nothing


def test_a_mistake_in_a_value_prints_one_line_and_stops_no_other_job(
    run: Run, tmp_path: Path
) -> None:
    done = run("-m", *TINY, "figure.epsilon=-1,1,2")
    assert done.status == 2
    first, last = told(done)
    readable(first)
    assert first.endswith("got -1 (command line); this concerns epsilon=-1")
    assert last == "dpbandits: failed, for the reasons above: epsilon=-1"
    assert "2 of 3 jobs are complete" in done.out
    file = tmp_path / "out" / "multirun" / "adap-headline" / "adap-headline-by-epsilon.csv"
    assert {row["job"] for row in table(file)} == {"epsilon=1", "epsilon=2"}
    sidecar = json.loads(file.with_suffix(".json").read_text())
    assert [job["status"] for job in sidecar["jobs"]] == ["mistake", "done", "done"]


def test_failed_runs_are_reported_at_once_and_stop_no_other_job(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = RegretExperiment.play

    def fragile(cell: RegretExperiment, runs: range) -> tuple[np.ndarray, np.ndarray]:
        if getattr(cell.params, "alpha", None) == 2:
            raise ZeroDivisionError("the gap is 0")
        return whole(cell, runs)

    monkeypatch.setattr(RegretExperiment, "play", fragile)
    done = run("-m", *TINY, f"{ALPHA}=1,2,4")
    assert done.status == ExitStatus.FAILED
    assert "failures.json" in done.err
    assert "dpbandits: alpha=2 failed; the other jobs continue\n" in done.err
    assert done.err.endswith("dpbandits: failed, for the reasons above: alpha=2\n")
    assert "2 of 3 jobs are complete" in done.out
    rows = table(tmp_path / "out/multirun/adap-headline/adap-headline-by-alpha.csv")
    assert {row["job"] for row in rows} == {"alpha=1", "alpha=4"}
    # After the fix, the same command computes only the missing runs.
    monkeypatch.setattr(RegretExperiment, "play", whole)
    plays = played(monkeypatch)
    assert run("-m", *TINY, f"{ALPHA}=1,2,4").status == 0
    assert len(plays) == 3


def test_if_every_job_fails_no_earlier_output_remains(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("-m", *TINY, f"{ALPHA}=1,2").status == 0
    monkeypatch.setattr(RegretExperiment, "play", lambda *_: 1 // 0)
    assert run("-m", *TINY, f"{ALPHA}=1,2", "seed=5").status == ExitStatus.FAILED
    files = {p.name for p in (tmp_path / "out/multirun/adap-headline").iterdir() if p.is_file()}
    assert files == {"adap-headline-by-alpha.json"}


HEADLINE = "figure=adap-headline"
SAME = "adap-headline: two jobs give the same figure: '"
MISTAKES = [
    (f"{HEADLINE} figure.epsilom=1,2", "unknown key 'figure.epsilom' (command line); did you mean"),
    (f"{HEADLINE} figure.epsilon=range(1,1)", "the multirun has no jobs: one of its lists of val"),
    (f"{HEADLINE} figure.epsilon=1,1", f"{SAME}figure.eps"),
    (f"{HEADLINE} seed=1,1.0", f"{SAME}seed=1' and 'seed=1.0'"),
    (f"{HEADLINE} ~figure", "adap-headline: figure.paper is missing (command line)"),
    (f"{HEADLINE} {ALPHA}=1,1.0 seed=1,2", f"{SAME}{ALPHA}"),
    (
        f"{HEADLINE} +figure.delta=0.1 figure.epsilon=1,2",
        "adap-headline: +figure.delta=0.1 changes nothing in the figure",
    ),
    (
        "figure=adap-headline,adap-c2 figure.horizon=2000",
        "unknown key 'figure.horizon' (command line): for several figures at once write ++figure.",
    ),
    ("figure.epsilon=1,2", "which figure?"),
    (
        "adap-c2 -n 5",
        "cannot read 'adap-c2': `dpbandits multirun` takes a figure as figure=adap-c2",
    ),
    (f"{HEADLINE} -n 5", "-n is no option: overrides are written without dashes, key=value, such"),
    (f"{HEADLINE} --cfg x", "--cfg is no option: overrides are written without dashes"),
    (
        f"{HEADLINE} runs=0,-1",
        "adap-headline: runs must be a whole number from 1 to 10^6, got 0 (command line) and -1 (",
    ),
    ("sweep=alfa", "unknown sweep 'alfa'; did you mean 'alpha'?"),
]


@pytest.mark.parametrize(("typed", "expected"), MISTAKES)
def test_a_mistake_in_the_command_prints_one_line_and_nothing_is_computed(
    run: Run, tmp_path: Path, typed: str, expected: str
) -> None:
    done = run("-m", *typed.split())
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    readable(line)
    assert line.startswith(f"dpbandits: {expected}")
    assert not (tmp_path / "cache").exists()


def test_a_multirun_of_which_a_callback_fails_is_not_complete(run: Run, tmp_path: Path) -> None:
    callback = "+hydra.callbacks.mine._target_=collections.OrderedDict"
    tiny = ("figure.horizon=2000", "runs=2", "engine.workers=1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as outside tests, a warning is no error
        done = run("-m", HEADLINE, "seed=1,2", *tiny, callback)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert "Callback OrderedDict.on_multirun_start raised" in line
    assert not (tmp_path / "cache").exists()


def test_a_key_that_one_figure_does_not_use_stops_no_other_figure(run: Run, tmp_path: Path) -> None:
    tiny = ("++figure.horizon=2000", "runs=2", "engine.workers=1")
    done = run("-m", "figure=adap-headline,adap-c1", "++figure.epsilon=1,2", *tiny)
    assert done.status == 2
    first, last = told(done)
    assert first.startswith(
        "dpbandits: adap-c1: ++figure.epsilon=1 changes nothing in the figure: set by"
    )
    assert last.startswith("dpbandits: failed, for the reasons above: figure=adap-c1, epsilon=1;")
    folder = tmp_path / "out" / "multirun"
    assert (folder / "adap-headline" / "adap-headline-by-epsilon.pdf").is_file()
    assert not (folder / "adap-c1").exists()


def test_an_output_folder_that_cannot_be_created_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    done = Process(*RUN_PY, "-m", *TINY, "seed=1,2", *below(tmp_path, "file/out")).done()
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert "file/out" in line


def names(*typed: Sequence[str]) -> list[str]:
    prepare(jobs := [Job("x", words, None, "not read") for words in typed])
    return [job.name for job in jobs]


def test_a_job_is_named_after_the_values_that_distinguish_it() -> None:
    assert names(["a.b.c=1", "runs=2"], ["a.b.c=2", "runs=2"]) == ["c=1", "c=2"]
    assert names(["+a.c=1", "b.c=1"], ["+a.c=1", "b.c=2"]) == ["c=1", "c=2"]
    curves = [f"figure.curves.{curve}.alpha=" for curve in "xy"]
    jobs = [Job("x", [*(f"{key}{n}" for key in curves), f"seed={n}"], None) for n in (1, 2)]
    assert [*varied(jobs).values()] == ["x.alpha", "y.alpha", "seed"]


@pytest.mark.parametrize(
    "values",
    [("{a:[1/2]}", "{a:[1;2]}"), ("x" * 300 + "a", "x" * 300 + "b"), ("../../up", "../..=up")],
)
def test_names_are_those_of_folders_and_differ(values: tuple[str, str]) -> None:
    folders = names(*([f"key={value}"] for value in values))
    assert len(set(folders)) == 2
    for name in folders:
        assert len(name) < 120
        assert re.fullmatch(r"[\w.,=+-]+", name)
        assert Path(name).name == name


SAVED = {  # the figure, the jobs, small numbers for the test
    "alpha": ("adap-headline", 6, ("figure.horizon=2000",)),
    "epsilon": ("adap-headline", 5, ("figure.horizon=2000",)),
    "v": ("dpucb-2arms", 6, ("figure.horizon=2000",)),
    "tau": ("exp3-stochastic", 8, ("figure.horizon=4096",)),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_sweep_has_a_picture(run: Run, tmp_path: Path, name: str) -> None:
    assert set(names_of("sweep")) == set(SAVED)
    figure, jobs, small = SAVED[name]
    few = ("runs=2", "engine.workers=1") if name != "tau" else ("runs=24", "engine.workers=2")
    done = run(f"sweep={name}", *few, *small)
    assert (done.status, told(done)) == (0, [])
    assert f"{jobs} of {jobs} jobs are complete" in done.out
    folder = tmp_path / "out" / "multirun" / figure
    assert len(list(folder.glob("*.pdf"))) == 1
    (file,) = folder.glob("*.csv")
    for row in table(file) if name == "alpha" else ():  # of both algorithms
        assert row[ALPHA] == row["figure.curves.adap-klucb.alpha"]


@pytest.mark.usefixtures("in_checkout")
def test_the_sweep_of_tau_is_that_of_powers_of_two() -> None:
    saved = conf_files.read_member("sweep", "tau")["hydra"]["sweeper"]["params"]
    calibration = (
        f"figure.curves.exp3-tau.calibration={saved.pop('figure.curves.exp3-tau.calibration')}"
    )
    lengths = []
    for epsilon in saved["figure.epsilon"].split(","):
        spec, _ = compose.load("exp3-stochastic", [calibration, f"figure.epsilon={epsilon}"])
        (params,) = (
            cell.params for cell in spec.experiments() if isinstance(cell.params, exp3_tau.Params)
        )
        lengths.append(exp3_tau.batch_length(params, 0))
    assert lengths == [1024, 512, 256, 128, 64, 32, 16, 8]


def test_a_heat_map_has_the_curves_that_depend_on_both(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    whole = pictures._draw_maps

    def noticed(*given: Any) -> Any:
        drawn.append(given)
        return whole(*given)

    monkeypatch.setattr(pictures, "_draw_maps", noticed)
    assert run("-m", *TINY, f"{ALPHA}=1,2,4", "figure.epsilon=0.1,1").status == 0
    ((drawing, (grid,), keys, end),) = drawn
    assert [panel.title for panel in drawing.panels] == ["AdaP-UCB"]
    assert grid.shape == (2, 3)
    assert [key.values for key in keys] == [[1, 2, 4], [0.1, 1]]
    # Less regret at the larger budget; there, more of it with more exploration.
    assert np.all(grid[0] > grid[1])
    assert 0 < grid[1, 0] < grid[1, 1] < grid[1, 2]
    assert end == "Regret after 2,000 rounds"


def test_the_numbers_of_ten_columns_do_not_touch(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    whole = pictures._draw_maps

    def noticed(*given: Any) -> Any:
        with plotting.house_style(None):
            drawn.append(whole(*given))
            drawn[-1].draw_without_rendering()
        return drawn[-1]

    monkeypatch.setattr(pictures, "_draw_maps", noticed)
    ten = ",".join(f"{k / 10:g}" for k in range(1, 11))
    words = f"figure.epsilon={ten}", f"{ALPHA}=1,2", "~figure.curves.dp-ucb"
    assert run("-m", *TINY, *words).status == 0
    boxes = [text.get_window_extent() for text in drawn[0].axes[0].texts]
    assert len(boxes) == 20
    assert sum(box.count_overlaps(boxes) for box in boxes) == len(boxes)  # each with itself
    (file,) = (tmp_path / "out/multirun/adap-headline").glob("*.csv")
    assert not [column for column in table(file)[0] if "dp-ucb" in column]
