"""Claims of the papers: how they are read, which are rejected, and which verdicts they have."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
import yaml
from commands import FIGURES

from dpbandits.checks.comparisons import Verdict
from dpbandits.checks.verdicts import ClaimResult
from dpbandits.config import claims
from dpbandits.core.errors import UserError
from dpbandits.curves import evidence
from dpbandits.factory import judged_claims
from dpbandits.spec.claim_tests import At, Bounded, Limits, Ratio
from dpbandits.spec.claims import FigureTest, Kind, Reading

PAPERS = ["azize2022", "azize2024", "azize2025", "hu2022", "sajed2019", "tossou2016"]
PAPERS += ["tossou2017", "wang2024"]
Claims = dict[str, object]


# Reading -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_checkout")
def test_a_claim_is_read_as_it_is_written() -> None:
    of_paper = {claim.name: claim for claim in claims.of_paper("azize2022")}
    best = of_paper["one-is-better"]
    assert best.quote == "choosing α=1 works better experimentally"
    assert best.id == "azize2022/one-is-better"
    assert best.kind is Kind.SENTENCE
    below = Limits(at_most=1.0)
    tests = (
        Ratio(("adap-ucb-one",), ("adap-ucb",), ("a",), below),
        Ratio(("adap-klucb-one",), ("adap-klucb",), ("a",), below),
    )
    assert best.readings == (Reading("", tuple(FigureTest("adap-alpha", test) for test in tests)),)
    bounded = of_paper["theorem-7"].readings[0].tests[0].test
    letters = ("a", "b", "c", "d")
    assert bounded == Bounded(("adap-ucb",), "azize2022.adap_ucb_upper_bound", (), letters, below)
    assert bounded.at is At.EVERYWHERE


@pytest.mark.usefixtures("in_checkout")
def test_a_test_of_several_figures_is_put_to_each_of_them() -> None:
    (claim,) = (c for c in claims.of_paper("azize2022") if c.name == "dp-se-the-same")
    assert claim.figures == ("adap-c1", "adap-c2", "adap-c3", "adap-c4")
    assert [test.figure for test in claim.readings[0].tests] == list(claim.figures)


@pytest.mark.usefixtures("in_checkout")
def test_a_word_stands_for_the_number_of_the_table_of_thresholds() -> None:
    (claim,) = (c for c in claims.of_paper("sajed2019") if c.name == "epsilon-matters-less")
    test = claim.readings[0].tests[0].test
    value, _ = claims.thresholds()["significantly"]
    assert getattr(test, "limits") == Limits(at_least=value, word="significantly")  # noqa: B009


@pytest.mark.usefixtures("in_checkout")
def test_claims_about_a_figure_are_those_that_name_it() -> None:
    every = [claim for paper in claims.papers() for claim in claims.of_paper(paper)]
    for figure in ("adap-c2", "readings-tossou2016", "horizons"):
        expected = [claim.id for claim in every if figure in claim.figures]
        assert [claim.id for claim in claims.about(figure)] == expected


# Rejections --------------------------------------------------------------------------------------


def ratio(**changed: object) -> Claims:
    """Return claims with one ratio, with some keys changed; None removes a key."""
    test = {"ratio": "adap-ucb", "to": "dp-se", "at_most": 1} | changed
    return {
        "quote": "so",
        "section": "there",
        "test": {k: v for k, v in test.items() if v is not None},
    }


def of(test: object) -> Claims:
    return {"quote": "so", "section": "there", "test": test}


BOUND = {"bounded": "adap-ucb", "by": "azize2022.adap_ucb_upper_bound"}
TAU = {"bounded": "exp3", "by": "tossou2017.exp3_tau_upper_bound"}

# The figure, the claim added to it, fragments of the message besides figure and key.
WRONG: dict[str, tuple[str, object, tuple[str, ...]]] = {
    "unknown curve": (
        "adap-c1",
        ratio(ratio="adap-ubc"),
        ("ratio", "'adap-ubc'", "'adap-ucb'"),
    ),
    "unknown curve among several": (
        "adap-c1",
        ratio(to=["dp-se", "dp-es"]),
        ("to", "'dp-es'"),
    ),
    "no curve": ("adap-c1", ratio(to=[]), ("to", "empty")),
    "others of a growth": (
        "adap-c1",
        of({"growth": "others", "since": 1, "at_most": 1}),
        ("growth", "'others'"),
    ),
    "unknown panel": ("adap-c1", ratio(panels="e"), ("panels", "'e'", "a, b, c, d")),
    "no panel": ("adap-c1", ratio(panels=[]), ("panels", "empty")),
    "a panel without the curve": (
        "exp3-readings",
        of({"ratio": "tau", "to": "exp3", "panels": ["e", "a"], "at_most": 1}),
        ("panels", "panel a has no exp3, tau"),
    ),
    "no panel with both curves": (
        "exp3-readings",
        of({"ratio": "exp3-tau-floor", "to": "exp3", "at_most": 1}),
        (".test", "no panel has exp3, exp3-tau-floor together"),
    ),
    "fewer panels of the others": (
        "adap-c1",
        ratio(panels=["a", "b"], to_panels=["c"]),
        ("to_panels", "as many as panels, 2, got 1"),
    ),
    "unknown panel of the others": ("adap-c1", ratio(to_panels=["z"]), ("to_panels", "'z'")),
    "unknown kind": (
        "adap-c1",
        of({"ration": "adap-ucb"}),
        (".test", "must be one of ratio", "ration"),
    ),
    "two kinds": ("adap-c1", ratio(growth="adap-ucb"), (".test", "ratio and growth")),
    "a word for a test": ("adap-c1", of("holds"), (".test", "'holds'")),
    "unknown key of a kind": ("adap-c1", ratio(since=1), (".test.since", "unknown key")),
    "no limits": ("adap-c1", ratio(at_most=None), (".test", "at_least or at_most")),
    "a word for a limit": ("adap-c1", ratio(at_most="one"), ("at_most", "'one'")),
    "nothing to compare with": ("adap-c1", ratio(to=None), ("to",)),
    "no test": ("adap-c1", of([]), (".test", "empty")),
    "neither test nor readings": (
        "adap-c1",
        {"quote": "so", "section": "there"},
        ("a test, or readings",),
    ),
    "test and readings": (
        "adap-c1",
        ratio() | {"readings": {"one": ratio()["test"]}},
        ("a test, or readings",),
    ),
    "readings without names": (
        "adap-c1",
        {"quote": "so", "section": "there", "readings": [ratio()["test"]]},
        (".readings",),
    ),
    "no words": ("adap-c1", {"section": "there", "test": ratio()["test"]}, (".quote",)),
    "unknown key of a claim": (
        "adap-c1",
        ratio() | {"explantion": "so"},
        (".explantion", "'explanation'"),
    ),
    "unknown bound": (
        "adap-c1",
        of(BOUND | {"by": "azize2022.adap_ucb_uper_bound"}),
        ("by", "'azize2022.adap_ucb_upper_bound'"),
    ),
    "missing argument of a bound": (
        "exp3-oblivious",
        of(TAU | {"with": {"tau": 19}}),
        (".test", "exp3_tau_upper_bound needs memory, which exp3 does not have", "`with`"),
    ),
    "unknown argument of a bound": (
        "adap-c1",
        of(BOUND | {"with": {"alhpa": 4}}),
        (".test.with.alhpa", "'alpha'"),
    ),
    "wrong argument of a bound": (
        "adap-c1",
        of(BOUND | {"with": {"epsilon": -1}}),
        ("epsilon must be positive",),
    ),
    "a bound of a bound": (
        "adap-ksweep",
        of(BOUND | {"bounded": "lower-bound"}),
        (".test", "'lower-bound' is no algorithm on a bandit"),
    ),
    "budget of what declares no releases": (
        "dpucb-2arms",
        of({"within_budget": "ucb"}),
        (".test", "'ucb' declares no releases"),
    ),
    "budget of a bound": (
        "adap-ksweep",
        of({"within_budget": "lower-bound"}),
        (".test", "'lower-bound' declares no releases"),
    ),
    "three ends": ("adap-c1", ratio(between=[1, 2, 3]), (".test.between", "[1, 2, 3]")),
    "unknown statistic": (
        "adap-c1",
        ratio(statistic="mode"),
        ("statistic", "'mode'", "median"),
    ),
    "unknown place": ("adap-c1", ratio(at="start"), ("at", "'start'", "everywhere")),
    "unknown figure": ("adap-c1", ratio(figure="adap-c9"), ("figure", "'adap-c9'", "'adap-c4'")),
    "unknown word": ("adap-c1", ratio(at_most="comparible"), ("at_most", "'comparable'")),
    "unknown kind of claim": ("adap-c1", ratio() | {"kind": "sentense"}, ("kind", "'sentence'")),
    "unknown function": (
        "adap-c1",
        of({"formula": "azize2022.minimax", "at_most": 1}),
        ("formula", "'azize2022.minimax_lower_bound'"),
    ),
    "missing argument of a function": (
        "adap-c1",
        of({"formula": "azize2022.minimax_lower_bound", "with": {"arms": 5}, "at_most": 1}),
        ("horizon is missing",),
    ),
    "an improvement on nothing": (
        "adap-c1",
        of({"improvement": "adap-klucb", "over": "adap-ucb", "to": "dp-se", "at_most": 1}),
        ("to_over is missing",),
    ),
    "an improvement on an unknown curve": (
        "adap-c1",
        of(
            {"improvement": "adap-klucb", "over": "adap-ubc", "to": "dp-se", "to_over": "dp-ucb"}
            | {"at_most": 1}
        ),
        ("over", "'adap-ubc'", "'adap-ucb'"),
    ),
    "a number for a sum": (
        "ftpl-delta-sweep",
        of({"bend": "dp-ftpl-new", "to": "dp-ftpl-gauss", "summed": 3, "at_most": 1}),
        ("summed", "3"),
    ),
    "a number for noise": ("adap-c1", ratio(up_to_noise=3), ("up_to_noise", "3")),
}


def written(checkout: Path, figure: str, claim: object) -> None:
    """Let a paper have this claim alone, about the figure unless its tests name one."""
    content = {"claims": {"wrong": {"figures": figure, **claim}}}  # type: ignore[dict-item]
    path = checkout / "conf" / "claims" / "azize2022.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_in_a_claim_is_reported_with_paper_key_and_file(
    case: str, checkout: Path
) -> None:
    figure, claim, told = WRONG[case]
    written(checkout, figure, claim)
    with pytest.raises(UserError) as raised:
        claims.of_paper("azize2022")
    message = str(raised.value)
    for words in ("azize2022: ", "claims.wrong", "conf/claims/azize2022.yaml", *told):
        assert words in message, f"{words!r} is not in: {message}"
    assert "\n" not in message


@pytest.mark.parametrize("claim", [ratio(), of(BOUND), of([ratio()["test"], BOUND])])
def test_the_claims_above_are_refused_for_their_mistake_alone(
    claim: Claims, checkout: Path
) -> None:
    written(checkout, "adap-c1", claim)
    (read,) = claims.of_paper("azize2022")
    assert read.name == "wrong"


def test_a_claim_without_a_figure_is_rejected(checkout: Path) -> None:
    path = checkout / "conf" / "claims" / "azize2022.yaml"
    path.write_text(yaml.safe_dump({"claims": {"wrong": ratio()}}), encoding="utf-8")
    with pytest.raises(UserError, match="neither the test nor the claim names a figure"):
        claims.of_paper("azize2022")


# Verdicts ----------------------------------------------------------------------------------------


@cache
def judged(paper: str) -> tuple[ClaimResult, ...]:
    return tuple(judged_claims.of_paper(paper))


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("paper", PAPERS)
def test_a_sentence_that_does_not_reproduce_has_an_explanation(paper: str) -> None:
    for one in judged(paper):
        silent = one.verdict in (Verdict.HOLDS, Verdict.UNDECIDED, Verdict.NOT_TESTED)
        assert silent or one.claim.explanation, f"{one.claim.id}: {one.verdict.value}"
        assert one.findings, f"{one.claim.id}: nothing is tested"
        assert all(reading.findings for reading in one.readings), one.claim.id


@pytest.mark.usefixtures("in_checkout")
def test_no_sentence_has_two_verdicts() -> None:
    quotes = Counter(
        re.sub(r"\W", "", one.claim.quote.lower())
        for paper in PAPERS
        for one in judged(paper)
        if one.claim.kind is Kind.SENTENCE
    )
    assert [quote for quote, number in quotes.items() if number > 1] == []
    assert sum(quotes.values()) > 40


@pytest.mark.usefixtures("in_checkout")
def test_fewer_than_three_sentences_are_undecided() -> None:
    # A claim of ours may be: its report states the number of runs that would decide.
    every = [o for paper in PAPERS for o in judged(paper) if o.claim.kind is not Kind.OURS]
    undecided = [one.claim.id for one in every if one.verdict is Verdict.UNDECIDED]
    assert len(undecided) < 3, undecided


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("paper", PAPERS)
def test_every_sentence_that_is_judged_has_a_number_with_an_interval(paper: str) -> None:
    for one in judged(paper):
        if one.claim.kind is Kind.SENTENCE and one.verdict is not Verdict.NOT_TESTED:
            for reading in one.readings:
                if reading.verdict is not Verdict.NOT_TESTED:
                    assert reading.decisive, one.claim.id
                    assert reading.decisive.measure, one.claim.id


@pytest.mark.usefixtures("in_checkout")
def test_claims_are_put_to_most_figures() -> None:
    of = {figure for paper in PAPERS for one in judged(paper) for figure in one.claim.figures}
    # An illustration, about which the text claims nothing, and figures of our own.
    assert set(FIGURES) - of == {
        "adap-episodes",
        "horizons",
        "ldp-ucb",
        "leaderboard-epsilon",
        "leaderboard-horizon",
        "privacy-audit",
        "readings-azize2025",
        "regret-realised",
    }


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("paper", PAPERS)
def test_words_of_ours_are_in_brackets(paper: str) -> None:
    for claim in claims.of_paper(paper):
        ours = claim.quote[0] == "[" and claim.quote[-1] == "]"
        assert ours or claim.kind is not Kind.OURS, claim.id
        assert not ours or claim.kind is not Kind.SENTENCE, claim.id
        assert claim.section, claim.id


@pytest.mark.usefixtures("in_checkout")
def test_the_committed_evidence_is_that_of_the_figures() -> None:
    of = {figure for paper in PAPERS for one in judged(paper) for figure in one.claim.figures}
    for figure in sorted(of):
        spec = claims.figure_of_claims(figure)
        assert evidence.read(spec) is not None, f"make report: {figure} was changed"
