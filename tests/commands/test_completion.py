"""Words that a shell offers after a part of a command; without completion they cost nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DPBANDITS, FIGURES, ROOT

ALGORITHMS = sorted(path.stem for path in (ROOT / "conf" / "algorithm").glob("*.yaml"))
ENVIRONMENTS = sorted(path.stem for path in (ROOT / "conf" / "environment").glob("*.yaml"))

OFFERED: dict[str, tuple[set[str], set[str]]] = {  # the words offered, and words not offered
    "": ({"run", "list", "export", "--version"}, {"adap-c2"}),
    "run ": (set(FIGURES), set()),
    "run adap-c": ({"adap-c1", "adap-c2", "adap-c3", "adap-c4"}, {"adap-alpha"}),
    "run adap-c2 r": ({"runs="}, {"seed="}),
    "run adap-c2 figure.": (
        {
            *("figure.horizon=", "figure.panels.a.epsilon=", "figure.environment="),
            "figure.curves.adap-ucb.alpha=",
        },
        {"figure.epsilon=", "figure.curves.adap-ucb.algorithm="},
    ),
    "run adap-c2 profile=smoke figure.curves.adap-ucb.al": (
        {"figure.curves.adap-ucb.alpha="},
        {"figure.curves.adap-klucb.alpha="},
    ),
    "plot adap-c2 figure.environment=": ({f"figure.environment={e}" for e in ENVIRONMENTS}, set()),
    "run adap-c2 +alg": ({"+algorithm@figure.curves.mine="}, set()),
    "run adap-c2 +algorithm@figure.curves.x=": (
        {f"+algorithm@figure.curves.x={name}" for name in ALGORITHMS},
        set(),
    ),
    "run adap-c2 +figure.": ({"+figure.epsilon=", "+figure.slopes="}, {"+figure.horizon="}),
    "run adap-c2 ~figure.curves.dp-s": ({"~figure.curves.dp-se"}, set()),
    "run adap-c2 profile=": ({"profile=ci", "profile=paper", "profile=smoke"}, set()),
    "run adap-c2 engine": ({"engine=", "engine.workers=", "engine.block="}, {"runs="}),
    "run-all --paper a": ({"across", "azize2022", "azize2024"}, {"wang2024"}),
    "check adap-k": ({"adap-ksweep"}, set()),
    "check adap-ksweep ru": ({"runs="}, set()),
    "audit adap-": ({"adap-ucb", "adap-klucb"}, set()),
    "audit adap-ucb a": ({"alpha="}, {"algorithm="}),
    "privacy dp-se adap-u": ({"adap-ucb"}, set()),
    "export adap-c2 --format ": ({"csv", "json", "pgfplots"}, set()),
    "run nonsense figure.": (set(), {"figure.horizon="}),
}


def answered(typed: str, file: Path) -> set[str]:
    """Return the words that are offered after `dpbandits <typed>`."""
    line = f"dpbandits {typed}"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(file),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    environment = {**os.environ, **asked}
    done = subprocess.run(DPBANDITS, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    return {word.strip() for word in file.read_text("utf-8").splitlines()}


@pytest.mark.parametrize("typed", OFFERED)
def test_a_shell_is_offered_the_words_that_may_follow(typed: str, tmp_path: Path) -> None:
    offered, other = OFFERED[typed]
    words = answered(typed, tmp_path / "answer")
    assert offered <= words
    assert not other & words


def test_a_command_without_completion_does_not_import_the_completer() -> None:
    listed = "import sys; from dpbandits.cli import main; sys.argv = ['dpbandits', 'list']; "
    loads = f"{listed}main.command(); print(*sys.modules)"
    done = subprocess.run((sys.executable, "-c", loads), cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    modules = done.stdout.splitlines()[-1].split()
    assert "dpbandits.cli.listing" in modules
    assert not {"argcomplete", "dpbandits.cli.completion"} & {*modules}
