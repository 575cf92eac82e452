"""Comparison of the compiled code with its oracle, the same code without the compiler."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import plain_python
import pytest
from cells import ALGORITHMS


@pytest.fixture(scope="module")
def interpreted() -> Any:
    script = Path(plain_python.__file__)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_compiled_and_plain_python_give_the_same_bits(interpreted: Any) -> None:
    compiled = plain_python.outcomes()
    assert interpreted["outcomes"].keys() == compiled.keys()
    for name, numbers in compiled.items():
        assert interpreted["outcomes"][name] == numbers, name


def test_stopping_rules_give_the_same_bits_too(interpreted: Any) -> None:
    assert interpreted["stops"] == plain_python.stops()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rewards_come_through_pull_alone(interpreted: Any, algorithm: str) -> None:
    pulls = interpreted["hidden"][algorithm]
    assert sum(pulls) == 3000
