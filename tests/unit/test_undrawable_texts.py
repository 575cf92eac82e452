"""A text that no picture or file can hold is refused before anything is computed."""

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from commands import FIGURES, below
from complaints import readable
from composed import load

from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.factory import produce as factory
from dpbandits.factory.produce import produce, redraw, refuse_undrawable
from dpbandits.spec.figure import FigureSpec

pytestmark = pytest.mark.usefixtures("in_checkout")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"plain, then $x\foobar$", r"unknown symbol: \foobar at character 2 of a formula"),
        ("$x^$", "unexpected text at character 3 of a formula"),
        (r"$\frac{1}$", r"expected \frac{num}{den} at character 6 of a formula"),
        ("5$", r"its dollars are not paired; write \$ for a dollar sign"),
        (f"${'{' * 1000}x{'}' * 1000}$", "its braces are nested too deeply"),
        (r"$\epsilon = 1$, \$5, 50% & a_b", ""),
        ("ε ≤ 1, 图, émigré\t\U0001f600", ""),
    ],
)
def test_a_text_is_drawable_or_the_reason_is_one_line(text: str, reason: str) -> None:
    spec = replace(load("adap-c2", [])[0], title=text)
    with pytest.raises(UserError) if reason else nullcontext() as caught:
        refuse_undrawable(spec)
    if caught:
        readable(str(caught.value))
        assert f" cannot be drawn: {reason} (" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "action"),
    [
        ("title", produce),
        ("panels.b.row", redraw),
        ("panels.b.column", produce),
        ("curves.adap-ucb.legend", produce),
        ("curves.adap-ucb.reading", redraw),
    ],
)
def test_a_text_that_cannot_be_drawn_is_refused_before_the_first_run(
    action: Callable[[FigureSpec, Settings], object], key: str, tmp_path: Path
) -> None:
    overrides = ["profile=smoke", *below(tmp_path), rf"++figure.{key}='$\foobar$'"]
    spec, settings = load("adap-c2", overrides)
    with pytest.raises(UserError, match=rf"^adap-c2: figure\.{re.escape(key)} .* cannot be drawn"):
        action(spec, settings)
    assert list(tmp_path.iterdir()) == []


def test_all_figures_are_tried_before_the_first_is_computed(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in set(FIGURES) - {"lower-bounds", "ftpl-new-cdf"}:
        (checkout / "conf" / "figure" / f"{name}.yaml").unlink()
    file = checkout / "conf" / "figure" / "lower-bounds.yaml"
    file.write_text(file.read_text("utf-8").replace("\ntitle: ", "\ntitle: $x^$ "), "utf-8")
    monkeypatch.setattr(factory, "status_of", lambda *_: print("computed", flush=True) or 0)
    assert factory.produce_all(None, ["profile=smoke"]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert first.startswith("dpbandits: lower-bounds: figure.title '$x^$")
    assert first.endswith("(conf/figure/lower-bounds.yaml)")
    assert second.startswith("dpbandits: lower-bounds failed")
    assert out.startswith("computed\n1 of 2 figures")
