"""The gallery as files: the content of its pages, and its behaviour where something is wrong."""

import errno
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import gallery_pages
import numpy as np
import pytest
from commands import DPBANDITS, FIGURES, ROOT, Process
from gallery_pages import Page
from matplotlib.figure import Figure

from dpbandits import gallery
from dpbandits.algorithms import dp_ucb
from dpbandits.config import compose
from dpbandits.core import registry, roots
from dpbandits.core.errors import UserError
from dpbandits.core.own_project import OwnProject
from dpbandits.drawing import formulas, plotting, shapes
from dpbandits.factory import audit_results, papers, stored_results
from dpbandits.gallery import algorithms, dark, hover, origins, texts
from dpbandits.gallery import pages as pages_module
from dpbandits.gallery.folders import folder_name
from dpbandits.gallery.mathematics import to_mathml
from dpbandits.gallery.origins import Origin
from dpbandits.judge import about, reader
from dpbandits.privacy import table
from dpbandits.run import runner
from dpbandits.run.exit_status import ExitStatus
from dpbandits.run.tasks import plan
from dpbandits.store.blocks import Store

MEMBERS = [*registry.algorithm_names(), *registry.stopping_rule_names()]
DRAWN = "adap-headline"
EVIL = "<script>alert('&')</script>"

Loaded = dict[str, stored_results.Result]


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    """Results of all figures, as the gallery of all figures has loaded them."""
    return {}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, loaded: Loaded) -> Path:
    """Gallery of all figures, with empty pictures."""
    folder, load = tmp_path_factory.mktemp("gallery") / "whole", stored_results.load

    def recorded(figure: str, overrides: Sequence[str] = ()) -> stored_results.Result:
        loaded[figure] = load(figure, overrides)
        return loaded[figure]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        gallery_pages.replace_pictures(patch)
        patch.setattr(stored_results, "load", recorded)
        assert gallery.build(folder) == 0
    return folder


@pytest.fixture(scope="module")
def pages(whole: Path) -> dict[str, Page]:
    return gallery_pages.read_all(whole)


def test_every_figure_algorithm_and_rule_has_a_page(pages: dict[str, Page]) -> None:
    names = {f"figures/{name}.html" for name in FIGURES}
    names |= {f"algorithms/{name}.html" for name in MEMBERS}
    names |= {f"reproducibility-{paper}.html" for paper in reader.papers()}
    names |= {"index.html", "deviations.html"}
    assert names <= set(pages)
    others = set(pages) - names
    assert all(name.startswith("sources/") for name in others)


def test_every_link_and_picture_is_there(pages: dict[str, Page], whole: Path) -> None:
    assert gallery_pages.broken(pages, whole) == []


def test_every_page_can_be_reached_from_the_index(pages: dict[str, Page], whole: Path) -> None:
    waiting, reached = ["index.html"], {"index.html"}
    while waiting:
        page = pages[waiting.pop()]
        for address, _ in page.addresses():
            path = (page.path.parent / address.partition("#")[0]).resolve()
            if path.suffix == ".html" and path.is_relative_to(whole):
                name = path.relative_to(whole).as_posix()
                if name not in reached:
                    reached.add(name)
                    waiting.append(name)
    assert reached == set(pages)


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Page], whole: Path) -> None:
    for page in pages.values():
        for address, loaded in page.addresses():
            assert not loaded or not address.startswith(("http:", "https:", "//"))
    for asset in (whole / "assets").iterdir():
        text = asset.read_text()
        assert "http:" not in text
        assert "https:" not in text
        assert "@import" not in text
        assert "url(" not in text


def test_every_page_has_a_title_a_heading_and_a_way_past_its_navigation(
    pages: dict[str, Page],
) -> None:
    for page in pages.values():
        assert len(page.find("h1")) == 1
        (title,) = page.find("title")
        assert title.text.strip()
        assert "$" not in title.text
        assert page.find("a", "skip")[0].attributes["href"] == "#main"
        assert "main" in page.ids
        for picture in page.find("img"):
            assert "alt" in picture.attributes


def test_the_counts_of_verdicts_are_those_of_the_judge(
    pages: dict[str, Page], loaded: Loaded
) -> None:
    for name in FIGURES:
        counts = about.count(loaded[name].claims)
        section = pages[f"figures/{name}.html"].find("p", "intro")
        if counts:
            words = " ".join(f"{number} {word}" for word, number in counts.items())
            assert " ".join(section[0].text.split()) == words
        claims = pages[f"figures/{name}.html"].find("ol", "judged")
        assert bool(claims) == bool(loaded[name].claims)
    rows = [e for e in pages["index.html"].find("tr") if "data-verdicts" in e.attributes]
    every = {c.judged.id: c.verdict for name in FIGURES for c in loaded[name].claims}
    assert Counter(row.attributes["data-verdicts"].replace("-", " ") for row in rows) == Counter(
        every.values()
    )


def test_a_figures_page_tells_its_claims_with_every_number(
    pages: dict[str, Page], loaded: Loaded
) -> None:
    page = pages[f"figures/{DRAWN}.html"]
    result = loaded[DRAWN]
    assert result.claims
    for each in result.claims:
        assert f"claim-{each.judged.name}" in page.ids
        assert each.numbers in page.text
    assert result.source is not None
    assert all(revision in page.text for revision in result.source.revisions)
    assert f"dpbandits run {DRAWN}" in page.text


def test_every_paper_is_cited_in_full(pages: dict[str, Page]) -> None:
    index = pages["index.html"]
    for paper in papers.PAPERS:
        assert paper.title in index.text
        assert paper.authors in index.text
        assert paper.venue in index.text
        assert f"paper-{paper.key}" in index.ids
    assert {
        p["data-paper"] for p in (card.attributes for card in index.find("article", "card"))
    } <= {paper.key for paper in papers.PAPERS}


def test_the_files_of_a_figure_lie_beside_its_page(whole: Path) -> None:
    for name in FIGURES:
        files = {path.name.removeprefix(name) for path in (whole / "figures" / name).iterdir()}
        assert files == {".pdf", ".svg", ".dark.svg", ".png", ".csv", ".txt", ".yaml"}
        conf = ROOT / "conf" / "figure" / f"{name}.yaml"
        assert (whole / "figures" / name / f"{name}.yaml").read_bytes() == conf.read_bytes()


# Pictures and their values ------------------------------------------------------------------------


@pytest.mark.usefixtures("in_checkout", "whole")
def test_the_places_of_points_are_where_the_curves_are_drawn(
    tmp_path: Path, loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery_pages.replace_budgets(monkeypatch)
    assert gallery.build(tmp_path / "g", [DRAWN]) == 0
    page = gallery_pages.read(tmp_path / "g" / "figures" / f"{DRAWN}.html")
    (script,) = (e for e in page.find("script") if e.attributes.get("id") == "points")
    lines = json.loads(script.text)
    series = {formulas.plain(s.legend): s for s in loaded[DRAWN].series}
    assert [line["label"] for line in lines] == list(series)
    for line in lines:
        own = series[line["label"]]
        assert 20 < len(line["points"]) <= hover.MOST
        places = np.array([point[:2] for point in line["points"]])
        assert ((places >= 0) & (places <= 1)).all()
        assert (np.diff(places[:, 0]) >= 0).all()  # time runs to the right
        for left_top_x_y in line["points"]:
            i = int(np.argmin(np.abs(own.x - left_top_x_y[2])))
            assert left_top_x_y[3] == pytest.approx(own.centre[i], rel=1e-5)
            band = [] if own.low[i] == own.high[i] else [own.low[i], own.high[i]]
            assert left_top_x_y[4:] == pytest.approx(band, rel=1e-5)
        assert line["dark"] == dark.colour(line["colour"])
    # The page's pictures are those of the command: the same curves, the same ink.
    for kind in ("svg", "dark.svg"):
        picture = (tmp_path / "g" / "figures" / DRAWN / f"{DRAWN}.{kind}").read_text()
        assert f"dpbandits run {DRAWN}, curves of revision" in picture
    # The printed picture is on white, and is offered for download.
    assert "fill: #ffffff" in (tmp_path / "g" / "figures" / DRAWN / f"{DRAWN}.svg").read_text()
    (offered,) = page.find("p", "downloads")
    assert "SVG" in offered.text
    links = [e.attributes["href"] for e in page.find("a") if DRAWN + "/" in e.attributes["href"]]
    assert f"{DRAWN}/{DRAWN}.svg" in links
    assert not any("dark" in link for link in links)


def test_a_point_outside_of_the_frame_has_no_place() -> None:
    from test_drawing import ONE

    drawing = plotting.Drawing("", (plotting.PanelDrawing("a", "", (ONE,)),))
    figure = Figure()
    ax = figure.subplots()
    ax.set_xscale("log")  # 0 has no place
    shapes.draw_all_over_parameter(ax, drawing.panels[0])
    ax.set_xlim(1, 5)
    (line,) = hover.lines(figure, drawing)
    assert [point[2] for point in line["points"]] == [1, 2, 3, 4, 5]


def test_a_look_at_a_figure_changes_none_of_its_bytes() -> None:
    from test_drawing import ONE

    drawing = plotting.Drawing("t", (plotting.PanelDrawing("a", "", (ONE,)),))

    def draw(drawing: plotting.Drawing) -> Figure:
        figure = Figure()
        shapes.draw_all_over_parameter(figure.subplots(), drawing.panels[0])
        return figure

    seen: list[Any] = []
    plain = plotting.render(draw, drawing, "k")

    def look(figure: Figure) -> None:
        seen.extend(hover.lines(figure, drawing))
        dark.picture(figure, "t", "k")

    looked = plotting.render(draw, drawing, "k", look)
    assert seen
    assert looked == plain


# Faults -------------------------------------------------------------------------------------------


@pytest.fixture
def project(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Project of three figures, one of which has a reference; without claims or a cache."""
    shutil.rmtree(checkout / "conf" / "claims")
    for path in (checkout / "conf" / "figure").glob("*.yaml"):
        if path.stem not in (DRAWN, "adap-c1", "lower-bounds"):
            path.unlink()
    reference = Path("figures") / "reference" / DRAWN
    shutil.copytree(ROOT / reference, checkout / reference)
    gallery_pages.replace_pictures(monkeypatch)
    return checkout


def test_a_figure_without_curves_says_so_and_how_to_compute_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gallery.build(project / "out" / "gallery") == 0
    pages = gallery_pages.read_all(project / "out" / "gallery")
    assert gallery_pages.broken(pages, project / "out" / "gallery") == []
    page = pages["figures/adap-c1.html"]
    (notice,) = page.find("div", "notice")
    assert "There are no curves yet" in notice.text
    assert "dpbandits run adap-c1" in notice.text
    assert not page.find("img")
    words = (
        "3 figures: 1 drawn from the committed reference curves, 1 from formulas (no"
        " runs), 1 not computed yet"
    )
    assert f"gallery: {words}; " in capsys.readouterr().out
    assert words in pages["index.html"].text
    cards = [e.text for e in pages["index.html"].find("span", "origin")]
    assert sorted(cards) == ["formulas", "not computed yet", "reference curves"]


def test_a_figure_that_fails_is_named_in_one_line_and_the_rest_is_there(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawing = project / "figures" / "azize2022.py"
    drawing.write_text(drawing.read_text() + "\n1 / 0\n")
    (project / "conf" / "figure" / "broken.yaml").write_text("paper: [")
    (project / "conf" / "figure" / "other.yaml").write_text("titel: x\n")
    (project / "conf" / "figure" / "lower-bounds.yaml").unlink()
    shutil.copy(ROOT / "conf" / "figure" / "stopping-rules.yaml", project / "conf" / "figure")
    assert gallery.build(project / "out" / "gallery") == ExitStatus.FAILED
    pages = gallery_pages.read_all(project / "out" / "gallery")
    assert gallery_pages.broken(pages, project / "out" / "gallery") == []
    err = capsys.readouterr().err.splitlines()
    assert {line.split(": ")[1] for line in err} == {DRAWN, "broken", "other"}
    assert all(line.startswith("dpbandits: ") for line in err)
    assert "ZeroDivisionError" in pages[f"figures/{DRAWN}.html"].find("div", "notice")[0].text
    assert len(pages["index.html"].find("article", "card")) == 5


def test_what_a_file_says_is_text_and_never_markup(project: Path) -> None:
    path = project / "conf" / "figure" / f"{DRAWN}.yaml"
    text = path.read_text().replace("title: Evolution of regret over time", f'title: "{EVIL}"')
    texts = f'about: "About {EVIL}"\nnote: "Of {EVIL} noted"\n'
    text = re.sub(r"(?m)^about: .*\n(?:  .*\n)*", texts, text)
    path.write_text(text)
    shutil.rmtree(project / "figures" / "reference")
    (project / "docs").mkdir()
    (project / "docs" / "deviations.md").write_text(f"# Of {EVIL}\n\n{EVIL}\n\n`{EVIL}`\n")
    assert gallery.build(project / "g") == 0
    pages = gallery_pages.read_all(project / "g")
    for page in pages.values():
        assert EVIL not in page.path.read_text()
        assert all("alert" not in script.text for script in page.find("script"))
    assert EVIL in pages[f"figures/{DRAWN}.html"].find("h1")[0].text
    assert f"Of {EVIL} noted" in pages[f"figures/{DRAWN}.html"].text
    assert EVIL in pages["index.html"].text
    assert EVIL in pages["deviations.html"].text


def test_the_cache_comes_before_the_reference_and_says_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    empty = stored_results.load("adap-episodes", [f"paths.cache={tmp_path}"])
    assert empty.source is not None
    assert empty.source.kind is stored_results.ResultKind.REFERENCE
    store, spec = Store(tmp_path), empty.spec
    assert runner.play(plan(spec.runs_of_cells(), store, 7), store, 1, "it") == []
    full = stored_results.load("adap-episodes", [f"paths.cache={tmp_path}"])
    assert full.source is not None
    assert full.source.kind is stored_results.ResultKind.CACHE
    assert full.source.dates
    assert full.source.seconds > 0
    assert dict(full.source.versions)["numpy"] == np.__version__
    assert [s.label for s in full.series] == [s.label for s in empty.series]
    # Another seed gives other curves, so the reference does not apply.
    assert (
        stored_results.load("adap-episodes", ["seed=1", f"paths.cache={tmp_path}"]).source is None
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [("runs: 20", "runs: 21"), ("horizon: 10_000_000", "horizon: 1_000_000")],
)
def test_a_reference_of_another_game_is_not_shown(project: Path, old: str, new: str) -> None:
    assert stored_results.load(DRAWN).source is not None
    path = project / "conf" / "figure" / f"{DRAWN}.yaml"
    path.write_text(path.read_text().replace(old, new))
    assert stored_results.load(DRAWN).source is None


# Figures and overrides ----------------------------------------------------------------------------

CHANGED = ("figure.horizon=200", "figure.environment=c4")


@pytest.fixture
def played(project: Path) -> list[str]:
    """Return the arguments of a changed figure whose runs are all in the cache."""
    overrides = [*CHANGED, "runs=2", f"paths.cache={project / 'cache'}"]
    spec, settings = compose.load(DRAWN, overrides)
    store = Store(settings.cache)
    assert runner.play(plan(spec.runs_of_cells(), store, 2), store, 1, DRAWN) == []
    return overrides


def test_a_changed_figure_says_so_wherever_it_is_named(
    project: Path, played: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert gallery.from_words([DRAWN, *played], project / "g") == 0
    assert "gallery: 1 figure, drawn from runs in the cache; 0 claims; " in capsys.readouterr().out
    pages = gallery_pages.read_all(project / "g")
    assert gallery_pages.broken(pages, project / "g") == []
    page = pages[f"figures/{DRAWN}.html"]
    change = (
        "Changed from the figure’s file: environment = c4 (file: c2); horizon = 200 (file:"
        " 10,000,000)."
    )
    assert [e.text for e in page.find("p", "changed")] == [change] * 2
    assert page.find("figcaption")[0].text.strip().startswith(change)
    assert page.find("h1")[0].text.endswith("changed")
    assert "changed" in page.find("title")[0].text
    assert "means of 2 runs (seed 2022)" in page.find("figcaption")[0].text
    assert f"dpbandits run {DRAWN} {' '.join(CHANGED)} runs=2" in page.text
    assert f"make fig-{DRAWN}" not in page.text
    assert "No sentence of a paper is about this changed figure alone" in page.text
    assert "horizon 200" in page.text
    index = pages["index.html"]
    assert [e.text for e in index.find("p", "changed")] == [
        change.replace("figure’s file", "figures’ files")
    ]
    assert ", changed" in index.find("article", "card")[0].text
    assert "own scale" not in index.text


@pytest.mark.usefixtures("played")
def test_without_the_runs_of_a_change_the_reference_is_not_shown(project: Path) -> None:
    words = [DRAWN, CHANGED[0], f"paths.cache={project / 'cache'}"]
    assert gallery.from_words(words, project / "g") == 0
    page = gallery_pages.read(project / "g" / "figures" / f"{DRAWN}.html")
    assert not page.find("img")
    (notice,) = page.find("div", "notice")
    assert "reference of the figure as it was changed" in notice.text
    assert f"dpbandits run {DRAWN} {CHANGED[0]}" in notice.text


def test_runs_and_seed_make_no_other_figure(project: Path) -> None:
    assert gallery.from_words(["lower-bounds", "runs=5", "seed=7"], project / "g") == 0
    page = gallery_pages.read(project / "g" / "figures" / "lower-bounds.html")
    assert page.find("img")
    assert page.find("p", "changed") == []
    assert "dpbandits run lower-bounds runs=5 seed=7" in page.text
    assert "make fig-lower-bounds" not in page.text  # it would omit the overrides


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        ([], "out/gallery"),
        (["paths.out=other", "engine.workers=1"], "other/gallery"),
        ([DRAWN], f"out/galleries/{DRAWN}"),
        (["lower-bounds", "runs=3"], "out/galleries/lower-bounds,runs=3"),
        ([DRAWN, "figure.horizon=200"], f"out/galleries/{DRAWN},horizon=200"),
    ],
)
def test_a_chosen_or_changed_gallery_has_a_folder_of_its_own(
    project: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], folder: str
) -> None:
    folders: list[Path] = []
    monkeypatch.setattr(gallery, "build", lambda out, names, overrides: folders.append(out))
    gallery.from_words(words, None)
    assert folders == [project / folder]
    gallery.from_words(words, project / "mine")
    assert folders[1:] == [project / "mine"]


@pytest.mark.parametrize("out", ["${oc.env:NO_SUCH_VARIABLE,results}", "~/results"])
def test_the_folder_of_a_gallery_is_resolved_as_that_of_a_run(
    project: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.setenv("HOME", str(project))
    file = project / "conf" / "config.yaml"
    text = file.read_text("utf-8")
    assert "  out: out #" in text
    file.write_text(text.replace("  out: out #", f"  out: {out} #"), "utf-8")
    folders: list[Path] = []
    monkeypatch.setattr(gallery, "build", lambda out, names, overrides: folders.append(out))
    gallery.from_words([], None)
    assert folders == [project / "results" / "gallery"]


def test_names_of_folders_are_readable_short_and_of_one_gallery_each() -> None:
    assert folder_name([], ["paths.out=x", "engine.workers=1", "engine=dask"]) == "gallery"
    assert folder_name(["b", "a"], ["figure.horizon=10"]) == "galleries/b,a,horizon=10"
    many = [folder_name([], [f"figure.curves.x.alpha=[{','.join('1' * n)}]"]) for n in (99, 100)]
    odd = [folder_name([], [f"figure.title='a{c}b'"]) for c in "/:*"]
    assert len({*many, *odd}) == 5
    for name in (*many, *odd):
        assert re.fullmatch(r"galleries/[\w.,=+~-]{1,90}", name)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["adap-headlin"], "unknown figure 'adap-headlin'; did you mean 'adap-headline'?"),
        ([DRAWN, "figure.horizn=3"], "unknown key 'figure.horizn'"),
        (["figure.horizn=3"], "unknown key 'figure.horizn'"),
        (["~figure.horizn"], "unknown key 'figure.horizn'"),
    ],
)
def test_words_that_no_figure_takes_are_refused_and_nothing_is_written(
    project: Path, words: list[str], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        gallery.from_words(words, None)
    assert not (project / "out").exists()


def test_the_command_takes_words_before_and_after_its_option(tmp_path: Path) -> None:
    done = Process(*DPBANDITS, "gallery", DRAWN, "--out", str(tmp_path / "g"), "nothing").done()
    assert (done.status, done.out) == (2, "")
    assert "unknown figure 'nothing'" in done.err
    assert len(done.err.splitlines()) == 1


def test_origins_are_counted_in_words() -> None:
    assert origins.in_words([]) == "no figures"
    assert origins.in_words([Origin.EXACT]) == "1 figure, from formulas (no runs)"
    exact = origins.in_words([Origin.EXACT, Origin.EXACT])
    assert exact == "2 figures: 2 from formulas (no runs)"
    every = origins.in_words([*Origin, Origin.FAILED])
    assert every.startswith("6 figures: 1 drawn from the committed reference curves, 1 drawn from")
    assert every.endswith("1 not computed yet, 2 failed")


def test_an_algorithm_has_the_other_names_that_figures_give_it(pages: dict[str, Page]) -> None:
    options = {e.attributes["value"]: e.text for e in pages["index.html"].find("option")}
    assert options["private-ucb"] == "Private-UCB (also called DP-UCB)"
    assert [name for name, text in options.items() if "also called" in text] == ["private-ucb"]


# The folder ---------------------------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(algorithms, "rows", table.rows)
    monkeypatch.setattr(algorithms, "_mark", gallery_pages.mark)
    contents = []
    for name in ("one", "two"):
        assert gallery.build(project / name) == 0
        files = sorted(path for path in (project / name).rglob("*") if path.is_file())
        contents.append({p.relative_to(project / name): p.read_bytes() for p in files})
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
    assert [path.name for path in out.parent.iterdir()] == ["gallery"]
    assert gallery.build(out, ["adap-c1"]) == 0
    assert not (out / "mine").exists()
    assert [path.name for path in out.parent.iterdir()] == ["gallery"]


@pytest.mark.parametrize("content", ["notes.txt", "index.html"])
def test_a_folder_that_is_no_gallery_is_not_replaced(project: Path, content: str) -> None:
    folder = project / "thesis"
    folder.mkdir()
    (folder / content).write_text("years of work")
    with pytest.raises(UserError, match="is not a gallery"):
        gallery.build(folder)
    assert (folder / content).read_text() == "years of work"


@pytest.mark.parametrize("full", [False, True])
def test_advice_about_a_folder_is_that_of_a_gallery(
    full: bool, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A gallery plays no runs and keeps no files of a failed attempt.
    out = project / "a file" / "gallery"
    (project / "a file").touch()
    if full:
        out = project / "gallery"

        def refused(self: Path, target: Path) -> Path:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(UserError, match=r"cannot write .*whole or not at all: make room") as error:
        gallery.build(out, ["lower-bounds"])
    assert "paths.cache" not in str(error.value)
    assert not out.exists()


def test_the_command_refuses_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    done = Process(*DPBANDITS, "gallery", "--out", str(tmp_path)).done()
    assert (done.status, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("dpbandits: ")
    assert "--out" in done.err


# Texts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "html", "plain"),
    [
        (
            r"$\epsilon = 0.1$ and $K$",
            "<mi>ϵ</mi><mo>=</mo><mn>0.1</mn> and <mi>K</mi>",
            "ε = 0.1 and K",
        ),
        (
            r"$N_i = \lceil N_G^*\rceil$",
            "<msub><mi>N</mi><mi>i</mi></msub><mo>=</mo><mi>⌈</mi>"
            "<msubsup><mi>N</mi><mi>G</mi><mo>*</mo></msubsup><mi>⌉</mi>",
            "Nᵢ = ⌈N_G*⌉",
        ),
        (
            r"$10^{-10}$ <b>",
            "<msup><mn>10</mn><mrow><mo>−</mo><mn>10</mn></mrow></msup> &lt;b&gt;",
            "10⁻¹⁰ <b>",
        ),
        (
            "$|a|$",
            '<mo stretchy="false" lspace="0" rspace="0">|</mo>'.join(["", "<mi>a</mi>", ""]),
            "|a|",
        ),
        ("$a<b$", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>", "a<b"),
        (r"costs 5\$ & 6\$", "costs 5$ &amp; 6$", "costs 5$ & 6$"),
        ("ε = 10⁻⁵, epsilon, t_0", "ε = 10⁻⁵, epsilon, t_0", "ε = 10⁻⁵, epsilon, t_0"),
    ],
)
def test_formulas_become_mathml_and_unicode(source: str, html: str, plain: str) -> None:
    assert bare(source) == html
    assert formulas.plain(source) == plain


def bare(source: str) -> str:
    """Return a text as HTML, its formulas without the element around them."""
    opened = '<math display="inline"><mrow>'
    return str(texts.maths(source)).replace(opened, "").replace("</mrow></math>", "")


@pytest.mark.parametrize(
    "source", [r"\text{<script>}", r"\foobar", "x^", "{" * 2000, "<b>&", r"\\", "\\"]
)
def test_a_formula_that_cannot_be_converted_is_shown_as_it_is_written(source: str) -> None:
    html = str(to_mathml(source))
    assert html.startswith(("<code>", "<math "))
    assert unescape(re.sub(r"<[^<>]*>", "", html)) == source
    assert not re.search(r"<(?!/?(?:code|math|mrow|mo|mi)\b)", html)


def test_a_docstring_keeps_its_formulas_and_leads_to_the_papers() -> None:
    html = str(texts.docstring("Of wang2024, `x`:\n\n    a_1  <  b\n\nEnd.\n", "../"))
    assert 'href="../index.html#paper-wang2024"' in html
    assert "<code>x</code>" in html
    assert "<pre>a_1  &lt;  b</pre>" in html


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (10_000_000, "10,000,000"),
        (0.25, "0.25"),
        (1e7, "10,000,000"),
        (1.4551915228366852e-11, "1.45519·10<sup>−11</sup>"),
        (True, "True"),
        ("<b>", "&lt;b&gt;"),
        ([0.75, 0.5], "0.75, 0.5"),
        ([0.5] * 12, "0.5, 0.5, …, 0.5 (12 values)"),
    ],
)
def test_a_number_is_written_for_people(value: Any, shown: str) -> None:
    assert str(texts.number(value)) == shown


def test_a_document_has_anchors_and_leads_to_what_it_names() -> None:
    text = "# A\n\n## tossou2016, b\n\n## tossou2016, b\n\nThe `adap-c1`, `x`.\n\n"
    table = "| a |\n|---|\n| $x_1$ |\n\n$$\\mu$$\n"
    html, headings = texts.document(text + table, {"adap-c1": "figures/adap-c1.html"})
    assert headings == [
        (1, "a", "A"),
        (2, "tossou2016-b", "tossou2016, b"),
        (2, "tossou2016-bx", "tossou2016, b"),
    ]
    assert '<a href="figures/adap-c1.html"><code>adap-c1</code></a>' in html
    assert "<code>x</code>" in html
    assert "<msub><mi>x</mi><mn>1</mn></msub>" in html
    assert "<mi>μ</mi>" in html
    assert html.count('<div class="scroll"') == html.count("</table></div>") == 1


def test_an_algorithm_s_page_has_what_is_claimed_composed_and_audited(whole: Path) -> None:
    page = (whole / "algorithms" / "dp-ucb.html").read_text("utf-8")
    table = page.partition("Claimed, composed and audited budgets")[2].partition("</table>")[0]
    rows = [re.sub(r"<[^>]+>", "|", row) for row in table.split("<tr>")[2:]]
    assert [row.split("|")[2] for row in rows if "hybrid-full" in row] != []
    full = next(row for row in rows if "hybrid-full" in row)
    cells = [cell for cell in full.split("|") if cell]
    assert cells[1:4] == ["1", "2", "2"]
    found = audit_results.of("dp-ucb", dp_ucb.Params(epsilon=0.1))
    assert found is not None
    assert unescape(cells[4]) == (
        f"≥ {texts.budget(found.epsilon)}; one choice ≥ {texts.budget(found.one_choice)}"
    )
    assert "Theorem 3.1" in full
    assert "per-round DP" in page


@pytest.mark.usefixtures("in_checkout")
def test_a_gallery_of_some_figures_links_none_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery_pages.replace_pictures(monkeypatch)
    assert gallery.build(tmp_path / "g", [DRAWN]) == 0
    made = gallery_pages.read_all(tmp_path / "g")
    assert "short games" in made["algorithms/dp-ucb.html"].text
    assert gallery_pages.broken(made, tmp_path / "g") == []


def test_the_page_of_a_source_has_its_path_and_the_revision_of_dpbandits_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("mine", "plug"):
        (tmp_path / package / "algorithms").mkdir(parents=True)
        (tmp_path / package / "algorithms" / f"{package}.py").write_text("X = 1\n")
    mine, plug = (roots.Root(package, tmp_path / package) for package in ("mine", "plug"))
    monkeypatch.setattr(roots, "ROOTS", (roots.PACKAGE, plug, mine))
    monkeypatch.setattr(roots, "PROJECT", OwnProject("mine", mine.folder))
    written = pages_module._Pages(tmp_path, [], [])
    for source, path in (
        ("algorithms/dp_ucb.py", "src/dpbandits/algorithms/dp_ucb.py"),
        ("mine/algorithms/mine.py", "algorithms/mine.py"),
        ("plug/algorithms/plug.py", "plug/algorithms/plug.py"),
    ):
        written.write(f"sources/{source}.html", "source.html", **pages_module._source(source))
        page = gallery_pages.read(tmp_path / "sources" / f"{source}.html")
        assert page.find("h1")[0].text == path
        assert ("as of revision" in page.text) is path.startswith("src/")
