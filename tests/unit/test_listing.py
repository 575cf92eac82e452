"""The list describes figures, algorithms and environments, also those that cannot be read."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from dpbandits.cli import listing
from dpbandits.files import project
from dpbandits.kernel import registry
from dpbandits.kernel.errors import UserError
from dpbandits.kernel.registry import Member
from dpbandits.kernel.roots import Root


@pytest.fixture(scope="module")
def whole(root: Path) -> list[str]:
    """List of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return list(listing.lines())


def row(lines: Iterable[str], kind: str, name: str) -> str:
    (line,) = (line for line in lines if line.split()[:2] == [kind, name])
    return line


MEAN = r"\[0.75, 0.625, 0.5, 0.375, 0.25\]"


@pytest.mark.parametrize(
    ("kind", "name", "about"),
    [
        ("figure", "adap-c2", r"azize2022 Fig. 5: Evolution of regret on C2"),
        ("figure", "adap-published", r"azize2022 The published curves .*"),
        ("algorithm", "dp-se", r"DP-SE \(sajed2019\): Algorithm 3, .*"),
        ("rule", "nas", r"NAS, nonmonotonic adaptive sampling .*"),
        ("environment", "beta", r"Beta arms: .*"),
        ("+algorithm", "azize2022-dp-ucb", r"private-ucb +DP-UCB of azize2022: .*"),
        ("instance", "c2", rf"bernoulli means = {MEAN}; azize2022, section G.1"),
    ],
)
def test_a_member_is_described(kind: str, name: str, about: str, whole: list[str]) -> None:
    assert re.fullmatch(rf"{re.escape(kind)} +{name} +{about}", row(whole, kind, name))


def test_a_file_that_cannot_be_read_is_listed_with_the_reason(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for group in ("figure", "algorithm", "environment"):
        (checkout / "conf" / group / "own.yaml").write_text("a: [", "utf-8")
    (checkout / "own.py").write_text("def (", "utf-8")
    member = Member(Root("made_up", checkout), "own.py")
    monkeypatch.setattr(registry, "member", lambda kind, name: member)
    monkeypatch.setattr(project, "names", lambda group: ["own"])
    lines = list(listing.lines())
    for group, kind in (("figure",) * 2, ("algorithm", "+algorithm"), ("environment", "instance")):
        file = f"conf/{group}/own.yaml"
        assert f"{file} cannot be read: it is not valid YAML" in row(lines, kind, "own")
    assert "(its file cannot be read as Python)" in row(lines, "environment", "beta")


def test_words_leave_the_lines_of_a_kind_or_a_paper_and_every_name_is_listed_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, whole: list[str]
) -> None:
    monkeypatch.chdir(root)
    algorithms = [line.split()[:2] for line in listing.lines(["algorithms"])]
    assert {kind for kind, _ in algorithms} == {"algorithm", "+algorithm"}
    assert sorted(name for _, name in algorithms) == sorted({name for _, name in algorithms})
    of_hu = [line.split()[:2] for line in listing.lines(["hu2022"])]
    assert ["algorithm", "lazy-dp-ts"] in of_hu
    assert ["figure", "lazyts-gap"] in of_hu
    assert ["algorithm", "dp-se"] not in of_hu
    figures = [line.split()[1] for line in listing.lines(["figures", "hu2022"])]
    assert figures == [name for kind, name in of_hu if kind == "figure"]
    with pytest.raises(
        UserError, match=r"nothing has 'azise2022'; did you mean 'azize2022-dp-ucb'"
    ):
        [*listing.lines(["azise2022"])]
