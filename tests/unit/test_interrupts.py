"""Interrupts that OmegaConf turned into errors, and errors of a project's own sources."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from commands import ROOT
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError

from dpbandits import contract
from dpbandits.config import compose, conf_files
from dpbandits.factory import produce_all, stored_results
from dpbandits.gallery import figures
from dpbandits.run.exit_status import ExitStatus

FILE = "conf/config.yaml"


def interrupted(*arguments: Any, **more: Any) -> Any:
    """Raise an interrupt, and in place of it the error of a clean-up."""
    try:
        raise KeyboardInterrupt
    finally:
        raise ConfigAttributeError("a flag is gone")


def read_a_file() -> None:
    conf_files._load.__wrapped__(ROOT / FILE, FILE)


def resolve() -> None:
    compose._resolved(DictConfig({}), cast(Any, None))


@pytest.mark.parametrize(("step", "action"), [("load", read_a_file), ("to_container", resolve)])
def test_an_interrupt_of_omegaconf_stays_an_interrupt(
    step: str, action: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OmegaConf, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        action()


def test_an_error_of_a_source_of_the_project_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(produce_all, "of_own_source", lambda error: "mine.py, line 1: no")
    assert produce_all.status_of("a-figure", lambda: 1 // 0) == ExitStatus.MISTAKE
    assert capsys.readouterr().err == "dpbandits: a-figure: mine.py, line 1: no\n"


def test_an_interrupted_figure_stops_the_other_figures_too() -> None:
    with pytest.raises(KeyboardInterrupt):
        produce_all.status_of("a-figure", interrupted)


def test_an_interrupted_figure_stops_a_gallery(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stored_results, "load", interrupted)
    with pytest.raises(KeyboardInterrupt):
        figures.show("adap-c2", tmp_path)


def test_an_interrupted_check_stops_the_checks_of_an_algorithm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contract, "CHECKS", {"a check": interrupted})
    with pytest.raises(KeyboardInterrupt):
        list(contract.findings(cast(Any, None)))
