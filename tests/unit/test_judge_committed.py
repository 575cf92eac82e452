"""The claims of the papers, their committed results, and the texts about them."""

import re
from functools import cache

import pytest
from commands import ROOT
from composed import load

from dpbandits.files import project
from dpbandits.judge import claims_files, claims_table
from dpbandits.judge.claims_files import ERRATA, as_list
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.resampled import Planner
from dpbandits.judge.variants import Figures
from dpbandits.judge.verdicts import Verdict, combinations
from dpbandits.site import reports

PAPERS = ["azize2022", "azize2024", "azize2025", "hu2022", "jourdan2025", "ren2020"]
PAPERS += ["sajed2019", "tossou2016", "tossou2017", "wang2024"]
QUESTIONS = ["constant", "equal-privacy", "free", "tail"]
CONTRADICTED = "contradicted"
pytestmark = pytest.mark.usefixtures("in_checkout", "composed_once")
of_every_paper = pytest.mark.parametrize("name", [*PAPERS, *QUESTIONS])


@cache
def gathered(name: str) -> Gathered:
    found = claims_table.read_results(name)
    assert found is not None, f"dpbandits report --gather {name}"
    return found


# Claims files ------------------------------------------------------------------------------------


def test_a_figure_needs_the_claims_of_all_papers_that_name_it_and_of_no_other() -> None:
    every = {name: claims_files.read_paper(name) for name in (*PAPERS, *QUESTIONS)}
    for figure in project.names("figure"):
        found = [paper.paper for paper in claims_files.naming(figure)]
        assert {name for name, paper in every.items() if figure in paper.figures()} <= {*found}
    assert [paper.paper for paper in claims_files.naming("adap-c2")] == ["azize2022"]
    assert [paper.paper for paper in claims_files.naming("adap-c1")] == ["azize2022", "sajed2019"]


@of_every_paper
def test_every_claim_has_its_curves_and_every_variant_can_be_played(name: str) -> None:
    assert claims_files.papers() == sorted([*PAPERS, *QUESTIONS])
    assert [name for name in PAPERS if claims_files.read_paper(name).question] == []
    paper, planned = claims_files.read_paper(name), Planner()
    drawn, touching = Figures(paper), dict[str, str]()
    for claim_name, claim in paper.claims().items():
        choices = drawn.touched(claim_name)
        touching = dict.fromkeys(choices, claim_name) | touching
        assert len([*drawn.comparisons(claim_name, {}, planned)]) >= len(claim.holds), claim_name
        every = combinations(paper, choices)
        assert any(claim.under.items() <= combination.items() for combination in every)
    for choice, of in paper.choices.items():
        for variant in [*of.variants][1:]:  # with one variant it is a note
            found = [*drawn.comparisons(touching[choice], {choice: variant}, planned)]
            assert found or paper.claims()[touching[choice]].guarantee, variant
    for number in paper.numbers:
        drawn.value(number, planned)


@of_every_paper
def test_the_first_variant_of_a_choice_is_what_the_papers_figures_draw(name: str) -> None:
    paper = claims_files.read_paper(name)
    drawn, specs = Figures(paper), [load(figure, [])[0] for figure in paper.figures()]
    own = [spec.name for spec in specs if spec.original and spec.paper == name]
    for choice_name, choice in paper.choices.items():
        first = {choice_name: next(iter(choice.variants))}
        for figure in own or paper.figures() if choice.role or choice.figures else ():
            assert drawn.panels(figure, [], first) == drawn.panels(figure, [], {})


# Numbers are never typed -------------------------------------------------------------------------

PLACE = r"(?:[A-Z]\.)?\d[\d.]*(?: \([a-f]\))?"
NUMBERED = (  # what may have digits: places of a paper, instances, names of algorithms
    r"(?:Figs?\.|Tables?|Theorems?|Lemmas?|Corollar(?:y|ies)|Propositions?|Remarks?|Algorithms?"
    r"|[Ss]ections?|[Aa]ppendix|Instances?|Settings?|errat(?:um|a)|Definition|[Ee]quations?|Facts?"
    rf"|Examples?|[Ll]ines?|arXiv) {PLACE}(?:(?:,| and| to) {PLACE})*"
    r"|\(\d+\.?\d*\)|\b[CDE]\d\b|\b[A-Z]\.\d|EXP3"
)
VALUE = r"\d[\d.,]*(?:\^\d+|e-?\d+)?"
# In errata and other texts about a paper's own formulas: what is set and not found (`n = 2^40`),
# and what a formula has: fractions, whole numbers below ten, digits that are joined to a letter.
SETTING = rf"(?<!\w)[^\W\d](?:')? = {VALUE}"
FORMULA = r"\d+/\d+|(?<![\d.,])\d(?![\d.,]*\d)|(?=\S*\d)\S*[^\W\d_]\S*"


def typed(text: str, formulas: bool = False) -> list[str]:
    """Return the digits of a text that are neither templates nor parts of names or `formulas`."""
    text = re.sub(NUMBERED, "", claims_files.TEMPLATE.sub("", text))
    if formulas:
        text = re.sub(FORMULA, "", re.sub(SETTING, "", text))
    return re.findall(r".{0,12}\d.{0,8}", text)


@of_every_paper
def test_results_in_texts_are_templates_of_known_numbers(name: str) -> None:
    paper = claims_files.read_paper(name)
    claims = {n: f"{claim.because} {claim.ours}" for n, claim in paper.claims().items()}
    told = {"headline": paper.headline.text, **claims}
    others = {f"erratum {i}": f"{e.text} {e.corrected}" for i, e in enumerate(paper.errata, 1)}
    others |= {"method": paper.method, "published": paper.published}
    others |= {place: f"{place} {why}" for place, why in paper.excluded.items()}
    others |= {choice: of.opens for choice, of in paper.choices.items()}
    found = {place: typed(text) for place, text in told.items()}
    found |= {place: typed(text, formulas=True) for place, text in others.items()}
    assert {place: digits for place, digits in found.items() if digits} == {}
    whole = " ".join([*told.values(), *others.values()])
    used = {match[1] for match in claims_files.TEMPLATE.finditer(whole)} - {"paper"}
    assert used == {*paper.numbers}, "unknown, or never quoted"


# Committed results -------------------------------------------------------------------------------


@of_every_paper
def test_committed_results_are_current(name: str) -> None:
    found = gathered(name)
    specs = [load(figure, [])[0] for figure in found.paper.figures()]
    assert claims_table.stale(found, specs) == "", f"dpbandits report --gather {name}"
    tested = {n for n, claim in found.paper.claims().items() if claim.holds or claim.guarantee}
    assert {n for n, judged in found.claims.items() if judged.results} == tested
    assert found.numbers.keys() == found.paper.numbers.keys()
    assert not [*claims_table.misfits(found)]


@of_every_paper
def test_no_verdict_contradicts_an_erratum_and_headlines_rest_on_the_verdicts(name: str) -> None:
    found = gathered(name)
    concerned = {n: e.status for e in found.paper.errata for n in as_list(e.statement)}
    for claim, judged in found.claims.items():
        status = ERRATA[concerned[claim]] if claim in concerned else ""
        if claim in found.paper.statements:
            assert judged.status == status or not status, claim
            assert judged.status != Verdict.REPRODUCED.value, claim
            # Runs contradict a theorem only where an erratum tells of it.
            refuted = judged.verdict in (Verdict.NOT, Verdict.DEPENDS)
            assert not refuted or status == CONTRADICTED, claim
        elif status == CONTRADICTED:
            assert judged.verdict is not Verdict.REPRODUCED, claim
        if (
            judged.name in judged.paper.sentences
            and judged.results
            and judged.verdict is Verdict.NOT
        ):
            assert judged.claim.because, claim
    rests_on = found.paper.headline.rests_on
    assert rests_on
    assert rests_on == {claim: found.claims[claim].status for claim in rests_on}


@pytest.mark.long
def test_the_reports_and_pictures_are_those_that_the_command_writes() -> None:
    made = reports.files([*PAPERS, *QUESTIONS])
    folder = ROOT / reports.FOLDER
    assert {file.relative_to(ROOT).as_posix() for file in folder.iterdir()} <= made.keys()
    for file, content in made.items():
        assert (ROOT / file).read_bytes() == content, f"dpbandits report: {file}"
    for name in PAPERS:
        text = made[f"{reports.FOLDER}/{name}.md"].decode()
        anchors = re.findall(r'<a id="([^"]+)">', text)
        numbers = [str(i + 1) for i in range(len(claims_files.read_paper(name).sentences))]
        assert anchors == re.findall(r"\]\(#([^)]+)\)", text) == numbers
        links = re.findall(r"\]\(([^#)]+)[^)]*\)", text)
        assert [link for link in links if not (folder / link).is_file()] == []
        assert "$" not in text
        assert "\\" not in text.replace("\\|", "")


def test_the_pages_of_questions_are_short_and_lead_to_their_raw_tables() -> None:
    for name in QUESTIONS:
        page = ROOT / reports.ANSWERS / f"{name}.md"
        text = page.read_text("utf-8")
        assert len(text.split()) < 480, name  # with the table of statements and the commands
        assert f"`dpbandits run {name}`, seed 2022: [raw table]" in text
        links = re.findall(r"\]\(([^)]+)\)", text)
        assert [link for link in links if not (page.parent / link).is_file()] == []
        found = gathered(name)
        assert not found.sentences()
        verdicts = [judged.verdict for judged in found.claims.values()]
        assert verdicts.count(Verdict.INCONCLUSIVE) <= 1, name
        assert text.startswith(f"# {reports.titled(found)[0]}\n")


def test_the_reports_are_short_enough_to_be_read() -> None:
    words = [len(page.read_text("utf-8").split()) for page in (ROOT / reports.FOLDER).glob("*.md")]
    assert sum(words) < 16_700  # with notes on the implementation
