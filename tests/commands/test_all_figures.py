"""Every figure in one process: a failure stops no other figure and is named at the end."""

import re
from pathlib import Path
from typing import Any

import pytest
from commands import FIGURES, below
from complaints import readable

from dpbandits.drawing import plotting
from dpbandits.factory.produce import produce_all
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus

FORMULAS = ("ftpl-beta-cdf", "ftpl-gauss-cdf", "ftpl-new-cdf")  # figures without runs
Captured = pytest.CaptureFixture[str]
Faults = dict[str, BaseException]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("paper", "message"), [("azise2022", "did you mean 'azize2022'"), ("", "valid: across, az")]
)
def test_an_unknown_paper_has_the_nearest_name(paper: str, message: str) -> None:
    with pytest.raises(UserError, match=f"^unknown paper '{paper}'; {message}") as caught:
        produce_all(paper, [])
    readable(str(caught.value))


@pytest.fixture
def faults(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Faults:
    """Errors that a test gives to figures of a project of three; the others have empty pictures."""
    for name in set(FIGURES) - {*FORMULAS}:
        (checkout / "conf" / "figure" / f"{name}.yaml").unlink()
    errors: Faults = {}

    def render(draw: Any, drawing: Any, keywords: str, *_: Any) -> dict[str, bytes]:
        for figure, error in errors.items():
            if f"dpbandits run {figure}" in keywords:
                raise error
        return {"pdf": b"%PDF-", "svg": b"<svg/>", "png": b"\x89PNG"}

    monkeypatch.setattr(plotting, "render", render)
    return errors


def made(folder: Path) -> list[str]:
    """Return the figures that have been made."""
    return sorted(file.stem for file in folder.rglob("*.json") if file.stem in FORMULAS)


def test_overrides_apply_to_every_figure(faults: Faults, tmp_path: Path, capsys: Captured) -> None:
    assert produce_all("wang2024", ["profile=smoke", "seed=7", *below(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert made(tmp_path / "out") == [*FORMULAS]
    assert re.fullmatch(r"3 of 3 figures are complete; [\d.]+ s", out.splitlines()[-1])
    assert err == ""
    for name in FORMULAS:
        sidecar = (tmp_path / "out" / name / "profile=smoke,seed=7" / f"{name}.json").read_text()
        assert "seed=7" in sidecar


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (UserError("the disk is full"), ExitStatus.MISTAKE, "dpbandits: the disk is full\n"),
        (KeyError("x"), ExitStatus.FAILED, "dpbandits: ftpl-gauss-cdf: KeyError: 'x'\n"),
    ],
)
def test_a_figure_that_fails_stops_no_other_and_is_named_at_the_end(
    faults: Faults, tmp_path: Path, capsys: Captured, error: Exception, status: int, message: str
) -> None:
    faults["ftpl-gauss-cdf"] = error
    assert produce_all(None, [*below(tmp_path)]) == status
    out, err = capsys.readouterr()
    assert made(tmp_path / "out") == ["ftpl-beta-cdf", "ftpl-new-cdf"]
    assert "2 of 3 figures are complete;" in out
    assert message in err
    assert err.endswith("dpbandits: ftpl-gauss-cdf failed, for the reasons above\n")
    # A fault of the program gets its traceback.
    assert ("Traceback" in err) == (status == ExitStatus.FAILED)


def test_an_interrupt_is_not_the_failure_of_a_figure(faults: Faults, tmp_path: Path) -> None:
    faults["ftpl-gauss-cdf"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        produce_all(None, [*below(tmp_path)])
    assert made(tmp_path / "out") == ["ftpl-beta-cdf"]


@pytest.mark.parametrize("mistake", ["rums=5", "runs=0", "profile=smole", "figure=x", "paths.out"])
def test_a_mistake_of_the_command_is_reported_once_and_nothing_is_made(
    faults: Faults, tmp_path: Path, mistake: str, capsys: Captured
) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    out = f"paths.out={tmp_path / 'file' / 'out'}"
    with pytest.raises(UserError) as caught:
        produce_all(None, [out] if mistake == "paths.out" else [mistake, *below(tmp_path)])
    readable(str(caught.value))
    assert capsys.readouterr() == ("", "")
    assert not (tmp_path / "out").exists()


def test_a_mistake_in_the_file_of_a_figure_stops_no_other(
    faults: Faults, checkout: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = checkout / "conf" / "figure" / "ftpl-gauss-cdf.yaml"
    file.write_text(file.read_text().replace("title:", "titel:", 1))
    assert produce_all(None, [*below(tmp_path)]) == ExitStatus.MISTAKE
    assert made(tmp_path / "out") == ["ftpl-beta-cdf", "ftpl-new-cdf"]
    first, last = capsys.readouterr().err.splitlines()
    readable(first)
    assert "titel" in first
    assert last == "dpbandits: ftpl-gauss-cdf failed, for the reasons above"
