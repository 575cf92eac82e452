"""The site: its pages, links, weights and charts, and its behaviour if something is wrong."""

import csv
import gzip
import re
import signal
import subprocess
import time
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from browser import Tab
from commands import DPBANDITS, ROOT, Done, Process

import dpbandits
from dpbandits.judge.verdicts import Verdict
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.run import ExitStatus
from dpbandits.site import build

for needed in build.NEEDED:
    pytest.importorskip(needed, reason=f"no {needed}: pip install -r requirements-site.lock")

from dpbandits.site import home, reports  # noqa: E402 which need the extra

CHOSEN = ("adap-c2", "leaderboard", "lower-bounds")
EVIL = "<script>alert('&')</script> *a* `b` [c](d)"
BREAKS = "x\n~~~~\n\n<script>alert(1)</script>\n\n~~~~\ny"  # ends a block of code, if it may
LARGEST = 1_500_000  # bytes of a page with its assets, compressed


def command(folder: Path, *words: str) -> Done:
    return Process(*DPBANDITS, *words, folder=str(folder)).done()


def links(page: Path) -> list[str]:
    text = re.sub(r"<(pre|code)\b.*?</\1>", "", page.read_text("utf-8"), flags=re.DOTALL)
    return [unescape(link) for link in re.findall(r'\b(?:href|src)="([^"]*)"', text)]


def check_links(folder: Path) -> int:
    """Assert that every link leads to a file and to a place in it; return their number."""
    ids: dict[Path, set[str]] = {}
    for page in folder.rglob("*.html"):
        ids[page] = set(re.findall(r'\bid="?([^"\s>]*)', page.read_text("utf-8")))
    checked = 0
    for page in ids.keys() - {folder / "404.html"}:  # which is for the root of a server
        for link in links(page):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), (page, link)
            anchor = unquote(parts.fragment)
            assert not anchor.strip("_") or target not in ids or anchor in ids[target], (page, link)
            checked += 1
    return checked


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Site of the checkout with three figures."""
    out = tmp_path_factory.mktemp("site") / "site"
    done = command(ROOT, "site", *CHOSEN, "--out", str(out))
    assert done.status == 0, done.err
    assert "site: 3 figures; " in done.out
    return out


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project with two figures, one of which fails, whose site was built."""
    folder = tmp_path_factory.mktemp("own")
    assert command(folder, "init", "my-paper").status == 0
    project = folder / "my-paper"
    figure = project / "conf" / "figure" / "my-figure.yaml"
    text = re.sub(r"(?m)^title: .*", lambda _: f'title: "{EVIL}"', figure.read_text("utf-8"))
    figure.write_text(f'{text}note: "{BREAKS}"\n', "utf-8")
    figure.with_name("broken.yaml").write_text("paper: [")
    figure.with_name("other.yaml").write_text(f"paper: {EVIL!r}\ntitle: </title>{EVIL}\n")
    algorithm = project / "algorithms" / "my_algorithm.py"
    source = algorithm.read_text("utf-8")
    algorithm.write_text(source.replace('"""', f'"""{BREAKS}\n\n    a\n{EVIL}\n\n', 1), "utf-8")
    assert command(project, "run", "my-figure", "profile=smoke").status == 0
    done = command(project, "site", "profile=smoke")
    assert done.status == ExitStatus.FAILED, done.err
    failed = [line.split(": ")[1] for line in done.err.splitlines() if line[:3] == "dpb"]
    assert failed == ["broken", "other"]
    return project / "out" / "site"


def test_every_page_is_there_and_its_links_and_pictures_lead_to_files(whole: Path) -> None:
    pages = {path.relative_to(whole).with_suffix("").as_posix() for path in whole.rglob("*.html")}
    documents = {p.relative_to(ROOT / "docs").with_suffix("") for p in ROOT.glob("docs/**/*.md")}
    names = {path.as_posix().replace("README", "index") for path in documents}
    names |= {f"figures/{name}" for name in CHOSEN}
    members = registry.members("algorithm")
    assert names | {f"algorithms/{name}" for name in members} <= pages
    assert check_links(whole) > 2000
    for name in (*(f"figures/{f}" for f in CHOSEN), "algorithms/dp-se", "figures"):
        assert "<img" in (whole / f"{name}.html").read_text("utf-8")


def test_the_first_page_has_a_square_for_every_sentence_in_the_colour_of_its_verdict(
    whole: Path, in_checkout: None
) -> None:
    text = (whole / "index.html").read_text("utf-8")
    pattern = r'<a class="q ([\w-]+)" href="reproducibility/(\w+)\.html#(\d+)" title="[^"]+">(.)<'
    shown = {(key, int(n)): (kind, sign) for kind, key, n, sign in re.findall(pattern, text)}
    judged = {
        (of.paper.paper, n): sentence.verdict
        for of in reports.results(reports.papers())
        for n, sentence in enumerate(of.sentences(), 1)
    }
    assert shown == {k: (home.kind(verdict), home.SIGNS[verdict]) for k, verdict in judged.items()}
    number = Counter(judged.values())
    assert f"{len(judged)} sentences" in text
    assert f"<strong>{number[Verdict.REPRODUCED]} hold, {number[Verdict.NOT]} do not" in text
    report = (whole / "reproducibility" / "azize2022.html").read_text("utf-8")
    assert report.count('<a class="q ') == sum(key == "azize2022" for key, _ in judged)
    assert '<span class="verdict explained"><strong>explained</strong></span>' in report


def test_the_first_page_has_the_shares_of_runs_that_never_answer(
    whole: Path, in_checkout: None
) -> None:
    with (ROOT / "figures" / "reference" / "identification-trap.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if (row["profile"], row["panel"]) == ("", "a")]
    text = unescape((whole / "index.html").read_text("utf-8"))
    for budget, words in (("1", "at ε = 1 after"), ("0.1", "at ε = 0.1, where")):
        share = {row["label"]: float(row["mean"]) for row in rows if row["x"] == budget}
        first, second, third = (f"{100 * share[n]:.0f} %" for n in ("AdaP-TT", "AdaP-TT*", "DP-TT"))
        assert re.search(f"{first}, {second} and {third} .*?{words}", " ".join(text.split()))
    assert (whole / "images" / "trap.svg").is_file()
    assert 'href="figures/identification-trap.html"' not in text  # not of this site


def test_no_page_asks_another_host_or_weighs_too_much(whole: Path) -> None:
    weight = {
        path: len(gzip.compress(path.read_bytes())) for path in whole.rglob("*") if path.is_file()
    }
    for page in whole.rglob("*.html"):
        text = page.read_text("utf-8")
        asked = re.findall(r'<(?:script|img|iframe)\b[^>]* src="([^"]*)"', text)
        asked += re.findall(r'<link\b(?![^>]*rel="canonical")[^>]* href="([^"]*)"', text)
        asked = [link for link in asked if not link.startswith("data:")]
        assert not [link for link in asked if "//" in link], page
        files = {(page.parent / unquote(urlsplit(link).path)).resolve() for link in asked}
        assert weight[page] + sum(weight.get(file, 0) for file in files) < LARGEST, page


def test_the_interface_is_documented_and_notebooks_are_executed(whole: Path) -> None:
    text = (whole / "api.html").read_text("utf-8")
    public = [name for name in dpbandits.__all__ if not name.startswith("_")]
    assert [name for name in public if f'id="dpbandits.{name}"' not in text] == []
    for name in ("play-and-compare", "your-own-algorithm"):  # a cell of each has drawn a picture
        page = (whole / "notebooks" / f"{name}.html").read_text("utf-8")
        assert 'src="data:image/png;base64,' in page


def test_a_project_has_a_site_of_its_own_and_an_error_a_page(own: Path) -> None:
    assert check_links(own) > 50
    assert {path.stem for path in (own / "figures").glob("*.html")} == {
        *("my-figure", "broken", "other")
    }
    assert {path.stem for path in (own / "algorithms").glob("*.html")} == {
        *("my-algorithm", "dp-se", "adap-klucb")
    }
    assert "This figure failed" in (own / "figures" / "broken.html").read_text("utf-8")
    for page in ("index.html", "figures/my-figure.html"):  # a title is text and never markup
        text = (own / page).read_text("utf-8")
        assert EVIL not in text
        assert EVIL in unescape(text)


def test_no_source_note_or_docstring_of_a_project_becomes_markup(own: Path) -> None:
    pages = {page: page.read_text("utf-8") for page in own.rglob("*.html")}
    assert [page for page, text in pages.items() if re.search(r"<script>\s*alert", text)] == []
    shown = [page.stem for page, text in pages.items() if "alert(1)" in unescape(text)]
    assert {"my-figure", "my-algorithm"} <= {*shown}


HARM = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    "source",
    [
        BREAKS,
        f"~~~~\n{HARM}\n{40 * '~'}\n{HARM}",
        f"~\x02~\x03~\x02~\n{HARM}\n",
        f"{7 * '~'}\x0b\u2028{HARM}\r~~~~\r\n{HARM}",
        f"```\n{HARM}\n```\n\n</code></pre>{HARM}",
        f"12. a\n\n    {HARM}",
        f"!!! note\n\n    {HARM}",
        f"    a\n{HARM}",
        f"a `{HARM}` b\n\n`\n{HARM}",
        f"\\`{HARM}\\`",
        f"<div markdown>{HARM}</div>",
        f"[a](javascript:alert(1)){{ onclick=alert(1) }} ![]{HARM}",
    ],
)
def test_a_page_shows_a_text_as_it_is(tmp_path: Path, source: str) -> None:
    from mkdocs.config import load_config

    from dpbandits.site import pages

    markdown: Any = pytest.importorskip("markdown")

    file = str(Path(build.__file__).with_name("mkdocs.yml"))
    config = load_config(file, docs_dir=str(tmp_path))
    names, options = config.markdown_extensions, config.mdx_configs
    for page in (pages.said(source), pages.as_text(source), pages.cell(source)):
        html = markdown.markdown(page, extensions=names, extension_configs=options)
        assert not re.search(r"<(script|div|a)\b(?! class)|<[^>]*onclick", html), html
        assert "alert(1)" in unescape(re.sub("<[^>]*>", "", html))
    block = pages.fenced(source, "yaml")
    opening = '??? quote "x"\n\n    ' + block.replace("\n", "\n    ")  # as in the templates
    for inside in (block, opening):
        html = markdown.markdown(f"{inside}\n", extensions=names, extension_configs=options)
        assert "<script" not in html
        assert html.count("<pre") == html.count("</pre") == 1


def test_a_project_without_a_figure_has_a_site_too(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "dpbandits.toml").write_text('package = "empty"\n')
    done = command(tmp_path, "site")
    assert done.status == 0, done.err
    assert "site: 0 figures; " in done.out
    assert (tmp_path / "out" / "site" / "index.html").is_file()


def test_a_formula_becomes_mathml_and_one_that_cannot_be_read_stays() -> None:
    markdown: Any = pytest.importorskip("markdown")
    names = ["pymdownx.arithmatex", "dpbandits.site.formulas"]
    options = {"pymdownx.arithmatex": {"generic": True}}
    html = markdown.markdown(r"$a < \mu_1$, $\frac{$", extensions=names, extension_configs=options)
    assert re.search(r"<math.*<mo>&lt;</mo>.*</math>", html)
    assert "<code>\\frac{</code>" in html


def test_without_the_extra_one_line_says_what_to_install(
    in_checkout: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "find_spec", lambda name: None if name == "altair" else name)
    with pytest.raises(UserError, match=r"needs altair.*dpbandits\[site\]"):
        build.from_arguments(["lower-bounds"], None)


def test_a_folder_that_is_no_site_is_kept(tmp_path: Path, in_checkout: None) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="is not a site"):
        build.build(tmp_path, ["lower-bounds"])
    assert (tmp_path / "thesis.tex").is_file()


def children(process: int) -> list[Path]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True
    )
    return [Path("/proc", number) for number in listed.stdout.split()]


def test_a_terminated_build_leaves_no_worker_and_no_folder_behind(tmp_path: Path) -> None:
    process = Process(*DPBANDITS, "site", *CHOSEN, "--out", str(tmp_path / "site"))
    process.wait_for(lambda: len(children(process.popen.pid)) > 2)  # and a tracker of resources
    workers = children(process.popen.pid)
    process.popen.terminate()
    assert process.done().status == 128 + signal.SIGTERM
    until = time.monotonic() + 60
    while any(worker.exists() for worker in workers) and time.monotonic() < until:
        time.sleep(0.1)
    assert [worker for worker in workers if worker.exists()] == []
    assert [*tmp_path.iterdir()] == []


# In a browser, from files ------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_error_and_fit_a_phone(chromium: Any, whole: Path, scheme: str) -> None:
    size = {"width": 400, "height": 800}
    with Tab(chromium, "file:", viewport=size, color_scheme=scheme) as page:
        for name in (
            "index",
            "figures",
            "figures/adap-c2",
            "figures/leaderboard",
            "algorithms",
            "algorithms/dp-ucb-int",
            "reproducibility/azize2022",
            "leaderboard",
            "notebooks/play-and-compare",
        ):
            page.goto((whole / f"{name}.html").as_uri())
            if name.startswith("figures/"):
                page.wait_for_selector(".chart svg")
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (colour == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_chart_shows_values_of_the_table_and_hides_curves(chromium: Any, whole: Path) -> None:
    with (whole / "figures" / "adap-c2" / "adap-c2.csv").open() as file:
        table = [row for row in csv.DictReader(file) if row["panel"] == "b"]
    with Tab(chromium, "file:", viewport={"width": 1200, "height": 1000}) as page:
        page.goto((whole / "figures" / "adap-c2.html").as_uri())
        page.wait_for_selector(".chart svg")
        page.locator(".chart select").select_option("1")
        lines = page.locator(".chart svg .mark-line path")
        page.locator(".chart .plot").scroll_into_view_if_needed()
        place = page.locator(".chart .plot svg").bounding_box()
        for share in (0.4, 0.8):
            page.mouse.move(place["x"] + share * place["width"], place["y"] + 150)
            tip = page.wait_for_selector("#vg-tooltip-element.visible").inner_text()
            tip = re.sub(r"\s*\n\s*", "\n", tip)
            curve, _, x, _, y = tip.replace(",", "").split("\n")[:5]
            label = curve.partition(" (")[0]
            (row,) = (row for row in table if (row["label"], row["x"]) == (label, x))
            assert float(y) == pytest.approx(float(row["centre"]), rel=1e-4)
        drawn = lines.count()
        page.get_by_role("checkbox", name="DP-SE").uncheck()
        page.wait_for_function(f"document.querySelectorAll('.mark-line path').length < {drawn}")
        page.get_by_role("checkbox", name="log y").uncheck()
        page.wait_for_selector(".chart svg")


def test_the_chart_is_reached_by_keyboard_and_the_search_works(chromium: Any, whole: Path) -> None:
    with Tab(chromium, "file:", viewport={"width": 1200, "height": 1000}) as page:
        page.goto((whole / "figures" / "adap-c2.html").as_uri())
        page.wait_for_selector(".chart svg")
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.closest('label,select')?.innerText"))
        assert {"log x", "log y", "DP-SE"} <= {str(text).strip() for text in reached}
        page.locator(".md-search__input").click()
        page.keyboard.type("KLUCB")
        page.wait_for_selector(".md-search-result__item a")


@pytest.mark.parametrize(
    ("words", "first"), [("DP-SE", "algorithms/dp-se.html"), ("Fig. 5", "figures/adap-c2.html")]
)
def test_the_search_finds_an_algorithm_and_a_figure_of_a_paper_first(
    chromium: Any, whole: Path, words: str, first: str
) -> None:
    with Tab(chromium, "file:", viewport={"width": 1200, "height": 1000}) as page:
        page.goto((whole / "index.html").as_uri())
        page.locator(".md-search__input").click()
        page.keyboard.type(words)
        page.wait_for_function(
            "first => document.querySelector('.md-search-result__item a')?.href.includes(first)",
            arg=first,
        )
