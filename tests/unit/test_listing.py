"""The list is aligned however long its names are, and describes each of them."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from dpbandits.cli import listing
from dpbandits.core import registry
from dpbandits.core.registry import Member
from dpbandits.core.roots import Root


@pytest.fixture(scope="module")
def whole(root: Path) -> list[str]:
    """List of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return list(listing.lines())


@pytest.fixture
def few(checkout: Path) -> Path:
    """Copy of the checkout with two figures: titles of others take long, as they are filled in."""
    for file in (checkout / "conf" / "figure").glob("*.yaml"):
        if file.stem not in ("adap-c2", "adap-headline"):
            file.unlink()
    return checkout


def row(lines: Iterable[str], kind: str, name: str) -> str:
    (line,) = (line for line in lines if line.split()[:2] == [kind, name])
    return line


@pytest.mark.parametrize(
    ("kind", "name", "about"),
    [
        ("figure", "adap-c2", r"azize2022 +Evolution of regret on C2"),
        ("figure", "dpucb-10arms", r"tossou2016 +Regret with 10 arms"),
        ("algorithm", "dp-se", r"DP-SE \(sajed2019\): Algorithm 3, .*"),
        ("rule", "nas", r"NAS, nonmonotonic adaptive sampling .*"),
        ("law", "beta", r"Beta arms: .*"),
        ("+algorithm", "azize2022-dp-ucb", r"private-ucb +DP-UCB of azize2022: .*"),
        ("+algorithm", "dp-nas", r"dp-nas +sajed2019, Algorithm 1: a stopping rule"),
        # A comment of two lines.
        ("+algorithm", "sajed2019-dp-ucb", r"private-ucb .* all of epsilon for each counter .*"),
        (
            "environment",
            "c2",
            r"bernoulli +K = 5, means 0.75, 0.625, 0.5, 0.375, 0.25; azize2022, section G.1",
        ),
        ("environment", "linear", r"bernoulli +K = 5, means 0.75 to 0.25; .*"),
        ("environment", "tossou-10arms", r"bernoulli +K = 10, means in \[0.1, 0.55\]; .*"),
        (
            "environment",
            "exp3-switching",
            r"adversaries +K = 4, kind = switching; tossou2017, section 4 and Figure 1",
        ),
    ],
)
def test_a_member_is_described(kind: str, name: str, about: str, whole: list[str]) -> None:
    assert re.fullmatch(rf"{re.escape(kind)} +{name} +{about}", row(whole, kind, name))


def test_the_columns_of_each_kind_are_aligned(whole: list[str]) -> None:
    for kind in ("figure", "algorithm", "rule", r"\+algorithm", "law", "environment"):
        rows = [line for line in whole if re.match(rf"{kind} ", line)]
        assert len({re.match(r"\S+ +\S+ +\S", line).end() for line in rows}) == 1  # type: ignore[union-attr]
    assert not [line for line in whole if line != line.rstrip()]


@pytest.mark.parametrize("group", ["figure", "algorithm", "environment"])
def test_a_file_that_cannot_be_read_is_listed_with_the_reason(group: str, few: Path) -> None:
    (few / "conf" / group / "own.yaml").write_text("a: [", "utf-8")
    line = row(listing.lines(), "+algorithm" if group == "algorithm" else group, "own")
    assert f"conf/{group}/own.yaml is not valid YAML" in line


def test_a_file_that_is_no_python_is_listed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.py").write_text("def (", "utf-8")
    member = Member(Root("made_up", tmp_path), "own.py")
    monkeypatch.setattr(registry, "member", lambda kind, name: member)
    assert "(its file cannot be read as Python)" in row(listing.lines(), "law", "beta")


def test_the_list_waits_for_no_large_library(root: Path) -> None:
    large = "numba", "numpy", "matplotlib", "hydra", "joblib", "pandas", "scipy"
    program = (
        "import sys; from dpbandits.cli import main; sys.argv = ['dpbandits', 'list'];"
        f" main.command(); print([n for n in {large} if n in sys.modules])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
