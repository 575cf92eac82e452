"""The gallery as files: its pages, the numbers on them, and its behaviour if something is wrong."""

import errno
import json
import re
import shutil
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
from commands import DPBANDITS, FIGURES, ROOT, Process
from matplotlib.figure import Figure

from dpbandits import gallery
from dpbandits.algorithms import dp_ucb
from dpbandits.config import compose
from dpbandits.core import registry
from dpbandits.core.errors import UserError
from dpbandits.drawing import formulas, plotting, styles
from dpbandits.factory import audit_results, papers, stored_results
from dpbandits.gallery import algorithms, dark, hover, texts
from dpbandits.judge import about, reader
from dpbandits.privacy import accounting, table
from dpbandits.run import runner
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

MEMBERS = [*registry.algorithm_names(), *registry.stopping_rule_names()]
DRAWN = "adap-headline"
EVIL = "<script>alert('&')</script>"
Loaded = dict[str, stored_results.Result]


class Page:
    """Page of a gallery."""

    def __init__(self, path: Path) -> None:
        self.path, self.html = path, path.read_text("utf-8")
        self.text = unescape(re.sub(r"<[^>]*>", "", self.html))
        self.ids = re.findall(r'\bid="([^"]*)"', self.html)
        self.links = [unescape(a) for a in re.findall(r'\b(?:href|src)="([^"]*)"', self.html)]

    def parts(self, tag: str, cls: str = "") -> list[str]:
        """Return the texts of the elements of a tag, with this class."""
        pattern = rf'<{tag}\b[^>]*class="[^"]*\b{cls}\b[^"]*"' if cls else rf"<{tag}\b"
        found = re.findall(rf"{pattern}[^>]*>(.*?)</{tag}>", self.html, re.DOTALL)
        return [" ".join(unescape(re.sub(r"<[^>]*>", "", part)).split()) for part in found]


def read(folder: Path) -> dict[str, Page]:
    """Return every page of a gallery, whose links must lead to files in it."""
    pages = {p.relative_to(folder).as_posix(): Page(p) for p in sorted(folder.rglob("*.html"))}
    for page in pages.values():
        assert len(page.ids) == len(set(page.ids)), page.path
        for link in page.links:
            parts = urlsplit(link)
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            if link != "data:,":  # no icon
                assert not parts.scheme + parts.netloc, (page.path, link)
                assert target.is_file(), (page.path, link)
                name = target.relative_to(folder).as_posix()
                assert not parts.fragment or unquote(parts.fragment) in pages[name].ids, link
    return pages


# Stand-ins for what is slow and tested elsewhere --------------------------------------------------

mark, rows = cache(algorithms._mark), cache(lambda *names: table.rows(names))


def replace_budgets(patch: pytest.MonkeyPatch) -> None:
    """Let galleries of this process share the budgets, and the marks of their lines."""
    patch.setattr(accounting, "_of_groups", lambda groups, delta, composed: 0.5 * composed)
    patch.setattr(algorithms, "rows", lambda names: rows(*names))
    patch.setattr(algorithms, "_mark", mark)


def replace_pictures(patch: pytest.MonkeyPatch) -> None:
    """Let figures have empty pictures, and the stand-ins of budgets."""

    def without_ink(draw: Any, drawing: Any, keywords: str, look: Any = None) -> dict[str, bytes]:
        look(Figure((1, 1)))
        return {"pdf": b"%PDF-", "svg": b"<svg/>", "png": b"\x89PNG"}

    patch.setattr(plotting, "render", without_ink)
    replace_budgets(patch)


# All figures --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    """Results of all figures, as the gallery of all figures has loaded them."""
    return {}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> Path:
    """Gallery of all figures, with empty pictures."""
    folder, load = tmp_path_factory.mktemp("gallery") / "whole", stored_results.load

    def recorded(figure: str, overrides: Any = ()) -> stored_results.Result:
        loaded[figure] = load(figure, overrides)
        return loaded[figure]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        replace_pictures(patch)
        patch.setattr(stored_results, "load", recorded)
        assert gallery.build(folder) == 0
    return folder


@pytest.fixture(scope="module")
def pages(whole: Path) -> dict[str, Page]:
    return read(whole)


def test_every_figure_algorithm_rule_and_paper_has_a_page_and_every_page_a_link(
    pages: dict[str, Page], whole: Path
) -> None:
    names = {f"figures/{name}.html" for name in FIGURES}
    names |= {f"algorithms/{name}.html" for name in MEMBERS}
    names |= {f"reproducibility-{paper}.html" for paper in reader.papers()}
    names |= {"index.html", "deviations.html"}
    assert names <= pages.keys()
    assert all(name.startswith("sources/") for name in pages.keys() - names)
    linked = {
        (page.path.parent / unquote(urlsplit(link).path)).resolve()
        for page in pages.values()
        for link in page.links
        if urlsplit(link).path
    }
    assert {page.path for page in pages.values()} - {whole / "index.html"} <= linked
    index = pages["index.html"]
    assert all(f"paper-{p.key}" in index.ids and p.title in index.text for p in papers.PAPERS)
    for asset in (whole / "assets").iterdir():  # nothing is loaded from elsewhere
        assert not re.search(r"https?:|@import|url\(", asset.read_text())


def test_pages_have_the_verdicts_of_the_judge_and_the_numbers_of_claims(
    pages: dict[str, Page], loaded: Loaded
) -> None:
    for name in FIGURES:
        page, claims = pages[f"figures/{name}.html"], loaded[name].claims
        if counts := about.count(claims):
            words = " ".join(f"{number} {word}" for word, number in counts.items())
            assert page.parts("p", "intro")[0] == words
        assert {f"claim-{claim.judged.name}" for claim in claims} <= {*page.ids}
        assert all(claim.numbers in page.text for claim in claims)
        folder = page.path.with_suffix("")
        assert {path.name.removeprefix(name) for path in folder.iterdir()} == {
            *(".pdf", ".svg", ".dark.svg", ".png", ".csv", ".txt", ".yaml")
        }
    rows = re.findall(r'<tr[^>]* data-verdicts="([^"]*)"', pages["index.html"].html)
    every = {c.judged.id: c.verdict for name in FIGURES for c in loaded[name].claims}
    assert Counter(row.replace("-", " ") for row in rows) == Counter(every.values())


def test_an_algorithms_page_has_what_is_claimed_composed_and_audited(
    pages: dict[str, Page],
) -> None:
    rows = pages["algorithms/dp-ucb.html"].html.partition("Claimed, composed and audited")[2]
    (row,) = (r for r in rows.partition("</table>")[0].split("<tr>") if "hybrid-full" in r)
    cells = [unescape(cell) for cell in re.sub(r"<[^>]+>", "|", row).split("|") if cell.strip()]
    found = audit_results.of("dp-ucb", dp_ucb.Params(epsilon=0.1))
    assert found is not None
    bounds = [texts.budget(found.epsilon), texts.budget(found.one_choice)]
    assert cells[1:5] == ["1", "2", "2", f"≥ {bounds[0]}; one choice ≥ {bounds[1]}"]


@pytest.mark.usefixtures("in_checkout", "whole")
def test_the_points_under_the_pointer_are_those_of_the_curves(
    tmp_path: Path, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_budgets(monkeypatch)
    assert gallery.build(tmp_path / "g", [DRAWN]) == 0
    page = read(tmp_path / "g")[f"figures/{DRAWN}.html"]  # no link leads to another figure
    script = re.search(r'<script[^>]*id="points"[^>]*>(.*?)</script>', page.html, re.DOTALL)
    assert script
    lines = json.loads(script[1])
    series = {formulas.plain(s.legend): s for s in loaded[DRAWN].series}
    assert [line["label"] for line in lines] == list(series)
    for line in lines:
        curve = series[line["label"]]
        assert 20 < len(line["points"]) <= hover.MOST
        places = np.array([point[:2] for point in line["points"]])
        assert ((places >= 0) & (places <= 1)).all()
        assert (np.diff(places[:, 0]) >= 0).all()  # time runs to the right
        for _, _, x, y, *band in line["points"]:
            i = int(np.argmin(np.abs(curve.x - x)))
            wide = bool(curve.low[i] != curve.high[i])
            assert y == pytest.approx(curve.centre[i], rel=1e-5)
            assert band == pytest.approx([curve.low[i], curve.high[i]] * wide, rel=1e-5)


def test_a_look_at_a_figure_changes_none_of_its_bytes() -> None:
    from test_drawing import ONE

    drawing = plotting.Drawing("t", (plotting.PanelDrawing("a", "", (ONE,)),))

    def draw(drawing: plotting.Drawing) -> Figure:
        figure = Figure()
        figure.subplots().plot(ONE.x, ONE.centre, color="#332288", marker="o")
        return figure

    def look(figure: Figure) -> None:
        assert dark.INK.encode() in dark.picture(figure, "t", "k")

    assert plotting.render(draw, drawing, "k", look) == plotting.render(draw, drawing, "k")


@pytest.mark.parametrize("name", styles.STYLES)
def test_every_style_is_legible_on_the_dark_sheet(name: str) -> None:
    assert dark.contrast(dark.colour(styles.STYLES[name].colour)) >= dark.LEGIBLE


# Faults -------------------------------------------------------------------------------------------


@pytest.fixture
def project(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Project of three figures, one of which has a reference; without claims or a cache."""
    shutil.rmtree(checkout / "conf" / "claims")
    for path in (checkout / "conf" / "figure").glob("*.yaml"):
        if path.stem not in (DRAWN, "adap-c1", "lower-bounds"):
            path.unlink()
    reference = Path("figures") / "reference"
    (checkout / reference).mkdir()
    for ending in (".csv", ".json"):
        shutil.copy(ROOT / reference / f"{DRAWN}{ending}", checkout / reference)
    replace_pictures(monkeypatch)
    return checkout


def test_a_figure_that_fails_is_named_in_one_line_and_the_others_are_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = project / "figures" / "azize2022.py"
    drawing.write_text(drawing.read_text() + "\n1 / 0\n")
    (project / "conf" / "figure" / "broken.yaml").write_text("paper: [")
    (project / "conf" / "figure" / "lower-bounds.yaml").unlink()
    shutil.copy(ROOT / "conf" / "figure" / "stopping-rules.yaml", project / "conf" / "figure")
    assert gallery.build(project / "g") == ExitStatus.FAILED
    pages = read(project / "g")
    err = capsys.readouterr().err.splitlines()
    assert {line.split(": ")[1] for line in err} == {DRAWN, "broken"}
    assert "ZeroDivisionError" in pages[f"figures/{DRAWN}.html"].text
    page = pages["figures/adap-c1.html"]  # which has no curves yet
    assert "dpbandits run adap-c1" in page.text
    assert "<img" not in page.html
    assert "figures/stopping-rules.html" in pages


def test_what_a_file_says_is_text_and_never_markup(project: Path) -> None:
    path = project / "conf" / "figure" / f"{DRAWN}.yaml"
    text = path.read_text().replace("title: Evolution of regret over time", f'title: "{EVIL}"')
    said = f'about: "About {EVIL}"\nnote: "Of {EVIL} noted"\n'
    path.write_text(re.sub(r"(?m)^about: .*\n(?:  .*\n)*", said, text))
    shutil.rmtree(project / "figures" / "reference")
    (project / "docs").mkdir()
    (project / "docs" / "deviations.md").write_text(f"# Of {EVIL}\n\n{EVIL}\n\n`{EVIL}`\n")
    assert gallery.build(project / "g") == 0
    pages = read(project / "g")
    assert not any(EVIL in page.html for page in pages.values())
    for name in (f"figures/{DRAWN}.html", "index.html", "deviations.html"):
        assert EVIL in unescape(pages[name].html)


# Curves and overrides -----------------------------------------------------------------------------


def test_the_cache_comes_before_the_reference_and_says_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    cache = f"paths.cache={tmp_path}"
    empty, store = stored_results.load("adap-episodes", [cache]), Store(tmp_path)
    tasks = plan(empty.spec.runs_of_cells(), store, 7)
    assert runner.play(tasks, store, 1, "it") == []
    full = stored_results.load("adap-episodes", [cache])
    assert empty.source
    assert full.source
    kinds = stored_results.ResultKind
    assert (empty.source.kind, full.source.kind) == (kinds.REFERENCE, kinds.CACHE)
    assert full.source.dates
    assert dict(full.source.versions)["numpy"] == np.__version__
    assert [s.label for s in full.series] == [s.label for s in empty.series]
    # Another seed gives other curves, so the reference does not apply.
    assert stored_results.load("adap-episodes", ["seed=1", cache]).source is None


@pytest.mark.parametrize("new", ["runs: 21", "horizon: 1_000_000"])
def test_a_reference_of_another_game_is_not_shown(project: Path, new: str) -> None:
    assert stored_results.load(DRAWN).source is not None
    path = project / "conf" / "figure" / f"{DRAWN}.yaml"
    path.write_text(re.sub(rf"(?m)^{new.split(':')[0]}: \S+", new, path.read_text()))
    assert stored_results.load(DRAWN).source is None


def test_a_changed_figure_says_so_and_has_its_own_runs_or_none(project: Path) -> None:
    cache, change = f"paths.cache={project / 'cache'}", ["figure.horizon=200", "runs=2"]
    for is_played in (False, True):
        assert gallery.from_words([DRAWN, *change, cache], project / "g") == 0
        page = read(project / "g")[f"figures/{DRAWN}.html"]
        assert ("<img" in page.html) == is_played  # never the reference
        assert f"dpbandits run {DRAWN} {' '.join(change)}" in page.text
        changed = page.parts("p", "changed")
        assert set(changed) == {"Changed from the figure’s file: horizon = 200 (file: 10,000,000)."}
        spec, settings = compose.load(DRAWN, [*change, cache])
        store = Store(settings.cache)
        assert runner.play(plan(spec.runs_of_cells(), store, 2), store, 1, DRAWN) == []
    assert "means of 2 runs (seed 2022)" in page.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["adap-headlin"], "unknown figure 'adap-headlin'; did you mean 'adap-headline'?"),
        ([DRAWN, "figure.horizn=3"], "unknown key 'figure.horizn'"),
        (["~figure.horizn"], "unknown key 'figure.horizn'"),
    ],
)
def test_words_that_no_figure_takes_are_refused_and_nothing_is_written(
    project: Path, words: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        gallery.from_words(words, None)
    assert not (project / "out").exists()


# The folder ---------------------------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithms, "rows", table.rows)
    monkeypatch.setattr(algorithms, "_mark", mark.__wrapped__)
    contents = []
    for folder in (project / "one", project / "two"):
        assert gallery.build(folder) == 0
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents.append({p.relative_to(folder): p.read_bytes() for p in files})
    assert contents[0] == contents[1]


def test_an_interrupted_gallery_leaves_the_old_one_and_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = project / "out" / "gallery"
    assert gallery.build(out, ["adap-c1"]) == 0
    (out / "mine").touch()

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(gallery.pages, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gallery.build(out, ["adap-c1"])
    assert (out / "mine").exists()
    assert gallery.build(out, ["adap-c1"]) == 0
    assert not (out / "mine").exists()
    assert [path.name for path in out.parent.iterdir()] == ["gallery"]


@pytest.mark.parametrize("content", ["notes.txt", "index.html"])
def test_a_folder_that_is_no_gallery_is_refused_in_one_line_and_kept(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / content).write_text("years of work")
    done = Process(*DPBANDITS, "gallery", DRAWN, "--out", str(tmp_path)).done()
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("dpbandits: ")
    assert "is not a gallery" in line
    assert (tmp_path / content).read_text() == "years of work"


@pytest.mark.parametrize("full", [False, True])
def test_a_folder_that_cannot_be_written_is_refused_and_nothing_is_left(
    full: bool, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = project / ("gallery" if full else "a file/gallery")
    (project / "a file").touch()

    def refused(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    if full:
        monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(UserError, match="cannot write"):
        gallery.build(out, ["lower-bounds"])
    assert not out.exists()
