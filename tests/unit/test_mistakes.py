"""A mistake in a file or on the command line is one line that names its place and what is valid."""

import os
import pickle
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from complaints import called, complaint, readable
from hydra.errors import MissingConfigException

from dpbandits.config import compose
from dpbandits.kernel.errors import UserError

C2, KSWEEP, STOPPING = "adap-c2", "adap-ksweep", "stopping-rules"
LINE, A, UCB = "(command line)", "figure.panels.a", "figure.curves.adap-ucb"

# The figure, the overrides, and what the message has: key, expected value or nearest valid name.
COMMAND_LINE: list[tuple[str, str, tuple[str, ...]]] = [
    ("adap-c22", "", ("unknown figure 'adap-c22'", "'adap-c2'")),
    ("runs=5", "adap-c2", ("unknown figure 'runs=5'",)),
    ("./conf/figure/adap-c2.yaml", "", ("the name of the figure is adap-c2",)),
    (C2, "adap-c1", ("cannot read 'adap-c1'", "takes a figure as figure=adap-c1")),
    (C2, "figure=adap-ksweep", ("'figure=adap-ksweep'", "dpbandits multirun")),
    (C2, "profile=smok", ("unknown profile 'smok'", "'smoke'")),
    (C2, "engine=gpu", ("unknown engine 'gpu'; valid: dask, local",)),
    (C2, "hydra.run.dir=x", ("'hydra.run.dir=x'", "dpbandits multirun")),
    (C2, "nonsense=5", ("unknown key 'nonsense'", LINE, "valid: engine, figure")),
    (C2, "figure.horizn=5", ("unknown key 'figure.horizn'", LINE, "'figure.horizon'")),
    (C2, f"+{A}.titel=x", (f"unknown key '{A}.titel'", LINE, "'title'")),
    (C2, f"{UCB}.alpa=2", (f"unknown key '{UCB}.alpa'", LINE, f"'{UCB}.alpha'")),
    (C2, "+engine.worker=3", ("unknown key 'engine.worker'", LINE, "'workers'")),
    (C2, "figure.slopes=true", ("'figure.slopes'", LINE, "+figure.slopes=<value>")),
    (C2, "figure.epsilon=1", ("'figure.epsilon'", LINE, f"is that of {A}.epsilon, ", "set these")),
    (C2, "figure.epsilom=1", ("did you mean 'figure.epsilon'? its value", f"{A}.epsilon", LINE)),
    (C2, f"{UCB}.epsilon=1", (f"set {A}.epsilon, figure", f"or add +{UCB}.epsilon=<value>", LINE)),
    (C2, f"{UCB}.exploration=2", (f"it is not there yet, add +{UCB}.exploration=<value>",)),
    (C2, f"{UCB}.explorations=2", (f"did you mean '{UCB}.exploration'? it is not there yet",)),
    ("azize2022", "", ("`dpbandits run-all --paper azize2022` runs, `dpbandits list azize2022`",)),
    ("fig 2 of azize2022", "", ("`dpbandits run adap-headline` draws it",)),
    ("tossou2017-figure-1b", "", (": `dpbandits run exp3-stochastic` draws it",)),
    ("Figs. 1 of tossou2017", "", ("`dpbandits run exp3-deterministic` or `dpbandits run exp3-f",)),
    ("Table 2, azize2022", "", (": `dpbandits run lower-bounds` draws it",)),
    ("Fig. 99 of hu2022", "", ("`dpbandits list hu2022` lists those of this paper",)),
    (C2, "figure.environment.family=beta", ("figure.environment holds no keys, it is 'c2'", LINE)),
    (C2, "+figure.runs=5", ("'figure.runs'", "leave out the plus", LINE)),
    (C2, "figure.curves.x=ucb", ("+algorithm@figure.curves.x=<algorithm>", LINE)),
    (C2, "+figure.curves.x=ucb", ("figure.curves.x must hold keys and values, got 'ucb'", LINE)),
    (C2, "+algorithm@figure.curves.x=ucbb", ("unknown algorithm 'ucbb'", "'ucb'")),
    (C2, "+algorithm@figure.curves.x=adap-ucb", ("'AdaP-UCB'", "panel a", "figure.curves.x.label")),
    (C2, f"{UCB}.algorithm=adap-ubc", ("unknown algorithm 'adap-ubc'", LINE, "'adap-ucb'")),
    (C2, "+figure.curves.b.bound=azize2022.lower", ("unknown bound", LINE, "'azize2022.")),
    (C2, "~figure.curves.dp-sse", ("'figure.curves.dp-sse'", LINE, "'figure.curves.dp-se'")),
    (C2, "runs", ("cannot read 'runs'", "key=value")),
    (C2, "runs = 5", ("write key=value without spaces",)),
    (C2, "--runs=5", ("--runs", "without dashes")),
    (C2, "runs=5,6", ("'runs=5,6' has several values", "dpbandits multirun")),
    (C2, "profile=5", ("unknown profile '5'; valid: ci, paper",)),
    (C2, "@=1", ("cannot read '@=1'", "key=value")),
    (C2, "runs=five", ("runs must be a whole number from 1 to 10^6, got 'five'", LINE)),
    (C2, "seed=-1", ("seed must be a whole number from 0, below 2^63, got -1", LINE)),
    (C2, "engine.workers=0", ("engine.workers must be a whole number from 1", "got 0", LINE)),
    (C2, "engine=dask engine.scheduler=a:1", ("engine.scheduler must be", "got 'a:1'", LINE)),
    (C2, "paths.out=", ("paths.out must be a text", "got ''", LINE)),
    (C2, "figure.horizon=1.5", ("figure.horizon must be a whole number", "got 1.5", LINE)),
    (C2, "figure.horizon=4", ("figure.horizon must be at least 5, the number of arms", LINE)),
    (C2, "figure.horizon=${lenght}", ("figure.horizon", "'lenght' not found", LINE)),
    (C2, f"{A}.epsilon=0", ("epsilon must be from 1e-100 to 1e100, got 0", LINE)),
    (C2, f"{UCB}.ties=second", ("ties must be one of first, random, got 'second'", LINE)),
    (C2, "figure.draw=foo", ("no function 'foo'; valid: against_arms, against_budget, ep",)),
    (C2, "figure.draw=_room", ("no function '_room'; valid: against_arms, against_budget, ep",)),
    (C2, "figure.centre=avg", ("unknown centre 'avg'", LINE, "mean, median")),
    (C2, "figure.checkpoints=lin", ("unknown checkpoints 'lin'", LINE, "'linear'")),
    (C2, "figure.environment=c5", ("unknown environment 'c5'", LINE, "c1, c2, c3")),
    (C2, "figure.environment={family:beta,means:[0,1]}", ("beta: means must be", "(0, 1)", LINE)),
    (C2, "figure.environment={family:beta,means:{first:0}}", ("last is missing", LINE)),
    (C2, "figure.title='{foo}'", ("figure.title", "may name only", "epsilon", LINE)),
    (C2, f"+{A}.curves=[ucb]", ("unknown curves 'ucb'", "'dp-ucb'", LINE)),
    (KSWEEP, "figure.sweep.values=[8,2]", ("figure.sweep.values", "ascending order", LINE)),
    (KSWEEP, "figure.sweep.key=epsilo", ("figure.sweep.key 'epsilo'", LINE, "'epsilon'")),
    (STOPPING, "figure.curves.nas.rule=nass", ("unknown rule 'nass'", "'nas'", LINE)),
    (STOPPING, "figure.stream.mean=2", ("figure.stream.mean must be within 1 of 0", LINE)),
    (C2, "+algorithm@figure.curves.x=adac-ucb", ("+figure.curves.x.rho=<value> sets it", LINE)),
    ("my-figure", "", ("unknown figure 'my-figure'", "no dpbandits.toml is here or above")),
]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(
    ("figure", "overrides", "parts"), COMMAND_LINE, ids=[f"{f} {o}" for f, o, _ in COMMAND_LINE]
)
def test_a_mistake_on_the_command_line_ends_with_status_2_and_one_line(
    figure: str, overrides: str, parts: tuple[str, ...]
) -> None:
    done = called("run", figure, *overrides.split())
    assert (done.status, done.out) == (2, "")
    readable(done.err.strip())
    assert [part for part in parts if part not in done.err] == [], done.err


# A dozen, without those for which Hydra's own command has other words: it takes several figures.
OF_RUN = ("runs=5", "./conf", "figure=", "hydra.", "--runs", "runs=5,6")
ALIKE = [row[:2] for row in COMMAND_LINE if not any(w.startswith(OF_RUN) for w in row[:2])][::4]


@pytest.mark.usefixtures("in_checkout")
@pytest.mark.parametrize(("figure", "overrides"), ALIKE)
def test_a_multirun_reports_a_mistake_as_a_run_does(figure: str, overrides: str) -> None:
    done = called("multirun", f"figure={figure}", *overrides.split())
    assert (done.status, done.out) == (2, "")
    assert done.err == called("run", figure, *overrides.split()).err


FIGURE, ALGORITHM = "conf/figure/adap-c2.yaml", "conf/algorithm/adap-ucb.yaml"
ENVIRONMENT, PAPER = "conf/environment/c2.yaml", "conf/profile/paper.yaml"
SWEEP = "conf/sweep/alpha.yaml"
CONFIG, ENGINE = "conf/config.yaml", "conf/engine/local.yaml"

# The file, a pattern in it and its replacement ($ is the end), and what the message has.
FILES: list[tuple[str, str, str, tuple[str, ...]]] = [
    (FIGURE, "$", "horizn: 5\n", ("'figure.horizn'", "'horizon'")),
    (FIGURE, r"(?m)^centre: .*\n", "", ("figure.centre is missing",)),
    (FIGURE, "ucb: adap-ucb", "ucb: adap-ubc", ("unknown algorithm 'adap-ubc'", "'adap-ucb'")),
    (ALGORITHM, "alpha:", "alhpa:", ("'figure.curves.adap-ucb.alhpa'", "'alpha'")),
    (ALGORITHM, "3.1", "-3.1", ("alpha must be from 1e-100", "-3.1")),
    (ENVIRONMENT, "$", "meens: 1\n", ("unknown parameter 'meens'", "'means'")),
    (ENVIRONMENT, "0.75", "1.75", ("means must be", "1.75")),
    (PAPER, "$", "rums: 5\n", ("'rums'", "runs")),
    (CONFIG, "seed: 2022", "seed: -1", ("seed must be",)),
]
LOADS = ("may only name members of its own group",)
OWNERS = ("comes from the command line, the profile or conf/config.yaml",)
BOMB = "".join(f"{n}: &{n} [{', '.join(8 * ['*' + o])}]\n" for o, n in pairwise("abcdefghi"))
CODE = ("might let Hydra run code",)
NAMES, ENDS = ("may only name another key",), ("names a value that is too long or has ${",)
HOSTILE: list[tuple[str, str, str, tuple[str, ...]]] = [  # files that another person has written
    (FIGURE, "paper: azize2022", "paper: ../figures/azize2022", ("figure.paper must be",)),
    (FIGURE, "{instance}", "{arms.real}", ("may name only",)),
    (FIGURE, "{instance}", "{means[0]}", ("may name only",)),
    (FIGURE, "{instance}", "{horizon!r:>1000000000}", ("may name only",)),
    (FIGURE, "{instance}", "${oc.env:HOME}", NAMES),
    (FIGURE, "{instance}", "${oc.${figure.paper}:HOME}", NAMES),
    (FIGURE, "{instance}", "${paths.out}", NAMES),
    (FIGURE, "{instance}", "${figure.title}", ENDS),
    (FIGURE, "$", "k: ${figure}\n", ENDS),
    (FIGURE, "$", f"k: {'x' * 60000}\nl: ${{figure.k}}${{figure.k}}\n", ENDS),
    (FIGURE, "defaults:", "defaults:\n  - /hydra/callbacks: x\n", CODE),
    (FIGURE, "defaults:", "defaults:\n  - ../../../evil\n", LOADS),
    (FIGURE, "defaults:", "defaults:\n  - /claims@_global_: azize2022\n", CODE),
    (FIGURE, "defaults:", "defaults:\n  - /profile@curves.x: smoke\n", LOADS),
    (FIGURE, "defaults:", "defaults:\n  - adap-c1@_global_\n", LOADS),
    (FIGURE, "$", "x: { _target_: print }\n", CODE),
    (FIGURE, "$", "paths: { out: elsewhere }\n", ("'paths'", *OWNERS)),
    (FIGURE, "$", "engine: { scheduler: 'tcp://h:1' }\n", ("'engine'", *OWNERS)),
    (FIGURE, r"\A", "x: &x { seed: 1 }\n<<: *x\n", ("'seed'", *OWNERS)),
    (ALGORITHM, "$", "seed: 1\n", ("'seed'", *OWNERS)),
    (ENVIRONMENT, "$", '"\\x70aths": { out: elsewhere }\n', ("'paths'", *OWNERS)),
    (ENVIRONMENT, "$", "name: ${oc.env:HOME}\n", NAMES),
    (ALGORITHM, r"\A", "# @package hydra.callbacks\n", CODE),
    (FIGURE, r"\A", "# @package _global_\n", CODE),
    (FIGURE, r"\A", "\u2028# @package _global_\n", CODE),
    (PAPER, r"\A# @package _global_", "# @package hydra", CODE),
    (PAPER, "$", "hydra: { callbacks: 1 }\n", CODE),
    (ENGINE, "$", '"\\x68ydra": { callbacks: 1 }\n', CODE),
    (SWEEP, "params:", "params:\n      hydra.job.env_set.X: 1", CODE),
    (SWEEP, "params:", "params:\n      hydra/launcher: x", CODE),
    (SWEEP, "params:", "params:\n      figure: ../../evil", ("must be names",)),
    (SWEEP, "params:", "params:\n      figure.note: $\\{oc.env:HOME\\}", NAMES),
    (SWEEP, "mode:", "job: { env_set: { X: 1 } }\n  mode:", CODE),
    (SWEEP, "mode:", "run: { dir: elsewhere }\n  mode:", CODE),
    (SWEEP, "$", "paths: { out: elsewhere }\n", ("'paths'", *OWNERS)),
    (CONFIG, "chdir: false", "chdir: false, env_set: { X: 1 }", CODE),
    (FIGURE, "$", "a: &a [x, x, x, x, x, x, x, x]\n" + BOMB, ("with its aliases",)),
]
UNREADABLE = [("  - : [\n", "line"), ("a: \t{\n", "line"), ("runs: 3\nruns: 3\n", "duplicate key")]


@pytest.mark.parametrize(
    ("file", "old", "new", "parts"),
    [*FILES, *HOSTILE, *((FIGURE, "$", text, (part,)) for text, part in UNREADABLE)],
)
def test_a_mistake_in_a_file(
    checkout: Path, file: str, old: str, new: str, parts: tuple[str, ...]
) -> None:
    path = checkout / file
    text = path.read_text("utf-8")
    changed = re.sub(old.replace("$", r"\Z"), lambda _: new, text, count=1)
    assert changed != text
    path.write_text(changed, "utf-8")
    message = complaint(C2, [])
    found = [part for part in (*parts, file.removesuffix(".yaml")) if part not in message]
    assert found == [], message


@pytest.mark.parametrize("file", [FIGURE, ALGORITHM, ENVIRONMENT, PAPER, CONFIG, ENGINE])
@pytest.mark.parametrize(
    "content", [b"", b"5\n", b"- 1\n", b"\xff\xfe\x00", b"a: [1\n", b"defaults: 5\n"]
)
def test_a_file_that_is_no_configuration(checkout: Path, file: str, content: bytes) -> None:
    (checkout / file).write_bytes(content)
    complaint(C2, [])


# Keys of Hydra that a plain search for their letters does not find.
CALLBACKS = """\
# @package _global_
defaults: [one@figure, _self_]
? "hy\\
  dra"
:
  callbacks:
    x:
      ? "_targ\\
        et_"
      : {target}
      {arguments}
"""
LOADING = "joblib.load", "filename: conf/data.bin"
WRITING = "pathlib.Path.write_text", "_args_: [{ ? '_targ\\\n        et_' : pathlib.Path }, hello]"


@pytest.mark.parametrize(("target", "arguments"), [LOADING, WRITING])
@pytest.mark.parametrize("verb", ["run", "multirun"])
@pytest.mark.parametrize("file", [FIGURE, ALGORITHM, ENVIRONMENT])
def test_keys_folded_over_lines_run_nothing_and_are_named_in_one_line(
    checkout: Path, file: str, verb: str, target: str, arguments: str
) -> None:
    text = CALLBACKS.replace("{target}", target).replace("{arguments}", arguments)
    (checkout / file).write_text(text, "utf-8")
    (checkout / "conf/data.bin").write_bytes(pickle.dumps(Witness(str(checkout / "ran"))))
    before = sorted(checkout.rglob("*"))
    done = called(verb, "figure=" * (verb == "multirun") + C2, "runs=1")
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert f"{file}: 'hydra" in done.err
    assert sorted(checkout.rglob("*")) == before


class Witness:
    """An object whose unpickling makes a folder."""

    def __init__(self, path: str) -> None:
        """Take the path of the folder."""
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what `pickle.load` calls."""
        return os.mkdir, (self.path,)


def test_files_that_would_replace_those_of_hydra_are_refused(checkout: Path) -> None:
    folder = checkout / "conf/hydra/job_logging"
    folder.mkdir(parents=True)
    calls = f"{{ '()': os.mkdir, path: {checkout / 'ran'} }}"
    text = f"version: 1\nhandlers: {{ x: {calls} }}\nroot: {{ handlers: [x] }}\n"
    (folder / "none.yaml").write_text(text, "utf-8")
    done = called("multirun", f"figure={C2}", "runs=1")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "conf/hydra: a file in it might let Hydra run code" in done.err
    assert not (checkout / "ran").exists()


def test_a_figure_of_the_command_line_is_never_a_file_elsewhere(checkout: Path) -> None:
    done = called("multirun", f"figure={C2},../../elsewhere")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "unknown figure" in done.err


def test_a_launcher_that_is_not_installed_names_its_extra() -> None:
    missing = MissingConfigException("", "hydra/launcher/submitit_slurm", ["basic"])
    problem = r"launcher submitit_slurm is not installed: pip install 'dpbandits\[submitit\]'"
    with pytest.raises(UserError, match=problem), compose.one_line_errors(["figure=adap-c2"]):
        raise missing
