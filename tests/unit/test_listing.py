"""The list is aligned however long its names are, and describes each of them."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from dpbandits.cli import listing
from dpbandits.config import compose, conf_files, instances
from dpbandits.core import registry
from dpbandits.core.errors import UserError
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


def test_columns_are_aligned_for_names_of_any_length(whole: list[str], few: Path) -> None:
    long = "a-figure-with-a-name-that-is-longer-than-all-others"
    text = (few / "conf/figure/adap-headline.yaml").read_text("utf-8")
    (few / f"conf/figure/{long}.yaml").write_text(text, "utf-8")
    check_columns(whole)
    check_columns(list(listing.lines()))


def check_columns(lines: list[str]) -> None:
    names = {re.match(r"(\S+ +)\S", line).end() for line in lines}  # type: ignore[union-attr]
    assert len(names) == 1
    for kind in ("figure", "algorithm", "rule", r"\+algorithm", "law", "environment"):
        rows = [line for line in lines if re.match(rf"{kind} ", line)]
        starts = {re.match(r"\S+ +\S+ +\S", line).end() for line in rows}  # type: ignore[union-attr]
        assert len(starts) == 1
    for kind in ("figure", r"\+algorithm", "environment"):
        rows = [line for line in lines if re.match(rf"{kind} ", line)]
        starts = {re.match(r"\S+ +\S+ +\S+ +\S", line).end() for line in rows}  # type: ignore[union-attr]
        assert len(starts) == 1
    assert not [line for line in lines if line != line.rstrip()]


def test_an_environment_of_ones_own_is_listed_whatever_it_holds(few: Path) -> None:
    own = few / "conf" / "environment" / "own.yaml"
    for text, about in (
        (
            "law: beta\nmeans: [0.1, 0.2]\nconcentration: 3\n",
            "K = 2, means 0.1, 0.2, concentration",
        ),
        ("law: own\n", "own"),
        ("law: own\nmeans: high\n", "means high"),
        ("law: own\nmeans: [a, b, c, d, e, f]\n", "K = 6, means a, b, c, d, e, f"),
    ):
        own.write_text(text, "utf-8")
        conf_files._load.cache_clear()
        assert about in row(listing.lines(), "environment", "own")


def test_a_file_that_is_no_python_is_listed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own.py").write_text("def (", "utf-8")
    (tmp_path / "other.py").write_text('"""Another.\n\nMore."""\n', "utf-8")
    root = Root("made_up", tmp_path)
    monkeypatch.setattr(
        registry, "member", lambda kind, name: Member(root, f"{name.replace('-', '_')}.py")
    )
    rows = list(listing._members("algorithm", ["my-own", "other"]))
    assert rows == [("my-own", "(its file cannot be read as Python)"), ("other", "Another.")]


@pytest.mark.parametrize("group", ["figure", "algorithm", "environment"])
def test_a_file_that_cannot_be_read_is_listed_with_the_reason(group: str, few: Path) -> None:
    before = {*listing.lines()}
    nested = "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 13))
    for name, text, reason in (
        ("own", f"a0: &a0 [1]\n{nested}\n", "its aliases expand to more than 100,000 values"),
        ("own2", "a: [", "not valid YAML"),
    ):
        (few / "conf" / group / f"{name}.yaml").write_text(text, "utf-8")
        kind = "+algorithm" if group == "algorithm" else group
        assert f"conf/{group}/{name}.yaml is not" in (line := row(listing.lines(), kind, name))
        assert reason in line
    instances._names.cache_clear()
    assert len(before & {*listing.lines()}) == len(before)


@pytest.mark.parametrize("name", ["a b", "a<x>", "-a", "ä"])
def test_a_figure_that_no_command_could_name_is_listed_with_the_reason(
    name: str, few: Path
) -> None:
    text = (few / "conf/figure/adap-c2.yaml").read_text("utf-8")
    (few / f"conf/figure/{name}.yaml").write_text(text, "utf-8")
    reason = f"conf/figure/{name}.yaml: rename the file"
    assert any(reason in line for line in listing.lines())
    with pytest.raises(UserError, match=re.escape(reason)):
        compose.load(name, [])
