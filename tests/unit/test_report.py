"""The reports are those that `make report` writes, and their texts are whole."""

import re
from collections.abc import Sequence

import make_thresholds
import pytest
from commands import ROOT

from dpbandits.checks.comparisons import Measure, Verdict
from dpbandits.checks.findings import Finding
from dpbandits.checks.verdicts import ReadingResult
from dpbandits.config import claims
from dpbandits.core.errors import UserError
from dpbandits.factory import judged_claims
from dpbandits.report import content, write
from dpbandits.report import pages as pages_of_reports

PAPERS = ["azize2022", "azize2024", "azize2025", "hu2022", "sajed2019", "tossou2016"]
PAPERS += ["tossou2017", "wang2024"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Texts of all pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return write.texts(claims.papers())


@pytest.mark.long
def test_the_pages_are_those_that_the_command_writes(pages: dict[str, str]) -> None:
    folder = ROOT / write.FOLDER
    assert sorted(path.name for path in folder.iterdir()) == sorted(pages)
    for name, text in pages.items():
        assert (folder / name).read_text("utf-8") == text, "make report"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_has_every_claim_with_its_readings_and_its_verdict(
    paper: str, pages: dict[str, str]
) -> None:
    text = pages[f"{paper}.md"]
    for result in judged_claims.of_paper(paper):
        assert f"#### {result.claim.name}\n" in text
        assert f"](#{result.claim.name})" in text
        for reading in result.readings:
            assert f"| {reading.name} | " in text
    for heading in ("Scope", "Method", "Results", "How to cite"):
        assert f"\n## {heading}\n" in text
    # Rows of tables have as many cells as their heads.
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        bars = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(bars) == 1, table


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("paper", PAPERS)
def test_a_report_has_three_to_six_central_claims_and_a_headline(paper: str) -> None:
    report = content.read(paper)
    assert 3 <= len(report.central) <= 6
    assert report.headline.endswith(".")
    assert report.choices
    assert all(len(run.revision) == 12 for run in report.runs), "not from a modified checkout"


@pytest.mark.usefixtures("in_checkout")
def test_an_unknown_paper_is_rejected() -> None:
    with pytest.raises(UserError, match=r"'azize2021' has no claims; .*azize2022"):
        write.report(["azize2021"], gathers=False)


@pytest.mark.usefixtures("in_checkout")
def test_the_evidence_on_a_figure_is_gathered_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, written = list[str](), list[str]()

    def gather(figures: Sequence[str]) -> int:
        gathered.extend(figures)
        return 0

    monkeypatch.setattr(write, "gather", gather)
    monkeypatch.setattr(write, "write_atomically", lambda file, *_, **__: written.append(file.name))
    assert write.report(["adap-c2", "leaderboard"], gathers=True) == 0
    assert sorted(gathered) == ["adap-c2", "leaderboard"]
    assert written == ["azize2022.md", "README.md"]
    with pytest.raises(UserError, match="'adap-c2' has no claims"):
        write.report(["adap-c2"], gathers=False)


@pytest.mark.usefixtures("in_checkout")
def test_the_table_of_thresholds_is_the_one_that_the_script_writes() -> None:
    text = (ROOT / "docs" / "checks.md").read_text("utf-8")
    assert make_thresholds.with_table(text) == text, "python scripts/make_thresholds.py"


@pytest.mark.usefixtures("in_checkout")
def test_every_threshold_is_used() -> None:
    used = {
        getattr(getattr(test.test, "limits", None), "word", "")
        for paper in PAPERS
        for claim in claims.of_paper(paper)
        for reading in claim.readings
        for test in reading.tests
    }
    assert set(claims.thresholds()) == used - {""}


def test_evidence_is_gathered_or_confirmed_but_not_both() -> None:
    with pytest.raises(UserError, match="report takes --gather or --confirm, not both"):
        write.report([], gathers=True, confirms=True)


@pytest.mark.usefixtures("in_checkout")
def test_an_undecided_reading_counts_the_runs_of_its_undecided_findings() -> None:
    measure = Measure(1.0, 0.5, 1.1, "at least", runs_factor=100.0)
    findings = (
        Finding(Verdict.HOLDS, "", figure="ftpl-gauss-cdf"),  # a figure without runs
        Finding(Verdict.UNDECIDED, "", measure, figure="adap-alpha"),
    )
    text = pages_of_reports._of_reading(ReadingResult("", Verdict.UNDECIDED, findings))
    assert re.fullmatch(r"undecided; about [\d,]+ runs would decide", text)
