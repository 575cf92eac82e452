"""Every mistake in a file of conf/ gets one line, which names the file."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from complaints import complaint

C2, KSWEEP = "adap-c2", "adap-ksweep"

EPSILON = "epsilon must be positive and finite, got"
MEANS = "bernoulli: means must be a list of two or more means in [0, 1], got"
HORIZON = "adap-c2: horizon must be a whole number from 1 to 2^53, got"
RUNS = "adap-c2: runs must be a whole number from 1 to 10^6, got"

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


def curves(content: str) -> Edit:
    return lambda text: re.sub(r"(?ms)^curves:.*?^(?=panels)", f"curves: {content}\n", text)


FIGURE, SWEEP = "conf/figure/adap-c2.yaml", "conf/figure/adap-ksweep.yaml"
UCB, ENVIRONMENT = "conf/algorithm/adap-ucb.yaml", "conf/environment/c2.yaml"
LINEAR, PAPER = "conf/environment/linear.yaml", "conf/profile/paper.yaml"
SMOKE, ENGINE, CONFIG = "conf/profile/smoke.yaml", "conf/engine/local.yaml", "conf/config.yaml"
BROKEN = more("  - : [")

# The file, the mistake in it, the command, fragments of the message.
# 10^12 values in some hundred bytes.
BILLIONS = "a0: &a0 [1]\n" + "\n".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 13)
)
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
    "unknown key, profile": (PAPER, more("rums: 5"), C2, ("'rums'", PAPER, "runs")),
    "unknown key, engine": (ENGINE, more("worker: 2"), C2, ("engine.worker", ENGINE)),
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
        ("unknown bound", SWEEP, "'azize2022.problem_dependent_lower_bound'"),
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
        (f"{RUNS} 0", SMOKE),
    ),
    "no block": (ENGINE, swap("block: 5", "block: 0"), C2, ("engine.block must", ENGINE)),
    "a negative seed": (CONFIG, swap("seed: 2022", "seed: -1"), C2, ("seed must be", CONFIG)),
    "a negative scale": (
        PAPER,
        swap("horizon_scale: 1", "horizon_scale: -1"),
        C2,
        ("horizon_scale must be positive", PAPER),
    ),
    "broken, figure": (FIGURE, BROKEN, C2, ("not valid YAML", FIGURE, "line 34")),
    "broken, algorithm": (UCB, BROKEN, C2, ("not valid YAML", UCB, "line 6")),
    "broken, environment": (ENVIRONMENT, BROKEN, C2, (ENVIRONMENT, "line 5")),
    "broken, profile": (PAPER, BROKEN, C2, (f"{PAPER} is not valid YAML: line 6",)),
    "broken, config": (CONFIG, BROKEN, C2, (f"{CONFIG} is not valid YAML: line 28",)),
    "a tab, figure": (FIGURE, swap("title: ", "\ttitle: "), C2, ("not valid YAML", FIGURE)),
    "no text at all, figure": (FIGURE, instead(b"\xff\xfe\x00"), C2, (FIGURE,)),
    "no text at all, environment": (ENVIRONMENT, instead(b"\xff\xfe\x00"), C2, (ENVIRONMENT,)),
    "no text at all, algorithm": (UCB, instead(b"\xff\xfe\x00"), C2, (UCB, "UTF-8")),
    "a key twice, figure": (FIGURE, more("runs: 3"), C2, ("duplicate key runs", FIGURE)),
    "a key twice, environment": (ENVIRONMENT, more("law: beta"), C2, ("law", ENVIRONMENT)),
    "missing paper": (FIGURE, without("paper"), C2, ("figure.paper is missing", FIGURE)),
    "missing draw": (FIGURE, without("draw"), C2, ("figure.draw is missing", FIGURE)),
    "missing runs": (FIGURE, without("runs"), C2, ("figure.runs is missing", FIGURE)),
    "missing horizon": (FIGURE, without("horizon"), C2, ("figure.horizon is missing", FIGURE)),
    "missing centre": (FIGURE, without("centre"), C2, ("figure.centre is missing", FIGURE)),
    "missing means": (ENVIRONMENT, without("means"), C2, ("means is missing", ENVIRONMENT)),
    "missing law": (
        ENVIRONMENT,
        without("law"),
        C2,
        ("law is missing", ENVIRONMENT, "bernoulli, beta"),
    ),
    "missing algorithm": (UCB, without("algorithm"), C2, ("figure.curves.adap-ucb must", UCB)),
    "missing sweep key": (SWEEP, without("key"), KSWEEP, ("figure.sweep.key", SWEEP)),
    "missing block": (ENGINE, without("block"), C2, ("engine.block", ENGINE)),
    "missing scale": (PAPER, without("horizon_scale"), C2, ("horizon_scale", PAPER)),
    "missing seed": (CONFIG, without("seed"), C2, ("seed", CONFIG)),
    "empty figure": (FIGURE, instead(""), C2, ("is empty", FIGURE)),
    "empty algorithm": (UCB, instead(""), C2, (f"{UCB} is empty; it must hold keys",)),
    "empty environment": (ENVIRONMENT, instead(""), C2, ("must hold keys", ENVIRONMENT)),
    "empty profile": (PAPER, instead(""), C2, (f"{PAPER} is empty",)),
    "empty engine": (ENGINE, instead(""), C2, (f"{ENGINE} is empty",)),
    "a list, figure": (FIGURE, instead("- 1\n"), C2, (FIGURE,)),
    "a list, algorithm": (UCB, instead("- 1\n"), C2, (f"{UCB} must hold keys and values",)),
    "a list, environment": (ENVIRONMENT, instead("- 1\n"), C2, ("must hold keys", ENVIRONMENT)),
    **{
        f"a number alone, {file}": (
            file,
            instead("5\n"),
            C2,
            (f"{file} must hold keys and values",),
        )
        for file in (FIGURE, UCB, ENVIRONMENT, PAPER, ENGINE, CONFIG)
    },
    "defaults that are no list, figure": (
        FIGURE,
        swap("defaults:\n", "defaults: 5\nothers:\n"),
        C2,
        (f"{FIGURE}: defaults must be a list, got 5",),
    ),
    "defaults that are no list, config": (
        CONFIG,
        swap("defaults:\n", "defaults: { engine: local }\nothers:\n"),
        C2,
        (f"{CONFIG}: defaults must be a list, got {{'engine': 'local'}}",),
    ),
    "a default that is a number": (
        FIGURE,
        swap("  - _self_\n", "  - _self_\n  - 5\n"),
        C2,
        (f"{FIGURE}: 5 cannot be among the defaults",),
    ),
    "a default that is nothing": (
        CONFIG,
        swap("  - profile: paper", "  -\n  - profile: paper"),
        C2,
        (f"{CONFIG}: null cannot be among the defaults",),
    ),
    "a default that names a number": (
        FIGURE,
        swap("curves.dp-se: dp-se", "curves.dp-se: 5"),
        C2,
        (f"{FIGURE}: {{'/algorithm@curves.dp-se': 5}} cannot be among the defaults",),
    ),
    "a key that is nothing, engine": (
        ENGINE,
        more("null: 1"),
        C2,
        (f"{ENGINE}: a key must be a text or a number; write null and ~ in quotes",),
    ),
    "a key that is nothing, figure": (
        FIGURE,
        more("~: 1"),
        C2,
        (f"{FIGURE}: a key must be a text or a number",),
    ),
    "a list for curves that are named above": (
        FIGURE,
        curves("[1, 2]"),
        C2,
        (f"{FIGURE} cannot be merged with the files that it names",),
    ),
    "a set, figure": (FIGURE, swap("10_000_000", "!!set {a}"), C2, (f"{FIGURE}: ", "'set' is not")),
    "a set, algorithm": (UCB, swap("3.1", "!!set {a}"), C2, (f"{UCB}: ", "'set' is not")),
    "a list in itself, figure": (
        FIGURE,
        swap("10_000_000", "&a [*a]"),
        C2,
        ("contains itself", FIGURE),
    ),
    "a list in itself, algorithm": (UCB, swap("3.1", "&a [*a]"), C2, ("contains itself", UCB)),
    "aliases of aliases": (
        FIGURE,
        more(BILLIONS),
        C2,
        (f"{FIGURE} is not read: its aliases expand to more than 100,000 values",),
    ),
    "aliases of aliases after an escape that only one parser accepts": (
        FIGURE,
        more('u: "\\ud800"\n' + BILLIONS),
        C2,
        (f"{FIGURE} is not read: its aliases expand to more than 100,000 values",),
    ),
    "aliases of aliases, algorithm": (
        UCB,
        more(BILLIONS),
        C2,
        (f"{UCB} is not read: its aliases",),
    ),
    "lists in lists": (
        FIGURE,
        more(f"x: {'[' * 51}{']' * 51}"),
        C2,
        (f"{FIGURE} is not read: it is nested more than 50 levels deep",),
    ),
    "aliases in aliases, each in a list": (
        FIGURE,
        more("x0: &x0 1\n" + "\n".join(f"x{i}: &x{i} [*x{i - 1}]" for i in range(1, 60))),
        C2,
        (f"{FIGURE} is not read: it is nested more than 50 levels deep",),
    ),
    "a file of megabytes": (
        FIGURE,
        more("# " + "x" * 2**20),
        C2,
        (f"{FIGURE} is not read: it has ", "expected at most 1,048,576"),
    ),
    "a number for curves": (FIGURE, curves("5"), C2, ("figure.curves", FIGURE)),
    "a list for panels": (FIGURE, panels("[a]"), C2, ("figure.panels", FIGURE)),
    "a number for a panel": (FIGURE, panels("{a: 0.1}"), C2, ("figure.panels.a", FIGURE)),
    "an interpolation of nothing": (
        FIGURE,
        swap("runs: 20\n", "runs: ${rums}\n"),
        C2,
        ("figure.runs", "rums", FIGURE),
    ),
    "no engine in the defaults": (
        CONFIG,
        without("  - engine"),
        C2,
        ("engine.block is missing", CONFIG),
    ),
    "no defaults": (CONFIG, instead("seed: 1\n"), C2, ("'figure'", f"defaults of {CONFIG}")),
    "values of a sweep that go up and down": (
        SWEEP,
        swap("[2, 4, 8, 16,", "[2, 8, 4, 16,"),
        KSWEEP,
        ("figure.sweep.values must be", "ascending order", "[2, 8, 4,", SWEEP),
    ),
}


@pytest.mark.parametrize(("file", "edit", "command", "fragments"), FILES.values(), ids=FILES)
def test_a_mistake_in_a_file_is_reported_in_one_line_with_the_file(
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
