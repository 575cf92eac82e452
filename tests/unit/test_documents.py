"""Pages state what the code and the measurements have: tables, keys, commands and numbers."""

import ast
import json
import math
import re
import shlex
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import make_commands
import make_configuration
import make_leaderboard
import make_mutants
import make_readme
import make_reliability
import make_thresholds
import marked_part
import pytest
from commands import FIGURES, ROOT, documented_keys
from mutants import table
from scipy.integrate import quad
from scipy.stats import norm

from dpbandits.config import compose
from dpbandits.core.errors import UserError
from dpbandits.factory import export, produce
from dpbandits.files import schemas

pytestmark = pytest.mark.usefixtures("in_checkout", "composed_once")
DOCS = ROOT / "docs"


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def rows(page: str, part: str) -> list[list[str]]:
    """Return the cells of a marked table, below its titles."""
    lines = [line for line in marked_part.read(text(page), part).splitlines() if line[:1] == "|"]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


# Generated parts ----------------------------------------------------------------------------------


def with_mutants() -> str:
    head, results = table.read(ROOT)
    why, page = make_mutants.reviewed(), text("docs/checks.md")
    first = marked_part.read(page, "mutants").split("\n\n", 1)[0]
    assert first.startswith(f"Revision {head['revision']}, seed {head['seed']}. ")
    lines = table.lines_of(results, why["equivalent"], why["survivors"])
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
        "docs/checks.md",
        lambda: make_thresholds.with_table(text("docs/checks.md")),
    ),
    "make_mutants": ("docs/checks.md", with_mutants),
}


@pytest.mark.parametrize("script", GENERATED)
def test_a_generated_page_is_the_one_that_its_script_writes(script: str) -> None:
    page, generate = GENERATED[script]
    assert generate() == text(page), f"python scripts/{script.partition(' ')[0]}.py"


def test_every_figure_is_listed_and_links_of_the_readme_lead_to_files() -> None:
    assert all(f"| `{figure}` |" in text("docs/figures.md") for figure in FIGURES)
    links = re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", text("README.md"))
    assert len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_surviving_mutant_is_reviewed_and_nothing_else() -> None:
    head, results = table.read(ROOT)
    reviewed = make_mutants.reviewed()
    survivors = sorted(result["name"] for result in results if not result["killed"])
    assert sorted([*reviewed["equivalent"], *reviewed["survivors"]]) == survivors
    assert len(results) == head["mutants"] >= 300


# Measurements -------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", make_reliability.TESTS)
def test_a_table_of_faults_has_a_row_with_numbers_for_every_test(page: str) -> None:
    measured = rows(f"docs/{page}", "measured")
    names = [f"`{name}`" for name in make_reliability.tests(page)]
    assert [row[-1] for row in measured] == names, "make_reliability.py"
    assert all(re.search(r"\d", row[1] + row[2]) for row in measured)


def test_every_planted_leak_is_found_but_the_one_that_is_named_as_missed() -> None:
    source = text("tests/slow/test_planted_leaks.py")
    leaks = {
        ast.unparse(node.targets[0]): [ast.literal_eval(key) for key in node.value.keys if key]
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    }
    missed = ["no noise from release 7 on (AdaP-UCB)"]
    for part, names in (("leaks", leaks["LEAKS"]), ("later-leaks", leaks["LATER"])):
        found = {
            row[0]: {cell.rpartition(" with ")[2] for cell in row[2:]}
            for row in rows("docs/privacy.md", part)
        }
        assert [*found] == names, "pytest -m slow -s, then scripts/make_leaks.py"
        assert all(found[name] == {"0 of 3" if name in missed else "3 of 3"} for name in names)


def loss_of_a_choice(arms: int, others: float, delta: float = 0.0) -> float:
    """Return the loss of one choice of DP-FTPL-Gauss about the first reward, after one pull each.

    It chooses the first arm if N(R, 2) is larger than all N(others, 2).
    """

    def wins(reward: float) -> float:
        def density(x: float) -> float:
            return float(norm.pdf(x, reward, 2**0.5) * norm.cdf(x, others, 2**0.5) ** (arms - 1))

        return float(quad(density, -20.0, 20.0, epsabs=1e-13, limit=200, points=[0.0, 5.0])[0])

    return math.log((wins(1.0) - delta) / wins(0.0))


def test_the_printed_losses_of_dp_ftpl_gauss_without_its_start_are_right() -> None:
    printed = " ".join(text("docs/privacy.md").split())  # a phrase may cross the end of a line
    for arms, words in ((2, ".48 with two"), (64, "1.86 with 64"), (256, "2.21 with 256")):
        assert words in printed
        largest = max(loss_of_a_choice(arms, others) for others in (0.0, 1.0))
        assert largest == pytest.approx(float(words.split()[0]), abs=0.005)
    assert "more than 1.95" in printed
    with_delta = [
        loss_of_a_choice(arms, others, 1e-3)
        for arms in (2, 64, 128, 192, 256, 512, 1024)
        for others in (0.0, 1.0)
        if arms < 1024 or others == 0.0  # no more likely than delta
    ]
    assert 1.94 < max(with_delta) < 1.95


# Files and commands -------------------------------------------------------------------------------


def test_public_json_files_have_the_documented_keys_and_no_others(tmp_path: Path) -> None:
    # Exact, so that the whole figure with its claims takes no time.
    paths = [f"paths.{name}={tmp_path / name}" for name in ("cache", "out")]
    spec, settings = compose.load("ftpl-gauss-cdf", paths)
    assert produce.produce(spec, settings) == 0
    assert export.export(spec, settings, "json", tmp_path / "export.json") == 0
    contents: list[dict[str, Any]] = [json.loads(p.read_text()) for p in tmp_path.rglob("*.json")]
    written = {content["schema"]: {*content} for content in contents}
    for schema in (schemas.FIGURE, schemas.VERDICT, schemas.EXPORT):
        assert written[schema] == documented_keys(schema)


def tutorial_commands() -> Iterator[tuple[str, str]]:
    """Yield every command that names a figure, and the block printed below it."""
    for page in sorted((DOCS / "tutorials").glob("*.md")):
        blocks = re.findall(r"^```\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for block, below in pairwise([*blocks, ""]):
            for line in block.splitlines():
                if line.startswith(("dpbandits run ", "dpbandits explain ")):
                    yield line, below


def test_commands_of_tutorials_are_accepted_or_refused_as_printed() -> None:
    commands = [*tutorial_commands()]
    assert len(commands) > 6
    for command, below in commands:
        _, _, figure, *overrides = shlex.split(command)
        if below.startswith("dpbandits: "):
            with pytest.raises(UserError) as refused:
                compose.load(figure, overrides)
            assert str(refused.value) == below.strip().removeprefix("dpbandits: ")
        else:
            assert compose.load(figure, overrides)[0].cells()
