"""docs/privacy.md lists the result of every planted leak, as its audits measured it."""

import ast
import json
import math
from pathlib import Path
from typing import Any

import make_leaks
import marked_part
import pytest
from commands import ROOT
from scipy.integrate import quad
from scipy.stats import norm

TEXT = (ROOT / "docs" / "privacy.md").read_text("utf-8")


def rows_of(table: str) -> list[list[str]]:
    lines = marked_part.read(TEXT, table).splitlines()
    return [line.strip("| ").split(" | ") for line in lines if line[:1] == "|"][2:]


def planted(name: str) -> list[str]:
    source = (ROOT / "tests" / "slow" / "test_planted_leaks.py").read_text("utf-8")
    (leaks,) = (
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    assert isinstance(leaks, ast.Dict)
    return [ast.literal_eval(key) for key in leaks.keys if key]


def test_the_table_has_a_row_for_every_leak_and_all_of_them_were_found() -> None:
    names, rows = planted("LEAKS"), rows_of("leaks")
    assert [row[0] for row in rows] == names, "pytest -m slow -s, then scripts/make_leaks.py"
    assert len(names) > 7
    assert all(cell.endswith("detected with 3 of 3") for row in rows for cell in row[2:])


def test_the_table_of_later_releases_is_complete_and_names_the_one_that_is_missed() -> None:
    names, rows = planted("LATER"), rows_of("later-leaks")
    assert [row[0] for row in rows] == names
    detected = {row[0]: {cell.rpartition(" with ")[2] for cell in row[2:]} for row in rows}
    missed = [name for name, counts in detected.items() if counts == {"0 of 3"}]
    assert missed == ["no noise from release 7 on (AdaP-UCB)"]
    assert all(counts == {"3 of 3"} for name, counts in detected.items() if name not in missed)


# The script --------------------------------------------------------------------------------------


def audit(seed: int, refuted: bool, *bounds: float, declared: float = 1.0) -> dict[str, Any]:
    one = {"one choice": [0.3, 0.25]} if len(bounds) == 2 else {}
    return {"seed": seed, "refuted": refuted, "declared": declared, "all arms": bounds, **one}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of two leaks and of one algorithm without a leak, audited at epsilon = 1."""
    monkeypatch.setattr(make_leaks, "ROOT", tmp_path)
    monkeypatch.setattr(make_leaks, "DOCUMENT", tmp_path / "privacy.md")
    monkeypatch.setattr(make_leaks, "AUDITS", tmp_path)
    (tmp_path / "privacy.md").write_text("Before\n<!-- leaks -->\nold\n<!-- end of leaks -->\n")
    shared = {"revision": "abc", "epsilon": 1, "plays": 4000}
    cases: dict[str, dict[str, Any]] = {
        "leak-1": {"name": "B", "event": "one choice", "audits": [audit(1, True, 0.9, 0.8)] * 2},
        "leak-0": {
            "name": "A",
            "event": "all arms",
            "audits": [audit(1, True, 0.71234, declared=0.5), audit(2, False, 0.4, declared=0.5)],
        },
        "none-0": {"audits": [audit(1, False, 0.9)] * 2},
    }
    for name, case in cases.items():
        written = {**shared, "number": int(name[-1]), **case}
        (tmp_path / f"{name}-1.json").write_text(json.dumps(written))
    return tmp_path


def test_the_script_writes_what_was_measured(elsewhere: Path) -> None:
    assert make_leaks.main(["leaks"]) == 0
    before, mark, head, _, titles, _, *rows, end = (
        (elsewhere / "privacy.md").read_text("utf-8").splitlines()
    )
    assert (before, mark, end) == ("Before", "<!-- leaks -->", "<!-- end of leaks -->")
    assert " at revision abc, with 2 seeds each. " in head
    assert head.endswith(" False alarms in audits of the unmodified sources: 0 of 2.")
    assert titles == "| leak | games | epsilon = 1 |"
    assert rows == [
        "| A | 4,000 | 0.4 to 0.712; declared 0.5; detected with 1 of 2 |",
        "| B | 4,000 | 0.25; detected with 2 of 2 |",
    ]


def test_failed_audits_of_unchanged_sources_are_counted(elsewhere: Path) -> None:
    file = elsewhere / "none-0-1.json"
    file.write_text(file.read_text().replace("false", "true", 1))
    assert " unmodified sources: 1 of 2." in make_leaks.text("leaks")


@pytest.mark.parametrize("wrong", ["another revision", "changed", "no leaks", "no clean", "half"])
def test_the_script_writes_nothing_if_audits_are_incomplete(
    wrong: str, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(elsewhere.glob("*.json"))
    leak = json.loads(files[0].read_text())
    match wrong:
        case "another revision":
            files[0].write_text(json.dumps({**leak, "revision": "abd"}))
        case "changed":
            for file in files:
                file.write_text(file.read_text().replace('"abc"', '"abc-dirty"'))
        case "no leaks":
            files[0].unlink()
            files[1].unlink()
        case "no clean":
            files[2].unlink()
        case "half":
            (elsewhere / "leak-0-2.json").write_text(json.dumps({**leak, "epsilon": 2}))
    before = (elsewhere / "privacy.md").read_text("utf-8")
    assert make_leaks.main(["leaks"]) == 1
    assert (elsewhere / "privacy.md").read_text("utf-8") == before
    assert "is unchanged: " in capsys.readouterr().err


# Values computed in the document -----------------------------------------------------------------


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
    text = " ".join(TEXT.split())  # a phrase may cross the end of a line
    printed = {2: ".48 with two", 64: "1.86 with 64", 256: "2.21 with 256"}
    for arms, words in printed.items():
        assert words in text
        number = words.split()[0]
        largest = max(loss_of_a_choice(arms, others) for others in (0.0, 1.0))
        assert largest == pytest.approx(float(number), abs=0.005)
    assert "more than 1.95" in text
    with_delta = [
        loss_of_a_choice(arms, others, 1e-3)
        for arms in (2, 16, 64, 96, 128, 192, 256, 512, 1024)
        for others in (0.0, 1.0)
        if arms < 1024 or others == 0.0  # no more likely than delta
    ]
    assert 1.94 < max(with_delta) < 1.95
