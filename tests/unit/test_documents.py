"""Pages state what the code and the measurements have: tables, keys, commands and numbers."""

import csv
import json
import re
import shlex
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import make_commands
import make_configuration
import make_leaderboard
import make_mutants
import make_readme
import make_thresholds
import marked_part
import numba
import numpy as np
import pytest
from commands import ROOT, documented_keys
from mutants import table

from dpbandits.cli.main import APP
from dpbandits.config import compose
from dpbandits.factory import produce
from dpbandits.factory.stored_results import export
from dpbandits.files.atomic import EXPORT_SCHEMA, FIGURE_SCHEMA, VERDICT_SCHEMA
from dpbandits.judge import claims_files
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.spec.figure import Original
from dpbandits.tables import references
from dpbandits.tables.published import at_checkpoints

pytestmark = pytest.mark.usefixtures("in_checkout", "composed_once")
DOCS = ROOT / "docs"


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def with_mutants() -> str:
    head, results = table.read(ROOT)
    why, page = make_mutants.reviewed(), text("docs/checks.md")
    first = marked_part.read(page, "mutants").split("\n\n", 1)[0]
    assert first.startswith(f"Revision {head['revision']}, seed {head['seed']}. ")
    assert {r["name"] for r in results if not r["killed"]} == why["equivalent"].keys() | why[
        "survivors"
    ]
    lines = table.lines_of(results, why["equivalent"])
    return marked_part.replaced(page, "mutants", "\n".join([first, "", *lines, ""]))


GENERATED: dict[str, tuple[str, Callable[[], str]]] = {
    "make_commands": ("docs/commands.md", make_commands.page),
    "make_configuration": ("docs/configuration.md", make_configuration.page),
    "make_leaderboard": (
        "docs/leaderboard.md",
        lambda: make_leaderboard.with_tables(text("docs/leaderboard.md")),
    ),
    "make_readme": ("README.md", lambda: make_readme.with_table("README.md")),
    "make_readme (figures)": ("docs/figures.md", lambda: make_readme.with_table("docs/figures.md")),
    "make_thresholds": (
        "docs/verdicts.md",
        lambda: make_thresholds.with_table(text("docs/verdicts.md")),
    ),
    "make_mutants": ("docs/checks.md", with_mutants),
}


@pytest.mark.parametrize("script", GENERATED)
def test_a_generated_page_is_the_one_that_its_script_writes(script: str) -> None:
    page, generate = GENERATED[script]
    assert generate() == text(page), f"python scripts/{script.partition(' ')[0]}.py"


def test_figures_are_counted_by_the_numbers_of_the_papers() -> None:
    parts = {
        "Fig. 1–5": (1, "–5", 5),
        "Fig. 5.4": (5, ".4", 1),
        "Fig. 2 (a), (b)": (2, "(a), (b)", 1),
    }
    for words, (number, part, figures) in parts.items():
        original = Original("figure", number, part)
        assert (str(original), len(original.numbers)) == (words, figures)
    # Figs. 1 of tossou2017 is drawn in five parts, Fig. 2 of tossou2016 in two.
    assert "**34 published figures and tables** of 8 papers" in make_readme.counts()
    judged = [name for name in claims_files.papers() if claims_files.read_paper(name).sentences]
    assert f"sentences of {len(judged)} papers, " in make_readme.counts()


def test_every_meaning_of_a_key_is_that_of_a_key() -> None:
    page = make_configuration.page()  # a key without a meaning is an error
    own = {name.rpartition(".")[2] for name in make_configuration.MEANINGS}
    assert {key for key in make_configuration.KEYS if f"|`{key}` |" not in page} == set()
    assert {key for key in own if f"* `{key}`: " not in page} == set()
    assert len(page.split()) < 2_850


def test_random_numbers_of_the_page_are_those_of_kernels_with_the_same_bits() -> None:
    calls = {*re.findall(r"`(rng\.\w+\([^`]*?\))`", text("docs/contract.md"))}
    assert len(calls) > 9
    values = {"K": 3, "a": 0.5, "b": 0.75, "k": 2.0, "m": 0.5, "n": 10, "p": 0.3, "s": 1.5}
    for call in calls:
        plain = eval(f"lambda rng, {', '.join(values)}: {call}")
        python, compiled = (
            [function(rng, *values.values()) for _ in range(20)]
            for function, rng in (
                (function, np.random.Generator(np.random.PCG64(1)))
                for function in (plain, numba.njit(plain))
            )
        )
        assert python == compiled, call


def test_public_json_files_have_the_documented_keys_and_no_others(tmp_path: Path) -> None:
    # Exact, so that the whole figure with its claims takes no time.
    paths = [f"paths.{name}={tmp_path / name}" for name in ("cache", "out")]
    spec, settings = compose.load("ftpl-gauss-cdf", paths)
    assert produce.produce(spec, settings) == 0
    assert export(spec, settings, "json", tmp_path / "export.json") == 0
    contents: list[dict[str, Any]] = [json.loads(p.read_text()) for p in tmp_path.rglob("*.json")]
    written = {content["schema"]: {*content} for content in contents}
    for schema in (FIGURE_SCHEMA, VERDICT_SCHEMA, EXPORT_SCHEMA):
        assert written[schema] == documented_keys(schema)


PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *(f"docs/{p.relative_to(DOCS)}" for p in DOCS.rglob("*.md")),
]
# of a project, of SLURM
ELSEWHERE = ("my-", "my_", "explore-then-commit", "uniform-bai", "$address", "submitit")


def accept(line: str) -> None:
    """Read a command to the end of its words and values, and compute nothing."""
    command, bound, _ = APP.parse_args(
        shlex.split(line, comments=True), exit_on_error=False, print_error=False
    )
    words = [*bound.args]
    if any(name in line for name in ELSEWHERE):
        return
    if command.__name__ in ("run", "explain", "plot", "export"):
        compose.load(words[0], words[1:])
    elif command.__name__ == "multirun" and not words[0].startswith("sweep="):
        first = [re.sub(r"(=[^\[{(,]*),.*", r"\1", word) for word in words]  # the first job
        figure = first.pop(first.index(next(w for w in first if w.startswith("figure="))))
        compose.load(figure.removeprefix("figure="), first)
    elif command.__name__ in ("compare", "cite"):
        command(*words)
    elif command.__name__ in ("audit", "privacy"):
        assert {word for word in words if "=" not in word} <= {*registry.algorithm_names()}


def test_git_ignores_every_folder_that_a_page_tells_a_reader_to_make() -> None:
    orders = re.compile(r"(?m)^(?:python3 -m venv|dpbandits init) ([\w.-]+)")
    folders = {name for page in PAGES for name in orders.findall(text(page))} - {"NAME"}
    assert folders >= {"environment", "my-paper"}
    ignored = subprocess.run(
        ["git", "check-ignore", *(f"{name}/" for name in folders)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert {*ignored.stdout.split()} == {f"{name}/" for name in folders}


def test_commands_of_all_pages_are_accepted_or_refused_as_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(produce, "produce", lambda *_: 1)  # `compare` stops where it would play
    checked = set[str]()
    for page in sorted(PAGES):
        blocks = re.findall(r"^```\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE)
        inline = re.findall(r"`(dpbandits [a-z-]+ [^-`][^`]*)`", text(page))
        for block, below in pairwise([*inline, *blocks, ""]):
            lines = re.findall(r"^dpbandits (.*)", block.replace("\\\n", " "), re.MULTILINE)
            for line in {*lines} - checked:
                if "<" in line or "..." in line:  # a placeholder
                    continue
                checked.add(line)
                if below.startswith("dpbandits: "):
                    with pytest.raises(UserError) as refused:
                        accept(line)
                    assert str(refused.value) == below.strip().removeprefix("dpbandits: ")
                else:
                    accept(line)
    assert len(checked) > 50


def test_numbers_of_the_tenfold_tutorial_are_those_of_the_reference() -> None:
    lines = text("figures/reference/adap-published.csv").splitlines()
    rows = {r["label"]: r for r in csv.DictReader(lines) if r["profile"] and r["x"] == "10000000"}
    printed, loop = rows["DP-SE (as printed)"], rows["DP-SE (removes while it iterates)"]
    means = [float(row["mean"]) for row in (printed, rows["AdaP-KLUCB"])]
    page = text("docs/tutorials/ten-times.md")
    for mean in means:
        assert f"about {round(mean, -2):,.0f}" in page
    for file in (page, text("README.md")):
        assert f"{means[0] / means[1]:.1f} times" in " ".join(file.split())
    assert f"above {float(printed['max']):,.0f}" in page
    assert f"exactly {float(loop['median']):,.1f}" in page


def test_the_published_dp_se_is_the_drawn_curve_as_closely_as_the_tutorial_says() -> None:
    spec, _ = compose.load("adap-published", [])
    (curve,) = (c for c in spec.panels[0].curves if c.name == "dp-se-iterating")
    (drawn,) = (s for s in references.read_series(spec, references.PAPER) if s.label == curve.label)
    found = re.search(
        r"agree within ([\d.]+) %", " ".join(text("docs/tutorials/ten-times.md").split())
    )
    assert found
    centre = dict(zip(drawn.x, drawn.centre, strict=True))
    vertices = {x: y for x, y in at_checkpoints(curve).items() if x > 1}
    assert len(vertices) > 5
    for x, regret in vertices.items():
        assert centre[x] == pytest.approx(regret, rel=float(found[1]) / 100)
