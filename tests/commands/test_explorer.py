"""The explorer: its numbers are those of the runs, and the page shows its numbers."""

import gzip
import hashlib
import json
import math
import shutil
import subprocess
import sys
from typing import Any

import make_explorer
import numpy as np
import pytest
from browser import Tab
from commands import ROOT

from dpbandits.config import compose
from dpbandits.tables import references

pytestmark = pytest.mark.usefixtures("in_checkout")
EXPLORER = ROOT / "docs" / "explorer"
MEAN, ERROR, MEDIAN, RUNS, RARE = 0, 1, 3, 5, 6
# The site of the page alone.
SITE = """
site_name: explorer
use_directory_urls: false
theme:
  {name: material, font: false, palette: {scheme: SCHEME}}
markdown_extensions: [attr_list, md_in_html]
nav: [explorer.md, leaderboard.md]
"""


def content(name: str) -> Any:
    """Return what a script of the explorer holds."""
    text = (EXPLORER / f"{name}.js").read_text("utf-8")
    return json.loads(text.partition(" = ")[2].rstrip(";\n"))


def record() -> Any:
    return json.loads((EXPLORER / "data.json").read_bytes())


@pytest.fixture(scope="module")
def seed() -> int:
    return compose.settings_of([], "explorer")[1]


def test_the_data_are_those_of_the_record_whose_experiments_are_current(seed: int) -> None:
    files = {name: (EXPLORER / name).read_bytes() for name in record()["sha256"]}
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    assert digests == record()["sha256"]
    assert files["index.js"] == make_explorer.as_script("index", make_explorer.index(seed))
    assert references.changed(record()["basis"], make_explorer.basis(seed)) == ""
    assert sum(len(gzip.compress(data)) for data in files.values()) < 1_000_000


@pytest.mark.parametrize("name", ["dp-se", "half-adap-klucb", "dp-ftpl-new", "dp-ftpl-beta"])
def test_fresh_runs_give_the_committed_numbers(name: str, seed: int) -> None:
    game = make_explorer.experiments("two-arms", name, 10.0, seed)[0]
    runs, _ = game.play(range(make_explorer.lists().players[name].runs))
    found = content("two-arms")[name][make_explorer.EPSILONS.index(10.0)][0]
    assert found == make_explorer.points(game, runs)


def test_statistics_are_those_of_numpy() -> None:
    runs = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 60_000.0]])
    error = float(f"{np.std(runs[:, 0], ddof=1) / math.sqrt(3):.4g}")
    assert make_explorer.statistics(runs)[0] == [3, error, 1.5, 2, 4, 3, 1]
    assert make_explorer.statistics(runs / 60_000 + 1)[0][RARE] == 0
    assert make_explorer.statistics(runs)[1][MEAN] == 20010  # four digits of 20,010


# The page ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["default", "slate"])
def address(request: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of the page in a file, in the light and in the dark theme."""
    vega = pytest.importorskip("vl_convert", reason="no Vega-Lite").javascript_bundle()
    pytest.importorskip("material", reason="no MkDocs Material")
    folder = tmp_path_factory.mktemp("explorer")
    shutil.copytree(EXPLORER, folder / "docs" / "explorer")
    shutil.copy(ROOT / "docs" / "explorer.md", folder / "docs")
    (folder / "docs" / "leaderboard.md").write_text("# Leaderboard\n")
    (folder / "docs" / "assets").mkdir()
    (folder / "docs" / "assets" / "vega.js").write_text(vega, "utf-8")
    (folder / "mkdocs.yml").write_text(SITE.replace("SCHEME", request.param))
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=folder, check=True)
    return (folder / "site" / "explorer.html").as_uri()


def at(data: Any, name: str, epsilon: int, t: int) -> list[float] | None:
    """Return the numbers of an algorithm at the horizon t."""
    games, algorithm = data[name][epsilon], content("index")["algorithms"][name]
    place = make_explorer.HORIZONS.index(t) if algorithm["needs_horizon"] else 0
    rounds = sum(r <= t for r in make_explorer.ROUNDS)
    return games[place][rounds - 1] if place < len(games) and rounds <= len(games[place]) else None


def test_ten_values_and_the_answer_on_the_page_are_those_of_the_data(
    chromium: Any, address: str
) -> None:
    data, (players, notions) = content("c2"), make_explorer.lists()
    labels = {players[name].curve.label: name for name in notions["ε-global DP"]}
    with Tab(chromium, "file:", viewport={"width": 400, "height": 900}) as page:
        page.goto(f"{address}#instance=c2&epsilon=1&horizon=1000000")
        rows = page.locator("#explorer tbody tr")
        page.wait_for_selector(".plot svg path", state="attached")
        shown = [row.locator("th, td").all_inner_texts() for row in rows.all()]
        wanted = [w for cells in shown if (w := at(data, labels[cells[0].strip()], 8, 10**6))]
        assert len(wanted) >= 10
        first = [MEDIAN if w[RARE] else MEAN for w in wanted]
        texts = [cells[1].removeprefix("median ").split(" ")[0] for cells in shown]
        numbers = [float(text.strip(";").replace(",", "")) for text in texts]
        known = [w[column] for w, column in zip(wanted, first, strict=True)]
        assert numbers == pytest.approx(known, rel=0.006)
        assert ["rare runs" in cells[1] for cells in shown] == [bool(w[RARE]) for w in wanted]
        assert [int(cells[5].replace(",", "")) for cells in shown] == [w[RUNS] for w in wanted]
        ranking = MEDIAN if MEDIAN in first else MEAN
        assert [w[ranking] for w in wanted] == sorted(w[ranking] for w in wanted)
        assert ("rare runs" in page.locator(".answer").inner_text()) == (ranking == MEDIAN)
        assert shown[0][0].strip() in page.locator(".answer").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_algorithms_of_a_notion_have_colours_of_their_own() -> None:
    players = make_explorer.lists().players
    for names in content("index")["notions"].values():
        styles = {players[name].curve.style for name in names}
        assert len({content("index")["algorithms"][n]["colour"] for n in names}) == len(styles)


def test_curves_are_named_and_any_epsilon_leads_to_the_nearest(chromium: Any, address: str) -> None:
    labels = {make_explorer.lists().players[name].curve.label for name in ("dp-se", "dp-klucb")}
    with Tab(chromium, "file:", viewport={"width": 1200, "height": 900}) as page:
        page.goto(f"{address}#instance=c2&epsilon=1&horizon=1000000")
        page.locator("#explorer-near").fill("0.3")
        page.locator("#explorer-near").press("Enter")
        assert "ε = 0.316 (the nearest to 0.3)" in page.locator(".answer").inner_text()
        page.wait_for_selector(".plot svg .mark-text text")
        assert labels <= {*page.locator(".plot svg .mark-text text").all_text_contents()}
        page.locator("#explorer-epsilon").select_option("10")
        assert "nearest" not in page.locator(".answer").inner_text()


@pytest.mark.parametrize(("column", "statistic"), [(MEAN, "mean"), (MEDIAN, "median")])
def test_the_map_of_winners_is_that_of_the_data(
    chromium: Any, address: str, column: int, statistic: str
) -> None:
    data, members = content("c1"), make_explorer.lists().notions["ε-global DP"]
    with Tab(chromium, "file:") as page:
        page.goto(f"{address}#instance=c1&statistic={statistic}")
        squares = page.locator(".map button").all()
        games = [(e, t) for t in reversed(make_explorer.HORIZONS) for e in range(13)]
        for square, (epsilon, t) in zip(squares, games, strict=True):
            numbers = {name: at(data, name, epsilon, t) for name in members}
            rare = column == MEAN and any(n[RARE] for n in numbers.values() if n)
            ranking = MEDIAN if rare else column
            ranked = sorted((n[ranking], name, n) for name, n in numbers.items() if n)
            (a, name, first), (b, _, second) = ranked[:2]
            assert square.get_attribute("data-winner") == name or a == b
            level = b - a <= 3 * math.hypot(first[ERROR], second[ERROR])
            looks = "rare" if rare else "open" if level and column == MEAN else ""
            assert square.get_attribute("class") == looks
        page.locator('.map [aria-current="true"]').press("ArrowRight")
        assert page.locator("#explorer-epsilon").input_value() == "0.178"
