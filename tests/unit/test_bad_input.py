"""Every mistake is told in one line: whose value it is, where it stands, what was expected."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dpbandits.config import load
from dpbandits.errors import UserError

C2, KSWEEP = "adap-c2", "adap-ksweep"

# What a person cannot make sense of: how Python, Hydra's parser and its merging speak.
JARGON = re.compile(
    r"__|NoneType|object|attribute|iterable|format code|subscriptable|viable alternative|ANTLR"
    r"|Lexer|Traceback|\w+Error|while composing"
)


def complaint(figure: str, overrides: Sequence[str]) -> str:
    """The message of a mistake: one line that people can read."""
    with pytest.raises(UserError) as caught:
        load(figure, overrides)
    message = str(caught.value)
    assert len(message.splitlines()) == 1, message
    assert not JARGON.search(message), message
    return message


# On the command line -----------------------------------------------------------------------------

LINE = "(command line)"


def inline(law: str) -> str:
    return f"figure.environment={{{law}}}"


Row = tuple[str, str, tuple[str, ...]]  # figure, overrides, what the message must say

EPSILON = "epsilon must be positive and finite, got"
MEANS = "bernoulli: means must be a list of two or more means in [0, 1], got"
HORIZON = "adap-c2: horizon must be a whole number from 1 to 2^53, got"
RUNS = "adap-c2: runs must be a whole number from 1 to 10^9, got"

VALUES: list[Row] = [
    (C2, "figure.panels.a.epsilon=0", ("private-ucb", f"{EPSILON} 0", LINE)),
    (C2, "figure.panels.a.epsilon=-1", ("private-ucb", f"{EPSILON} -1", LINE)),
    (C2, "figure.panels.a.epsilon=nan", ("private-ucb", f"{EPSILON} nan", LINE)),
    (C2, "figure.panels.a.epsilon=inf", ("private-ucb", f"{EPSILON} inf", LINE)),
    (C2, "figure.panels.a.epsilon=abc", (f"{EPSILON} 'abc'", LINE)),
    (C2, "figure.panels.a.epsilon=null", ("epsilon",)),
    (C2, "+figure.curves.adap-ucb.epsilon='0.5'", ("adap-ucb", f"{EPSILON} '0.5'", LINE)),
    (C2, "+figure.curves.adap-ucb.epsilon=true", ("adap-ucb", f"{EPSILON} True", LINE)),
    (C2, "+figure.epsilon=-1", ("epsilon", "-1", LINE)),  # that every panel beats
    (C2, "figure.curves.adap-ucb.alpha=0", ("adap-ucb: alpha must be positive", "got 0", LINE)),
    (
        C2,
        "figure.curves.adap-ucb.ties=second",
        ("adap-ucb: ties must be one of first, random, got 'second'", LINE),
    ),
    (C2, inline("law: bernoulli, means: [0.5, 1.5]"), (f"{MEANS} [0.5, 1.5]", LINE)),
    (C2, inline("law: bernoulli, means: [0.5, -0.1]"), (f"{MEANS} [0.5, -0.1]", LINE)),
    (C2, inline("law: bernoulli, means: [0.5, nan]"), (f"{MEANS} [0.5, nan]", LINE)),
    (C2, inline("law: bernoulli, means: []"), (f"{MEANS} []", LINE)),
    (C2, inline("law: bernoulli, means: [0.5]"), (f"{MEANS} [0.5]", LINE)),
    (C2, inline("law: bernoulli, means: 0.5"), (f"{MEANS} 0.5", LINE)),
    (
        C2,
        inline("law: bernoulli, means: {first: 0.7}"),
        ("adap-c2: means needs first, last and arms, got first", LINE),
    ),
    (
        C2,
        inline("law: bernoulli, means: {first: 0.7, last: 0.1, arms: 1}"),
        ("adap-c2: arms must be a whole number from 2 to 10^6, got 1", LINE),
    ),
    (
        C2,
        inline("law: bernoulli, means: {first: 0.7, last: 1.5, arms: 3}"),
        (f"{MEANS} [0.7, 1.1, 1.5]", LINE),
    ),
    (C2, inline("law: beta, means: [0, 1]"), ("beta: means must be", "inside (0, 1)", LINE)),
    (
        C2,
        inline("law: beta, means: [0.1, 0.5], concentration: 0"),
        ("beta: concentration must be positive and finite, got 0", LINE),
    ),
    (C2, "figure.horizon=4", ("horizon must be at least 5, the number of arms, got 4", LINE)),
    (C2, "figure.horizon=0", (f"{HORIZON} 0", LINE)),
    (C2, "figure.horizon=-1", (f"{HORIZON} -1", LINE)),
    (C2, "figure.horizon=1.5", (f"{HORIZON} 1.5", LINE)),
    (C2, "figure.horizon=long", (f"{HORIZON} 'long'", LINE)),
    (C2, "figure.horizon=null", ("adap-c2", "figure.horizon", LINE)),
    (C2, "figure.horizon=${lenght}", ("horizon", "lenght")),
    (C2, "profile.horizon_scale=0", ("horizon_scale must be positive", "got 0", LINE)),
    (C2, "profile.horizon_scale=1e9 ~figure.curves.dp-se", ("horizon", "2^53")),
    (C2, "runs=0", (f"{RUNS} 0", LINE)),
    (C2, "runs=-1", (f"{RUNS} -1", LINE)),
    (C2, "runs=1.5", (f"{RUNS} 1.5", LINE)),
    (C2, "runs=many", (f"{RUNS} 'many'", LINE)),
    (C2, "figure.runs=0", (f"{RUNS} 0", LINE)),
    (C2, "seed=-1", ("seed must be a whole number from 0, got -1", LINE)),
    (C2, "engine.workers=0", ("engine.workers must be a whole number from 1", "command line")),
    (C2, "engine.block=0", ("engine.block must be a whole number from 1", "command line")),
    (C2, "figure.title=5", ("figure.title must be a text, got 5", LINE)),
    (C2, "figure.panels.a.title='{foo}'", ("figure.panels.a.title", "foo", "epsilon")),
    (C2, "figure.panels.a.title='{epsilon.foo}'", ("figure.panels.a.title", "foo")),
    (C2, "paths.out=null", ("paths.out",)),
    (KSWEEP, "figure.sweep.values=[]", ("figure.sweep.values must be a list", "got []", LINE)),
    (KSWEEP, "figure.sweep.values=8", ("figure.sweep.values must be a list", "got 8", LINE)),
    (KSWEEP, "figure.sweep.values=[2,many]", ("values must be a number, got 'many'", LINE)),
    (KSWEEP, "figure.sweep.values=[1]", ("arms must be a whole number from 2", "got 1", LINE)),
    (KSWEEP, "figure.slopes=yes_please", ("slopes must be true or false", LINE)),
]

NAMES: list[Row] = [
    ("adap-c22", "", ("unknown figure 'adap-c22'", "'adap-c2'")),
    ("nothing", "", ("unknown figure 'nothing'", "valid: adap-c1, adap-c2, adap-")),
    (C2, "profile=smok", ("unknown profile 'smok'", "'smoke'")),
    (C2, "profile.name=smok", ("unknown profile 'smok'", "'smoke'")),
    (C2, "engine=locl", ("unknown engine 'locl'", "'local'")),
    (C2, "figure.environment=c5", ("adap-c2: unknown environment 'c5'", LINE, "c1, c2, c3")),
    (C2, inline("law: bernouli, means: [0, 1]"), ("unknown law 'bernouli'", LINE, "'bernoulli'")),
    (
        C2,
        inline("law: bernoulli, meens: [0, 1]"),
        ("bernoulli: unknown parameter 'meens'", LINE, "'means'"),
    ),
    (C2, inline("law: bernoulli, 5: 1"), ("bernoulli: unknown parameter '5'", LINE, "means")),
    (
        C2,
        "figure.curves.adap-ucb.algorithm=adap-ubc",
        ("adap-c2", "unknown algorithm 'adap-ubc'", LINE, "'adap-ucb'"),
    ),
    (
        C2,
        "+figure.curves.b.bound=azize2022.problem_lower_bound",
        ("unknown bound 'azize2022.problem_lower_bound'", LINE, "problem_dependent_lower_bound"),
    ),
    (C2, "figure.checkpoints=lin", ("unknown checkpoints 'lin'", LINE, "'linear'")),
    (C2, "figure.centre=avg", ("unknown centre 'avg'", LINE, "mean, median")),
    (C2, "figure.spread=stdev", ("unknown spread 'stdev'", LINE, "'std'")),
    (C2, "figure.horizn=5", ("unknown key 'figure.horizn'", LINE, "'figure.horizon'")),
    (C2, "+figure.horizn=5", ("unknown key 'figure.horizn'", LINE, "'horizon'")),
    (C2, "figur.horizon=5", ("unknown key 'figur.horizon'", LINE, "'figure.horizon'")),
    (
        C2,
        "figure.curves.adap-ucb.alpa=2",
        (
            "unknown key 'figure.curves.adap-ucb.alpa'",
            LINE,
            "'figure.curves.adap-ucb.alpha'",
        ),
    ),
    (
        C2,
        "+figure.curves.adap-ucb.alpa=2",
        ("unknown key 'figure.curves.adap-ucb.alpa'", LINE, "'alpha'"),
    ),
    (C2, "+figure.panels.a.titel=x", ("unknown key 'figure.panels.a.titel'", LINE, "'title'")),
    (C2, "+engine.worker=3", ("unknown key 'engine.worker'", LINE, "'workers'")),
    (C2, "+sed=3", ("unknown key 'sed'", LINE, "'seed'")),
    (
        KSWEEP,
        "figure.sweep.key=environment.means.arm",
        ("unknown figure.sweep.key 'environment.means.arm'", LINE, "'environment.means.arms'"),
    ),
    (KSWEEP, "figure.sweep.key=epsilo", ("figure.sweep.key 'epsilo'", LINE, "'epsilon'")),
    (
        KSWEEP,
        "figure.environment=c2",  # which has no means.arms
        ("figure.sweep.key 'environment.means.arms'", "conf/figure/adap-ksweep.yaml"),
    ),
]

STRUCTURE: list[Row] = [
    (C2, "+figure.curves.mine.label=x", ("figure.curves.mine must have", "algorithm", "bound")),
    (C2, "+figure.curves.adap-ucb.bound=x", ("figure.curves.adap-ucb must have either",)),
    (C2, "+figure.curves.mine=5", ("figure.curves.mine", LINE)),
    (C2, "+figure.curves.mine.bound=5", ("bound", "5", LINE)),
    (C2, "figure.curves=5", ("figure.curves", LINE)),
    (C2, "figure.curves=null", ("figure.curves is empty",)),
    (C2, "figure.panels=5", ("figure.panels", LINE)),
    (C2, "figure.panels.a=5", ("figure.panels.a", LINE)),
    (C2, "+figure.profiles=5", ("figure.profiles", LINE)),
    (C2, "+figure.sweep=5", ("figure.sweep", LINE)),
    (KSWEEP, "~figure.sweep.key", ("figure.sweep.key",)),
    (C2, "paths=null", ("paths",)),
    (C2, "~seed", ("seed",)),
    (C2, "~engine", ("engine",)),
    (C2, "profile=null", ("profile",)),
    (C2, "runs=[1,2", ("runs=[1,2",)),
    (C2, "runs", ("'runs'",)),
    (C2, "=5", ("=5",)),
    (C2, "runs=5,6", ("runs=5,6",)),
    (C2, "figure=adap-ksweep", ("figure",)),  # the second figure of the command
]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("figure", "overrides", "fragments"),
    VALUES + NAMES + STRUCTURE,
    ids=[f"{figure} {overrides}" for figure, overrides, _ in VALUES + NAMES + STRUCTURE],
)
def test_a_mistake_on_the_command_line_is_told_in_one_line(
    figure: str, overrides: str, fragments: tuple[str, ...]
) -> None:
    typed = [overrides] if "{" in overrides else overrides.split()
    message = complaint(figure, typed)
    for fragment in fragments:
        assert fragment in message


@pytest.mark.usefixtures("in_checkout")
def test_a_suggestion_is_a_key_that_would_be_taken() -> None:
    message = complaint(KSWEEP, ["figure.sweep.key=horizon.means"])
    assert "unknown figure.sweep.key 'horizon.means' (command line)" in message
    assert "'horizon.law'" not in message
    assert "'horizon.means.arms'" not in message


@pytest.mark.usefixtures("in_checkout")
def test_the_valid_keys_are_listed_once_each() -> None:
    message = complaint(C2, ["+figure.curves.adap-ucb.zzz=1"])
    names = message.partition("valid: ")[2].split(", ")
    assert "alpha" in names
    assert sorted(set(names)) == sorted(names)


# In the files of conf/ ---------------------------------------------------------------------------

Edit = Callable[[str], str | bytes]


def swap(old: str, new: str) -> Edit:
    return lambda text: text.replace(old, new)


def more(line: str) -> Edit:
    return lambda text: f"{text}{line}\n"


def without(key: str) -> Edit:
    return lambda text: re.sub(rf"(?m)^\s*{key}:.*\n", "", text)


def instead(content: str | bytes) -> Edit:
    return lambda text: content


def panels(content: str) -> Edit:
    return lambda text: text.partition("panels:")[0] + f"panels: {content}\n"


FIGURE, SWEEP = "conf/figure/adap-c2.yaml", "conf/figure/adap-ksweep.yaml"
UCB, ENVIRONMENT = "conf/algorithm/adap-ucb.yaml", "conf/environment/c2.yaml"
LINEAR, PAPER = "conf/environment/linear.yaml", "conf/profile/paper.yaml"
SMOKE, ENGINE, CONFIG = "conf/profile/smoke.yaml", "conf/engine/local.yaml", "conf/config.yaml"
BROKEN = more("  - : [")

# The file, the mistake in it, the command, what the message must say.
FILES: dict[str, tuple[str, Edit, str, tuple[str, ...]]] = {
    "unknown key, figure": (
        FIGURE,
        more("horizn: 5"),
        C2,
        ("unknown key 'figure.horizn'", FIGURE, "'horizon'"),
    ),
    "unknown key, algorithm": (
        UCB,
        swap("alpha:", "alhpa:"),
        C2,
        ("'figure.curves.adap-ucb.alhpa'", UCB, "'alpha'"),
    ),
    "unknown key, environment": (
        ENVIRONMENT,
        more("meens: 1"),
        C2,
        ("unknown parameter 'meens'", ENVIRONMENT, "'means'"),
    ),
    "unknown key, swept environment": (
        LINEAR,
        more("meens: 1"),
        KSWEEP,
        ("unknown parameter 'meens'", LINEAR, "'means'"),
    ),
    "unknown key, profile": (PAPER, more("rums: 5"), C2, ("'rums'", "conf/profile/", "runs")),
    "unknown key, engine": (ENGINE, more("worker: 2"), C2, ("engine.worker", "conf/engine/")),
    "unknown key, config": (CONFIG, more("sead: 2"), C2, ("'sead'", CONFIG, "'seed'")),
    "unknown profile of a figure": (
        SWEEP,
        swap("  smoke: {", "  smok: {"),
        KSWEEP,
        ("'figure.profiles.smok'", SWEEP, "'smoke'"),
    ),
    "unknown key of a figure's profile": (
        SWEEP,
        swap("smoke: { horizon:", "smoke: { horizn:"),
        f"{KSWEEP} profile=smoke",
        ("'figure.profiles.smoke.horizn'", SWEEP, "'horizon'"),
    ),
    "unknown algorithm": (
        UCB,
        swap("algorithm: adap-ucb", "algorithm: adap-ubc"),
        C2,
        ("unknown algorithm 'adap-ubc'", UCB, "'adap-ucb'"),
    ),
    "unknown algorithm in the defaults": (
        FIGURE,
        swap("@curves.adap-ucb: adap-ucb", "@curves.adap-ucb: adap-ubc"),
        C2,
        ("unknown algorithm 'adap-ubc'", "figure/adap-c2", "'adap-ucb'"),
    ),
    "unknown environment": (
        FIGURE,
        swap("environment: c2", "environment: c9"),
        C2,
        ("unknown environment 'c9'", FIGURE, "c1, c2"),
    ),
    "unknown law": (
        ENVIRONMENT,
        swap("law: bernoulli", "law: bernouli"),
        C2,
        ("unknown law 'bernouli'", ENVIRONMENT, "'bernoulli'"),
    ),
    "unknown bound": (
        SWEEP,
        swap("problem_dependent_lower_bound", "problem_lower_bound"),
        KSWEEP,
        ("unknown bound", SWEEP, "problem_dependent_lower_bound"),
    ),
    "unknown sweep key": (
        SWEEP,
        swap("environment.means.arms", "environment.mean.arms"),
        KSWEEP,
        ("figure.sweep.key 'environment.mean.arms'", SWEEP, "'environment.means.arms'"),
    ),
    "a text for a horizon": (
        FIGURE,
        swap("10_000_000", "'1e6'"),
        C2,
        (f"{HORIZON} '1e6'", FIGURE),
    ),
    "a text for a concentration": (
        ENVIRONMENT,
        instead("law: beta\nmeans: [0.1, 0.2]\nconcentration: ten\n"),
        C2,
        ("beta: concentration must be positive and finite, got 'ten'", ENVIRONMENT),
    ),
    "a text for epsilon": (
        FIGURE,
        swap("epsilon: 0.25", "epsilon: 'abc'"),
        C2,
        (f"{EPSILON} 'abc'", FIGURE),
    ),
    "a negative alpha": (UCB, swap("3.1", "-3.1"), C2, ("adap-ucb: alpha must", "-3.1", UCB)),
    "a mean above 1": (ENVIRONMENT, swap("0.75", "1.75"), C2, (MEANS, "1.75", ENVIRONMENT)),
    "no runs, profile": (
        SMOKE,
        swap("runs: 2", "runs: 0"),
        f"{C2} profile=smoke",
        (f"{RUNS} 0", "conf/profile/"),
    ),
    "no block": (ENGINE, swap("block: 5", "block: 0"), C2, ("engine.block must", "conf/engine/")),
    "a negative seed": (CONFIG, swap("seed: 2022", "seed: -1"), C2, ("seed must be", CONFIG)),
    "a negative scale": (
        PAPER,
        swap("horizon_scale: 1", "horizon_scale: -1"),
        C2,
        ("horizon_scale must be positive", "conf/profile/"),
    ),
    "broken, figure": (FIGURE, BROKEN, C2, ("not valid YAML", FIGURE, "line 2")),
    "broken, algorithm": (UCB, BROKEN, C2, ("not valid YAML", UCB, "line 6")),
    "broken, environment": (ENVIRONMENT, BROKEN, C2, (ENVIRONMENT, "line 4")),
    "broken, profile": (PAPER, BROKEN, C2, ("not valid YAML", PAPER)),
    "broken, config": (CONFIG, BROKEN, C2, ("not valid YAML", CONFIG)),
    "a tab, figure": (FIGURE, swap("title: ", "\ttitle: "), C2, ("not valid YAML", FIGURE)),
    "no text at all, figure": (FIGURE, instead(b"\xff\xfe\x00"), C2, (FIGURE,)),
    "no text at all, environment": (ENVIRONMENT, instead(b"\xff\xfe\x00"), C2, (ENVIRONMENT,)),
    "a key twice, figure": (FIGURE, more("runs: 3"), C2, ("duplicate key runs", FIGURE)),
    "a key twice, environment": (ENVIRONMENT, more("law: beta"), C2, ("law", ENVIRONMENT)),
    "missing paper": (FIGURE, without("paper"), C2, ("figure.paper is missing", FIGURE)),
    "missing draw": (FIGURE, without("draw"), C2, ("figure.draw is missing", FIGURE)),
    "missing runs": (FIGURE, without("runs"), C2, ("figure.runs is missing", FIGURE)),
    "missing horizon": (FIGURE, without("horizon"), C2, ("figure.horizon is missing", FIGURE)),
    "missing centre": (FIGURE, without("centre"), C2, ("figure.centre is missing", FIGURE)),
    "missing means": (ENVIRONMENT, without("means"), C2, ("means is missing", ENVIRONMENT)),
    "missing law": (ENVIRONMENT, without("law"), C2, ("law", ENVIRONMENT, "bernoulli, beta")),
    "missing algorithm": (UCB, without("algorithm"), C2, ("figure.curves.adap-ucb must", FIGURE)),
    "missing sweep key": (SWEEP, without("key"), KSWEEP, ("figure.sweep.key", SWEEP)),
    "missing block": (ENGINE, without("block"), C2, ("engine.block", "conf/engine/")),
    "missing scale": (PAPER, without("horizon_scale"), C2, ("horizon_scale", "conf/profile/")),
    "missing seed": (CONFIG, without("seed"), C2, ("seed", CONFIG)),
    "empty figure": (FIGURE, instead(""), C2, ("is empty", FIGURE)),
    "empty algorithm": (UCB, instead(""), C2, ("figure.curves.adap-ucb must", FIGURE)),
    "empty environment": (ENVIRONMENT, instead(""), C2, ("must hold keys", ENVIRONMENT)),
    "empty profile": (PAPER, instead(""), C2, ("profile", "conf/profile/")),
    "empty engine": (ENGINE, instead(""), C2, ("engine", "conf/engine/")),
    "a list, figure": (FIGURE, instead("- 1\n"), C2, (FIGURE,)),
    "a list, algorithm": (UCB, instead("- 1\n"), C2, ("adap-ucb",)),
    "a list, environment": (ENVIRONMENT, instead("- 1\n"), C2, ("must hold keys", ENVIRONMENT)),
    "a number for curves": (FIGURE, more("curves: 5"), C2, ("figure.curves", FIGURE)),
    "a list for panels": (FIGURE, panels("[a]"), C2, ("figure.panels", FIGURE)),
    "a number for a panel": (FIGURE, panels("{a: 0.1}"), C2, ("figure.panels.a", FIGURE)),
    "an interpolation of nothing": (
        FIGURE,
        swap("runs: 20", "runs: ${rums}"),
        C2,
        ("figure.runs", "rums"),
    ),
}


@pytest.mark.parametrize(("file", "edit", "command", "fragments"), FILES.values(), ids=FILES)
def test_a_mistake_in_a_file_is_told_in_one_line_with_the_file(
    checkout: Path, file: str, edit: Edit, command: str, fragments: tuple[str, ...]
) -> None:
    path = checkout / file
    before = path.read_text()
    after = edit(before)
    assert after != before
    path.write_bytes(after if isinstance(after, bytes) else after.encode())
    figure, *overrides = command.split()
    message = complaint(figure, overrides)
    for fragment in fragments:
        assert fragment in message
