"""Every mistake on the command line gets one line: the mistake and the expected value."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import DPBANDITS, FIRST_FIGURES, ROOT
from complaints import called, readable

C2 = "adap-c2"
LINE = "(command line)"
RUNS = f"{C2}: runs must be a whole number from 1 to 10^6, got"

WITHOUT_DASHES = "Overrides are written without dashes, key=value"
ARGUMENTS: dict[str, str] = {  # a part of the message
    "nonsense": 'Unknown command "nonsense"',
    "runn adap-c2": 'Did you mean "run"?',
    "run": "FIGURE requires an argument",
    "export adap-c2 --format xml": 'Invalid value "xml" for --format. Choose from: "csv"',
    "export adap-c2 --format csv -m runs=2": "Unknown option: -m",
    "run adap-c2 --multirun": "several values are for `dpbandits multirun`",
    "run adap-c2 --runs 5": f"Unknown option: --runs. {WITHOUT_DASHES}",
    "plot adap-c2 --horizon=9 --profile smoke": WITHOUT_DASHES,
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


@pytest.mark.parametrize("words", ["run --help", "export -h"])
def test_help_explains_overrides_and_several_values(words: str) -> None:
    done = called(*words.split())
    assert (done.status, done.err) == (0, "")
    out = " ".join(re.sub("[│`]", " ", done.out).split())
    assert "runs=5, figure.horizon=100_000" in out
    assert "several values of a key are for dpbandits multirun" in out


MAKE = ("make", "--old-file=.venv/ready", f"BIN={Path(sys.executable).parent}")
RUNS_0 = f"dpbandits: {RUNS} 0 {LINE}"
NONSENSE = f"dpbandits: unknown figure 'nonsense'; valid: {FIRST_FIGURES}"

# The command, and the first words of each line of its errors.
COMMANDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "run": ((*DPBANDITS, "run", C2, "runs=0"), (RUNS_0,)),
    "unknown paper": (
        (*DPBANDITS, "run", C2, "figure.paper=azise2022"),
        ("dpbandits: figures/azise2022.py does not exist; did you mean 'azize2022'",),
    ),
    "unknown drawing": (
        (*DPBANDITS, "plot", C2, "figure.draw=four_budget"),
        ("dpbandits: figures/azize2022.py has no function 'four_budget'; did you mean 'four_b",),
    ),
    "run.py --runs": (
        (sys.executable, "experiments/run.py", f"figure={C2}", "--runs", "5"),
        ("dpbandits: --runs is no option: overrides are written without dashes, key=",),
    ),
    "make fig-nonsense": ((*MAKE, "fig-nonsense"), (NONSENSE, "make: ***")),
    "make paper-azise2022": (
        (*MAKE, "paper-azise2022"),
        ("dpbandits: unknown paper 'azise2022'; did you mean 'azize2022'", "make: ***"),
    ),
    "make with ARGS": ((*MAKE, f"fig-{C2}", "ARGS=runs=0"), (RUNS_0, "make: ***")),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_mistakes_ends_in_status_2_and_a_line_for_each(name: str) -> None:
    command, expected = COMMANDS[name]
    if command[0] == "make" and not shutil.which("make"):
        pytest.skip("make is not installed")
    # As a user types them: outside the make that runs the tests, and with make's messages in
    # English.
    own = {n: value for n, value in os.environ.items() if not n.startswith(("MAKE", "MFLAGS"))}
    environment = {**own, "ARGS": "", "LC_ALL": "C"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == len(expected), done.stderr
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)
        readable(line)
    assert "drawn" not in done.stdout
