"""Comparison of the compiled code with its oracle, the same code without the compiler."""

import json
import os
import subprocess
import sys
from typing import Any

import plain_python
import pytest


def without_compiler(which: str) -> Any:
    command = [sys.executable, plain_python.__file__, which]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def interpreted() -> Any:
    return without_compiler("quick")


@pytest.mark.long
def test_compiled_and_plain_python_give_the_same_bits(interpreted: Any) -> None:
    check_bits(interpreted["outcomes"], plain_python.outcomes(quick=True))


@pytest.mark.slow
def test_they_do_on_every_law() -> None:
    check_bits(without_compiler("all")["outcomes"], plain_python.outcomes(quick=False))


def check_bits(interpreted: Any, compiled: dict[str, list[str]]) -> None:
    assert interpreted.keys() == compiled.keys()
    for name, numbers in compiled.items():
        assert interpreted[name] == numbers, name


@pytest.mark.long
def test_stopping_rules_give_the_same_bits_too(interpreted: Any) -> None:
    assert interpreted["stops"] == plain_python.stops()
