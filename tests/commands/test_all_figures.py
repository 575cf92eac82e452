"""Every figure in one process: a failure stops no other figure and is named at the end."""

import os
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import DPBANDITS, FIGURES, ROOT, Process, below, blocks
from complaints import readable

from dpbandits.config import conf_files
from dpbandits.core.errors import UserError
from dpbandits.factory import produce as factory
from dpbandits.factory.produce_all import figures_of, produce_all
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.in_turn import Begun

PAPERS = {
    *("tossou2016", "sajed2019", "azize2022", "wang2024", "tossou2017", "azize2024", "ren2020"),
    *("hu2022", "azize2025", "across"),
}

Captured = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("in_checkout")
def test_every_figure_is_of_one_paper() -> None:
    assert figures_of(None) == FIGURES
    of_papers = [name for paper in PAPERS for name in figures_of(paper)]
    assert sorted(of_papers) == FIGURES
    assert {"dpse-epsilon", "dpse-ksweep", "stopping-rules"} <= set(figures_of("sajed2019"))


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("paper", "message"),
    [
        ("azise2022", "unknown paper 'azise2022'; did you mean 'azize2022' or 'azize2025'"),
        (
            "nonsense",
            "unknown paper 'nonsense'; valid: across, azize2022, azize2024, azize2025, hu2022,",
        ),
        ("", "unknown paper ''; valid: across, azize2022"),
    ],
)
def test_the_message_for_an_unknown_paper_names_the_nearest(paper: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        produce_all(paper, [])
    readable(str(caught.value))
    assert str(caught.value).startswith(message)


Made = dict[str, tuple[Any, Any]]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Replace the factory; return what it would have made, with failures where a test puts them."""
    made: Made = {}

    def begin(spec: Any, settings: Any) -> Begun[int]:
        def finish(at_the_last: Callable[[], None]) -> int:
            at_the_last()
            made[spec.name] = spec, settings
            print(f"{spec.name}: made")
            return 0

        return begun(finish)

    monkeypatch.setattr(factory, "begin", begin)
    return made


def begun(finish: Callable[[Callable[[], None]], int]) -> Begun[int]:
    """Return a figure that has no runs."""
    nothing: Any = SimpleNamespace(cells=set(), is_done=True, on_threads=True)
    return Begun(nothing, finish)


def failing(figure: str, how: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make one figure fail, beside those that are made."""
    whole = factory.begin

    def begin(spec: Any, settings: Any) -> Begun[int]:
        return begun(lambda _: how()) if spec.name == figure else whole(spec, settings)

    monkeypatch.setattr(factory, "begin", begin)


def raising(error: BaseException) -> Callable[[], int]:
    def fail() -> int:
        raise error

    return fail


OURS = "sajed2019"
THREE = ["dpse-epsilon", "dpse-ksweep", "stopping-rules"]


@pytest.mark.usefixtures("in_checkout")
def test_overrides_apply_to_every_figure(made: Made, tmp_path: Path, capsys: Captured) -> None:
    overrides = ["profile=smoke", "runs=3", "seed=7", f"paths.out={tmp_path}"]
    assert produce_all(OURS, overrides) == 0
    assert list(made) == THREE
    for spec, settings in made.values():
        assert (spec.runs, settings.out) == (3, tmp_path)
        assert {cell.seed for cell in spec.cells()} == {7}
        assert settings.overrides == tuple(overrides)
    out, err = capsys.readouterr()
    *lines, last = out.splitlines()
    assert lines == [f"{name}: made" for name in THREE]
    assert re.fullmatch(r"3 of 3 figures are complete; [\d.]+ s", last)
    assert err == ""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Output folder of tests that write nothing: with the same overrides, figures load once."""
    return tmp_path_factory.mktemp("out")


@pytest.mark.usefixtures("in_checkout", "composed_once")
@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        (
            lambda: ExitStatus.FAILED,
            ExitStatus.FAILED,
            "",
        ),  # the factory has reported the runs that failed
        (
            raising(UserError("the disk is full")),
            ExitStatus.MISTAKE,
            "dpbandits: the disk is full\n",
        ),
        (raising(MemoryError()), ExitStatus.MISTAKE, "dpbandits: dpse-ksweep: out of memory"),
        (raising(KeyError("x")), ExitStatus.FAILED, "dpbandits: dpse-ksweep: KeyError: 'x'\n"),
    ],
)
def test_a_figure_that_fails_stops_no_other_and_is_named_at_the_end(
    made: Made,
    out: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Captured,
    how: Callable[[], int],
    status: int,
    message: str,
) -> None:
    failing("dpse-ksweep", how, monkeypatch)
    assert produce_all(OURS, [f"paths.out={out}"]) == status
    assert list(made) == ["dpse-epsilon", "stopping-rules"]
    printed, err = capsys.readouterr()
    assert "2 of 3 figures are complete;" in printed
    assert message in err
    assert err.endswith("dpbandits: dpse-ksweep failed, for the reasons above\n")
    # A fault of the program gets its traceback.
    assert ("Traceback" in err) == ("KeyError" in message)


@pytest.mark.usefixtures("in_checkout", "composed_once")
def test_an_interrupt_is_not_the_failure_of_a_figure(
    made: Made, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing("dpse-ksweep", raising(KeyboardInterrupt()), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        produce_all(OURS, [f"paths.out={out}"])
    assert list(made) == ["dpse-epsilon"]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("mistake", ["rums=5", "runs=0", "runs=[1", "profile=smole", "figure=x"])
def test_a_mistake_of_the_command_is_reported_once_and_nothing_is_made(
    made: Made, tmp_path: Path, mistake: str, capsys: Captured
) -> None:
    with pytest.raises(UserError) as caught:
        produce_all(OURS, [mistake, f"paths.out={tmp_path / 'out'}"])
    readable(str(caught.value))
    assert (made, capsys.readouterr()) == ({}, ("", ""))
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_the_file_of_a_figure_stops_no_other(
    checkout: Path, made: Made, tmp_path: Path, capsys: Captured
) -> None:
    file = checkout / "conf" / "figure" / "dpse-ksweep.yaml"
    file.write_text(file.read_text().replace("horizon:", "horizn:", 1))
    assert produce_all(OURS, [f"paths.out={tmp_path / 'out'}"]) == 2
    assert list(made) == ["dpse-epsilon", "stopping-rules"]
    first, last = capsys.readouterr().err.splitlines()
    readable(first)
    assert "horizn" in first
    assert last == "dpbandits: dpse-ksweep failed, for the reasons above"


@pytest.mark.usefixtures("in_checkout")
def test_an_output_folder_that_cannot_be_made_is_reported_once(made: Made, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    with pytest.raises(UserError, match=r"cannot write .*file/out"):
        produce_all(OURS, [f"paths.out={tmp_path / 'file' / 'out'}"])
    assert made == {}


def test_the_pictures_of_a_figure_are_not_kept(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    for path in (checkout / "conf" / "figure").glob("*.yaml"):
        if path.stem not in ("adap-c1", "adap-c2"):
            path.unlink()
    conf_files._load.cache_clear()
    alive: list[int] = []
    whole = factory.begin

    def begin(spec: Any, settings: Any) -> Begun[int]:
        begun = whole(spec, settings)

        def finish(at_the_last: Callable[[], None]) -> int:
            import gc

            from matplotlib.figure import Figure

            # Not isinstance, which dereferences weak references.
            alive.append(sum(type(thing) is Figure for thing in gc.get_objects()))
            return begun.finish(at_the_last)

        return replace(begun, finish=finish)

    monkeypatch.setattr(factory, "begin", begin)
    one_curve = ("~figure.curves", "+figure.curves.u.algorithm=ucb", "figure.horizon=1000")
    one_panel = (f"~figure.panels.{letter}" for letter in "bcd")
    overrides = ["runs=1", *one_curve, *one_panel, *below(tmp_path)]
    assert produce_all(None, overrides) == 0
    first, second = alive
    assert second <= first, capsys.readouterr()


# In a separate process ---------------------------------------------------------------------------


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_all_figures_at_once(tmp_path: Path) -> None:
    # UCB decides in every round: its only cell in the second figure would take minutes.
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT / "conf", copy / "conf")
    shutil.copytree(ROOT / "figures", copy / "figures")
    for path in (copy / "conf" / "figure").glob("*.yaml"):
        if path.stem not in ("dpucb-2arms", "dpse-epsilon", "stopping-rules"):
            path.unlink()
    overrides = ("runs=2", "~figure.curves", "+figure.curves.u.algorithm=ucb", *below(tmp_path))
    command = (
        *DPBANDITS,
        "run-all",
        "--paper",
        "tossou2016",
        *overrides,
        "figure.horizon=2000000000",
    )
    process = Process("env", "-C", str(copy), *command)
    process.wait_for(lambda: (tmp_path / "out" / "dpucb-2arms").is_dir())
    process.popen.send_signal(signal.SIGINT)
    done = process.done()
    assert (done.status, done.out) == (130, "")
    assert "dpbandits: interrupted; completed blocks are kept" in done.err
    assert "failed" not in done.err
    assert not blocks(tmp_path)


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target_for_people() -> None:
    own = {n: value for n, value in os.environ.items() if not n.startswith(("MAKE", "MFLAGS"))}
    done = Process("env", "-i", *(f"{n}={v}" for n, v in own.items()), "make", "help").done()
    for target in ("all ", "smoke ", "paper-<key> ", "fig-<name> ", "explain-<name> "):
        assert f"\nmake {target}" in f"\n{done.out}"
    assert set(re.findall(r"\b[a-z]+20\d\d\b", done.out)) <= PAPERS
