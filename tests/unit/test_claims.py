"""Claims in the files of figures: how they are parsed, which are rejected, which ones reproduce."""

from functools import cache
from pathlib import Path

import pytest
import yaml
from commands import FIGURES
from complaints import complaint
from composed import load

from dpbandits.checks import verdicts
from dpbandits.checks.comparisons import Verdict
from dpbandits.checks.verdicts import ClaimResult
from dpbandits.curves import references
from dpbandits.spec.claims import At, Bounded, Limits, Ratio

PAPERS = {"tossou2016", "sajed2019", "azize2022", "wang2024", "tossou2017"}
Claims = dict[str, object]


# Parsing -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_checkout")
def test_a_claim_is_read_as_it_is_written() -> None:
    claims = {claim.name: claim for claim in load("adap-headline", [])[0].claims}
    lowest = claims["lowest"]
    assert lowest.says == "AdaP-KLUCB achieves the lowest regret followed by AdaP-UCB"
    assert lowest.because == ""
    below = Limits(at_most=1.0)
    assert lowest.readings == (
        (
            "",
            (
                Ratio(("adap-klucb",), ("others",), ("a",), below),
                Ratio(("adap-ucb",), ("dp-ucb", "dp-se"), ("a",), below),
            ),
        ),
    )
    ((_, (bounded,)),) = claims["theorem-7"].readings
    assert bounded == Bounded(("adap-ucb",), "azize2022.adap_ucb_upper_bound", (), ("a",), below)
    assert bounded.at is At.EVERYWHERE


@pytest.mark.usefixtures("in_checkout")
def test_where_no_panel_is_named_all_that_have_the_curves_are_meant() -> None:
    claims = {claim.name: claim for claim in load("readings-sajed2019", [])[0].claims}
    readings = dict(claims["five-times"].readings)
    (test,) = readings["DP-UCB of tossou2016"]
    assert test.panels == ("a", "b", "c", "d")


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("profile", ["ci", "smoke"])
def test_another_profile_has_no_claims(profile: str) -> None:
    assert load("adap-headline", [])[0].claims
    assert load("adap-headline", ["profile=paper"])[0].claims
    assert load("adap-headline", [f"profile={profile}"])[0].claims == ()


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("typed", ["figure.horizon=1000", "figure.curves.adap-ucb.alpha=4"])
def test_a_changed_figure_has_no_claims(typed: str) -> None:
    assert load("adap-headline", [typed])[0].claims == ()


@pytest.mark.usefixtures("in_checkout")
def test_fewer_runs_and_another_seed_are_still_the_papers_figure() -> None:
    assert load("adap-headline", ["seed=1"])[0].claims


# Rejections --------------------------------------------------------------------------------------


def ratio(**changed: object) -> Claims:
    """Return claims with one ratio, with some keys changed; None removes a key."""
    test = {"ratio": "adap-ucb", "to": "dp-se", "at_most": 1} | changed
    return {
        "says": "so",
        "where": "there",
        "test": {k: v for k, v in test.items() if v is not None},
    }


def of(test: object) -> Claims:
    return {"says": "so", "where": "there", "test": test}


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
        {"says": "so", "where": "there"},
        ("a test, or readings",),
    ),
    "test and readings": (
        "adap-c1",
        ratio() | {"readings": {"one": ratio()["test"]}},
        ("a test, or readings",),
    ),
    "readings without names": (
        "adap-c1",
        {"says": "so", "where": "there", "readings": [ratio()["test"]]},
        (".readings",),
    ),
    "no words": ("adap-c1", {"where": "there", "test": ratio()["test"]}, (".says",)),
    "unknown key of a claim": ("adap-c1", ratio() | {"becuase": "so"}, (".becuase", "'because'")),
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
        of({"spent": "ucb"}),
        (".test", "'ucb' declares no releases"),
    ),
    "budget of a bound": (
        "adap-ksweep",
        of({"spent": "lower-bound"}),
        (".test", "'lower-bound' declares no releases"),
    ),
    "three ends": ("adap-c1", ratio(between=[1, 2, 3]), (".test.between", "[1, 2, 3]")),
    "unknown statistic": (
        "adap-c1",
        ratio(statistic="mode"),
        ("statistic", "'mode'", "median"),
    ),
    "unknown place": ("adap-c1", ratio(at="start"), ("at", "'start'", "everywhere")),
    "a number for noise": ("adap-c1", ratio(up_to_noise=3), ("up_to_noise", "3")),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_in_a_claim_is_reported_with_figure_key_and_file(
    case: str, checkout: Path
) -> None:
    figure, claim, told = WRONG[case]
    path = checkout / "conf" / "figure" / f"{figure}.yaml"
    content = path.read_text(encoding="utf-8").partition("\nclaims:")[0]
    path.write_text(f"{content}\n{yaml.safe_dump({'claims': {'wrong': claim}})}", encoding="utf-8")
    message = complaint(figure, [])
    for words in (figure, "figure.claims.wrong", f"conf/figure/{figure}.yaml", *told):
        assert words in message, f"{words!r} is not in: {message}"


@pytest.mark.parametrize("claim", [ratio(), of(BOUND), of([ratio()["test"], BOUND])])
def test_the_claims_above_are_refused_for_their_mistake_alone(
    claim: Claims, checkout: Path
) -> None:
    path = checkout / "conf" / "figure" / "adap-c1.yaml"
    content = path.read_text(encoding="utf-8").partition("\nclaims:")[0]
    path.write_text(f"{content}\n{yaml.safe_dump({'claims': {'right': claim}})}", encoding="utf-8")
    (read,) = load("adap-c1", [])[0].claims
    assert read.name == "right"


# Verdicts at the papers' scale -------------------------------------------------------------------


@cache
def judged(figure: str) -> list[ClaimResult]:
    spec, _ = load(figure, [])
    return verdicts.evaluate(spec, references.read(spec, references.PAPER))


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("figure", FIGURES)
def test_a_claim_has_a_reason_if_and_only_if_it_does_not_reproduce(figure: str) -> None:
    for one in judged(figure):
        holds = one.verdict is Verdict.HOLDS
        assert holds == (not one.claim.because), f"{one.claim.name}: {one.verdict.value}"
        assert one.findings, f"{one.claim.name}: nothing is tested"
        readings = {reading for reading, _ in one.claim.readings}
        assert {f.reading for f in one.findings} == readings


@pytest.mark.usefixtures("in_checkout")
def test_every_paper_has_claims_that_hold_and_claims_are_put_to_most_figures() -> None:
    found = {figure: load(figure, [])[0] for figure in FIGURES}
    with_claims = [spec for spec in found.values() if spec.claims]
    assert {spec.paper for spec in with_claims} >= PAPERS
    # An illustration, about which the text claims nothing, and the project's own figures.
    without = {spec.name for spec in found.values() if not spec.claims}
    assert without == {"adap-episodes", "horizons", "privacy-audit"}


# A sentence, its figure and claim, and the verdict that docs/deviations.md states.
TOLD: dict[str, tuple[str, str, Verdict]] = {
    "at least 5 times": ("dpse-epsilon", "five-times", Verdict.HOLDS),
    "10 times, DP-SE": ("adap-headline", "ten-times-dp-se", Verdict.FAILS),
    "10 times, DP-UCB": ("adap-headline", "ten-times-dp-ucb", Verdict.HOLDS),
    "does not depend on epsilon": ("adap-regimes", "low-privacy", Verdict.FAILS),
    "under 664.5": ("dpucb-2arms", "spread", Verdict.FAILS),
    "reaches 30,000": ("dpucb-2arms", "private-ucb-spread", Verdict.FAILS),
    "reaches 30,000, by reading": ("readings-tossou2016", "private-ucb-spread", Verdict.DEPENDS),
    "outperform DP-UCB-INT": ("ftpl-approx-dp", "better-than-dp-ucb-int", Verdict.DEPENDS),
    "always the optimal one, at T": ("ftpl-approx-dp", "new-lowest", Verdict.HOLDS),
    "always the optimal one, always": ("ftpl-approx-dp", "new-always-lowest", Verdict.FAILS),
    "even worse": ("ftpl-pure-dp", "dp-se-worse", Verdict.FAILS),
    "Corollary 3.1": ("exp3-deterministic", "corollary-3-1", Verdict.DEPENDS),
    "attain their upper bound": ("exp3-deterministic", "attain-their-bounds", Verdict.FAILS),
    "completely reversed": ("exp3-switching", "reversed", Verdict.HOLDS),
    "completely reversed, by reading": ("exp3-readings", "reversed", Verdict.DEPENDS),
}


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("sentence", TOLD)
def test_verdicts_are_those_of_the_documentation(sentence: str) -> None:
    figure, name, verdict = TOLD[sentence]
    found = {one.claim.name: one.verdict for one in judged(figure)}
    assert found[name] is verdict


@pytest.mark.usefixtures("in_checkout")
def test_adap_klucb_is_lowest_in_13_of_16_panels_up_to_noise() -> None:
    # The finding of a panel is its worst comparison: it fails where another curve is lower.
    findings = [
        finding
        for figure in ("adap-c1", "adap-c2", "adap-c3", "adap-c4")
        for one in judged(figure)
        if one.claim.name == "lowest"
        for finding in one.findings
    ]
    assert len(findings) == 16
    assert sum(finding.verdict is not Verdict.FAILS for finding in findings) == 13
    assert sum(finding.verdict is Verdict.HOLDS for finding in findings) == 6


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("figure", FIGURES)
def test_words_of_ours_are_in_brackets_and_declared(figure: str) -> None:
    for claim in load(figure, [])[0].claims:
        whole = claim.says[0] == "[" and claim.says[-1] == "]"  # not an insertion in a quotation
        assert claim.ours == whole, claim.name
