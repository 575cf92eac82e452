"""Exported curves for other programs equal the drawn curves, in every figure."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import FIGURES
from complaints import readable
from composed import load
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.cells.bandit_cell import Cell
from dpbandits.config import compose
from dpbandits.config.settings import Settings
from dpbandits.core.errors import UserError
from dpbandits.curves.series import STATISTICS, summarise, to_csv
from dpbandits.drawing.latex import COMMANDS, in_latex
from dpbandits.drawing.styles import style_of
from dpbandits.factory import sidecar
from dpbandits.factory.export import export, exported
from dpbandits.run import runner
from dpbandits.run.tasks import plan
from dpbandits.spec.figure import FigureSpec
from dpbandits.store.blocks import Store

Loaded = tuple[FigureSpec, Settings]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Callable[..., Loaded]:
    """Return figures whose runs are all in the cache, made up: no test reads real curves."""
    folder = tmp_path_factory.mktemp("export")

    def fill(figure: str, *overrides: str, profile: str = "smoke") -> Loaded:
        spec, settings = load(figure, [f"profile={profile}", *overrides])
        settings = replace(settings, cache=folder / "cache", out=folder / "out")
        store, rng = Store(settings.cache), np.random.default_rng(1)
        tasks = plan(spec.runs_of_cells(), store, settings.block)
        # Episodes are drawn from real pulls; all other cells are made up.
        true = [t for t in tasks if isinstance(t.cell, Cell) and t.cell.pulls_of is not None]
        assert runner.play(true, store, 1, figure) == []
        for task in (task for task in tasks if task not in true):
            size = (len(task.runs), task.cell.columns)
            store.write(task.cell, task.runs.start, rng.exponential(size=size).cumsum(axis=1), 0.0)
        return spec, settings

    return fill


pytestmark = pytest.mark.usefixtures("in_checkout")


def strict(content: bytes) -> Any:
    """Parse JSON without the NaN and the Infinity that Python would accept."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(content, parse_constant=refuse)


def is_balanced(tex: str) -> bool:
    """Return whether braces and environments open and close in turn, as LaTeX reads them."""
    code = re.sub(r"(?<!\\)%.*", "", tex)
    code = code.replace(r"\def\dpbanditsend{\end{document}}", "").replace(r"\begin{document}", "")
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", code):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    opened: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", code):
        if kind == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            return False
    return depth == 0 and not opened


CURVE = re.compile(r"% Curve: (.*)\n\\addplot\[.*\] table\[x=x, y=y\] \{\nx y low high\n([^}]*)\};")


@pytest.mark.long
@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_is_exported_with_the_numbers_of_its_table(
    figure: str, filled: Callable[..., Loaded], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, settings = filled(figure)
    series = summarise(spec, Store(settings.cache))
    assert exported(spec, settings, "csv") == to_csv(series)
    # Every kind is written from these.
    monkeypatch.setattr("dpbandits.factory.export.summarise", lambda *_: series)
    content = strict(exported(spec, settings, "json"))
    assert [panel["title"] for panel in content["panels"]] == [p.title for p in spec.panels]
    curves = [(panel["panel"], curve) for panel in content["panels"] for curve in panel["curves"]]
    tex = exported(spec, settings, "pgfplots").decode()
    assert is_balanced(tex)
    tables = CURVE.findall(tex)
    for (panel, curve), one in zip(curves, series, strict=True):
        assert (panel, curve["label"], curve["runs"]) == (one.panel, one.label, one.runs)
        for name in ("x", *STATISTICS):
            numbers = getattr(one, name)
            finite = np.where(np.isfinite(numbers), numbers, np.nan)  # JSON has no other
            assert np.array_equal(np.array(curve[name], float), finite, equal_nan=True)
    # A picture leaves out what the original does not have.
    inked = {(p.letter, curve.label) for p in spec.panels for curve in spec.drawn(p)}
    shown = [one for one in series if (one.panel, one.label) in inked]
    if figure == "stopping-rules":  # a picture of ratios to a bound
        return
    for (label, rows), one in zip(tables, shown, strict=True):
        assert label.startswith(one.label)
        told = np.array([row.split() for row in rows.splitlines()], float)
        drawn = np.column_stack((one.x, one.centre, one.low, one.high))
        assert np.array_equal(told, drawn, equal_nan=True)


def test_json_tells_of_every_curve_what_the_sidecar_tells(filled: Callable[..., Loaded]) -> None:
    spec, settings = filled("adap-ksweep")
    content = strict(exported(spec, settings, "json"))
    assert content["command"].startswith("dpbandits run adap-ksweep profile=smoke")
    assert {"revision", "versions", "machine"} == set(content["provenance"])
    (adap,) = (c for c in content["panels"][1]["curves"] if c["label"] == "AdaP-UCB")
    assert adap["algorithm"] == "adap-ucb"
    assert [source["x"] for source in adap["sources"]] == adap["x"] == [2, 4, 8]
    assert {source["params"]["epsilon"] for source in adap["sources"]} == {1.0}
    assert all(s["composed_epsilon"] == pytest.approx(1.0) for s in adap["sources"])
    (bound,) = (c for c in content["panels"][0]["curves"] if c["runs"] == 0)
    assert bound["algorithm"] is None
    assert "bound" in bound["sources"][0]


def test_json_writes_null_for_what_it_has_no_number_for(
    filled: Callable[..., Loaded], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec, settings = filled("adap-ksweep")
    first, *others = summarise(spec, Store(settings.cache))
    odd = np.array([np.inf, -np.inf, np.nan])
    series = [replace(first, mean=odd), *others]
    monkeypatch.setattr("dpbandits.factory.export.summarise", lambda *_: series)
    curve = strict(exported(spec, settings, "json"))["panels"][0]["curves"][0]
    assert curve["mean"] == [None] * 3


def test_pgfplots_has_the_axes_and_the_looks_of_the_picture(filled: Callable[..., Loaded]) -> None:
    tex = exported(*filled("adap-ksweep"), "pgfplots").decode()
    assert tex.count(r"\nextgroupplot[") == 2
    for option in ("xmode=log", "ymode=log", "xtick={2,4,8}", "xticklabels={{2},{4},{8}}"):
        assert tex.count(f"{option},") == 2
    assert r"title={(a) $\epsilon = 0.1$}" in tex
    assert r"xlabel={Number of arms $K$}" in tex
    assert tex.count("ylabel={Regret at the horizon}") == 1  # shared, as in the picture
    legend = re.findall(r"\\addlegendentry\{(.*)\}\n", tex)
    assert legend == ["DP-UCB (MT15)", "DP-SE", "AdaP-UCB", "AdaP-KLUCB", "Lower bound (Thm 3)"]
    for name in ("private-ucb", "dp-se", "adap-ucb", "adap-klucb", "bound"):
        code = style_of(name).colour.removeprefix("#").upper()
        assert f"\\definecolor{{dpbandits{code}}}{{HTML}}{{{code}}}" in tex


def test_an_axis_that_a_figure_draws_linear_is_linear(filled: Callable[..., Loaded]) -> None:
    tex = exported(*filled("adap-alpha"), "pgfplots").decode()
    assert "mode=log" not in tex
    assert r"\begin{axis}" in tex
    assert "ymin=0, ymax=" in tex


def test_a_logarithmic_axis_has_whole_powers_of_ten(filled: Callable[..., Loaded]) -> None:
    tex = exported(*filled("gdp-elim"), "pgfplots").decode()
    assert tex.count("xtickten={4,5},") == 4


@pytest.mark.parametrize("figure", ["adap-ksweep", "adap-alpha"])
def test_changes_are_written_in_red_above_the_axes(
    figure: str, filled: Callable[..., Loaded]
) -> None:
    spec, settings = filled(figure, "figure.title='100% of $x_1$'")
    tex = exported(spec, settings, "pgfplots").decode()
    (node,) = re.findall(r"\\node\[(.*)\] \{Changed: (.*)\};\n\\end\{tikzpicture\}", tex)
    assert "text=dpbanditschanged" in node[0]
    assert r"title = 100\% of \$x\_1\$" in node[1]
    assert "Changed:" not in exported(replace(spec, changes=()), settings, "pgfplots").decode()


def test_bars_and_areas_are_drawn_and_what_is_no_line_is_not(filled: Callable[..., Loaded]) -> None:
    bars = exported(*filled("exp3-privacy", "runs=5"), "pgfplots").decode()
    assert bars.count("mark=-,") == 4 * 5  # four algorithms with bars, five panels
    areas = exported(*filled("ftpl-gauss-cdf"), "pgfplots").decode()
    assert areas.count("-- cycle;") == 3
    assert areas.count("of which the figure draws no line") == areas.count("draw=none, mark=none")
    assert re.findall(r"\\addlegendentry\{(.*)\}\n", areas) == ["F", "F'"]


def test_a_band_on_a_logarithmic_axis_reaches_its_upper_end(filled: Callable[..., Loaded]) -> None:
    spec, settings = filled("adap-ksweep", "runs=3")
    played = [one for one in summarise(spec, Store(settings.cache)) if one.runs]
    tex = exported(spec, settings, "pgfplots").decode()
    bands = re.findall(r"fill opacity=[^]]*\] table \{\n([^}]*)\} -- cycle;", tex)
    drawn = {float(row.split()[1]) for band in bands for row in band.splitlines()}
    frame = min(drawn)  # where lower numbers are cut
    highs = {f"{y:.9g}" for one in played for y in one.high if y > frame}
    assert len(highs) > 3
    assert highs <= {f"{y:.9g}" for y in drawn}


def test_the_points_of_a_published_curve_are_exported_with_it(
    filled: Callable[..., Loaded],
) -> None:
    spec, settings = filled("lazyts-gap", "runs=2", profile="paper")
    panel, *others = strict(exported(spec, settings, "json"))["panels"]
    published = {c["label"]: c["published"] for c in panel["curves"] if "published" in c}
    expected = {c.label: [[*p] for p in c.published] for c in spec.panels[0].curves if c.published}
    assert published == expected
    assert len(expected) == 3
    assert not any("published" in curve for other in others for curve in other["curves"])
    # In LaTeX too.
    tex = exported(spec, settings, "pgfplots").decode()
    plots = re.findall(r"% Published by the paper\n\\addplot\[(.*)\] table \{\n([^}]*)\};", tex)
    points = [[[*map(float, row.split())] for row in rows.splitlines()] for _, rows in plots]
    assert points == [*expected.values()]
    assert all("only marks" in ink and "fill=white" in ink for ink, _ in plots)
    assert tex.count(r"\addlegendentry{The paper's own curve}") == 1
    assert is_balanced(tex)


def test_the_same_command_writes_the_same_bytes(filled: Callable[..., Loaded]) -> None:
    spec, settings = filled("adap-c2")
    again, _ = compose.load("adap-c2", ["profile=smoke"])
    assert again is not spec
    for kind in ("csv", "json", "pgfplots"):
        assert exported(again, settings, kind) == exported(spec, settings, kind)


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        (r"$\epsilon = 1$, 10 arms", r"$\epsilon = 1$, 10 arms"),
        ("a_b 5% & #1", r"a\_b 5\% \& \#1"),
        (r"EXP3$_\tau$ (x_y=1)", r"EXP3$_\tau$ (x\_y=1)"),
        ("price: 5$", r"price: 5\$"),
        (r"\$5 and $x^2$", r"\$5 and $x^2$"),
        (
            r"back\slash ~ ^ {x}",
            r"back\textbackslash{}slash \textasciitilde{} \textasciicircum{} \{x\}",
        ),
        ("a < b | c", r"a \textless{} b \textbar{} c"),
        (r"$\mathdefault{10^{2}}$", "${10^{2}}$"),
        ("$50%$", r"$50\%$"),
        (r"$\{x\,\%\}$ $\left(\frac{a}{b}\right)^2$", r"$\{x\,\%\}$ $\left(\frac{a}{b}\right)^2$"),
        ("ε ≤ 1 − $β−1$", r"$\epsilon$ $\leq$ 1 $-$ $\beta -1$"),
        (
            r"\input{x} \write18 ^^5c",
            r"\textbackslash{}input\{x\} \textbackslash{}write18"
            r" \textasciicircum{}\textasciicircum{}5c",
        ),
        ("two\nlines", "two lines"),
    ],
)
def test_a_text_is_written_as_latex_reads_it(text: str, tex: str) -> None:
    assert in_latex(text) == tex


@pytest.mark.parametrize(
    ("formula", "token"),
    [
        (r"\input{x}", r"'\\input'"),
        (r"\write18{x}", r"'\\write'"),
        (r"\immediate\write18{x}", r"'\\immediate'"),
        (r"\text{\input x}", r"'\\text'"),
        (r"\mathrm{\openout1=x}", r"'\\openout'"),
        (r"\alphax", r"'\\alphax'"),
        (r"\csname input\endcsname x", r"'\\csname'"),
        ("^^5cinput{x}", "'^'"),
        ("x^^M", "'^'"),
        ("x}{y", "'}'"),
        ("{x", "an open brace"),
        (r"x\\y", r"'\\\\'"),
        ("~", "'~'"),
        ("`", "'`'"),
        ("图", "'图'"),
    ],
)
def test_a_formula_with_anything_but_mathematics_is_refused(formula: str, token: str) -> None:
    with pytest.raises(UserError) as caught:
        in_latex(f"a ${formula}$")
    readable(str(caught.value))
    assert f"to LaTeX: {token} is not among the mathematics" in str(caught.value)


PIECES = (*"\\{}^_$%&#~ ab1\n|<>\"`'", r"\input", r"\frac", r"\write18", "$$", "$x$")


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_no_text_reaches_latex_with_a_command_of_its_own(text: str) -> None:
    try:
        tex = in_latex(text)
    except UserError:
        return
    own = {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"}
    assert set(re.findall(r"\\([A-Za-z]+)", tex)) <= own | {"textbar"} | COMMANDS
    assert "^^" not in tex
    assert "\n" not in tex
    assert not re.search(r"(?<!\\)[%&#~]", re.sub(r"\\\\", "", tex))
    assert is_balanced(tex)


WRAPPED = r"""\documentclass{article}
\usepackage{pgfplots}
\usepgfplotslibrary{groupplots}
\pgfplotsset{compat=1.16}
\begin{document}
\input{figure.tex}
After it.
\end{document}
"""


@pytest.mark.slow  # two compilations a figure
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
@pytest.mark.parametrize("figure", ["adap-ksweep", "exp3-privacy", "stopping-rules"])
def test_latex_takes_the_file_by_itself_and_in_a_document(
    figure: str, filled: Callable[..., Loaded], tmp_path: Path
) -> None:
    title = r"100% & a_b #1 ^~ \input x \write18 $x^2 \leq 1$ ε−1"
    spec, settings = filled(figure, f"figure.panels.a.title='{title}'")
    (tmp_path / "figure.tex").write_bytes(exported(spec, settings, "pgfplots"))
    (tmp_path / "paper.tex").write_text(WRAPPED)
    for name in ("figure", "paper"):
        done = subprocess.run(
            (
                "pdflatex",
                "-shell-escape",
                "-interaction=nonstopmode",
                "-halt-on-error",
                f"{name}.tex",
            ),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if "not found" in done.stdout and "! LaTeX Error: File" in done.stdout:
            pytest.skip("this LaTeX has no pgfplots")
        assert done.returncode == 0, done.stdout[-2000:]
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF-")
        assert "incomplete" not in done.stdout  # a conditional that is never closed


# To a file ---------------------------------------------------------------------------------------


def test_a_file_is_written_whole_and_silently(
    filled: Callable[..., Loaded], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, settings = filled("adap-c2")
    file = tmp_path / "curves.csv"
    assert export(spec, settings, "csv", file) == 0
    assert file.read_bytes() == exported(spec, settings, "csv")
    assert [path.name for path in tmp_path.iterdir()] == ["curves.csv"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("missing/x.csv", "there is no folder"),
        ("folder", "it is a folder"),
        ("file/x.csv", "there is no folder"),
        (f"{'x' * 300}.csv", "File name too long"),
    ],
)
def test_a_file_that_cannot_be_written_is_told_in_one_line(
    filled: Callable[..., Loaded], tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError) as caught:
        export(*filled("adap-c2"), "csv", tmp_path / name)
    message = str(caught.value)
    assert message.startswith("cannot write ")
    assert told in message
    assert "paths.cache" not in message  # advice for commands that play runs
    assert len(message.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "file"}


def test_runs_that_are_missing_are_told_with_the_command_that_computes_them(tmp_path: Path) -> None:
    spec, settings = load("adap-c2", ["profile=smoke", f"paths.cache={tmp_path}"])
    for kind in ("csv", "json", "pgfplots"):
        with pytest.raises(UserError) as caught:
            exported(spec, settings, kind)
        readable(str(caught.value))
        assert "32 runs are not computed yet" in str(caught.value)
        assert sidecar.command("run", spec, settings) in str(caught.value)
