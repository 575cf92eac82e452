"""Results of claims as they are committed and quoted, and claims files that are refused."""

import json
import math
import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml
from complaints import readable
from toy_paper import Toy, near, paper, said

from dpbandits.config import compose, conf_files
from dpbandits.factory import produce
from dpbandits.files import project
from dpbandits.judge import about, claims_files, claims_table
from dpbandits.judge.claims_table import Gathered
from dpbandits.judge.verdicts import Judged, Verdict
from dpbandits.kernel.errors import UserError
from dpbandits.site import reports
from dpbandits.store.blocks import Store
from dpbandits.tables import references

FIGURE, FILE = "adap-alpha", "conf/figure/adap-alpha.yaml"
CLAIMS, TABLE = Path("conf/claims/toy.yaml"), Path(claims_table.FOLDER, "toy.csv")
CONTENT = """
paper: toy
source: none
runs: 3
headline: { text: 'It is {share} of it.', rests on: { better: reproduced } }
choices: { alpha: { role: adap-ucb-one, variants: { one: {}, α two: { alpha: 2 } } } }
sentences:
  better: { quote: α = 1 works better, in: adap-alpha, holds: [adap_ucb_one <= adap_ucb] }
  two: { quote: α = 1, in: adap-alpha, holds: [adap_ucb <= 2 * adap_ucb,
    { in: ftpl-gauss-cdf, holds: [low <= 2] }] }
  mute: { quote: works, not testable: no number }
statements: { theorem: { says: so, in: adap-alpha, guarantee: adap-ucb } }
errata: [{ where: Theorem, status: misprint, text: so, statement: theorem }]
numbers: { share: { in: adap-alpha, value: adap_ucb_one / adap_ucb } }
"""


def forget() -> None:
    """Read files again that a process reads once."""
    for reading in (conf_files._load, references._golden):
        reading.cache_clear()


def write_claims(path: str = "method", value: Any = "", **more: Any) -> None:
    """Write the claims with one entry changed, and more."""
    content = yaml.safe_load(CONTENT) | more
    *parents, last = path.split(".")
    entry = content
    for parent in parents:
        entry = entry[int(parent) if parent.isdigit() else parent]
    entry[last] = value
    CLAIMS.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
    forget()


def edit(file: str | Path, old: str, new: str) -> None:
    text = Path(file).read_text("utf-8")
    assert old in text
    Path(file).write_text(text.replace(old, new), "utf-8")
    forget()


@pytest.fixture
def toy_claims(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy of the checkout whose only claims are these, about a figure of short games."""
    for file in (checkout / "conf" / "claims").iterdir():
        file.unlink()
    edit(FILE, "horizon: 10_000_000", "horizon: 300")
    monkeypatch.setattr(claims_table, "FIRST", 30)
    monkeypatch.setattr(claims_table, "STAGES", 1)
    write_claims()
    return checkout


def gathered() -> Gathered:
    found = claims_table.read_results("toy")
    assert found is not None
    return found


def stale() -> str:
    specs = [compose.load(name, [])[0] for name in claims_files.read_paper("toy").figures()]
    return claims_table.stale(gathered(), specs)


# The committed table -----------------------------------------------------------------------------


def rounded(values: Any) -> str:
    """Return values as text, with 6 digits."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda m: f"{float(m[0]):.6g}", repr(values))


def test_results_are_read_as_they_were_written(
    toy_claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, variants = Toy(monkeypatch), {"on": {}, "“off”": {"alpha": 2}}
    for name, value, alpha in (("a", 1 / 3, 1), ("a", 30, 2), ("b", 20, 1)):
        made.add(name, near(value, noise=0.01), alpha)
    choices = {"β, γ": {"role": "a", "variants": variants}}
    of = paper({"it": said("a <= b"), "mute": {"says": "so"}}, choices=choices, runs=4)
    claims = made.judge(of)
    joint, numbers = (
        claims_table.largest_sets(claims.values(), only_text=True),
        {"n": 1 / 7, "none": math.inf},
    )
    monkeypatch.setattr(claims_files, "read_paper", lambda name: of)
    claims_table.write(Gathered(of, claims, numbers, joint, {"basis": {}}))
    found = gathered()
    results = {name: judged.results for name, judged in claims.items()}
    assert rounded({name: j.results for name, j in found.claims.items()}) == rounded(results)
    assert (len(results["it"]), len(results["mute"])) == (2, 0)
    assert (rounded(found.numbers), found.joint) == (rounded(numbers), joint)


def test_claims_bring_no_markup_into_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = {"quote": "</td><script>alert(1)</script> if a < b", "because": "<img onerror=x>"}
    of = paper({"it": claim})
    record = {"written": "2026-01-01", "revision": "r"}
    page = reports.page(Gathered(of, Toy(monkeypatch).judge(of), {}, (), record))
    assert "&lt;/td>&lt;script>alert(1)&lt;/script> if a < b" in page
    assert {*re.findall(r"</?(\w+)", page)} == {"a"}


def test_results_are_current_until_what_they_rest_on_changes(toy_claims: Path) -> None:
    assert claims_table.read_results("toy") is None
    assert claims_table.gather(["toy"]) == 0
    claims = gathered().claims
    words = ["inconclusive", "reproduced", "not testable", "reproduced"]
    assert [judged.verdict.value for judged in claims.values()] == words
    drawn = claims["better"].drawn
    assert (drawn.runs, len(claims["better"].results)) == (30, 2)
    assert gathered().numbers["share"] == pytest.approx(math.exp(drawn.estimate), 1e-6)
    for path, value, changed in (
        *((f"sentences.better.{key}", "other", "") for key in ("because", "quote", "short")),
        *(("headline.text", "other", ""), ("errata.0.text", "other", ""), ("source", "other", "")),
        ("choices.alpha.open", "why", ""),
        ("sentences.better.holds", ["adap_ucb_one <= 2 * adap_ucb"], "the claims"),
        ("choices.alpha.variants", {"one": {}, "α two": {"alpha": 2.5}}, "the claims"),
        ("numbers.share.value", "adap_ucb_one", "the claims"),
        ("runs", 4, "the claims"),
    ):
        write_claims(path, value)
        assert stale() == changed
    write_claims()
    for file, old, new, changed in (
        (FILE, "title: Evolution", "title: New", ""),
        ("conf/thresholds.yaml", "a factor that is seen", "a factor seen", ""),
        (FILE, "horizon: 300", "horizon: 301", f"the experiments of {FIGURE}"),
        ("conf/thresholds.yaml", "value: 1.5", "value: 1.6", "the thresholds"),
    ):
        edit(file, old, new)
        assert stale() == changed


def test_results_are_stale_when_golden_rows_of_an_algorithm_change(
    toy_claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project, "SHIPPED", toy_claims)
    rows, of = toy_claims / references.GOLDEN, claims_files.read_paper("toy")
    rows.parent.mkdir(parents=True)
    rows.write_text('{"case": "adap-ucb on x", "r": 1}\n{"case": "dp-se on x", "r": 2}\n')
    record = {"basis": claims_table.basis(of, [], ["adap-ucb"])}
    for old, new, changed in (("2}", "3}", ""), ("1}", "4}", "the golden rows of adap-ucb")):
        edit(rows, old, new)
        assert claims_table.stale(Gathered(of, {}, record=record), []) == changed
    rows.unlink()  # not a checkout
    forget()
    assert claims_table.stale(Gathered(of, {}, record=record), []) == ""


def test_a_damaged_table_is_refused_in_one_line(toy_claims: Path) -> None:
    assert claims_table.gather(["toy"]) == 0
    record = TABLE.with_suffix(".json").read_text()
    remedy = r"claims/toy\.csv cannot be read: [^\n]*; `dpbandits report --gather toy` writes it$"
    for content in ("{", "{}", "[]", "[" * 10**6, record.replace('"sha256": "', '"sha256": "0')):
        TABLE.with_suffix(".json").write_text(content)
        with pytest.raises(UserError, match=remedy):
            claims_table.read_results("toy")


# What `run` quotes -------------------------------------------------------------------------------


def test_committed_results_are_quoted_for_a_figure_as_its_file_has_it_alone(
    toy_claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def quoted(*overrides: str) -> list[tuple[str, str, str]]:
        spec, settings = compose.load(FIGURE, overrides)
        claims = about.as_json(about.about(spec, Store(settings.cache)))
        return [(c["claim"], c["verdict"], c["judged_by"]) for c in claims]

    assert quoted() == []  # neither results nor runs
    assert claims_table.gather(["toy"]) == 0
    verdicts = ["inconclusive", "reproduced", "no counterexample in our runs"]
    names = ["toy/better", "toy/two", "toy/theorem"]
    by = "committed results"
    assert quoted() == [(n, v, by) for n, v in zip(names, verdicts, strict=True)]
    assert quoted("figure.horizon=200") == []  # no runs of it
    write_claims("sentences.better.holds", ["adap_ucb_one <= 2 * adap_ucb"])
    for overrides in ((), ("figure.horizon=200",)):  # stale claims; a changed figure
        spec, settings = compose.load(FIGURE, [*overrides, "runs=25"])
        capsys.readouterr()
        assert produce.produce(spec, settings) == 0
        assert "sentences about this figure: 1 reproduced" in capsys.readouterr().out
        assert quoted(*overrides, "runs=25") == [("toy/better", "reproduced", "own runs")]
        verdict = json.loads((settings.folder(FIGURE) / "verdict.json").read_bytes())
        assert [claim["judged_by"] for claim in verdict["claims"]] == ["own runs"]


def test_another_scale_than_the_papers_has_no_verdict_and_its_file_says_why(
    toy_claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert claims_table.gather(["toy"]) == 0
    for profile in ("smoke", "ci"):
        spec, settings = compose.load(
            FIGURE, [f"profile={profile}", "runs=25", "figure.horizon=300"]
        )
        capsys.readouterr()
        assert produce.produce(spec, settings) == 0
        assert "sentences" not in capsys.readouterr().out
        verdict = json.loads((settings.folder(FIGURE) / "verdict.json").read_bytes())
        assert [claim["claim"] for claim in verdict["claims"]] == [
            *("toy/better", "toy/two", "toy/theorem")
        ]
        for claim in verdict["claims"]:
            assert (claim["verdict"], claim["judged_by"]) == ("not judged", "nothing")
            assert f"the profile {profile} " in claim["because"]


def test_a_count_of_verdicts_is_singular_or_plural(toy_claims: Path) -> None:
    of = claims_files.read_paper("toy")
    depends = Verdict.DEPENDS.value
    sentences = [
        about.About(Judged(of, n), depends, "", "", about.OWN) for n in ("better", "two", "theorem")
    ]
    assert about.count(sentences[:1]) == {"depends on an unstated choice": 1}
    assert about.count(sentences) == {"depend on an unstated choice": 2}


# Bad input ---------------------------------------------------------------------------------------

WRONG = """
sentenses: {}                                        --> 'sentenses'
runs: many                                           --> runs: | int
sentences.better.explanation: so                     --> sentences.better: | 'explanation'
sentences.better.quote: ''                           --> better: | quote, or says
sentences.mute: {quote: so}                          --> mute: | not testable
sentences.better.in: adap-alhpa                      --> better: | did you mean 'adap-alpha'
sentences.better.in: {adap-alpha: [z]}               --> better: | no panel 'z'
sentences.better.under: {alpha: ten}                 --> better: | 'ten'
sentences.better.holds: [adap_ubc <= 1]              --> better: | did you mean 'adap_ucb'
sentences.better.holds: [adap_ucb <= simlar * 2]     --> better: | 'simlar'
sentences.better.holds: [largets(adap_ucb) <= 1]     --> better: | did you mean 'largest'
sentences.better.holds: [adap_ucb < 1]               --> better: | 'adap_ucb < 1'
sentences.better.holds: [end(adap_ucb) <= end(adap_ucb)]               --> better: | with itself
sentences.better.holds: ["adap_ucb <= [2, adap_ucb]"] --> better: | adap-ucb is compared with itself
sentences.better.holds: [adap_ucb.x <= 1]            --> better: | adap_ucb.x
sentences.better.holds: [at(adap_ucb) <= 1]          --> better: | at(adap_ucb)
sentences.better.holds: ["adap_ucb <= bound(adap_ucb, 'azize2022.minimax')"] --> minimax'
sentences.better.holds: [{in: adap-c9, holds: [adap_ucb <= 1]}]        --> better: | 'adap-c9'
choices.alpha.rule: a                                --> choices.alpha: | 'rule'
choices.alpha.role: []                               --> choices.alpha: | exactly one of role
choices.alpha.word: far                              --> choices.alpha: | exactly one of role
choices.alpha.role: adap-ubc                         --> choices.alpha: | no claim has
choices.alpha.variants: {}                           --> choices.alpha: | variant
choices.alpha.against: {α tow: published-it}         --> alpha.against: | did you mean 'α two'
choices.alpha.against: {one: published-it}           --> alpha.against: | first variant, 'one'
choices.alpha.against: {α two: []}                   --> alpha.against: | 'α two' needs
choices.alpha.against: {α two: better}               --> alpha.against: | 'better'
choices.alpha.against: {α two: published-ti}         --> against: | did you mean 'published-it'
choices.alpha.open in: adap-alhpa                    --> alpha.open in: | did you mean 'adap-alpha'
choices.alpha: {word: w, variants: {a: 1}, open in: adap-alpha}        --> alpha: | `open in`
choices.alpha.variants: {one: {}, two: {alhpa: 2}}   --> better: | 'alpha'
choices.alpha: {statistic: all, variants: {a: mode}} --> choices.alpha: | median
choices.alpha: {statistic: bettr, variants: {a: mean}}                 --> 'bettr'
statements.theorem.guarantee: adap-ubc               --> theorem: | 'adap-ubc'
errata.0.status: wrong                               --> erratum 1 | wrong
errata.0.statement: theorm                           --> erratum 1: | did you mean 'theorem'
headline.rests on: {bettr: reproduced}               --> headline: | did you mean 'better'
headline.text: '{shar} of it'                        --> 'shar'
errata.0.corrected: '{shar} of it'                   --> erratum 1: | 'shar'
excluded: {that: '{shar} of it'}                     --> excluded.that: | 'shar'
choices.alpha.open: '{shar} of it'                   --> alpha.open: | 'shar'
numbers.share.with: {alpha: ten}                     --> numbers.share: | 'ten'
numbers.share.value: adap_ubc                        --> share: | 'adap_ubc'
"""


OURS = {"published-it": {"says": "so", "in": FIGURE, "holds": ["adap_ucb_one <= 0"]}}  # it is false


@pytest.mark.parametrize("case", WRONG.strip().splitlines())
def test_a_mistake_in_claims_is_one_line_with_file_and_key_and_nothing_is_written(
    case: str, toy_claims: Path
) -> None:
    change, told = case.split("-->")
    path, value = change.split(":", 1)
    write_claims(path, yaml.safe_load(value), ours=OURS if "against" in path else {})
    before = {*toy_claims.rglob("*")}
    with pytest.raises(UserError) as raised:
        reports.report(["toy"], gathers=True)
    readable(message := str(raised.value))
    assert all(words.strip() in message for words in (f"{CLAIMS}: ", *told.split("|"))), message
    written = [path for path in {*toy_claims.rglob("*")} - before if path.is_file()]
    assert all("cache" in path.parts for path in written)


@pytest.mark.parametrize(
    ("path", "needed"),
    [
        ("headline", "headline is missing; needed are paper, source, runs, headline"),
        ("numbers.share.in", "numbers.share: in is missing; needed are in, value"),
        ("headline.text", "headline: text is missing"),
    ],
)
def test_a_missing_key_of_claims_is_named_with_all_that_are_needed(
    path: str, needed: str, toy_claims: Path
) -> None:
    content = yaml.safe_load(CONTENT)
    *parents, last = path.split(".")
    del reduce(dict.__getitem__, parents, content)[last]
    CLAIMS.write_text(yaml.safe_dump(content), "utf-8")
    forget()
    with pytest.raises(UserError, match=rf"^{CLAIMS}: {needed}$"):
        reports.report(["toy"], gathers=True)


@pytest.mark.parametrize("change", ["ties: random", "alpha: 3.1"])
def test_a_game_that_is_compared_with_itself_is_an_error(change: str, toy_claims: Path) -> None:
    edit(FILE, "adap-ucb-one: { alpha: 1.0", f"adap-ucb-one: {{ {change}")
    for text in ("adap_ucb_one <= adap_ucb", "adap_ucb <= others"):
        write_claims("sentences.better.holds", [text])
        with pytest.raises(UserError, match=rf"^{CLAIMS}: better: {text}: [^\n]* are one game, "):
            reports.report(["toy"], gathers=True)


def test_a_variant_that_does_not_fit_what_excuses_it_is_refused_with_the_results_kept(
    toy_claims: Path,
) -> None:
    write_claims("choices.alpha.against", {"α two": "published-it"}, ours=OURS)
    told = "choices.alpha.against: 'α two' does not fit published-it with all else as drawn"
    for gathers in (True, False):
        with pytest.raises(UserError, match=f"^{CLAIMS}: {told}$"):
            reports.report(["toy"], gathers)
        assert gathered().claims["published-it"].status == "fits no variant"
        assert not (toy_claims / reports.FOLDER).exists()


def test_a_paper_without_claims_is_answered_with_the_nearest_that_has_some(
    toy_claims: Path,
) -> None:
    with pytest.raises(UserError, match="'tey' has no claims; did you mean 'toy'"):
        reports.report(["tey"], gathers=False)
