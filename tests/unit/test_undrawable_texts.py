"""A text that no picture or file can hold is refused before anything is computed."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FIGURES
from complaints import complaint, readable
from composed import load

from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.drawing import mathtext
from dpbandits.factory import produce_all
from dpbandits.factory.drawable_texts import refuse_undrawable
from dpbandits.factory.export import exported
from dpbandits.factory.produce import produce, redraw
from dpbandits.spec.figure import FigureSpec

pytestmark = pytest.mark.usefixtures("in_checkout")


def export_pgfplots(spec: FigureSpec, settings: Settings) -> bytes:
    return exported(spec, settings, "pgfplots")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"$\foobar$", r"unknown symbol: \foobar at character 1 of a formula"),
        (r"plain, then $x\foobar$", r"unknown symbol: \foobar at character 2 of a formula"),
        ("first line\n$x^$", "unexpected text at character 3 of a formula"),
        (r"$\frac{1}$", r"expected \frac{num}{den} at character 6 of a formula"),
        ("$50%$", "unexpected text at character 1 of a formula"),
        ("5$", r"its dollars are not paired; write \$ for a dollar sign"),
        ("$x$ $\n$", r"its dollars are not paired; write \$ for a dollar sign"),
        (f"${'{' * 1000}x{'}' * 1000}$", "its braces are nested too deeply"),
        (r"$\epsilon = 1$, \$5, 50% & a_b", ""),
        ("", ""),
    ],
)
def test_the_reason_why_a_text_cannot_be_drawn_is_one_line(text: str, reason: str) -> None:
    assert mathtext.fault(text) == reason


@pytest.mark.parametrize(
    "key",
    [
        "figure.title",
        "figure.panels.b.title",
        "figure.panels.b.row",
        "figure.panels.b.column",
        "figure.curves.adap-ucb.label",
        "figure.curves.adap-ucb.legend",
        "figure.curves.adap-ucb.reading",
    ],
)
@pytest.mark.parametrize("action", [produce, redraw, export_pgfplots])
def test_a_text_that_cannot_be_drawn_is_refused_before_the_first_run(
    action: Callable[[FigureSpec, Settings], object], key: str, tmp_path: Path
) -> None:
    paths = (f"paths.cache={tmp_path / 'cache'}", f"paths.out={tmp_path / 'out'}")
    spec, settings = load("adap-c2", ["profile=smoke", *paths, rf"++{key}='$\foobar$'"])
    with pytest.raises(UserError) as caught:
        action(spec, settings)
    message = str(caught.value)
    readable(message)
    text = rf"{key} '(\w+-UCB \()?\$\\\\foobar\$\)?' cannot be drawn"
    fault = r"unknown symbol: \\foobar at character \d+ of a formula \(command line\)"
    assert re.fullmatch(f"adap-c2: {text}: {fault}", message)
    assert list(tmp_path.iterdir()) == []


def test_the_file_that_sets_a_text_is_named(checkout: Path) -> None:
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("title: Evolution", r"title: $\foobar$ Evolution"), "utf-8")
    with pytest.raises(UserError, match=r"figure\.title .* \(conf/figure/adap-c2\.yaml\)$"):
        refuse_undrawable(load("adap-c2", [])[0])


def test_all_figures_are_tried_before_the_first_is_computed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in FIGURES:
        if name not in ("lower-bounds", "ftpl-new-cdf"):
            (checkout / "conf" / "figure" / f"{name}.yaml").unlink()
    file = checkout / "conf" / "figure" / "lower-bounds.yaml"
    file.write_text(file.read_text("utf-8").replace("\ntitle: ", "\ntitle: $x^$ "), "utf-8")
    monkeypatch.setattr(produce_all, "status_of", lambda *_: print("computed", flush=True) or 0)
    assert produce_all.produce_all(None, ["profile=smoke"]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    readable(first)
    assert "lower-bounds: figure.title '$x^$" in first
    assert second.startswith("dpbandits: lower-bounds failed")
    assert out.startswith("computed\n1 of 2 figures")


@pytest.mark.parametrize("escape", [r"\ud800", r"\udcff", r"\x01", r"\0", r"\x7f", r"\ufffe"])
def test_a_character_that_no_file_can_hold_is_refused(escape: str, checkout: Path) -> None:
    file = checkout / "conf" / "figure" / "adap-c2.yaml"
    text = file.read_text("utf-8")
    file.write_text(text.replace("title: Evolution", f'title: "{escape}" #'), "utf-8")
    character = ord(escape.encode().decode("unicode_escape"))
    assert complaint("adap-c2", []) == (
        f"adap-c2: 'figure.title' has the character U+{character:04X}, which no file can hold"
        " (conf/figure/adap-c2.yaml)"
    )


@pytest.mark.parametrize("key", ["figure.note", "figure.panels.a.title", "figure.title"])
def test_a_lone_surrogate_of_the_command_line_is_refused(key: str) -> None:
    message = complaint("adap-c2", [f"++{key}='caf\udce9'"])
    assert "has the character U+DCE9, which no file can hold (command line)" in message


def test_letters_of_any_language_tabs_and_ends_of_lines_are_texts() -> None:
    spec, _ = load("adap-c2", ["++figure.note='ε ≤ 1, 图, émigré\t\U0001f600'"])
    assert spec.note == "ε ≤ 1, 图, émigré\t\U0001f600"
