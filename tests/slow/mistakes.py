"""Generator of wrong configurations, each wrong in a way that cannot be valid by accident.

They are wrong by construction. If a command accepts one, either the command or this generator has a
bug, and the test fails.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mistake:
    """Arguments of `dpbandits run`, and a file of the checkout with changed content."""

    kind: str
    typed: tuple[str, ...]
    file: str | None = None
    content: bytes = field(default=b"", repr=True)


# Figures with their own horizon and environment, which no profile changes, and with a panel `a`.
CURVES = {
    "adap-c2": "adap-ucb",
    "adap-c4": "dp-se",
    "adap-headline": "adap-klucb",
    "exp3-deterministic": "exp3-tau",
    "exp3-switching": "dp-exp3-lap",
}
SWEPT = ("adap-ksweep", "adap-regimes", "ftpl-delta-sweep")

figures = st.sampled_from([*CURVES])
words = st.from_regex(r"zz[a-z]{1,12}", fullmatch=True)  # no name begins like this
numbers = st.one_of(st.integers(), st.floats(), st.integers(10**20, 10**4000))
texts = st.text(min_size=1, max_size=40).filter(
    lambda text: not text.startswith(("-", "~")) and "__" not in text
)
odd_bytes = st.binary(min_size=1, max_size=20).map(lambda b: b.decode("utf-8", "surrogateescape"))
values = st.one_of(numbers.map(str), words, st.sampled_from(["[1,2]", "{a:1}", "", "null", "true"]))

NEVER = ("nan", "inf", "-inf", "abc", "''", "[1,2]", "[]", "{a:1}", "{}", "'1'", "[[]]", "1e999")
NO_REFERENCE = ("${zz}", "${zz.a}", "${oc.env:ZZ_NOT_SET}", "${zz:1}", "???", "${oc.decode:'['}")
NO_NUMBER = (*NEVER, "true", "-1", "-1e300", *NO_REFERENCE)
NO_WHOLE = (*NO_NUMBER, "1.5", "1e30", "0x10", str(10**40), "1_0x")
NO_TEXT = ("5", "[a]", "{a:1}", "true", "1.5", "nan", "[]", *NO_REFERENCE)
WRONG: dict[str, tuple[str, ...]] = {
    "seed": (*NO_WHOLE, str(2**63)),
    "runs": (*NO_WHOLE, "0", "1_000_001", "-0"),
    "figure.horizon": (*NO_WHOLE, "0", "1", "null", str(2**54), "${figure.horizon}"),
    "engine.block": (*NO_WHOLE, "0", "null"),
    "engine.workers": (*NO_WHOLE, "0", "1025"),
    "profile.horizon_scale": (*NO_NUMBER, "0", "null"),
    "++figure.epsilon": NO_NUMBER,
    "++figure.delta": (*NO_NUMBER, "2", "1.0000001"),
    "++figure.slopes": ("5", "yes_", "[true]", "{}", "'true'"),
    "++figure.input_privacy": ("5", "yes_", "[true]", "{}", "'true'"),
    "++figure.panels.a.shows": ("samples", "5", "[regret]", "zz", "regret-per-log-t"),
    "++figure.panels.a.curves": ("5", "zz", "[zz]", "{a:1}", "[5]", "[[]]"),
    "++figure.sweep": ("5", "[1]", "zz", "{key:epsilon}", "{values:[1]}", "{key:5,values:[1]}"),
    "++figure.profiles": ("5", "[1]", "zz", "{zz:{}}", "{paper:5}", "{paper:{zz:1}}"),
    "figure.title": NO_TEXT,
    "figure.paper": (*NO_TEXT, "zz", "../zz", "azize2022/", "''"),
    "figure.draw": (*NO_TEXT, "zz", "zzdraw", "''"),
    "figure.centre": (*NO_TEXT, "zz", "Mean", "''"),
    "figure.spread": ("5", "zz", "[std]", "{a:1}", "Std"),
    "figure.checkpoints": (*NO_TEXT, "zz", "null", "''"),
    "figure.environment": (*NO_TEXT, "zz", "null", "../c2", "{law:zz}", "{means:[0,1]}", "''"),
    "figure.panels": ("5", "[a]", "zz", "{a:5}", "{a:[1]}", "{a:{zz:1}}"),
    "figure.panels.a": ("5", "[a]", "zz"),
    "figure.curves": ("5", "[a]", "zz", "null", "{a:5}", "{a:{}}", "{a:{bound:zz}}"),
    "paths.out": ("5", "[a]", "{a:1}", "true", "''", "null", "'~zz-nobody/out'", *NO_REFERENCE),
    "paths.cache": ("5", "[a]", "{a:1}", "true", "''", "null", "'~zz-nobody/out'", *NO_REFERENCE),
    "paths": ("5", "[a]", "null", "zz"),
    "engine": ("zz", "null", "5", "''", "{a:1}", "local,dask"),
    "profile": ("zz", "null", "5", "''", "{a:1}", "paper,smoke"),
    "profile.name": ("zz", "5", "null", "[paper]"),
    "figure": ("adap-c2", "zz", "5", "null"),
    "+seed": ("5", "0"),
}
DELETED = (
    *("figure", "figure.paper", "figure.title", "figure.draw", "figure.centre", "figure.horizon"),
    *("figure.environment", "figure.checkpoints", "figure.curves", "figure.runs", "seed", "paths"),
    *("engine", "engine.block", "paths.out", "paths.cache", "profile.name"),
    "profile.horizon_scale",
)
LAWS = (
    *("{law:bernoulli}", "{law:bernoulli,means:5}", "{law:bernoulli,means:[]}"),
    *("{law:bernoulli,means:[0.5]}", "{law:bernoulli,means:[0.5,nan]}", "{law:[bernoulli]}"),
    *("{law:bernoulli,means:[0.5,1.5]}", "{law:bernoulli,means:[0.5,-0.1]}", "{law:null}"),
    *("{law:bernoulli,means:[0.5,abc]}", "{law:bernoulli,means:{first:1}}", "{5:1}", "[]", "5"),
    *("{law:bernoulli,means:[0.1,0.2],zz:1}", "{law:beta,means:[0,1]}", "{law:adversaries}"),
    *("{law:beta,means:[0.1,0.5],concentration:0}", "{law:adversaries,kind:zz}", "{a:{b:{c:1}}}"),
    "{law:bernoulli,means:{first:0.1,last:0.2,arms:1000001}}",
    "{law:bernoulli,means:{first:0.1,last:0.2,arms:abc}}",
)
SWEEPS = (
    *("[a,b]", "[]", "5", "abc", "''", "[1,null]", "[1,nan]", "[2,1]", "[1,1]", "[true,2]"),
    *("{first:1,last:2}", "{first:2,last:1,number:3}", "{first:1,last:2,number:0}", "[inf]"),
    *("{first:a,last:2,number:3}", "{zz:1}", "[[1],[2]]", "[{a:1}]", "null", "[-1,1]", "[0,1]"),
)
SEVERAL = ("5,6", "range(1,3)", "choice(1,2)", "interval(1,2)", "glob(*)", "sort(2,1)", "zz(1)")
UNREADABLE = (
    *("runs", "runs=[1,2", "runs==5", "runs:5", "runs=5;", 'runs="5', "+", "~", "=", "=5", ""),
    *("runs=5 seed=3", " runs=5", "runs=\0", "figure.title=Größe", "runs={a", "runs=${a", "@=1"),
    *("hydra.run.dir=x", "hydra/launcher=basic", "+hydra.job.name=x", "sweep=alpha", "a@b@c=1"),
)


def typed(kind: str, *overrides: st.SearchStrategy[str]) -> st.SearchStrategy[Mistake]:
    """Return a figure with a mistake on the command line, perhaps beside valid overrides."""
    right = st.sampled_from([(), ("seed=3",), ("profile=smoke",), ("runs=7", "seed=1")])
    return st.builds(
        lambda figure, wrong, beside: Mistake(kind, (figure, *wrong, *beside)),
        figures,
        st.tuples(*overrides),
        right if kind in ("raw text", "unknown key") else st.just(()),
    )


def of_key(key: str) -> st.SearchStrategy[str]:
    return st.sampled_from(WRONG[key]).map(lambda value: f"{key}={value}")


ABOVE = ("", "figure.", "engine.", "profile.", "paths.", "figure.panels.", "figure.panels.a.")
unknown_keys = st.builds(
    lambda sign, above, word, value: f"{sign}{above}{word}={value}",
    st.sampled_from(["", "+", "++"]),
    st.sampled_from(ABOVE[:5] + ABOVE[6:]),
    words,
    values,
)


@st.composite
def of_a_curve(draw: st.DrawFn) -> Mistake:
    """Return a curve with a key that it does not have, or with an invalid value."""
    figure = draw(figures)
    path = f"figure.curves.{CURVES[figure]}"
    wrong = draw(
        st.sampled_from(
            [
                *(f"++{path}.{name}={v}" for name in ("alpha", "tau") for v in NEVER),
                *(f"++{path}.horizon={v}" for v in NO_WHOLE),
                *(f"++{path}.runs={v}" for v in (*NO_WHOLE, "0")),
                *(f"++{path}.pulls_of={v}" for v in (*NO_WHOLE, "0", "1000")),
                *(f"{path}.algorithm={v}" for v in ("zz", "5", "[exp3]", "null", "nas", "''")),
                *(f"++{path}.label={v}" for v in ("5", "[a]", "{a:1}")),
                *(f"{path}={v}" for v in ("5", "[a]", "zz")),
                *(f"{path}.algorithm.{draw(words)}=1", f"++{path}.{draw(words)}=1"),
                *(f"++{path}.bound=zz", f"++{path}.rule=nas", f"~{path}.{draw(words)}"),
            ]
        )
    )
    return Mistake("wrong curve", (figure, wrong))


COMMAND_LINES = (
    st.sampled_from([*WRONG]).flatmap(lambda key: typed("wrong value", of_key(key))),
    typed("unknown key", unknown_keys),
    typed("raw text", st.one_of(texts, odd_bytes.filter(lambda t: t[0] not in "-~"))),
    typed("unreadable", st.sampled_from(UNREADABLE)),
    typed("several values", st.sampled_from(SEVERAL).map(lambda value: f"seed={value}")),
    typed("deleted key", st.sampled_from(DELETED).map(lambda key: f"~{key}")),
    typed("deleted key", words.map(lambda word: f"~figure.{word}")),
    typed("wrong law", st.sampled_from(LAWS).map(lambda law: f"figure.environment={law}")),
    typed(
        "wrong sweep",
        st.sampled_from(SWEEPS).map(
            lambda v: f"++figure.panels.a.sweep={{key:epsilon,values:{v}}}"
        ),
    ),
    typed("wrong sweep", words.map(lambda w: f"++figure.sweep={{key:{w},values:[1,2]}}")),
    st.builds(
        lambda figure, value: Mistake("wrong sweep", (figure, f"figure.sweep.values={value}")),
        st.sampled_from(SWEPT),
        st.sampled_from([v for v in SWEEPS if v not in ("[0,1]", "[inf]")]),
    ),
    st.one_of(texts, words, odd_bytes.filter(lambda t: t[0] not in "-~")).map(
        lambda text: Mistake("unknown figure", (text,))
    ),
    of_a_curve(),
)


# Files -------------------------------------------------------------------------------------------

FIGURE, ALGORITHM = "conf/figure/adap-c2.yaml", "conf/algorithm/adap-ucb.yaml"
ENVIRONMENT, ENGINE = "conf/environment/c2.yaml", "conf/engine/local.yaml"
PROFILE, CONFIG = "conf/profile/paper.yaml", "conf/config.yaml"
FILES = (FIGURE, ALGORITHM, ENVIRONMENT, ENGINE, PROFILE, CONFIG)
TEXT = {file: (ROOT / file).read_text("utf-8") for file in FILES}

BAD = (
    *(".nan", ".inf", "-.inf", "'1'", "''", "[1, 2]", "{a: 1}", "[]", "{}", "[[[]]]", "true"),
    *("!!python/name:os.mkdir", "!!binary aGk=", "!!set {a}", "!zz 1", "*zz"),
    *(
        "&a [*a]",
        "${zz}",
        "${oc.env:ZZ_NOT_SET}",
        "???",
        "|\n  zz",
        "{",
        "[1",
        "'zz",
        "@zz",
        "% zz",
    ),
    *(
        "? a",
        "- 1",
        "1: 2",
        "2020-01-01",
        "{1: 2, [3]: 4}",
        "{a: 1, a: 2}",
        "\N{GREEK SMALL LETTER PI}",
    ),
)
NO_NUMBERS = (*BAD, "abc", "-1", "null", "1.0e+400", "-1.0e+300")
NO_TEXTS = tuple(
    bad
    for bad in BAD
    if bad not in ("'1'", "''", "|\n  zz", "2020-01-01", "\N{GREEK SMALL LETTER PI}")
)
PLACES: dict[tuple[str, str], tuple[str, ...]] = {
    (FIGURE, "horizon"): (*NO_NUMBERS, "0", "1.5", str(10**30)),
    (FIGURE, "runs"): (*NO_NUMBERS, "0", "1.5", str(10**30)),
    (FIGURE, "title"): (*NO_TEXTS, "5", "null"),
    (FIGURE, "paper"): (*NO_TEXTS, "5", "null", "zz"),
    (FIGURE, "draw"): (*NO_TEXTS, "5", "null", "zz"),
    (FIGURE, "centre"): (*NO_TEXTS, "5", "null", "zz"),
    (FIGURE, "environment"): (*NO_TEXTS, "5", "null", "zz"),
    (FIGURE, "checkpoints"): (*NO_TEXTS, "5", "null", "zz"),
    (FIGURE, "curves"): (*(bad for bad in BAD if bad not in ("{}", "???")), "5", "{zz: 1}"),
    (ALGORITHM, "algorithm"): (*NO_TEXTS, "5", "null", "zz"),
    (ALGORITHM, "alpha"): tuple(bad for bad in (*NO_NUMBERS, "0") if bad != "null"),
    (ALGORITHM, "ties"): (*NO_TEXTS, "5", "zz"),
    (ENVIRONMENT, "law"): (*NO_TEXTS, "5", "null", "zz"),
    (ENVIRONMENT, "means"): (*NO_NUMBERS, "5", "[0.5]", "[0.5, 1.5]", "[a, b]", "[.nan, 0.5]"),
    (ENGINE, "block"): (*NO_NUMBERS, "0", "1.5", str(10**30)),
    (ENGINE, "workers"): tuple(bad for bad in (*NO_NUMBERS, "0") if bad != "null"),
    (CONFIG, "seed"): (*NO_NUMBERS, "1.5", str(10**30)),
    (CONFIG, "paths"): ("5", "[1]", "zz", "{cache: 5, out: out}", "{cache: cache}", "{zz: 1}"),
    (CONFIG, "defaults"): ("5", "zz", "[zz]", "{a: 1}", "[{figure: 5}]", "[_self_]"),
    (PROFILE, "profile"): ("5", "[1]", "zz", "{}", "{name: zz}", "{name: paper}", "{zz: 1}"),
}
PANELS = (
    *("5", "[a]", "zz", "{a: 5}", "{a: [1]}", "{a: {curves: 5}}", "{a: {curves: [zz]}}"),
    *("{a: {titel: x}}", "{a: {epsilon: -1}}", "{a: {epsilon: [1]}}", "{a: {title: '{zz}'}}"),
    *("{a: {sweep: {key: zz, values: [1]}}}", "{a: {each: {key: epsilon, values: [b]}}}", "{1: 2}"),
    *("{a: {horizon: abc}}", "{a: {environment: {law: zz}}}", "{a: {shows: samples}}"),
)


def instead(key: str, text: str, value: str) -> str:
    """Return the text with a new value for a top-level key, added if missing."""
    changed, number = re.subn(
        rf"(?m)^{key}:.*\n(?:[ #-].*\n)*", lambda _: f"{key}: {value}\n", text
    )
    return changed if number else f"{text}{key}: {value}\n"


@st.composite
def wrong_place(draw: st.DrawFn) -> Mistake:
    file, key = draw(st.sampled_from([*PLACES]))
    value = draw(st.sampled_from(PLACES[file, key]))
    return Mistake(
        "file: wrong value", ("adap-c2",), file, instead(key, TEXT[file], value).encode()
    )


@st.composite
def wrong_file(draw: st.DrawFn) -> Mistake:
    """Return a file whose whole content is something else."""
    file = draw(st.sampled_from(FILES))
    plain = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=20))
    content = draw(
        st.one_of(
            st.binary(max_size=64),
            st.lists(plain, max_size=5).map(lambda value: yaml.safe_dump(value).encode()),
            plain.map(lambda value: yaml.safe_dump(value).encode()),
            st.sampled_from(["utf-16", "utf-32"]).map(TEXT[file].encode),
            st.sampled_from(
                [b"", b"\n\n", b"# nothing\n", b"---\n", b"--- 1\n--- 2\n", b"\xef\xbb\xbf"]
            ),
        )
    )
    return Mistake("file: no such thing", ("adap-c2",), file, content)


@st.composite
def broken_file(draw: st.DrawFn) -> Mistake:
    """Return a file with a byte or a line that is invalid in YAML or in the project."""
    file = draw(st.sampled_from(FILES))
    text, word = TEXT[file], draw(words)
    lines = draw(
        st.sampled_from(
            [
                *(f"{word}: {bad}" for bad in (*BAD, "1", "null")),
                *("  - : [", ": :", f"\t{word}: 1", f"'{word}", f"{word}", f"- {word}", "..."),
                *(f"<<: {{{word}: 1}}", f"? {word}", f"{word}:\n\t- 1", f"5: {word}", "null: 1"),
                *(f"{line}" for line in re.findall(r"(?m)^\w+:.*$", text)),  # twice
            ]
        )
    )
    if lines == "...":  # the end of a document, with text after it
        lines = f"...\n{word}: 1"
    content = f"{text}{lines}\n".encode()
    if draw(st.booleans()):
        place = draw(st.integers(0, len(text)))
        byte = draw(st.sampled_from([b"\0", b"\xff", b"\x07", b"\xc3\x28"]))
        content = text.encode()[:place] + byte + text.encode()[place:]
    return Mistake("file: broken", ("adap-c2",), file, content)


@st.composite
def wrong_panels(draw: st.DrawFn) -> Mistake:
    head = TEXT[FIGURE].partition("panels:")[0]
    content = f"{head}panels: {draw(st.sampled_from(PANELS))}\n"
    return Mistake("file: wrong panels", ("adap-c2",), FIGURE, content.encode())


@st.composite
def wrong_defaults(draw: st.DrawFn) -> Mistake:
    word = draw(words)
    lines = draw(
        st.sampled_from(
            [
                *("5", word, f"[{word}]", f"{{{word}: 1}}", "null", "[]", "[5]", "[[1]]", "[null]"),
                *(f"[/algorithm@curves.{word}: {word}]", f"[/{word}: {word}]", "[_self_]"),
                *(f"[/algorithm@curves.a: ../{word}]"),
                *(
                    "[/algorithm@curves.a: 5]",
                    f"[override /algorithm: {word}]",
                    "[figure: adap-c2]",
                ),
            ]
        )
    )
    content = instead("defaults", TEXT[FIGURE], lines).encode()
    return Mistake("file: wrong defaults", ("adap-c2",), FIGURE, content)


IN_FILES = (
    wrong_place(),
    wrong_place(),
    wrong_file(),
    broken_file(),
    wrong_panels(),
    wrong_defaults(),
)
mistakes = st.one_of(st.one_of(*COMMAND_LINES), st.one_of(*IN_FILES))
