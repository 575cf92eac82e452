"""Every mistake on the command line gets one line: the mistake and the expected value."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DPBANDITS, FIRST_FIGURES
from complaints import complaint, readable
from forks import Fork
from in_process import called

from dpbandits.config.compose import load

CURVES = ("dp-ucb", "dp-se", "adap-ucb", "adap-klucb")
WITHOUT_CURVES = " ".join(f"~figure.curves.{name}" for name in CURVES)
C2, KSWEEP, STOPPING = "adap-c2", "adap-ksweep", "stopping-rules"

LINE = "(command line)"


def inline(law: str) -> str:
    return f"figure.environment={{{law}}}"


def steps(values: str) -> str:
    return f"+figure.panels.a.sweep={{key:epsilon,values:{{{values}}}}}"


Row = tuple[str, str, tuple[str, ...]]  # figure, overrides, fragments of the message

SCHEDULER = "engine.scheduler must be like tcp://host:8786, got "
WORKERS = "engine.workers must be a whole number from 1 to 1024, got"
EPSILON = "epsilon must be positive and finite, got"
BUDGET = "epsilon must be 0 or more, and finite, got"
PANELS = ", ".join(f"figure.panels.{letter}.epsilon" for letter in "abcd")
NO_EPSILON = f"unknown key 'figure.epsilon' {LINE}: set"
KEY = "'figure.horizon'"
MEANS = "bernoulli: means must be a list of two or more means in [0, 1], got"
HORIZON = "adap-c2: horizon must be a whole number from 1 to 2^53, got"
RUNS = "adap-c2: runs must be a whole number from 1 to 10^6, got"

VALUES_OF_SWEEP = "figure.sweep.values must be a list of numbers in ascending order, got"

VALUES: list[Row] = [
    (C2, "figure.panels.a.epsilon=0", ("private-ucb", f"{EPSILON} 0", LINE)),
    (C2, "figure.panels.a.epsilon=-1", ("private-ucb", f"{EPSILON} -1", LINE)),
    (C2, "figure.panels.a.epsilon=nan", ("private-ucb", f"{EPSILON} nan", LINE)),
    (C2, "figure.panels.a.epsilon=inf", ("private-ucb", f"{EPSILON} inf", LINE)),
    (C2, "figure.panels.a.epsilon=abc", (f"{EPSILON} 'abc'", LINE)),
    (C2, "figure.panels.a.epsilon=-0.0", ("private-ucb", f"{EPSILON} -0.0", LINE)),
    (C2, "figure.panels.a.epsilon=1e-400", ("private-ucb", f"{EPSILON} 0.0", LINE)),
    (C2, "figure.panels.a.epsilon=", ("private-ucb", f"{EPSILON} ''", LINE)),
    (
        C2,
        "figure.panels.a.epsilon=null",
        ("epsilon is missing (conf/figure/adap-c2.yaml)",),
    ),
    (C2, "+figure.curves.adap-ucb.epsilon='0.5'", ("adap-ucb", f"{EPSILON} '0.5'", LINE)),
    (C2, "+figure.curves.adap-ucb.epsilon=true", ("adap-ucb", f"{EPSILON} True", LINE)),
    (C2, "+figure.epsilon=-1", (f"{BUDGET} -1; any value is overridden by {PANELS}", LINE)),
    (C2, "figure.epsilon=-1", (f"{NO_EPSILON} {PANELS} instead,", f"override it; {BUDGET} -1")),
    (C2, "figure.epsilon=1", (f"{NO_EPSILON} {PANELS} instead, which override it",)),
    ("exp3-privacy", "figure.epsilon=1", (f"{NO_EPSILON} figure.sweep.values instead",)),
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
    (C2, "figure.horizon=", (f"{HORIZON} ''", LINE)),
    (C2, "figure.horizon=1e17", (f"{HORIZON} 1e+17", LINE)),
    (C2, f"figure.horizon={'x' * 9999}", (f"{HORIZON} 'xxx", "xxx...xxx", LINE)),
    (C2, "figure.horizon=${lenght}", ("figure.horizon", "'lenght' not found", LINE)),
    (C2, "figure.horizon=${oc.env:LENGHT}", ("figure.horizon", "'LENGHT' not found", LINE)),
    (C2, "figure.horizon=${figure.horizon}", ("figure.horizon", "Recursive", LINE)),
    (C2, "figure.horizon=???", ("figure.horizon", "Missing mandatory value", LINE)),
    (C2, "profile.horizon_scale=0", ("horizon_scale must be positive", "got 0", LINE)),
    (
        C2,
        "profile.horizon_scale=1e9 ~figure.curves.dp-se",
        ("profile.horizon_scale 1e+09 takes the horizon 10000000 above 2^53", LINE),
    ),
    (C2, "runs=0", (f"{RUNS} 0", LINE)),
    (C2, "runs=-1", (f"{RUNS} -1", LINE)),
    (C2, "runs=1.5", (f"{RUNS} 1.5", LINE)),
    (C2, "runs=many", (f"{RUNS} 'many'", LINE)),
    (C2, "runs=", (f"{RUNS} ''", LINE)),
    (C2, "runs=nan", (f"{RUNS} nan", LINE)),
    (C2, "runs=inf", (f"{RUNS} inf", LINE)),
    (C2, "runs=-0", (f"{RUNS} 0", LINE)),
    (C2, "runs=true", (f"{RUNS} True", LINE)),
    (C2, "runs=0x10", (f"{RUNS} '0x10'", LINE)),
    (C2, "runs=1e30", (f"{RUNS} 1e+30", LINE)),
    (C2, "runs=1_000_001", (f"{RUNS} 1000001", LINE)),  # its list alone would fill the memory
    (C2, f"runs={'9' * 999}", (f"{RUNS} 999", "999...999", LINE)),
    (C2, f"runs={'9' * 9999}", ("a number of the command line has thousands of digits",)),
    (C2, "figure.runs=0", (f"{RUNS} 0", LINE)),
    (C2, "seed=-1", ("seed must be a whole number from 0, below 2^63, got -1", LINE)),
    (C2, f"seed={2**63}", ("seed must be a whole number from 0, below 2^63, got 922", LINE)),
    (C2, "engine.workers=0", (f"{WORKERS} 0", LINE)),
    (C2, "engine.workers=-1", (f"{WORKERS} -1", LINE)),
    (C2, "engine.workers=all", (f"{WORKERS} 'all'", LINE)),
    (C2, "engine.workers=1000000", (f"{WORKERS} 1000000", LINE)),
    *(
        (C2, f"engine=dask engine.scheduler={address}", (SCHEDULER, LINE))
        for address in ("a", "a:8786", "8786", "tcp://a", "tcp://a:x", "tcp://:1", "[a]", "true")
    ),
    (
        C2,
        "engine=dask engine.scheduler=tcp://a:8786 engine.workers=2",
        ("engine.workers is for a cluster on this machine", "tcp://a:8786", LINE),
    ),
    (C2, "engine=dask engine.workers=0", (f"{WORKERS} 0", LINE)),
    (C2, "engine=dask ~engine.block", ("engine.block is missing",)),
    (C2, "engine.block=0", ("engine.block must be a whole number from 1", LINE)),
    (C2, "figure.title=5", ("figure.title must be a text, got 5", LINE)),
    (C2, "figure.panels.a.title='{foo}'", ("figure.panels.a.title", "foo", "epsilon")),
    (C2, "figure.panels.a.title='{epsilon.foo}'", ("figure.panels.a.title", "foo")),
    (C2, "paths.out=null", ("paths.out is missing", LINE)),
    (C2, "paths.out=", ("paths.out must name a folder, got ''", LINE)),
    (C2, "paths.cache=", ("paths.cache must name a folder, got ''", LINE)),
    (C2, "paths.out='  '", ("paths.out must name a folder, got '  '", LINE)),
    (C2, "paths.out=5", ("paths.out must be a text, got 5", LINE)),
    (C2, "paths.out='~nobody-here/out'", ("paths.out '~nobody-here/out'", "home", LINE)),
    *(
        (KSWEEP, f"figure.sweep.values={value}", (f"{VALUES_OF_SWEEP} {quoted}", LINE))
        for value, quoted in (
            ("[]", "[]"),
            ("8", "8"),
            ("", "''"),
            ("[2,many]", "[2, 'many']"),
            ("[2,null]", "[2, None]"),
            ("[2,nan]", "[2, nan]"),
            ("[2,true]", "[2, True]"),
            ("[2,2]", "[2, 2]"),
            ("[8,2]", "[8, 2]"),
        )
    ),
    (KSWEEP, "figure.sweep.values=[1]", ("arms must be a whole number from 2", "got 1", LINE)),
    (KSWEEP, "figure.slopes=yes_please", ("slopes must be true or false", LINE)),
]

NAMES: list[Row] = [
    ("adap-c22", "", ("unknown figure 'adap-c22'", "'adap-c2'")),
    ("nothing", "", ("unknown figure 'nothing'", f"valid: {FIRST_FIGURES}")),
    (C2, "profile=smok", ("unknown profile 'smok'", "'smoke'")),
    (C2, "profile.name=smok", ("unknown profile 'smok'", "'smoke'")),
    (C2, "engine=locl", ("unknown engine 'locl'", "'local'")),
    (C2, "engine=gpu", ("unknown engine 'gpu'; valid: dask, local",)),
    (C2, "engine=", ("'engine=' names no engine; valid: dask, local",)),
    (C2, "engine.scheduler=tcp://a:1", (f"'engine.scheduler' {LINE}: only engine=dask has",)),
    (C2, "profile=", ("'profile=' names no profile; valid: ci, paper, smoke",)),
    (C2, "profile=null", ("'profile=null' names no profile; valid: ci, paper, smoke",)),
    (C2, "+profile=smoke", ("'+profile=smoke' would be a second profile: leave out the plus",)),
    (
        "\U0006a128" * 20,
        "",
        ("unknown figure '\\U0006a128\\U0006", "...", "valid: adac-price, adap-alpha"),
    ),
    ("ADAP-C2", "", ("unknown figure 'ADAP-C2'; did you mean 'adap-c2'",)),
    ("adap-c2.yaml", "", ("unknown figure 'adap-c2.yaml'; did you mean 'adap-c2'",)),
    ("../adap-c2", "", ("unknown figure '../adap-c2'", "'adap-c2'")),
    ("", "", (f"unknown figure ''; valid: {FIRST_FIGURES}",)),
    ("runs=5", "adap-c2", ("'runs=5' is not a figure: its name comes first, then key=value",)),
    (C2, "figure.horizon=1,000,000", ("several values: write figure.horizon=1_000_000",)),
    (
        C2,
        "+algorithm@figure.curves.x=adap-ucb",
        (
            "panel a has two curves labelled 'AdaP-UCB', adap-ucb and x: distinguish them",
            "label: 'AdaP-UCB (",
        ),
    ),
    ("adap-c2,adap-ksweep", "", ("several values", "dpbandits multirun figure=<name>")),
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
        (
            "unknown bound 'azize2022.problem_lower_bound'",
            LINE,
            "'azize2022.problem_dependent_lower_bound'",
        ),
    ),
    (
        C2,
        "+figure.curves.b={bound: wang2024_privacy.gauss_start, epsilon: 1, delta: 0.01}",
        (
            "curves.b",
            "wang2024_privacy.gauss_start does not depend on the horizon; it needs a sweep",
            LINE,
        ),
    ),
    (C2, "figure.checkpoints=lin", ("unknown checkpoints 'lin'", LINE, "'linear'")),
    (C2, "figure.centre=avg", ("unknown centre 'avg'", LINE, "mean, median")),
    (C2, "figure.spread=stdev", ("unknown spread 'stdev'", LINE, "'std'")),
    (C2, "figure.horizn=5", (f"unknown key 'figure.horizn' {LINE}; did you mean {KEY}?",)),
    (C2, "figur.horizon=5", (f"unknown key 'figur.horizon' {LINE}; did you mean {KEY}?",)),
    (C2, "horizon=5", (f"unknown key 'horizon' {LINE}; did you mean {KEY}?",)),
    (C2, "nonsense=5", ("unknown key 'nonsense'", LINE, "valid: engine, figure, paths, profile")),
    (C2, f"{'x' * 5000}=5", ("unknown key 'xxx", "xxx...xxx", LINE)),
    (C2, "~figure.curves.adap-ubc", ("'figure.curves.adap-ubc'", LINE, "curves.adap-ucb'")),
    (C2, "figure.environment.law=beta", ("figure.environment holds no keys, it is 'c2'", LINE)),
    (C2, "figure.slopes=true", ("not there yet, +figure.slopes=<value> adds it", LINE)),
    (
        C2,
        "figure.curves.dp-se.epsilon=1",
        ("not there yet, +figure.curves.dp-se.epsilon=<value> adds it", LINE),
    ),
    (C2, "+figure@x=adap-ksweep", ("unknown key 'x'", LINE)),
    (C2, "+figure.horizn=5", ("unknown key 'figure.horizn'", LINE, "'horizon'")),
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
        "figure.environment=c2",  # it has no means.arms
        (
            "figure.sweep.key 'environment.means.arms'",
            "ksweep.yaml); valid: alpha, decay, delta",
        ),
    ),
]

WITH_A_PLUS = "write +algorithm@figure.curves."
MINE = "`+algorithm@figure.curves.mine=<name>`"
SEVERAL = ("several values", "`dpbandits multirun figure=<name> key=1,2`")
UNREADABLE = ("write key=value", "two pairs of quotes")

STRUCTURE: list[Row] = [
    (
        C2,
        "algorithm@figure.curves.x=ucb",
        ("is not a curve yet", LINE, "+algorithm@figure.curves.x=ucb adds it"),
    ),
    (C2, "+algorithm@figure.curves.x=ucbb", ("unknown algorithm 'ucbb'; did you mean 'ucb'?",)),
    (C2, "figure.curves.x=ucb", ("'figure.curves.x=ucb' gives", f"{WITH_A_PLUS}x=ucb")),
    (C2, "+figure.curves.x=ucb", ("'+figure.curves.x=ucb' gives", f"{WITH_A_PLUS}x=ucb")),
    *(
        (C2, override, (f"{override!r} names no curve: {WITH_A_PLUS}<curve>=ucb",))
        for override in (
            *("algorithm=ucb", "+algorithm=ucb", "+algorithm@curves.x=ucb"),
            *("+algorithm@figure.curve.x=ucb", "algorithm@figure=ucb"),
        )
    ),
    (C2, "+algorithm@figure.curves=ucb", (f"{WITH_A_PLUS}<curve>=ucb",)),
    (C2, "adap-c1", ("'adap-c1' is a figure without its key: figure=adap-c1; several",)),
    (C2, "+figure.curves.mine.label=x", ("figure.curves.mine must have", MINE, LINE)),
    (C2, "+figure.curves.adap-ucb.bound=x", ("adap-ucb", "got algorithm and bound", LINE)),
    (
        C2,
        "+figure.curves.adap-ucb.pulls_of=6",
        ("pulls_of must be an arm from 1 to 5, got 6", LINE),
    ),
    (
        C2,
        "+figure.curves.adap-ucb.pulls_of=2 +figure.curves.adap-ucb.regret=realised",
        ("regret: pulls are recorded instead of it", LINE),
    ),
    (C2, "+figure.curves.adap-ucb.regret=real", ("unknown regret 'real'", "'realised'", LINE)),
    ("exp3-privacy", "+figure.curves.exp3.regret=realised", ("is always realised",)),
    (C2, "+figure.curves.adap-ucb.pulls_of=0", ("pulls_of must be a whole number from 1", LINE)),
    (C2, "+algorithm@figure.curves.mine=nas", ("a stopping rule is drawn over a sweep",)),
    (C2, steps("first:2,last:4"), ("sweep.values.number is missing", LINE)),
    (C2, steps("first:2,last:4,number:0"), ("number must be a whole number from 1", LINE)),
    (C2, steps("first:4,last:2,number:2"), ("in ascending order", LINE)),
    (C2, steps("first:4,last:x,number:2"), ("last must be a number, got 'x'", LINE)),
    (KSWEEP, "+figure.sweep.fit=[4,2]", ("fit must be", "in ascending order, got [4, 2]", LINE)),
    (KSWEEP, "+figure.sweep.fit=[4]", ("figure.sweep.fit must be two numbers, got [4]", LINE)),
    (KSWEEP, "figure.sweep.key=horizn", ("unknown figure.sweep.key 'horizn'", "'horizon'")),
    (C2, "+figure.delta=2", ("delta must be in [0, 1], got 2", LINE)),
    (C2, "+figure.epsilon=-1", ("epsilon must be 0 or more, and finite, got -1", LINE)),
    (C2, "+figure.panels.a.shows=regret-per-log-t", ("is drawn over a sweep", LINE)),
    (C2, "+figure.panels.a.shows=regrets", ("unknown shows 'regrets'", "'regret'", LINE)),
    (C2, "+figure.panels.a.shows=samples", ("figure.panels.a.shows is for stopping rules", LINE)),
    (C2, "~figure.environment", ("adap-c2: figure.environment is missing", LINE)),
    (C2, "~figure.checkpoints", ("adap-c2: figure.checkpoints is missing", LINE)),
    (STOPPING, "~figure.stream", ("figure.stream is missing", LINE)),
    (STOPPING, "figure.stream=5", ("figure.stream must hold keys and values, got 5", LINE)),
    (STOPPING, "figure.stream.mean=2", ("mean must be within 1 of 0, got 2.0", LINE)),
    (STOPPING, "+figure.stream.variance=2", ("unknown parameter 'variance'", "mean, radius")),
    (STOPPING, "figure.stream.radius=0", ("radius must be positive and finite, got 0", LINE)),
    (STOPPING, "figure.panels.a.sweep.values=[0,1]", ("mean must be finite and not 0", LINE)),
    (STOPPING, "figure.panels.a.sweep.key=stream.men", ("'stream.men'", "mean 'stream.mean'?")),
    (STOPPING, "figure.panels.c.shows=fails", ("unknown shows 'fails'", "'failures'", LINE)),
    (STOPPING, "figure.curves.nas.rule=nass", ("unknown rule 'nass'", "'nas'", LINE)),
    (STOPPING, "figure.curves.nas.alpha=1", ("nas: alpha must be inside (0, 1), got 1", LINE)),
    (STOPPING, "+figure.curves.nas.pulls_of=1", ("unknown key 'figure.curves.nas.pulls_of'",)),
    (C2, inline(""), ("adap-c2: law is missing", LINE, "valid: adversaries, bernoulli, beta")),
    (C2, inline("law: [beta]"), ("adap-c2: unknown law ['beta']", LINE, "mean 'beta'?")),
    (
        C2,
        WITHOUT_CURVES,
        ("figure.curves is empty, there is nothing to draw", LINE),
    ),
    (C2, "~figure.curves", ("figure.curves is empty", LINE)),
    (C2, "~figure.curves.dp-se figure.curves.dp-se.algorithm=ucb", ("has removed it", LINE)),
    (C2, "~figure", ("figure.paper is missing", LINE)),
    (C2, "+figure.curves.mine=5", ("figure.curves.mine", LINE)),
    (C2, "+figure.curves.mine.bound=5", ("bound", "5", LINE)),
    (C2, "figure.curves=5", ("figure.curves", LINE)),
    (C2, "figure.curves=null", ("figure.curves is empty",)),
    (C2, "figure.panels=5", ("figure.panels", LINE)),
    (C2, "figure.panels.a=5", ("figure.panels.a", LINE)),
    ("dpucb-2arms", "+figure.profiles=5", ("figure.profiles", LINE)),
    (C2, "+figure.sweep=5", ("figure.sweep", LINE)),
    (C2, "+figure.panels.a.each=5", ("figure.panels.a.each must hold keys and values", LINE)),
    (C2, "+figure.panels.a.each.key=epsilon", ("figure.panels.a.each.values is missing",)),
    (C2, "+figure.panels.a.each={key:epsilo,values:[1]}", ("each.key 'epsilo'", "'epsilon'")),
    (C2, "+figure.panels.a.each={key:epsilon,values:[0]}", (f"{EPSILON} 0", LINE)),
    (C2, "+figure.panels.a.each={key:epsilon,values:[2,1]}", ("in ascending order", LINE)),
    (C2, "+figure.input_privacy=5", ("input_privacy must be true or false, got 5", LINE)),
    (KSWEEP, "~figure.sweep.key", ("figure.sweep.key",)),
    (C2, "paths=null", ("paths",)),
    (C2, "~seed", ("seed",)),
    (C2, "~runs", ("'runs' is null, there is nothing to delete", LINE)),
    (C2, "~engine", ("engine",)),
    *(
        (C2, override, (f"cannot read {override!r}", *UNREADABLE))
        for override in (
            *("runs", "figure", "runs=[1,2", "runs==5", "runs:5", "runs=5;", 'runs="5', "+", "-m"),
            *(
                "--multirun",
                "figure.title=Größe",
                "paths.out=a=b",
                "paths.out=~/out",
                "paths.out=\0",
            ),
        )
    ),
    *(
        (C2, override, (f"'{override}' has no key: write key=value",))
        for override in ("=5", "=", "~")
    ),
    *((C2, f"runs={several}", SEVERAL) for several in ("5,6", "range(1,3)", "choice(1,2)")),
    *(
        (C2, override, (f"'{override}'", "Hydra", "`dpbandits multirun figure=adap-c2 ...`"))
        for override in ("hydra.run.dir=x", "hydra/launcher=basic", "+hydra.job.name=x", "hydra=1")
    ),
    (C2, "figure=adap-ksweep", ("figure",)),  # the second figure of the command
]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("figure", "overrides", "fragments"),
    VALUES + NAMES + STRUCTURE,
    ids=[f"{figure} {overrides}"[:80] for figure, overrides, _ in VALUES + NAMES + STRUCTURE],
)
def test_a_mistake_on_the_command_line_is_reported_in_one_line(
    figure: str, overrides: str, fragments: tuple[str, ...]
) -> None:
    words = [overrides] if "'" in overrides or "{" in overrides else overrides.split()
    message = complaint(figure, words)
    for fragment in fragments:
        assert fragment in message


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize("override", ["", " ", " runs=5", "runs =5", "runs=5 seed=3"])
def test_a_misplaced_space_is_reported_in_quotes(override: str) -> None:
    assert f"cannot read {override!r}: write key=value" in complaint(C2, [override])


@pytest.mark.usefixtures("in_checkout")
def test_a_path_may_contain_quoted_characters_and_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for override, folder in (
        ("'a b=Größe'", Path.cwd() / "a b=Größe"),
        ("'~/out'", tmp_path / "out"),
    ):
        _, settings = load(C2, [f"paths.out={override}"])
        assert settings.out == folder


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


# Around the overrides ----------------------------------------------------------------------------

WITHOUT_DASHES = "Overrides are written without dashes, key=value"
ARGUMENTS: dict[str, str] = {  # a part of the message
    "nonsense": 'Unknown command "nonsense"',
    "runn adap-c2": 'Did you mean "run"?',
    "run": "FIGURE requires an argument",
    "export": "FIGURE requires an argument",
    "audit": "ALGORITHM requires an argument",
    "export adap-c2 --format xml": 'Invalid value "xml" for --format. Choose from: "csv"',
    "export adap-c2 --format csv -m runs=2": "Unknown option: -m",
    "run-all --paper": "--paper requires an argument",
    "list adap-c2": "adap-c2",
    "run adap-c2 --multirun": "several values are for `dpbandits multirun`",
    "run adap-c2 --runs 5": f"Unknown option: --runs. {WITHOUT_DASHES}",
    "plot adap-c2 --horizon=9 --profile smoke": WITHOUT_DASHES,
    "run-all --workers 1": WITHOUT_DASHES,
    "check --seed 5": WITHOUT_DASHES,
    "--nonsense run adap-c2": "--nonsense",
    "audit adap-ucb --epsilon 1 --epsilon 2": "--epsilon specified multiple times",
    "audit adap-ucb --workers x": "workers must be a whole number from 1 to 1024, got 'x'",
}


@pytest.mark.parametrize("words", ARGUMENTS)
def test_a_wrong_argument_is_reported_in_one_line(words: str) -> None:
    done = called(*words.split())
    assert (done.status, done.out) == (2, "")
    (mistake,) = done.err.splitlines()
    readable(mistake)
    assert mistake.startswith("dpbandits: ")
    assert ARGUMENTS[words] in mistake


@pytest.mark.parametrize("words", ["--help", "run --help", "plot -h", "export -h", "run-all -h"])
def test_help_explains_overrides_and_several_values(words: str) -> None:
    done = called(*words.split())
    assert (done.status, done.err) == (0, "")
    out = " ".join(done.out.split())
    assert "dpbandits run adap-ksweep runs=5 figure.horizon=100_000" in out
    assert "dpbandits multirun figure=adap-ksweep seed=1,2" in out


MAKE = ("make", "--old-file=.venv/ready", f"BIN={Path(sys.executable).parent}")
RUNS_0 = f"dpbandits: {RUNS} 0 {LINE}"
NONSENSE = f"dpbandits: unknown figure 'nonsense'; valid: {FIRST_FIGURES}"

# The command, and the first words of each line of its errors.
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run": ((*DPBANDITS, "run", C2, "runs=0"), (RUNS_0,)),
    "plot": ((*DPBANDITS, "plot", C2, "runs=0"), (RUNS_0,)),
    "explain": ((*DPBANDITS, "explain", C2, "runs=0"), (RUNS_0,)),
    "unknown paper": (
        (*DPBANDITS, "run", C2, "figure.paper=azise2022"),
        ("dpbandits: figures/azise2022.py does not exist; did you mean 'azize2022'",),
    ),
    "unknown drawing": (
        (*DPBANDITS, "plot", C2, "figure.draw=four_budget"),
        ("dpbandits: figures/azize2022.py has no function 'four_budget'; did you mean 'four_b",),
    ),
    "several figures": (
        (sys.executable, "experiments/run.py", "-m", f"figure={C2},{KSWEEP}", "runs=0"),
        (RUNS_0, RUNS_0.replace(C2, KSWEEP), "dpbandits: failed, for the reasons above: figure="),
    ),
    "make fig-nonsense": ((*MAKE, "fig-nonsense"), (NONSENSE, "make: ***")),
    "make explain-nonsense": ((*MAKE, "explain-nonsense"), (NONSENSE, "make: ***")),
    "make paper-azise2022": (
        (*MAKE, "paper-azise2022"),
        ("dpbandits: unknown paper 'azise2022'; did you mean 'azize2022'", "make: ***"),
    ),
    # Every figure has this mistake, the first reports it.
    "make all": ((*MAKE, "all", "ARGS=runs=0"), (RUNS_0, "make: ***")),
    "make smoke": ((*MAKE, "smoke", "ARGS=rums=1"), ("dpbandits: unknown key 'rums'", "make: ***")),
    "run.py --runs": (
        (sys.executable, "experiments/run.py", f"figure={C2}", "--runs", "5"),
        ("dpbandits: overrides are written without dashes: runs=5",),
    ),
    "run.py without a key": (
        (sys.executable, "experiments/run.py", C2),
        (f"dpbandits: '{C2}' is a figure without its key: figure={C2}; several figures are ",),
    ),
    "make with ARGS": ((*MAKE, f"fig-{C2}", "ARGS=runs=0"), (RUNS_0, "make: ***")),
}
EVERY_FIGURE = ("make paper-azise2022", "make all", "make smoke")


@pytest.fixture(scope="module")
def two_figures(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Project of two figures, for targets that load every figure."""
    project = tmp_path_factory.mktemp("project")
    for folder in ("conf", "figures"):
        leave = shutil.ignore_patterns("reference", "figure")
        shutil.copytree(root / folder, project / folder, ignore=leave)
    (project / "conf" / "figure").mkdir()
    for file in (f"conf/figure/{C2}.yaml", f"conf/figure/{KSWEEP}.yaml", "Makefile"):
        shutil.copy(root / file, project / file)
    return project


@pytest.fixture(scope="module")
def results(root: Path, two_figures: Path) -> dict[str, tuple[int, str, str]]:
    """Status, output and errors of all commands: in forks, but for `run` and those of make."""
    # As a user types them: outside the make that runs the tests, and with make's messages in
    # English.
    own = {n: value for n, value in os.environ.items() if not n.startswith(("MAKE", "MFLAGS"))}
    pipe, quiet = subprocess.PIPE, {**own, "ARGS": "", "LC_ALL": "C"}
    real = {
        name: subprocess.Popen(
            command,
            cwd=two_figures if name in EVERY_FIGURE else root,
            env=quiet,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        for name, (command, _) in COMMANDS.items()
        if name == "run" or (command[0] == "make" and shutil.which("make"))
    }
    forks = {
        name: Fork(*command).done()
        for name, (command, _) in COMMANDS.items()
        if command[0] == sys.executable and name not in real
    }
    ended = {name: process.communicate() for name, process in real.items()}
    return {
        **{name: (real[name].returncode, *texts) for name, texts in ended.items()},
        **{name: (done.status, done.out, done.err) for name, done in forks.items()},
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_mistakes_ends_in_status_2_and_a_line_for_each(
    results: dict[str, tuple[int, str, str]], name: str
) -> None:
    if name not in results:
        pytest.skip("make is not installed")
    status, out, err = results[name]
    assert status == 2
    lines = err.splitlines()
    expected = COMMANDS[name][1]
    assert len(lines) == len(expected), err
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)
        readable(line)
    assert "drawn" not in out


def test_an_override_with_spaces_is_written_without_them() -> None:
    message = complaint(C2, ["figure.panels.a.epsilon", "=", "0.5"])
    assert message.endswith("no spaces around an equals sign: write figure.panels.a.epsilon=0.5")
