"""`verify` compares the noise that an algorithm draws with what it declares (contract/noise.py).

All algorithms of broken_noise.py are played in one process without the compiler.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from broken_noise import BROKEN, EQUAL, source

from dpbandits import contract
from dpbandits.contract.unseen import numbers_read

LINES = 1_500_000  # games of up to 5,000 rounds
PROGRAM = f"""
import json, sys
from dpbandits.contract import noise, plain, suite, unseen

def verdict(name):
    sys.settrace(plain.Limit({LINES}))
    answer = noise.verdict(suite.load(name, {{}}))
    sys.settrace(None)
    return answer | {{"numbers": unseen.numbers_read(name)}}

print(json.dumps({{name: verdict(name) for name in sys.argv[1:]}}))
"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the games of every algorithm show."""
    every = {**EQUAL, **{name: edits for name, (_, edits) in BROKEN.items()}}
    files = {f"{name.replace('-', '_')}.py": source(edits) for name, edits in every.items()}
    return verdicts_of(every, files, "noisy_project", tmp_path_factory.mktemp("noisy"))


def verdicts_of(
    names: Iterable[str], files: Mapping[str, str], package: str, folder: Path
) -> dict[str, Any]:
    """Return what the games of algorithms show, of a project with these files in algorithms/."""
    for part in ("algorithms", "conf"):
        (folder / part).mkdir()
    (folder / "dpbandits.toml").write_text(f'package = "{package}"\n')
    for file, text in files.items():
        (folder / "algorithms" / file).write_text(text)
    settings = {"NUMBA_DISABLE_JIT": "1", "DPBANDITS_PROJECT": str(folder)}
    command = [sys.executable, "-c", PROGRAM, *names]
    done = subprocess.run(
        command, env=os.environ | settings, stdout=subprocess.PIPE, text=True, check=True
    )
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize("name", BROKEN)
def test_noise_that_is_not_declared_fails_with_its_line(
    name: str, verdicts: dict[str, Any]
) -> None:
    answer, (said, _) = verdicts[name], BROKEN[name]
    assert said in answer["failed"]
    if name != "declared-and-not-drawn":
        assert answer["failed"].startswith(f"algorithms/{name.replace('-', '_')}.py, line ")
    assert answer["remedy"]


@pytest.mark.parametrize("name", EQUAL)
def test_declared_noise_passes_however_it_is_written(name: str, verdicts: dict[str, Any]) -> None:
    assert "passed" in verdicts[name], verdicts[name]
    assert verdicts[name]["longest"] >= 1000


def test_numbers_of_a_module_are_listed_also_below_a_call() -> None:
    assert numbers_read("dp-ucb-int") == ["MOST_ROUNDS = 9007199254740992.0"]
    assert numbers_read("ucb") == []


def test_means_of_the_arms_in_a_module_are_named_as_not_checked(verdicts: dict[str, Any]) -> None:
    assert verdicts["by-known-means"]["numbers"] == ["TRUE_MEANS = [0.9, 0.5]"]
    assert verdicts["sound"]["numbers"] == []


def test_a_choice_that_is_private_by_itself_is_not_tested() -> None:
    check, *_ = (
        check for check in contract.checks("exp3-tau") if check.title.startswith("the noise drawn")
    )
    with pytest.raises(contract.NotTested, match="private by themselves"):
        check()
